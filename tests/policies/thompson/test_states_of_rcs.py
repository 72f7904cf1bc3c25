"""How long RCS waits, in random states that no run may reach.

``waits`` says by which law.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.compiling import quick_jit
from tests.policies.random_states import (
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
    sign_patterns,
    tails,
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


@pytest.mark.parametrize("fallback", ["least", pytest.param("random", marks=SLOW)])
@pytest.mark.parametrize(("num_arms", "number"), ONCE)
def test_waits_of_rcs_are_geometric(fallback, num_arms, number):
    policy = policies.get("rcs", fallback=fallback)
    with jax.enable_x64(True):
        rng, rounds, wins, states, keys = random_instances(policy, num_arms, number)
        reigns = (
            rng.integers(0, 4, (number, num_arms))
            * rng.choice([1, 10**9], number)[:, None]
        )
        states = states._replace(reigns=jnp.asarray(reigns))
        duel = jax.tree.map(np.asarray, ask_all(policy, states, rounds, keys)[0])
    level = log_thresholds(wins)
    beaten = (wins < np.swapaxes(wins, 1, 2)) & (log_of(rounds)[:, None, None] <= level)
    sure = (beaten | np.eye(num_arms, dtype=bool)).all(axis=1)
    among = (
        reigns == reigns.min(axis=1, keepdims=True)
        if fallback == "least"
        else sure | True
    )
    fallbacks = among / among.sum(axis=1, keepdims=True)
    votes, weight = sign_patterns(tails(wins))
    champion = (votes == num_arms - 1).astype(float)
    nobody = weight @ (champion.sum(axis=1) == 0)
    law = weight @ champion + nobody[:, None] * fallbacks
    same = np.where(sure, law, 0.0).sum(axis=1)
    differ = np.where(sure, 0.0, law).sum(axis=1)
    # In a reign of the sure winner others may become those that reigned least.
    jumps = (sure & ~(among if fallback == "least" else sure & False)).any(axis=1)
    assert np.all(duel.exploit_rounds[~jumps] == 0)
    assert np.all(duel.explore_rounds[~jumps] == 1)
    assert np.all(sure[np.arange(number), duel.champion][jumps])
    assert jumps.sum() > number / 50
    last = last_rounds(np.where(sure[:, None, :], level, np.inf).min(axis=(1, 2)))
    least, longest = windows(rounds, last)
    assert np.all(duel.exploit_rounds[jumps] <= longest[jumps])
    cut = jumps & (duel.explore_rounds == 0)
    assert np.all(duel.exploit_rounds[cut] >= least[cut])
    assert cut.sum() > 10
    p = p_values(
        uniforms_of(
            duel.exploit_rounds[jumps],
            duel.explore_rounds[jumps] > 0,
            log_stay(differ, same)[jumps],
            rng,
        ),
        differ[jumps],
    )
    assert min(p.values()) > FALSE_ALARM / len(p), p
