"""What is laid out differently for many arms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies import double_thompson, thompson_events
from bayesduel.types import Duel, Outcome
from tests.policies.laws import pair_table, two_sample_chi_square
from tests.reference import DoubleThompson

FALSE_ALARM = 1e-5

WINS = np.array([[0, 4, 2, 5], [3, 0, 1, 2], [2, 4, 0, 0], [1, 0, 3, 0]])
"""Early counts: several arms often exceed 1/2 in the second sample."""


@pytest.mark.parametrize("num_arms", [5, 80])
def test_uniforms_of_pairs_are_mirrored(num_arms):
    """One uniform per unordered pair, whichever way the triangle is laid out."""
    with jax.enable_x64(True):
        draws = thompson_events.draw_event_uniforms(
            jax.random.key(0), num_arms, ties_by_regret=True
        )
    assert (num_arms > thompson_events.MANY_ARMS) == (num_arms == 80)
    row, column = np.triu_indices(num_arms, 1)
    both = []
    for each in (draws.signs, draws.idle_signs):
        values = np.asarray(each)
        np.testing.assert_array_equal(values, values.T)
        both.append(values[row, column])
    pairs = np.concatenate(both)
    assert len(np.unique(pairs)) == len(pairs)
    assert pairs.min() >= 0 and pairs.max() < 1
    assert abs(pairs.mean() - 0.5) < 4 / np.sqrt(12 * len(pairs))


@pytest.mark.parametrize("wins", [0 * WINS, WINS], ids=["nothing", "early"])
def test_contests_of_many_arms_have_the_law_of_the_rule(wins, monkeypatch):
    """The form for many arms, with four: decided in one event, as the twin does it."""
    monkeypatch.setattr(double_thompson, "MANY_ARMS", 3)
    monkeypatch.setattr(thompson_events, "MANY_ARMS", 3)
    policy, index = policies.DoubleThompson(), int(wins.sum()) + 1
    with jax.enable_x64(True):
        key, none = jax.random.key(1), jnp.int64(0)
        state = policy.init(key, 4, jnp.int64(10**6))
        for i, j in zip(*np.triu_indices(4, 1), strict=True):
            rounds = jnp.int64(wins[i, j] + wins[j, i])
            duel = Duel(jnp.int32(0), none, jnp.int32(i), jnp.int32(j), rounds)
            outcome = Outcome(none, rounds, jnp.int64(wins[i, j]))
            state = policy.update(key, state, jnp.int64(1), duel, outcome)
        keys = jax.random.split(key, 2000)
        choose = jax.jit(jax.vmap(policy.choose, in_axes=(0, None, None)))
        duels, after = jax.tree.map(np.asarray, choose(keys, state, jnp.int64(index)))
    idle = duels.exploit_rounds > 0
    assert np.all(idle | (duels.explore_rounds == 1))
    assert after.contest.max() == -1
    ours = pair_table(
        np.where(idle, duels.champion, duels.first),
        np.where(idle, duels.champion, duels.second),
        4,
    )
    twin = DoubleThompson(4, np.random.default_rng(2))
    twin.wins[:], twin.rounds = wins, index - 1
    theirs = np.zeros((4, 4))
    for _ in range(2000):
        theirs[twin.choose()] += 1
    assert two_sample_chi_square(ours, theirs) > FALSE_ALARM / 2
