"""Several champions share the idle rounds of a stretch as round by round."""

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.scalar_kernel import SEVERAL
from bayesduel.policies.thompson import double_thompson
from tests.policies.distributions import disagreements
from tests.policies.driving import simulate_runs
from theory import PreferenceMatrix

FALSE_ALARM = 1e-5
"""False-alarm rate of one test."""

CYCLE = np.array([[0.5, 0.9, 0.4], [0.1, 0.5, 0.6], [0.6, 0.4, 0.5]])
"""All three arms are Copeland winners."""

NAMES = ("d-ts", "d-ts+", "ccb")

THREE_OF_FIVE = np.array(
    [
        [0.50, 0.70, 0.40, 0.86, 0.88], [0.30, 0.50, 0.65, 0.89, 0.91],
        [0.60, 0.35, 0.50, 0.92, 0.94], [0.14, 0.11, 0.08, 0.50, 0.55],
        [0.12, 0.09, 0.06, 0.45, 0.50],
    ]
)  # fmt: skip
"""The first three arms are winners; estimated regrets tell them apart."""

DUELS = {
    "all lead": np.array([[0, 1]] * 80 + [[1, 2]] * 90 + [[2, 0]] * 90),
    # Arms 0 and 1 beat two others each; which of them has the less regret to be
    # expected is open, by their duels with arm 2.
    "two of four": np.repeat(
        [[0, 1], [1, 0], [3, 0], [0, 3], [1, 3], [3, 1], [2, 3], [3, 2],
         [0, 2], [2, 0], [1, 2], [2, 1]],
        [400, 100, 400, 100, 400, 100, 60, 10, 90, 27, 92, 26],
        axis=0,
    ),
}  # fmt: skip
"""Winners and losers."""


def share(state, rng, duels, round_, rounds, result):
    """Tell a new state its duels; share ``rounds`` idle ones again and again."""
    scalar_kernel.init(state, rng)
    for index in range(len(duels)):
        winner, loser = duels[index, 0], duels[index, 1]
        scalar_kernel.update(state, rng, index + 1, winner, loser, True)
    for index in range(len(result)):
        idle = 0
        while idle == 0:
            champion, idle, *_ = scalar_kernel.choose(state, rng, round_)
        assert champion == SEVERAL
        scalar_kernel.share_idle_rounds(state, rng, rounds, result[index])


def step(state, rng, duels, result):
    """Tell a new state its duels; count who meets itself in the round after them."""
    scalar_kernel.init(state, rng)
    for index in range(len(duels)):
        winner, loser = duels[index, 0], duels[index, 1]
        scalar_kernel.update(state, rng, index + 1, winner, loser, True)
    for _ in range(4000):
        duel = scalar_kernel.choose(state, rng, len(duels) + 1)
        result[duel.first] += duel.first == duel.second


def shares_of(name, duels, round_, rounds, number):
    """Return how the leaders share so many rounds from ``round_`` on, often."""
    num_arms = duels.max() + 1
    state = kernel_of(policies.get(name)).new_state(np.arange(num_arms), 10**6)
    values = np.zeros((number, num_arms), dtype=np.int64)
    rng = np.random.default_rng(8)
    run_uncompiled(share, state, rng, duels, round_, rounds, values)
    assert np.all(values.sum(axis=1) == rounds)
    return values[:, values.sum(axis=0) > 0]


@pytest.mark.parametrize(
    ("name", "leaders"),
    [*((name, "all lead") for name in NAMES), ("d-ts", "two of four"),
     ("d-ts+", "two of four")],
)  # fmt: skip
def test_every_round_of_a_stretch_has_a_champion_of_its_own(name, leaders):
    """The shares of equal stretches are multinomial: their spread says so.

    The champions of single rounds are as often the same.
    """
    duels = DUELS[leaders]
    shares = shares_of(name, duels, len(duels) + 1, 40, 300)
    assert np.all(shares.sum(axis=0) > 1000)
    # With few rounds of one arm the statistic would not be of a chi-square.
    assert FALSE_ALARM / 2 < stats.chi2_contingency(shares).pvalue < 1 - FALSE_ALARM / 2
    alone = policies.get(name, look_ahead=False)
    num_arms = duels.max() + 1
    state = kernel_of(alone).new_state(np.arange(num_arms), 10**6)
    single = np.zeros(num_arms, int)
    run_uncompiled(step, state, np.random.default_rng(9), duels, single)
    both = np.stack([shares.sum(axis=0), single[: shares.shape[1]]])
    assert stats.chi2_contingency(both).pvalue > FALSE_ALARM / 2


def test_long_stretches_of_all_leaders_are_shared_evenly():
    """The spread is that of as many rounds as there are, and they are many."""
    for name in ("d-ts+", "ccb"):
        shares = shares_of(name, DUELS["all lead"], 10**5, 10**12, 400)
        deviation = (shares - 10**12 / 3) / np.sqrt(10**12 * 2 / 9)
        for item in deviation.T:
            assert stats.kstest(item, "norm").pvalue > FALSE_ALARM / 6


@pytest.fixture
def few_draws(monkeypatch):
    """Draw each champion up to round 200 only, as drawing takes Python long."""
    monkeypatch.setattr(double_thompson, "_DRAWN", 200)


@pytest.mark.parametrize(
    ("round_", "rounds", "draws"),
    [(2001, 2000, 100), (2001, 18000, 180), (10**5 + 1, 1000, 2)],
)
def test_long_stretches_have_as_many_champions_as_is_said(
    few_draws, round_, rounds, draws
):
    """Shares are those of so many draws: their spread is neither larger nor smaller."""
    shares = shares_of("d-ts+", DUELS["two of four"], round_, rounds, 100)
    # The remainder after whole shares is one round of a leader.
    drawn = np.round(shares[:, 0] * draws / rounds).astype(int)
    table = np.stack([drawn, draws - drawn], axis=1)
    p_value = stats.chi2_contingency(table).pvalue
    assert FALSE_ALARM / 2 < p_value < 1 - FALSE_ALARM / 2


def test_astronomically_long_stretches_are_shared_in_full(few_draws):
    for rounds in (1, 2, 199, 201, 10**6 + 1, 2**62):
        shares = shares_of("d-ts+", DUELS["two of four"], 2000, rounds, 3)
        assert np.all(shares >= 0)


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [CYCLE, THREE_OF_FIVE], ids=["cycle", "five"])
@pytest.mark.parametrize("name", ["d-ts", "d-ts+"])
def test_self_duels_and_borda_regret_have_the_spread_of_single_rounds(name, matrix):
    """Check the last checkpoint beyond round 4,096, too."""
    plays, spreads = [], []
    for look_ahead in (True, False):
        records = simulate_runs(
            policies.get(name, look_ahead=look_ahead), matrix, checkpoints=(3000, 8000),
            runs=range(600), seed=6 + look_ahead,
        )  # fmt: skip
        plays.append(records.ledger["plays"])
        cost = PreferenceMatrix(matrix).regret_per_pair("borda")
        borda = (plays[-1] * cost).sum(axis=(2, 3))
        mine = np.einsum("rcii->rci", plays[-1])[:, :, :3].reshape(600, -1)
        spreads.append(np.concatenate([mine, borda], axis=1).astype(float))
    assert not disagreements(*plays, matrix, FALSE_ALARM)
    for one, other in zip(spreads[0].T, spreads[1].T, strict=True):
        test = stats.levene(one, other)
        assert test.pvalue > FALSE_ALARM / spreads[0].shape[1]


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
        places = [dense.index(item) for item in few]
        np.testing.assert_array_equal(plays_of(few), ours[:, places])
    assert np.all(np.diff(ours, axis=1) >= 0)
    assert np.all(ours.sum(axis=(2, 3)) == dense)
    inside = np.diff(np.einsum("rcii->rci", ours)[:, :-1], axis=1)
    assert np.any(inside.any(axis=1).sum(axis=1) > 1), "of a stretch that is shared"
