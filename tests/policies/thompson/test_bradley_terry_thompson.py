"""Bradley-Terry Thompson sampling: its posterior, and single rounds."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_expit

from bayesduel import policies
from bayesduel.policies.over_models.base import one_round
from bayesduel.policies.over_models.double_thompson import (
    round_sets as eager_round_sets,
)
from bayesduel.policies.policy import over_model
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.distributions import chi_square, pair_table, two_sample_chi_square
from tests.reference.bradley_terry_thompson import BayesianBradleyTerry as Twin

FALSE_ALARM = 1e-5
"""False-alarm rate of one test."""

round_sets = quick_jit(eager_round_sets)


def wins_of(state):
    """Return wins of the row, whoever was shown first."""
    votes = state.beliefs.votes
    return votes.won + votes.lost.T


@partial(quick_jit, static_argnums=2)
def start_all(rule, keys, num_arms):
    return jax.vmap(lambda key: rule.init(key, num_arms, jnp.int64(2**40)))(keys)


@quick_jit
def tell_all(rule, states, keys, duel, outcome):
    return jax.vmap(
        lambda key, state: rule.update(key, state, jnp.int64(1), duel, outcome)
    )(keys, states)


@quick_jit
def ask_all(rule, states, keys, round_):
    return jax.vmap(lambda key, state: rule.choose(key, state, round_)[0])(keys, states)


def states_after(rule, keys, rounds, num_arms=3):
    """Feed rounds (first, second, wins, number) to a rule; return its states."""
    states, none = start_all(rule, keys[0], num_arms), jnp.int64(0)
    for index, (first, second, wins, number) in enumerate(rounds, start=1):
        arms = jnp.int32(first), jnp.int32(second)
        duel = one_round(*arms)._replace(explore_rounds=jnp.int64(number))
        outcome = Outcome(none, jnp.int64(number), jnp.int64(wins))
        states = tell_all(rule, states, keys[index], duel, outcome)
    return states


ROUNDS = [(0, 1, 1, 1), (2, 0, 1, 1), (0, 1, 0, 1), (3, 1, 1, 1), (1, 2, 1, 1),
          (0, 3, 1, 1), (3, 3, 1, 1), (2, 1, 0, 1), (0, 3, 1, 1)]  # fmt: skip


def test_the_posterior_is_that_of_the_model_and_of_the_twin(strict_jax):
    """Mode and curvature after every round: three Newton steps keep up."""
    rule = over_model(policies.get("bt-ts", prior_scale=1.5))
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), (1 + len(ROUNDS), 1))
        states = states_after(rule, keys, ROUNDS, num_arms=4)
        state = jax.tree.map(lambda leaf: np.asarray(leaf[0]), states)
    twin = Twin(4, np.random.default_rng(0), prior_scale=1.5)
    for first, second, wins, _ in ROUNDS:
        twin.update(first, second, bool(wins))
    mode, covariance = twin.mode()
    distribution, shown = state.beliefs.distribution, np.zeros((4, 4))
    np.add.at(shown, tuple(zip(*[item[:2] for item in ROUNDS], strict=True)), 1)
    votes = state.beliefs.votes
    np.testing.assert_array_equal(votes.won + votes.lost, shown - np.diag([0, 0, 0, 1]))
    np.testing.assert_array_equal(wins_of(state), twin.wins)
    np.testing.assert_allclose(distribution.mode, mode, atol=1e-6)
    result = np.linalg.inv(distribution.factor @ distribution.factor.T)
    np.testing.assert_allclose(result, covariance, rtol=1e-5)


STATES = 1000
"""The same in all tests, so that they share programs."""


def rounds_of(wins):
    """Return rounds in which three arms win so often, pair by pair."""
    pairs = zip(*np.triu_indices(3, 1), strict=True)
    return [(i, j, wins[i, j], wins[i, j] + wins[j, i]) for i, j in pairs]


def pairs_of_round(policy, wins, round_=1000, number=STATES):
    """Count who plays that round, in runs that were told these wins, pair by pair."""
    rule = over_model(policy)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(7), (5, number))
        states = states_after(rule, keys, rounds_of(wins))
        duel = ask_all(rule, states, keys[4], jnp.int64(round_))
    duel = jax.tree.map(np.asarray, duel)
    idle = duel.exploit_rounds > 0
    one = np.where(idle, duel.champion, duel.first)
    other = np.where(idle, duel.champion, duel.second)
    return pair_table(one, other, 3)


FEW = np.array([[0, 3, 0], [0, 0, 2], [0, 1, 0]])
MANY = np.array([[0, 31, 38], [27, 0, 33], [24, 30, 0]])


def probability_of_best(wins, prior_scale=2.0):
    """P(arm has the largest utility), three arms, by quadrature over two gaps."""
    step = 0.04
    line = np.arange(-14.0 + step / 2, 14.0, step)
    first, second = np.meshgrid(line, line, indexing="ij")
    gaps = np.stack([first, second, np.zeros_like(first)])
    logs = -(first**2 + second**2 - first * second) / (3.0 * prior_scale**2)
    for i in range(3):
        for j in range(3):
            logs = logs + wins[i, j] * log_expit(gaps[i] - gaps[j])
    weight = np.exp(logs - logs.max())
    best = gaps == gaps.max(axis=0)
    probability = (weight * best / best.sum(axis=0)).sum(axis=(1, 2))
    return probability / probability.sum()


@pytest.mark.slow
def test_chains_draw_from_the_exact_posterior():
    """Also of a few votes, where the normal distribution does not: that would be
    noticed."""
    for wins in (FEW, MANY):
        best = probability_of_best(wins)
        chains = policies.get("bt-ts", posterior="mcmc")
        mcmc = pairs_of_round(chains, wins, number=4000)
        assert chi_square(mcmc, np.outer(best, best)) > FALSE_ALARM / 2, wins
    normal = pairs_of_round(policies.get("bt-ts"), FEW, number=4000)
    best = probability_of_best(FEW)
    assert chi_square(normal, np.outer(best, best)) < FALSE_ALARM


CYCLE = np.array([[0, 40, 10], [9, 0, 44], [41, 8, 0]])
"""Every arm is known to lose to another one, until round 9900."""

ORDER = np.array([[0, 9, 30], [7, 0, 12], [8, 9, 0]])
"""One pair is decided: arm 2 may not be first."""


@pytest.mark.slow
def test_bounds_restrict_a_round_as_the_rule_says():
    """Quickly, a stretch is held to its draws within the bounds."""
    policy = policies.get("bt-ts", elimination=True)
    p_values, tables = [], []
    for wins, round_ in ((FEW, 10), (ORDER, 80), (CYCLE, 150), (CYCLE, 10**7)):
        ours = pairs_of_round(policy, wins, round_)
        twin = Twin(3, np.random.default_rng(3), elimination=True)
        twin.wins[:] = wins
        # Nothing is told meanwhile: all rounds may draw at once.
        samples = iter(twin.draw(2 * 1500).reshape(1500, 2, 3))
        twin.draw = lambda number, samples=samples: next(samples)
        theirs = np.zeros((3, 3))
        for _ in range(1500):
            twin.rounds = round_ - 1
            theirs[twin.choose()] += 1
        p_values.append(two_sample_chi_square(ours, theirs))
        tables.append(ours > 0)
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values
    assert not tables[1][2].any()
    assert not tables[2][[0, 1, 2], [2, 0, 1]].any(), "known to beat the first"
    assert tables[3].all(), "that late the bounds say nothing"


@pytest.mark.slow
def test_a_stretch_is_that_of_all_its_draws():
    """Draws that are not looked at would have changed nothing."""
    policy, number, round_ = policies.get("bt-ts", elimination=True), 16, 80
    rule = over_model(policy)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(2), (5, STATES))
        states = states_after(rule, keys, rounds_of(3 * MANY))
        duel = ask_all(rule, states, keys[4], jnp.int64(round_))
        draw = jax.vmap(
            lambda key, state: rule.posterior.sample_utilities(
                key, state.beliefs, 2 * number
            )
        )
        drawn = np.asarray(quick_jit(draw)(keys[4], states))
        sets = round_sets(jnp.asarray(3 * MANY), 0.51, jnp.int64(round_))
    duel, sets = (jax.tree.map(np.asarray, value) for value in (duel, sets))
    waits = set()
    for run, utility in enumerate(drawn):
        for waited in range(number + 1):
            if waited == number:
                break
            one, other = utility[waited], utility[number + waited]
            first = np.argmax(np.where(sets.candidates, one, -np.inf))
            allowed = sets.eligible[:, first] | (np.arange(3) == first)
            second = np.argmax(np.where(allowed, other, -np.inf))
            if not first == second == duel.champion[run]:
                assert (duel.first[run], duel.second[run]) == (first, second)
                break
        waits.add(waited)
        assert duel.exploit_rounds[run] == waited
        assert duel.explore_rounds[run] == (waited < number)
    assert len(waits) > 5


def test_bounds_rule_out_losers_of_many_arms():
    """Arm 0 has beaten all others 50 times: it alone can be a Copeland winner."""
    num_arms = 38
    with jax.enable_x64(True):
        wins = jnp.zeros((num_arms, num_arms), dtype=jnp.int64).at[0, 1:].set(50)
        sets = round_sets(wins, 0.51, jnp.int64(1000))
        assert np.flatnonzero(sets.candidates).tolist() == [0]
        # Who surely beats the champion is not asked; who loses to it may be.
        assert not np.asarray(sets.eligible)[0, 1:].any()
        assert np.asarray(sets.eligible)[1:, 0].all()
