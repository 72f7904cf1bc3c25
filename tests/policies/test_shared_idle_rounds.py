"""Several champions share the idle rounds of a stretch as round by round."""

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.scalar_kernel import SEVERAL
from tests.policies.driving import simulate_runs

FALSE_ALARM = 1e-5
"""Of one test."""

CYCLE = np.array([[0.5, 0.9, 0.4], [0.1, 0.5, 0.6], [0.6, 0.4, 0.5]])
"""All three arms are Copeland winners."""

NAMES = ("d-ts", "ccb")


def share(state, rng, duels, rounds, found):
    """Tell a new state its duels; share ``rounds`` idle ones again and again."""
    scalar_kernel.init(state, rng)
    for place in range(len(duels)):
        winner, loser = duels[place, 0], duels[place, 1]
        scalar_kernel.update(state, rng, place + 1, winner, loser, True)
    for place in range(len(found)):
        idle = 0
        while idle == 0:
            champion, idle, *_ = scalar_kernel.choose(state, rng, len(duels) + 1)
        assert champion == SEVERAL
        scalar_kernel.share_idle_rounds(state, rng, rounds, found[place])


def step(state, rng, duels, found):
    """Tell a new state its duels; count who meets itself in the next round."""
    scalar_kernel.init(state, rng)
    for place in range(len(duels)):
        winner, loser = duels[place, 0], duels[place, 1]
        scalar_kernel.update(state, rng, place + 1, winner, loser, True)
    for _ in range(4000):
        duel = scalar_kernel.choose(state, rng, len(duels) + 1)
        found[duel.first] += duel.first == duel.second


@pytest.mark.parametrize("name", NAMES)
def test_every_round_of_a_stretch_has_a_champion_of_its_own(name):
    """Of equal stretches the shares are multinomial: their spread says so.

    The champions of single rounds are as often the same.
    """
    duels = np.array([[0, 1]] * 80 + [[1, 2]] * 90 + [[2, 0]] * 90)
    state = kernel_of(policies.get(name)).new_state(np.arange(3), 10**6)
    found = np.zeros((300, 3), dtype=np.int64)
    run_uncompiled(share, state, np.random.default_rng(8), duels, 40, found)
    assert np.all(found.sum(axis=1) == 40)
    assert np.all(found.sum(axis=0) > 1000)
    # With few rounds of one arm the statistic would not be of a chi-square.
    assert stats.chi2_contingency(found).pvalue > FALSE_ALARM / 2
    alone = policies.get(name, look_ahead=False)
    state, single = kernel_of(alone).new_state(np.arange(3), 10**6), np.zeros(3, int)
    run_uncompiled(step, state, np.random.default_rng(9), duels, single)
    both = np.stack([found.sum(axis=0), single])
    assert stats.chi2_contingency(both).pvalue > FALSE_ALARM / 2


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_in_a_stretch_changes_no_bit(name, uncompiled):
    """Nor does the horizon, which cuts a stretch short."""
    dense = (*range(490, 510), 1500)

    def plays_of(checkpoints):
        records = simulate_runs(
            policies.get(name), CYCLE, checkpoints=checkpoints, runs=range(5), seed=5
        )
        return records.ledger["plays"]

    ours = plays_of(dense)
    for few in ((500, 1500), (495,), (503,)):
        places = [dense.index(each) for each in few]
        np.testing.assert_array_equal(plays_of(few), ours[:, places])
    assert np.all(np.diff(ours, axis=1) >= 0)
    assert np.all(ours.sum(axis=(2, 3)) == dense)
    inside = np.diff(np.einsum("rcii->rci", ours)[:, :-1], axis=1)
    assert np.any(inside.any(axis=1).sum(axis=1) > 1), "of a stretch that is shared"
