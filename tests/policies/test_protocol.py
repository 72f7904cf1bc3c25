"""The contract of one exchange with a rule over a model.

Shapes, dtypes, keys and comparisons, found by tracing. What runs must do is in
``test_contract.py``; the loop refuses arms that there are not.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.over_models.base import largest, model_rule
from bayesduel.policies.policy import over_model
from bayesduel.types import Outcome
from tests.compiling import compared_with_themselves

RULES = (
    "bt-ts", "bt-ts:elimination=true", "bt-ts:posterior=bradley-terry-hmc",
    "d-ts:posterior=thurstone", "information:posterior=bradley-terry",
    "rd-ts:posterior=bradley-terry", "rd-ts:posterior=bradley-terry,cost=duels",
)  # fmt: skip
"""Every rule in JAX, and its forms."""


MIXED = {"bt-ts:posterior=bradley-terry-hmc"}
"""NumPyro's sampler is not as strict."""


def rule_of(text):
    """Return what plays a policy over a model."""
    return over_model(policies.parse_policy(text))


def one_exchange(rule, key, num_arms=4):
    """Everything that is asked of a rule, once; returns the states on the way."""
    key_init, key_choose, key_update, key_end = jax.random.split(key, 4)
    round_ = jnp.int64(1)
    start = rule.init(key_init, num_arms, jnp.int64(1000))
    duel, chosen = rule.choose(key_choose, start, round_)
    outcome = Outcome(
        exploit_rounds=duel.exploit_rounds,
        rounds=duel.explore_rounds,
        wins=jnp.zeros_like(duel.explore_rounds),
    )
    after = rule.update(key_update, chosen, round_, duel, outcome)
    return duel, start, chosen, after, rule.recommend(key_end, after)


def traced(rule):
    """Trace an exchange."""
    with jax.enable_x64(True):
        return jax.jit(lambda key: one_exchange(rule, key)).trace(jax.random.key(0))


def shape_of(state):
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.weak_type), state)


@pytest.mark.parametrize("text", RULES)
def test_an_exchange_is_what_the_loop_needs(text, request):
    """Structure, shapes and dtypes stay; dtypes never mix, and keys serve once.

    Nor is a number compared with itself, as XLA may round it twice.
    """
    if text not in MIXED:
        request.getfixturevalue("strict_jax")
    exchange = traced(rule_of(text))
    duel, start, chosen, after, arm = exchange.out_info
    assert shape_of(chosen) == shape_of(start)
    assert shape_of(after) == shape_of(start)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(start))
    assert {value.shape for value in jax.tree.leaves((duel, arm))} == {()}
    assert duel.exploit_rounds.dtype == duel.explore_rounds.dtype == np.int64
    for value in (duel.champion, duel.first, duel.second, arm):
        assert value.dtype == np.int32
    assert not compared_with_themselves(exchange.jaxpr.jaxpr)


def test_a_comparison_of_a_number_with_itself_is_found():
    """A maximum of what was computed, in place of ``largest``."""
    bad = jax.make_jaxpr(lambda x: jnp.exp(x) == jnp.max(jnp.exp(x) * 1.0))(jnp.ones(3))
    assert not compared_with_themselves(bad.jaxpr)  # Two computations, to begin with.
    bad = jax.make_jaxpr(lambda x: (y := jnp.exp(x)) == jnp.max(y))(jnp.ones(3))
    assert len(compared_with_themselves(bad.jaxpr)) == 1
    good = jax.make_jaxpr(lambda x: largest(jnp.exp(x)))(jnp.ones(3))
    assert not compared_with_themselves(good.jaxpr)


def test_a_key_used_twice_is_noticed(strict_jax):
    """The test above can fail: a rule that reuses its key does."""

    @model_rule
    class Careless(type(rule_of("bt-ts"))):
        def choose(self, rng_key, state, round_):
            jax.random.uniform(rng_key)
            jax.random.uniform(rng_key)
            return super().choose(rng_key, state, round_)

    careless = Careless(**vars(rule_of("bt-ts")))
    with pytest.raises(jax.errors.KeyReuseError):
        traced(careless)
