"""No rule over a model compares a number with itself as XLA may round it twice."""

import jax
import jax.numpy as jnp
import pytest

from bayesduel import policies
from bayesduel.policies.over_models.counting import largest
from bayesduel.types import Outcome
from tests.compiling import compared_with_themselves

RULES = (
    "bt-ts",
    "bt-ts:elimination=true",
    "d-ts:posterior=thurstone",
    "bt-ts:posterior=bradley-terry-hmc",
    "information:posterior=bradley-terry",
    "rd-ts:posterior=bradley-terry",
    "rd-ts:posterior=bradley-terry,cost=duels",
)


def exchange(rule, key):
    """Everything that is asked of a rule, once."""
    keys = jax.random.split(key, 4)
    state = rule.init(keys[0], 4, jnp.int64(1000))
    duel, state = rule.choose(keys[1], state, jnp.int64(1))
    outcome = Outcome(duel.exploit_rounds, duel.explore_rounds, duel.explore_rounds)
    state = rule.update(keys[2], state, jnp.int64(1), duel, outcome)
    return duel, rule.recommend(keys[3], state)


@pytest.mark.parametrize("text", RULES)
def test_no_number_meets_itself(text):
    rule = policies.parse_policy(text).over_model()
    with jax.enable_x64(True):
        found = jax.make_jaxpr(lambda key: exchange(rule, key))(jax.random.key(0))
    assert not compared_with_themselves(found.jaxpr)


def test_the_search_finds_such_a_comparison():
    """A maximum of what was computed, in place of ``largest``."""
    bad = jax.make_jaxpr(lambda x: jnp.exp(x) == jnp.max(jnp.exp(x) * 1.0))(jnp.ones(3))
    assert not compared_with_themselves(bad.jaxpr)  # Two computations, to begin with.
    bad = jax.make_jaxpr(lambda x: (y := jnp.exp(x)) == jnp.max(y))(jnp.ones(3))
    assert len(compared_with_themselves(bad.jaxpr)) == 1
    good = jax.make_jaxpr(lambda x: largest(jnp.exp(x)))(jnp.ones(3))
    assert not compared_with_themselves(good.jaxpr)
