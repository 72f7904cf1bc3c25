"""One round of RCS against its rule, state by state.

A stretch of self-duels that begins at round t says who plays round t, too; so the pair
of round t is read off the policy's first answer and compared with what the slow twin
plays, over many draws.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.types import Duel, Outcome
from tests.policies.laws import pair_table, two_sample_chi_square
from tests.reference import RelativeConfidenceSampling

FALSE_ALARM = 1e-5
"""Of all states of one test together."""

NUM_DRAWS = 1500


def wins_of(counts):
    """Return wins from (won, lost) of the pairs 01, 02, 03, 12, 13, 23."""
    wins = np.zeros((4, 4), dtype=np.int64)
    for i, j, (won, lost) in zip(*np.triu_indices(4, 1), counts, strict=True):
        wins[i, j], wins[j, i] = won, lost
    return wins


COUNTS = {
    "nothing": [(0, 0)] * 6,
    "early": [(1, 0), (0, 2), (1, 1), (3, 0), (0, 0), (1, 2)],
    "nobody beats all": [(20, 9), (11, 25), (15, 14), (30, 12), (22, 25), (8, 3)],
    "sure winner": [(40, 8), (45, 12), (38, 6), (20, 18), (11, 9), (3, 4)],
    "sure winner, others sure": [(40, 8), (45, 9), (38, 6), (50, 9), (51, 9), (60, 8)],
    "sure cycle": [(70, 10), (12, 80), (20, 15), (75, 14), (9, 4), (12, 18)],
}


def state_of(policy, wins):
    """Tell a policy the counts, pair by pair; no self-duels."""
    state = policy.init(jax.random.key(0), len(wins), jnp.int64(2**40))
    for i, j in zip(*np.triu_indices(len(wins), 1), strict=True):
        duels = jnp.int64(wins[i, j] + wins[j, i])
        none = jnp.int64(0)
        duel = Duel(jnp.int32(0), none, jnp.int32(i), jnp.int32(j), duels)
        outcome = Outcome(none, duels, jnp.int64(wins[i, j]))
        state = policy.update(jax.random.key(0), state, jnp.int64(1), duel, outcome)
    return state


@jax.jit
def ask(policy, state, round_, keys):
    """Ask for the round many times; return stretch, champion and the duel after it."""
    duel = jax.vmap(lambda key: policy.choose(key, state, round_)[0])(keys)
    return duel.exploit_rounds, duel.champion, duel.first, duel.second


def pairs_of_round(policy, state, index):
    """Count the pairs (first, second) that play round ``index``."""
    keys = jax.random.split(jax.random.key(70), NUM_DRAWS)
    stretch, champion, first, second = (
        np.asarray(each) for each in ask(policy, state, jnp.int64(index), keys)
    )
    idle = stretch > 0
    one, other = np.where(idle, champion, first), np.where(idle, champion, second)
    return pair_table(one, other, 4), stretch


def twin_pairs(twin, index, **attributes):
    """Count the pairs that the twin plays in that round."""
    pairs = np.zeros((4, 4))
    for _ in range(NUM_DRAWS):
        twin.rounds = index - 1
        for name, value in attributes.items():
            getattr(twin, name)[:] = value
        pairs[twin.choose()] += 1
    return pairs


REIGNS = {"never": [0, 0, 0, 0], "longest": [90, 5, 3, 7], "shortest": [2, 5, 2, 9]}


@pytest.mark.parametrize("fallback", ["least", "random"])
def test_round_of_rcs_has_the_law_of_the_rule(fallback):
    """Also where the fallback may pick the sure winner, and where it may not."""
    policy = policies.get("rcs", fallback=fallback)
    p_values = {}
    with jax.enable_x64(True):
        for name, counts in COUNTS.items():
            wins = wins_of(counts)
            told = state_of(policy, wins)
            index = int(wins.sum()) + 40
            for reign, reigns in REIGNS.items():
                state = told._replace(reigns=jnp.asarray(reigns, dtype=jnp.int64))
                ours, stretch = pairs_of_round(policy, state, index)
                twin = RelativeConfidenceSampling(
                    4, np.random.default_rng(71), fallback=fallback
                )
                theirs = twin_pairs(twin, index, wins=wins, reigns=reigns)
                p_values[name, reign] = two_sample_chi_square(ours, theirs)
                jumps = "sure winner" in name and (
                    fallback == "random" or reign == "longest"
                )
                assert (stretch.max() > 1) == jumps, (name, reign)
    assert min(p_values.values()) > FALSE_ALARM / len(p_values), p_values
