"""D-TS over any posterior of the pairs: a user's own model, and those on one scale."""

import json
from dataclasses import dataclass
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.models import Thurstone
from bayesduel.policies import DoubleThompson
from bayesduel.policies.over_models.base import one_round
from bayesduel.policies.over_models.double_thompson import (
    SampledDoubleThompson,
    SampledState,
    least_estimated_regret,
)
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.policies.policy import over_model
from bayesduel.posteriors import HMC, BetaPairs, Laplace, PairPosterior
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.models.in_policies.models_of_ones_own import ShownFirst
from tests.reference.double_thompson import DoubleThompsonPlus


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Matrices(Laplace):
    """The same posterior, of which only matrices are known."""

    @property
    def on_a_scale(self):
        return False


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Means(Matrices):
    """The belief is the mean itself."""

    def mean(self, state):
        return state


def rule_over(posterior):
    return SampledDoubleThompson(posterior, 0.51, True, False, at_once=40)


@cache
def state_after():
    """Return what is known after some votes, counts for bounds too.

    Each of three arms surely loses to another one, which may not be asked against it.
    """
    wins = np.array([[0, 40, 10, 42], [9, 0, 44, 40], [41, 8, 0, 41], [4, 4, 5, 0]])
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


@pytest.mark.slow
def test_utilities_choose_as_matrices_do():
    """The same draws, the same two arms, with bounds."""
    with jax.enable_x64(True):
        results = []
        for kind in (Laplace, Matrices):
            rule, state = rule_over(kind()), state_after()
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
            results.append(arms)
    np.testing.assert_array_equal(*results)
    assert all(len(np.unique(arms)) > 1 for arms in np.transpose(results[0]))


def test_least_regret_breaks_ties_as_in_the_twin():
    """Also where samples are 0, 1/2 and 1, and where not all arms are candidates."""
    rng, choose, ties = np.random.default_rng(5), jax.jit(least_estimated_regret), 0
    twin = DoubleThompsonPlus(5, rng)
    rows, columns = np.triu_indices(5, 1)
    with jax.enable_x64(True):
        for _ in range(200):
            theta = np.full((5, 5), 0.5)
            theta[rows, columns] = rng.choice([0, 0.2, 0.4, 0.5, 0.7, 0.9, 1], 10)
            theta[columns, rows] = 1 - theta[rows, columns]
            candidates = rng.random(5) < 0.7
            candidates[rng.integers(5)] = True
            scores = np.count_nonzero(theta > 0.5, axis=1)
            votes = np.where(candidates, scores, -1)
            tied = np.flatnonzero(votes == votes.max())
            regret = twin.estimated_regret(theta, scores)[tied]
            least = tied[np.isclose(regret, regret.min(), rtol=1e-12, atol=0)]
            ties += len(tied) > len(least)
            assert choose(rng.random(), candidates, theta) in least
    assert ties > 50


def test_off_a_scale_the_arm_that_beats_most_is_recommended():
    """Then the one that wins most in sum, then any; a mean of 1/2 beats nobody."""
    rng, rows, columns = np.random.default_rng(6), *np.triu_indices(4, 1)
    recommend = quick_jit(jax.vmap(rule_over(Means()).recommend, in_axes=(0, None)))
    sizes = set()
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(3), 60)
        for _ in range(60):
            mean = np.full((4, 4), 0.5)
            mean[rows, columns] = rng.choice([0, 0.3, 0.5, 0.7, 1], 6)
            mean[columns, rows] = 1 - mean[rows, columns]
            beaten, total = np.count_nonzero(mean > 0.5, axis=1), mean.sum(axis=1)
            most = np.flatnonzero(beaten == beaten.max())
            best = most[np.isclose(total[most], total[most].max())]
            result = recommend(keys, SampledState(beliefs=mean, wins=None))
            # The chance that 60 draws never name one of four equal arms is 1 in 10^7.
            np.testing.assert_array_equal(np.unique(result), best)
            sizes.add((len(most), len(best)))
    assert {(1, 1), (2, 1), (2, 2)} <= sizes


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("d-ts:posterior=bradley-terry", "D-TS:posterior=bradley-terry"),
        ("d-ts:posterior=thurstone,prior_scale=3",
         "D-TS:posterior=thurstone,prior_scale=3.0"),
        ("d-ts:posterior=thurstone-hmc,mcmc_steps=8",
         "D-TS:posterior=thurstone-hmc,mcmc_steps=8"),
        ("d-ts:posterior=beta,prior=2", "D-TS:prior=2"),
        ("d-ts:prior=2", "D-TS:prior=2"),
        ("d-ts+:prior=0.5", "D-TS+:prior=0.5"),
        ("pure-d-ts:prior=3", "Pure D-TS:prior=3"),
        ("pure-d-ts:posterior=bradley-terry", "BT-TS"),
        ("bt-ts:posterior=laplace", "BT-TS"),
        ("bt-ts:posterior=mcmc", "BT-TS:posterior=bradley-terry-hmc"),
        ("bt-ts:prior_scale=1", "BT-TS:prior_scale=1.0"),
        ("bt-ts:order_effect=true", "BT-TS:order_effect=True"),
        ("rd-ts:posterior=bradley-terry", "RD-TS:posterior=bradley-terry"),
        ("rd-ts:posterior=thurstone,prior_scale=3",
         "RD-TS:posterior=thurstone,prior_scale=3.0"),
        ("rd-ts:cost=duels,posterior=bradley-terry-hmc",
         "RD-TS:cost=duels,posterior=bradley-terry-hmc"),
        ("rd-ts:posterior=beta", "RD-TS"),
        ("rd-ts:prior=1,c=10", "RD-TS:c=10.0,prior=1"),
    ],
)  # fmt: skip
def test_names_and_numbers_of_posteriors(text, label):
    policy = policies.parse_policy(text)
    assert policy.label == label
    name = policy.label.lower().replace("pure ", "pure-")
    assert policies.parse_policy(name) == policy
    policy.check(5, 100)


def test_posteriors_are_what_their_names_say():
    default, two = policies.get("d-ts"), policies.get("d-ts", prior=2.0)
    assert default.posterior == BetaPairs()
    assert policies.get("d-ts", prior=1.0) == default
    assert two == policies.DoubleThompson(posterior=BetaPairs(prior=2.0))
    assert json.loads(parameters_json(two))["posterior"] == {"name": "beta", "prior": 2}
    scaled = policies.parameters(policies.parse_policy("bt-ts:prior_scale=1"))
    result = scaled["posterior"]
    assert (result["name"], result["prior_scale"]) == ("bradley-terry", 1.0)
    assert policies.get("d-ts", posterior="bradley-terry") == policies.get(
        "bt-ts", elimination=True
    )
    mine = DoubleThompson(posterior=Laplace(ShownFirst(scale=1.0)))
    assert mine.label == "D-TS:posterior=shown-first,scale=1.0"
    assert HMC(Thurstone()).name == "thurstone-hmc"
    assert isinstance(HMC(), PairPosterior)
    assert policies.get("rd-ts").posterior == BetaPairs(prior=5)
    assert over_model(policies.get("rd-ts")) is None
    assert policies.get("rd-ts", posterior="thurstone").scalar_kernel() is None


def test_a_table_of_priors_is_named_by_its_numbers():
    prior = np.array([[1, 1, 1, 0.5], [2, 1, 1, 0.5], [1, 3, 1, 0.5], [9, 9, 7, 1]])
    table = policies.get("d-ts", prior=prior)
    result = json.loads(parameters_json(table))["posterior"]["prior"]
    np.testing.assert_array_equal(result, prior)
    assert table.label.startswith("D-TS:prior=array ")
    assert table.label != policies.get("d-ts", prior=prior.T).label
    with pytest.raises(PolicyParameterError, match="3 x 3 table.*got \\(4, 4\\)"):
        table.check(3, 100)
