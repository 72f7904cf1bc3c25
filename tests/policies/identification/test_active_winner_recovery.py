"""PARWiS: duel by duel against chains that are solved from scratch."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.policy import Problem
from tests.policies.instances import MATRICES, random_outcomes
from tests.policies.replaying import first_impossible_duel
from tests.policies.rule_driving import play_rule
from tests.reference import PARWiS, simulate


def forced_matrices(num_arms):
    """Matrices in which one outcome is sure, and others."""
    rng = np.random.default_rng(2300 + num_arms)
    scores = rng.exponential(size=(2, num_arms))
    logit = scores[:, :, None] / (scores[:, :, None] + scores[:, None, :])
    sure = np.tri(num_arms, k=-1).T + 0.5 * np.eye(num_arms)
    return [*logit, sure]


@pytest.mark.parametrize(
    "num_arms", [3, 8, *(pytest.param(item, marks=pytest.mark.slow) for item in (2, 4))]
)
def test_every_duel_is_one_of_the_twin(num_arms):
    rng = np.random.default_rng(2310)
    for matrix in forced_matrices(num_arms):
        outcomes = random_outcomes(matrix, 80, rng)
        duels = play_rule(policies.get("parwis"), outcomes, 80).duels
        twin = PARWiS(num_arms, rng)
        assert first_impossible_duel(twin, duels, outcomes) is None


def recommended(wins, number):
    """Ask for the best arm after some wins, so many times."""
    policy, rng = policies.get("parwis"), np.random.default_rng(1)
    state = policy.start(Problem(len(wins), 100), rng)._replace(wins=wins)
    return {policy.recommend(state, rng) for _ in range(number)}


@pytest.mark.parametrize("matrix", ["condorcet", "two winners"])
def test_recommendation_is_that_of_the_twin(matrix):
    rng = np.random.default_rng(2320)
    for _ in range(4):
        twin = PARWiS(4, np.random.default_rng(0))
        simulate(twin, MATRICES[matrix], 12, [12], rng)
        best = twin.scores(twin.wins)[1:]
        best = np.flatnonzero(best >= best.max() * (1 - 1e-9))
        assert recommended(twin.wins.astype(np.int64), 40) == set(best.tolist())


def test_before_any_duel_every_arm_is_recommended():
    # Misses an arm with probability 3 (2/3)^60 < 1e-9.
    assert recommended(np.zeros((3, 3), dtype=np.int64), 60) == {0, 1, 2}
