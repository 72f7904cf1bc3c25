"""Ties among sets: all sets that a rule may take are equally likely, or as it says."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.policies.policy import Problem
from bayesduel.simulation.set_rounds import as_offer

FALSE_ALARM = 1e-5
DRAWS = 6000


def offers(policy, num_arms, size, round_, **known):
    """Ask for the set of a round again and again; return how often each came."""
    rng = np.random.default_rng(60)
    state = policy.start(Problem(num_arms, 500, None, size, np.ones(num_arms)), rng)
    counts = getattr(state, "counts", state)
    for name, values in known.items():
        getattr(counts, name)[:] = values
    by_name: dict[tuple, int] = {}
    for _ in range(DRAWS):
        mask = as_offer(policy.choose(state, rng, round_)).subset
        subset = tuple(np.flatnonzero(mask).tolist())
        by_name[subset] = by_name.get(subset, 0) + 1
    return by_name


def assert_distribution(result, distribution):
    """Compare counts with the probabilities of sets."""
    assert set(result) <= set(distribution), set(result) - set(distribution)
    expected = np.array(list(distribution.values())) * sum(result.values())
    counts = np.array([result.get(subset, 0) for subset in distribution])
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM, (
        result,
        distribution,
    )


def two_kinds_of_arms(size, round_):
    """Rewards with which ESCB-2 has five best pairs of four arms: all but {2, 3}.

    Arms 2 and 3 were offered more often and have the larger mean m_b for which
    2 m_a + sqrt(f/2 2/N_a) = m_a + m_b + sqrt(f/2 (1/N_a + 1/N_b)). By concavity
    {2, 3} is worse.
    """
    budget = np.log(round_) + 4 * size * np.log(np.log(round_))
    plays, scale = np.array([3, 3, 7, 7]), np.sqrt(budget / 2)
    gain = scale * (np.sqrt(2 / 3) - np.sqrt(1 / 3 + 1 / 7))
    means = np.array([0.2, 0.2, 0.2 + gain, 0.2 + gain])
    return {"plays": plays, "totals": means * plays}


def test_best_sets_of_escb_are_equally_likely_where_they_overlap():
    """Not the largest sum of one uniform per arm, which has {0, 1} in one of six."""
    result = offers(policies.get("escb"), 4, 2, 40, **two_kinds_of_arms(2, 40))
    best = [pair for pair in combinations(range(4), 2) if pair != (2, 3)]
    assert_distribution(result, dict.fromkeys(best, 1 / len(best)))


def test_best_swaps_of_escb_are_equally_likely():
    """The search begins at {2, 3}, from which four swaps lead to best sets, or ends.

    The other start, by the optimistic means, is {0, 1}, one of the best sets itself.
    """
    policy = policies.get("escb", most_sets=0)
    result = offers(policy, 4, 2, 40, **two_kinds_of_arms(2, 40))
    distribution = dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], 1 / 8)
    assert_distribution(result, distribution | {(0, 1): 1 / 2})


WINS = np.array(
    [
        [0, 2, 2, 3, 1], [2, 0, 2, 3, 2],
        [2, 2, 0, 2, 3], [1, 1, 2, 0, 2],
        [3, 2, 1, 2, 0],
    ]
)  # fmt: skip
"""Four duels of every pair."""


def distribution_of_building(wins, size):
    """Return P(set): a uniform first arm, then one of those with the largest smallest
    share of wins against the set, each equally likely, whatever was drawn before."""
    num_arms = len(wins)
    stages = {(arm,): 1 / num_arms for arm in range(num_arms)}
    for _ in range(size - 1):
        after: dict[tuple, float] = {}
        for subset, probability in stages.items():
            weakest = {
                arm: min(wins[arm][other] for other in subset)
                for arm in range(num_arms)
                if arm not in subset
            }
            best = [arm for arm in weakest if weakest[arm] == max(weakest.values())]
            for arm in best:
                larger = tuple(sorted((*subset, arm)))
                after[larger] = after.get(larger, 0.0) + probability / len(best)
        stages = after
    return stages


@pytest.mark.parametrize("name", ["maxmin-ucb", "rec-maxmin-ucb"])
def test_every_tie_of_a_set_that_is_built_is_broken_anew(name):
    """An arm that lost the last tie is as likely as another to win the next one."""
    result = offers(policies.get(name), 5, 3, 50, wins=WINS)
    assert_distribution(result, distribution_of_building(WINS, 3))


def test_where_every_arm_surely_loses_any_one_stands_for_them():
    """Each of three has won all its duels with the next one."""
    wins = np.array([[0, 400, 0], [0, 0, 400], [400, 0, 0]])
    result = offers(policies.get("maxmin-ucb"), 3, 2, 50, wins=wins)
    assert_distribution(result, dict.fromkeys([(0,), (1,), (2,)], 1 / 3))
