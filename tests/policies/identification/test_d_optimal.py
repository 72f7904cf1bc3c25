"""D-optimal pairs: duel by duel against determinants."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.policies.identification.d_optimal import follow_mode
from bayesduel.policies.policy import Problem
from bayesduel.votes import Comparisons
from tests.policies.instances import random_outcomes
from tests.policies.replaying import first_impossible_duel
from tests.policies.rule_driving import play_rule
from tests.reference import DOptimal


@pytest.mark.parametrize(
    ("num_arms", "prior_scale", "spread"),
    [(2, 2.0, 1.0), (4, 2.0, 1.0), (4, 0.3, 6.0), (7, 5.0, 3.0)],
)
def test_every_duel_is_one_of_the_twin(num_arms, prior_scale, spread):
    """Also where arms are so far apart that most votes are certain."""
    rng = np.random.default_rng(num_arms)
    utilities = rng.normal(0, spread, num_arms)
    matrix = 1 / (1 + np.exp(utilities - utilities[:, None]))
    outcomes = random_outcomes(matrix, 60, rng)
    policy = policies.get("d-optimal", prior_scale=prior_scale)
    duels = play_rule(policy, outcomes, 60).duels
    twin = DOptimal(num_arms, rng, prior_scale)
    assert first_impossible_duel(twin, duels, outcomes) is None
    assert np.sum(twin.wins) == 60


@pytest.mark.parametrize("scale", [0.5, 10.0, 100.0])
def test_mode_and_covariance_are_those_of_fit(scale):
    """After lopsided votes, under wide priors."""
    wins = np.array([[0, 5, 0, 900], [0, 0, 1, 0], [0, 0, 0, 2], [1, 3, 0, 0]])
    utilities, covariance = np.zeros(4), np.zeros((4, 4))
    follow_mode(wins, scale, utilities, covariance)
    model = BradleyTerry(prior_scale=scale)
    result = fit(model, Comparisons.from_wins(wins), method="laplace", num_draws=100)
    np.testing.assert_allclose(result.mode["utility"], utilities, atol=1e-6)


def test_level_arms_are_all_compared():
    """At first every pair tells as much: none of 10 is left out by 300 first rounds."""
    # Each is missed with probability .9^300; all ten together below 2e-13.
    policy, rng = policies.get("d-optimal"), np.random.default_rng(0)
    state = policy.start(Problem(5, 100), rng)
    assert len({policy.choose(state, rng, 1) for _ in range(300)}) == 10
