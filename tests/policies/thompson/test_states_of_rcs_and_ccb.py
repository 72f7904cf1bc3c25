"""How long CCB waits, in random states that no run may reach.

``waits`` says by which law.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.compiling import quick_jit
from tests.policies.random_states import (
    ALPHA,
    last_rounds,
    log_of,
    log_thresholds,
    random_counts,
    random_rounds,
)
from tests.policies.thompson.waits import (
    FALSE_ALARM,
    log_stay,
    p_values,
    tell_all,
    uniforms_of,
    windows,
)

SLOW = pytest.mark.slow


@quick_jit
def ask_all(policy, states, rounds, keys):
    """Ask once in every state."""
    return jax.vmap(lambda state, round_, key: policy.choose(key, state, round_))(
        states, rounds, keys
    )


def random_instances(policy, num_arms, number):
    """Random generator, rounds and counts, and the states of a policy told of them."""
    rng = np.random.default_rng([320, num_arms, number])
    rounds = random_rounds(rng, number)
    wins = random_counts(rng, rounds, num_arms)
    states = tell_all(policy, jnp.asarray(wins), jnp.asarray(rounds))
    return rng, rounds, wins, states, jax.random.split(jax.random.key(321), number)


ONCE = [(4, 4_000), pytest.param(4, 100_000, marks=SLOW)]


@SLOW
@pytest.mark.parametrize(("num_arms", "number"), ONCE)
def test_waits_of_ccb_are_geometric(num_arms, number):
    """By the sets that the policy holds after it was asked, which then do not move."""
    policy = policies.get("ccb", alpha=ALPHA)
    with jax.enable_x64(True):
        rng, rounds, wins, states, keys = random_instances(policy, num_arms, number)
        believed = (
            rng.random(wins.shape) < rng.choice([0, 0.2, 0.7], number)[:, None, None]
        )
        believed &= ~np.eye(num_arms, dtype=bool)
        states = states._replace(
            beliefs=states.beliefs._replace(
                hopefuls=jnp.asarray(rng.random((number, num_arms)) < 0.5),
                superiors=jnp.asarray(believed),
                losses=jnp.asarray(rng.integers(0, num_arms + 1, number), jnp.int32),
            )
        )
        duel, after = ask_all(policy, states, rounds, keys)
        step = policies.get("ccb", alpha=ALPHA, look_ahead=False)
        ends = rounds + np.maximum(np.asarray(duel.exploit_rounds) - 1, 0)
        later = ask_all(step, after, ends, keys)[1].beliefs
        duel, after, later = jax.tree.map(np.asarray, (duel, after.beliefs, later))
    idles = duel.exploit_rounds > 1
    for one, other in zip(after, later, strict=True):
        np.testing.assert_array_equal(one[idles], other[idles])

    level = log_thresholds(wins)
    is_open = log_of(rounds)[:, None, None] > level
    behind = (wins < np.swapaxes(wins, 1, 2)) & ~is_open
    lost = np.count_nonzero(behind, axis=2)
    optimistic = lost == lost.min(axis=1, keepdims=True)
    both = optimistic & after.hopefuls
    pool = optimistic / optimistic.sum(axis=1, keepdims=True)
    loyal = both / np.maximum(both.sum(axis=1, keepdims=True), 1)
    pool = np.where(both.any(axis=1)[:, None], loyal * 2 / 3 + pool / 3, pool)
    check = np.where((after.superiors & is_open).any(axis=(1, 2)), 0.25, 0.0)
    busy = is_open.any(axis=2)
    differ = check + (1 - check) * np.where(busy, pool, 0).sum(axis=1)
    same = (1 - check) * np.where(busy, 0, pool).sum(axis=1)
    assert np.all(duel.exploit_rounds[same == 0] == 0)
    assert np.all(duel.explore_rounds[same == 0] == 1)
    assert not np.any(
        busy[np.arange(number), duel.champion] & (duel.exploit_rounds > 0)
    )
    last = last_rounds(np.where(is_open, np.inf, level).min(axis=(1, 2)))
    assert np.all(duel.exploit_rounds <= windows(rounds, last)[1])
    p = p_values(
        uniforms_of(
            duel.exploit_rounds, duel.explore_rounds > 0, log_stay(differ, same), rng
        ),
        differ,
    )
    assert min(p.values()) > FALSE_ALARM / len(p), p
    assert 0.02 < np.mean(idles) < 0.9
