"""What the simulator may rely on in one exchange with a rule over a model.

Shapes, dtypes and keys, found by tracing, and duels that can be played; what runs must
do is in ``test_contract.py``.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.over_models.base import model_rule
from bayesduel.policies.policy import over_model
from bayesduel.types import Outcome
from tests.policies.driving import play
from tests.policies.instances import MATRICES, random_outcomes

QUICK = ("bt-ts", "bt-ts:elimination=true")

RULES = (
    *QUICK,
    "bt-ts:look_ahead=false",
    "bt-ts:posterior=mcmc",
    "d-ts:posterior=thurstone",
    "information:posterior=bradley-terry",
    "rd-ts:posterior=bradley-terry",
    "rd-ts:posterior=thurstone,cost=duels",
    "bt-ts:every=3",
)
"""Every rule in JAX, its forms, and what is played around one."""


MIXED = {"bt-ts:posterior=mcmc"}
"""NumPyro's sampler is not as strict."""


def slowly(quick, among):
    """Return rules, with all but these left to the slow tests."""
    return [
        pytest.param(text, marks=[pytest.mark.slow] * (text not in quick))
        for text in among
    ]


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


def shape_of(state):
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.weak_type), state)


@pytest.mark.parametrize("text", RULES)
def test_state_keeps_structure_shapes_and_dtypes(text):
    with jax.enable_x64(True):
        duel, start, chosen, after, arm = jax.eval_shape(
            lambda key: one_exchange(rule_of(text), key), jax.random.key(0)
        )
    assert shape_of(chosen) == shape_of(start)
    assert shape_of(after) == shape_of(start)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(start))
    assert {each.shape for each in jax.tree.leaves((duel, arm))} == {()}
    assert duel.exploit_rounds.dtype == duel.explore_rounds.dtype == np.int64
    for each in (duel.champion, duel.first, duel.second, arm):
        assert each.dtype == np.int32


@pytest.mark.parametrize(
    "text", slowly(QUICK, [each for each in RULES if each not in MIXED])
)
def test_dtypes_never_mix_and_keys_serve_once(text, strict_jax):
    """Checked while tracing; rank promotion is refused in all tests."""
    with jax.enable_x64(True):
        jax.jit(lambda key: one_exchange(rule_of(text), key)).trace(jax.random.key(0))


def test_a_key_used_twice_is_noticed(strict_jax):
    """The test above can fail: a rule that reuses its key does."""

    @model_rule
    class Careless(type(rule_of("bt-ts"))):
        def choose(self, rng_key, state, round_):
            jax.random.uniform(rng_key)
            jax.random.uniform(rng_key)
            return super().choose(rng_key, state, round_)

    careless = Careless(**vars(rule_of("bt-ts")))
    with jax.enable_x64(True), pytest.raises(jax.errors.KeyReuseError):
        jax.jit(lambda key: one_exchange(careless, key)).trace(jax.random.key(0))


HORIZON, EVENTS = 60, 120
"""More events than these rules need, reports that are read included."""

ONE_OF_A_KIND = (
    "bt-ts",
    "bt-ts:posterior=mcmc",
    "information:posterior=bradley-terry",
    "bt-ts:every=3",
)
"""RD-TS is asked for its rounds, state by state, in ``test_rivals_over_models``."""


@pytest.mark.parametrize("text", slowly({"bt-ts"}, ONE_OF_A_KIND))
def test_duels_are_well_formed(text):
    """Arms are indices wherever they are asked to play, and all rounds are played."""
    outcomes = random_outcomes(MATRICES["cyclic"], 400, np.random.default_rng(30))
    with jax.enable_x64(True):
        played = play(
            rule_of(text),
            jnp.asarray(outcomes),
            jax.random.key(31),
            jnp.int64(HORIZON),
            num_events=EVENTS,
        )
        events, rounds, _, best = jax.tree.map(np.asarray, played)
    exploits, explores = events.exploit_rounds, events.explore_rounds
    assert exploits.min() >= 0 and explores.min() >= 0 and explores.max() == 1
    assert exploits.sum() + explores.sum() == rounds == HORIZON
    for arms, times in (
        (events.champion, exploits),
        (events.first, explores),
        (events.second, explores),
    ):
        assert np.all((arms[times > 0] >= 0) & (arms[times > 0] < 4))
    assert 0 <= best < 4
