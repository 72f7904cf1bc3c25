"""What the simulator may rely on in one exchange with a registered policy in JAX.

Shapes, dtypes and keys, found by tracing; what runs must do is in ``test_contract.py``.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.types import Outcome
from tests.policies.forms import IN_JAX, forms

FORMS = [form for name in IN_JAX for form in forms(name)]
DEFAULTS = [policies.get(name) for name in IN_JAX]


def one_exchange(policy, key, num_arms=4):
    """Everything that is asked of a policy, once; returns the states on the way."""
    key_init, key_choose, key_update, key_end = jax.random.split(key, 4)
    round_ = jnp.int64(1)
    start = policy.init(key_init, num_arms, jnp.int64(1000))
    duel, chosen = policy.choose(key_choose, start, round_)
    outcome = Outcome(
        exploit_rounds=duel.exploit_rounds,
        rounds=duel.explore_rounds,
        wins=jnp.zeros_like(duel.explore_rounds),
    )
    after = policy.update(key_update, chosen, round_, duel, outcome)
    return duel, start, chosen, after, policy.recommend(key_end, after)


def shape_of(state):
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.weak_type), state)


@pytest.mark.parametrize("policy", FORMS, ids=repr)
def test_state_keeps_structure_shapes_and_dtypes(policy):
    with jax.enable_x64(True):
        duel, start, chosen, after, arm = jax.eval_shape(
            lambda key: one_exchange(policy, key), jax.random.key(0)
        )
    assert shape_of(chosen) == shape_of(start)
    assert shape_of(after) == shape_of(start)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(start))
    assert {each.shape for each in jax.tree.leaves((duel, arm))} == {()}
    assert duel.exploit_rounds.dtype == duel.explore_rounds.dtype == np.int64
    for each in (duel.champion, duel.first, duel.second, arm):
        assert each.dtype == np.int32


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(form, marks=[pytest.mark.slow] * (form not in DEFAULTS))
        for form in FORMS
    ],
    ids=repr,
)
def test_dtypes_never_mix_and_keys_serve_once(policy, strict_jax):
    """Checked while tracing; rank promotion is refused in all tests."""
    with jax.enable_x64(True):
        jax.jit(lambda key: one_exchange(policy, key)).trace(jax.random.key(0))


def test_a_key_used_twice_is_noticed(strict_jax):
    """The test above can fail: a policy that reuses its key does."""

    class Careless(type(policies.get("bt-ts"))):
        def choose(self, rng_key, state, round_):
            jax.random.uniform(rng_key)
            jax.random.uniform(rng_key)
            return super().choose(rng_key, state, round_)

    careless = policies.base.policy_class(Careless)()
    with jax.enable_x64(True), pytest.raises(jax.errors.KeyReuseError):
        jax.jit(lambda key: one_exchange(careless, key)).trace(jax.random.key(0))
