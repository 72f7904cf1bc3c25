"""Versatile Dueling Bandits: weights, losses, and published regret."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel import policies
from bayesduel.instances.worlds import Adversarial
from bayesduel.policies.adversarial.versatile_dueling import draw_arm, find_weights
from bayesduel.policies.policy import Problem
from tests.policies.instances import ladder
from tests.reference.versatile_dueling import VersatileDueling

FALSE_ALARM = 1e-4


@pytest.mark.parametrize("guess", [-math.inf, -1.2, -1.0, 5.0])
def test_weights_of_two_arms(guess):
    weights = np.zeros(2)
    x = find_weights(np.array([0.0, 1.0]), 2.0, guess, weights)
    assert x == pytest.approx(-1.132242, abs=5e-7)
    assert weights == pytest.approx([0.780048, 0.219952], abs=5e-7)


def test_weights_of_many_arms_solve_the_equation():
    """Whatever the guess, also where losses are far apart."""
    rng = np.random.default_rng(3)
    for num_arms in (2, 5, 40):
        for scale in (0.0, 1.0, 1e3, 1e9):
            losses, eta = scale * rng.random(num_arms), 2 / math.sqrt(1 + scale)
            weights = np.zeros(num_arms)
            x = find_weights(losses, eta, losses.min() - scale * rng.random(), weights)
            assert weights.sum() == pytest.approx(1, abs=1e-12)
            assert weights == pytest.approx(4 / (eta * (losses - x)) ** 2, rel=1e-6)
            assert x < losses.min()


def test_weights_and_losses_are_those_of_the_twin():
    """The twin is told the duels of the policy; a self-duel is lost by one role."""
    rng, matrix = np.random.default_rng(4), ladder(4, 0.8)
    policy = policies.get("versatile-db", rate=1.5)
    state, twin = policy.start(Problem(4, 200), rng), VersatileDueling(4, rng, rate=1.5)
    self_duels = 0
    for round_ in range(1, 201):
        duel = policy.choose(state, rng, round_)
        twin.weights = twin.distribution()
        assert state.weights == pytest.approx(twin.weights, rel=1e-6)
        won = rng.random() < matrix[duel.first, duel.second]
        if duel.first == duel.second:
            self_duels += 1
        else:
            policy.update(state, rng, round_, duel.first, duel.second, won)
        twin.update(duel.first, duel.second, won)
        assert state.losses == pytest.approx(twin.estimates, rel=1e-6)
    assert self_duels > 50
    assert policy.recommend(state, rng) == twin.recommend() == 0


def test_arms_are_drawn_by_their_weights():
    rng, weights = np.random.default_rng(5), np.array([0.2, 0.0, 0.5, 0.3])
    result = np.bincount([draw_arm(rng, weights) for _ in range(3000)], minlength=4)
    assert result[1] == 0
    p_value = stats.chisquare(result[[0, 2, 3]], 3000 * weights[[0, 2, 3]]).pvalue
    assert p_value > FALSE_ALARM


@pytest.mark.slow
def test_regret_is_that_of_another_program():
    """112.5 +- 4.4 in 10 runs; two-sided at 4 joint standard errors: 6.4e-5."""
    result = bayesduel.simulate(
        ladder(5, 0.7), "versatile-db", num_runs=60, horizon=10**4,
        regret=["condorcet_mean"],
    )  # fmt: skip
    regret = result["regret"].values[0, :, -1]
    error = math.hypot(regret.std(ddof=1) / math.sqrt(60), 4.4)
    assert abs(regret.mean() - 112.5) < 4 * error


@pytest.mark.slow
def test_regret_grows_with_the_root_of_the_horizon_at_most():
    """Where the gap is chosen for the horizon, and where the best arm changes.

    Tables are of one shape, so that all share a program.
    """
    longest = 100_000
    for horizon in (1000, longest):
        gap = math.sqrt(5 / horizon)
        hard = np.full((5, 5), 0.5)
        hard[0, 1:], hard[1:, 0] = 0.5 + gap, 0.5 - gap
        before, turned = [ladder(5, 0.6)] * (horizon // 5), ladder(5, 0.9)[::-1, ::-1]
        for begin, end in (([], hard), (before, turned)):
            table = begin + [end] * (longest // 5 + 1 - len(begin))
            world = Adversarial(table=table, after="hold")
            result = bayesduel.simulate(
                world, "versatile-db", num_runs=50, horizon=horizon
            )
            assert result["regret"].values[0, :, -1].mean() < math.sqrt(5 * horizon)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_a_rate_that_is_not_positive_is_refused(rate):
    with pytest.raises(bayesduel.errors.PolicyParameterError, match="rate"):
        policies.get("versatile-db", rate=rate).check(3, 100)
