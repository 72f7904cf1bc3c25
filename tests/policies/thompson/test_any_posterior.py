"""D-TS over any posterior of the pairs: a user's own model, and those on one scale."""

from dataclasses import dataclass
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import bayesduel
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

ERRORS = 4.3
"""Standard errors by which means differ: one-sided, a false alarm of 1e-5."""

STRENGTHS = np.array([0.2, 1.0, -0.4, -0.8])
BEST = 1
BONUS = 3.0
"""Log odds of the arm that is shown first, beyond any difference of strengths."""

ROUNDS = 400


@partial(jax.jit, static_argnames="num_runs")
def play_in_order(policy, key, num_runs=40):
    """Let a policy ask judges who favor what they see first; one round after another.

    Returns what it recommends, and both arms of every round.
    """
    strength = jnp.asarray(STRENGTHS)

    def run(key):
        key_init, key_rounds, key_end = jax.random.split(key, 3)

        def play_round(state, number):
            keys = jax.random.split(jax.random.fold_in(key_rounds, number), 3)
            duel, state = policy.choose(keys[0], state, number + 1)
            odds = strength[duel.first] - strength[duel.second] + BONUS
            uniform = jax.random.uniform(keys[1], dtype=jnp.float64)
            wins = (uniform < jax.nn.sigmoid(odds)).astype(jnp.int64)
            outcome = Outcome(jnp.int64(0), jnp.int64(1), wins)
            state = policy.update(keys[2], state, number + 1, duel, outcome)
            return state, jnp.stack([duel.first, duel.second])

        start = policy.init(key_init, len(STRENGTHS), jnp.int64(ROUNDS))
        state, arms = jax.lax.scan(play_round, start, jnp.arange(ROUNDS))
        return policy.recommend(key_end, state), arms

    return jax.vmap(run)(jax.random.split(key, num_runs))


def late_share(model):
    """Return recommendations, and how often each run shows the best arm at the end."""
    policy = DoubleThompson(posterior=Laplace(model), look_ahead=False)
    policy.check(len(STRENGTHS), ROUNDS)
    with jax.enable_x64(True):
        recommended, arms = play_in_order(policy.over_model(), jax.random.key(1))
    return np.asarray(recommended), np.mean(
        np.asarray(arms)[:, ROUNDS // 2 :] == BEST, axis=(1, 2)
    )


@pytest.mark.slow
def test_a_model_of_ones_own_learns_the_arms_and_not_the_order():
    """Without its order effect the same policy takes who is first for who is good."""
    recommended, share = late_share(ShownFirst())
    # One run in fifty names another arm after 400 rounds.
    assert np.mean(recommended == BEST) > 0.9
    _, blind = late_share(BradleyTerry())
    error = np.sqrt((share.var() + blind.var()) / len(share))
    assert share.mean() - blind.mean() > ERRORS * error
    assert share.mean() > 0.7


UTILITIES = np.array([-0.6, 1.4, 0.1, -0.3, -1.0])


def thurstone_world():
    gap = UTILITIES[:, None] - UTILITIES[None, :]
    return norm.cdf(gap / np.sqrt(2.0))


@pytest.mark.slow  # Runs over another model are held quickly in ``test_contract``.
def test_thurstone_drives_a_simulation():
    """Which arm is best is learnt, and regret comes to rest."""
    found = bayesduel.simulate(
        thurstone_world(),
        "d-ts:posterior=thurstone-hmc",
        num_runs=8,
        horizon=600,
        checkpoints=[100, 300, 600],
        seed=2,
    )
    regret = found["regret"].sel(notion="copeland").values.squeeze().mean(axis=0)
    assert np.all(found["recommendation"] == UTILITIES.argmax())
    # Of uniformly random pairs the regret of a round is 1/2.
    assert regret[0] > 5.0
    assert regret[2] - regret[1] < 0.05 * 0.5 * 300


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Matrices(Laplace):
    """The same posterior, of which only matrices are known."""

    @property
    def on_a_scale(self):
        return False


def rule_over(posterior, *, elimination):
    return SampledDoubleThompson(posterior, 0.51, elimination, False, at_once=40)


@cache
def told():
    """Return what is known after some votes, counts for bounds too, in either form."""
    wins = np.array([[0, 40, 30, 2], [9, 0, 12, 3], [8, 9, 0, 1], [1, 4, 2, 0]])
    rule = rule_over(Laplace(), elimination=True)
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


@pytest.mark.parametrize(
    "elimination", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_utilities_choose_as_matrices_do(elimination):
    """The same draws, the same two arms, with and without bounds."""
    with jax.enable_x64(True):
        found = []
        for kind in (Laplace, Matrices):
            rule, state = rule_over(kind(), elimination=elimination), told()
            state = state if elimination else state._replace(wins=None)
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
    with pytest.raises(PolicyParameterError, match="tie_break must be random with"):
        policies.get("d-ts+", posterior="thurstone").check(4, 100)
    with pytest.raises(PolicyParameterError, match="prior_scale must be"):
        policies.parse_policy("d-ts:posterior=thurstone,prior_scale=-1")
