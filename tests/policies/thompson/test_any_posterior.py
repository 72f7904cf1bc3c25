"""D-TS over any posterior of the pairs: a user's own model, and those on one scale."""

from dataclasses import dataclass
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.policies import DoubleThompson
from bayesduel.policies.over_models.base import one_round
from bayesduel.policies.over_models.double_thompson import SampledDoubleThompson
from bayesduel.posteriors import HMC, Laplace, PairPosterior
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.posteriors.models_of_ones_own import InNumPy, ShownFirst


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Matrices(Laplace):
    """The same posterior, of which only matrices are known."""

    @property
    def on_a_scale(self):
        return False


def rule_over(posterior):
    return SampledDoubleThompson(posterior, 0.51, True, False, at_once=40)


@cache
def told():
    """Return what is known after some votes, counts for bounds too."""
    wins = np.array([[0, 40, 30, 2], [9, 0, 12, 3], [8, 9, 0, 1], [1, 4, 2, 0]])
    rule = rule_over(Laplace())
    state = quick_jit(partial(rule.init, num_arms=4, horizon=jnp.int64(1)))(
        jax.random.key(0)
    )
    tell = quick_jit(rule.update)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        duel = one_round(jnp.int32(i), jnp.int32(j))
        rounds = jnp.int64(wins[i, j] + wins[j, i])
        votes = Outcome(jnp.int64(0), rounds, jnp.int64(wins[i, j]))
        state = tell(jax.random.key(1), state, jnp.int64(1), duel, votes)
    return state


def test_utilities_choose_as_matrices_do():
    """The same draws, the same two arms, with bounds."""
    with jax.enable_x64(True):
        found = []
        for kind in (Laplace, Matrices):
            rule, state = rule_over(kind()), told()
            key = jax.random.key(7)
            if kind is Laplace:  # Matrices need a key for ties as well.
                key = jax.random.split(key)[0]
            sets = quick_jit(rule._sets)(state, jnp.int64(150))

            @quick_jit
            def rounds(key, beliefs, sets, rule=rule):
                _, stay, arms = rule._rounds(key, beliefs, sets)
                return stay, jax.vmap(arms)(jnp.arange(40))

            stay, arms = rounds(key, state.beliefs, sets)
            assert np.all(np.ptp(np.asarray(arms)[np.asarray(stay)], axis=1) == 0)
            found.append(arms)
    np.testing.assert_array_equal(*found)
    assert all(len(np.unique(arms)) > 1 for arms in np.transpose(found[0]))


def test_names_and_numbers_of_posteriors():
    for text, label in (
        ("d-ts:posterior=bradley-terry", "D-TS:posterior=bradley-terry"),
        ("d-ts:posterior=thurstone,prior_scale=3",
         "D-TS:posterior=thurstone,prior_scale=3.0"),
        ("d-ts:posterior=thurstone-hmc,mcmc_steps=8",
         "D-TS:posterior=thurstone-hmc,mcmc_steps=8"),
        ("d-ts:posterior=beta,prior=2", "D-TS:prior=2"),
        ("pure-d-ts:posterior=bradley-terry", "BT-TS"),
        ("bt-ts:posterior=laplace", "BT-TS"),
        ("bt-ts:posterior=mcmc", "BT-TS:posterior=bradley-terry-hmc"),
        ("bt-ts:prior_scale=1", "BT-TS:prior_scale=1.0"),
        ("bt-ts:order_effect=true", "BT-TS:order_effect=True"),
    ):  # fmt: skip
        policy = policies.parse_policy(text)
        assert policy.label == label
        assert (
            policies.parse_policy(policy.label.lower().replace("pure ", "pure-"))
            == policy
        )
        policy.check(5, 100)
    found = policies.parameters(policies.parse_policy("bt-ts:prior_scale=1"))[
        "posterior"
    ]
    assert (found["name"], found["prior_scale"]) == ("bradley-terry", 1.0)
    own = DoubleThompson(posterior=Laplace(ShownFirst(scale=1.0)))
    assert own.label == "D-TS:posterior=shown-first,scale=1.0"
    assert HMC(Thurstone()).name == "thurstone-hmc"
    assert isinstance(HMC(), PairPosterior)


def test_what_cannot_drive_it_is_refused():
    for posterior, words in (
        (Laplace(InNumPy()), "preference_matrices of InNumPy must run inside compiled"),
        ("normal", "posterior must be one of beta, bradley-terry"),
        (3, "posterior must be one of beta.*got 3"),
        (BradleyTerry(), "such as Laplace.Thurstone.*got BradleyTerry"),
    ):
        with pytest.raises(PolicyParameterError, match=words):
            DoubleThompson(posterior=posterior).check(4, 100)
