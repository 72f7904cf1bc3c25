"""Events of real policies give in lanes what ``jax.vmap`` gives.

Each rule for lanes has a small test of its own, in ``test_trailing_vmap``.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.simulation import trailing_vmap
from bayesduel.types import Outcome
from tests.compiling import names_in, quick_jit
from tests.policies.forms import IN_JAX

QUICK = {"bt-ts", "pcomp", "scomp"}
"""Policies that have every operation of those that are played in lanes on a CPU, see
the last test. The others have a kernel."""


NUM_ARMS = 5
HORIZON = 10**6


def as_traced(name):
    return jax.tree.map(jnp.float64, policies.get(name))


def begin_of(policy, key):
    return policy.init(key, NUM_ARMS, jnp.int64(HORIZON))


def event_of(policy, key, state, played, luck):
    key_choose, key_update = jax.random.split(key)
    duel, state = policy.choose(key_choose, state, played + 1)
    exploit = jnp.minimum(duel.exploit_rounds, HORIZON - played)
    explore = jnp.minimum(duel.explore_rounds, HORIZON - played - exploit)
    # Strong preferences, so that waiting begins soon.
    wins = jnp.where((luck < 0.97) == (duel.first < duel.second), explore, 0)
    now = played + exploit + explore
    outcome = Outcome(exploit, explore, wins)
    return policy.update(key_update, state, now, duel, outcome), now, duel


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK))
        for name in IN_JAX
    ],
)
def test_events_of_policies(name):
    """An event of each policy, a few times over, from states that really occur."""
    num_lanes = 7
    rng = np.random.default_rng(22)
    with jax.enable_x64(True):
        policy = as_traced(name)
        event = partial(event_of, policy)
        last = quick_jit(trailing_vmap.map_lanes(event, num_lanes))
        first = quick_jit(jax.vmap(event, in_axes=-1, out_axes=-1))
        keys = jax.random.split(jax.random.key(23), num_lanes)
        begin = jax.vmap(partial(begin_of, policy), out_axes=-1)
        state = quick_jit(begin)(keys)
        played = jnp.zeros(num_lanes, dtype=jnp.int64)
        for number in range(100):
            keys = jax.vmap(jax.random.fold_in, (0, None))(keys, number)
            arguments = keys, state, played, jnp.asarray(rng.random(num_lanes))
            ours, theirs = last(*arguments), first(*arguments)
            for one, other in zip(
                jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True
            ):
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
                np.testing.assert_allclose(
                    np.asarray(one), np.asarray(other), rtol=1e-12
                )
            state, played, _ = ours
        # They moved, and not in step: in rounds, or in what they have learnt from them.
        assert np.all(np.asarray(played) >= 100)
        assert any(
            np.any(np.asarray(leaf) != np.asarray(leaf)[..., :1])
            for leaf in (played, *jax.tree.leaves(state))
        )


def test_quick_cases_have_all_operations():
    """Each rule for lanes is met quickly within some policy that is played in them."""
    in_lanes = [
        name
        for name, policy in zip(IN_JAX, map(policies.get, IN_JAX), strict=True)
        if not policy.scalar_kernel()
    ]
    with jax.enable_x64(True):
        found = {name: operations_of(as_traced(name)) for name in in_lanes}
    met = set().union(*(found[name] for name in QUICK))
    assert {name: each - met for name, each in found.items() if each - met} == {}


def operations_of(policy):
    key = jax.random.key(0)
    begin = jax.eval_shape(partial(begin_of, policy), key)
    arguments = key, begin, jnp.int64(0), jnp.float64(0.5)
    return names_in(jax.make_jaxpr(partial(event_of, policy))(*arguments).jaxpr)
