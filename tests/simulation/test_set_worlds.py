"""Who is chosen out of a set, and what it costs: a world for one run, in NumPy."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from bayesduel.instances import choice
from bayesduel.simulation import set_worlds
from tests.policies.distributions import chi_square
from tests.simulation.set_cases import ALWAYS, RANKED, SHARES, WINNER, WORLDS
from theory.choice.tables import ChoiceTable

FALSE_ALARM = 1e-5


def draw(world, arms, rounds, number, *, until=False, seed=0):
    """Play one offer `number` times; return the rounds and the sums of rewards."""
    given = set_worlds.set_world(world, (world.default_notion,))
    rng = np.random.default_rng(seed)
    offered = world.mask(arms)
    played = np.zeros(number, dtype=np.int64)
    rewards = np.zeros((number, world.num_arms))
    for turn in range(number):
        order = rng.permutation(world.num_arms)
        lane = set_worlds.new_lane(given, order)
        set_worlds.put_forward(given, lane, offered[order])
        played[turn] = set_worlds.answer(given, lane, rng, rounds, until)
        rewards[turn, order] = lane.rewards
    return played, rewards


@pytest.mark.parametrize("world", WORLDS, ids=lambda value: value.name)
def test_probabilities_and_costs_of_a_set_are_those_of_the_formulas(world):
    """Offer one set after another: what is known of the last one must not stay."""
    given = set_worlds.set_world(world, world.notions)
    lane = set_worlds.new_lane(given, np.random.default_rng(0).permutation(4))
    least = 1 if world.rule.allows_fewer else world.subset_size
    sets = [
        world.mask(arms)
        for size in range(least, world.subset_size + 1)
        for arms in combinations(range(world.num_arms), size)
    ]
    for offered in [*sets, sets[0], sets[0]]:
        set_worlds.put_forward(given, lane, offered[lane.order])
        expected = world.rule.probabilities(offered)
        np.testing.assert_allclose(lane.probabilities, expected, rtol=1e-12, atol=1e-15)
        nobody = world.rule.no_choice_probability(offered)
        assert lane.nobody[0] == pytest.approx(float(nobody), rel=1e-9, abs=1e-15)
        costs = [world.cost(value).of(world.rule, offered) for value in world.notions]
        np.testing.assert_allclose(lane.costs, costs, rtol=1e-9, atol=1e-12)


def test_one_round_has_one_winner_at_most():
    arms = (0, 2, 3)
    played, rewards = draw(WINNER, arms, 1, 8000)
    assert np.all(played == 1) and np.all(rewards.sum(axis=1) <= 1)
    probabilities = WINNER.probabilities(arms)
    counts = np.append(rewards.sum(axis=0), np.sum(rewards.sum(axis=1) == 0))
    distribution = np.append(probabilities, 1 - probabilities.sum())
    assert chi_square(counts, distribution) > FALSE_ALARM


def test_many_rounds_at_once_are_multinomial():
    arms, rounds = (0, 1, 3), 40
    played, rewards = draw(WINNER, arms, rounds, 4000)
    assert np.all(played == rounds)
    probabilities = WINNER.probabilities(arms)
    counts = np.append(rewards.sum(axis=0), (rounds - rewards.sum(axis=1)).sum())
    distribution = np.append(probabilities, 1 - probabilities.sum())
    assert chi_square(counts, distribution) > FALSE_ALARM
    # Not only the means: variance and covariance of two arms.
    for arm in (0, 3):
        p = probabilities[arm]
        errors = (rewards[:, arm] - rounds * p) ** 2 / (rounds * p * (1 - p))
        deviation = (errors.mean() - 1) / (errors.std() / np.sqrt(len(errors)))
        assert abs(deviation) < stats.norm.isf(FALSE_ALARM / 2)
    result = np.cov(rewards[:, 0], rewards[:, 3])[0, 1]
    expected = -rounds * probabilities[0] * probabilities[3]
    assert result == pytest.approx(expected, abs=0.15 * rounds * probabilities[0])


def test_an_offer_until_nobody_is_chosen():
    arms = (0, 2)
    played, rewards = draw(WINNER, arms, 10**5, 4000, until=True)
    assert np.all(rewards.sum(axis=1) == played - 1)
    stop = 1 - WINNER.probabilities(arms).sum()
    longest = 12
    distribution = stop * (1 - stop) ** np.arange(longest)
    counts = np.bincount(np.minimum(played - 1, longest), minlength=longest + 1)
    distribution = np.append(distribution, 1 - distribution.sum())
    assert chi_square(counts, distribution) > FALSE_ALARM
    # Agrawal et al. 2019, Corollary A.1: geometric with mean v_i.
    mean = rewards.mean(axis=0)
    for arm, weight in ((0, 0.9), (2, 0.5)):
        error = np.sqrt(weight * (1 + weight) / len(played))
        assert abs(mean[arm] - weight) < 5 * error
    # Where the horizon cuts, every round had a choice.
    played, rewards = draw(WINNER, arms, 2, 4000, until=True)
    assert np.all(rewards.sum(axis=1) >= played - 1) and played.max() == 2
    assert np.any(rewards.sum(axis=1) == 2)


SOMETIMES = choice.choice_table(
    ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.6, 0.4], [0.5, 0.1], [0.2, 0.1]]),
    name="sometimes",
)
"""In the best set somebody is always chosen, in the others not."""

ALMOST = choice.multinomial_logit([1e17, 2e16], 2)
"""Probabilities of the set add up to 1 in floating point, and not in truth."""


@given(
    waits=st.one_of(st.floats(0.0, 60.0), st.just(5e-324)),
    nobody=st.one_of(
        st.floats(0.0, 1.0), st.sampled_from([0.0, 5e-324, 2.0**-53, 1 - 2.0**-53, 1.0])
    ),
    most=st.integers(1, 2**62),
)
@example(waits=0.0, nobody=0.0, most=100)
@example(waits=0.3, nobody=0.0, most=100)
@example(waits=0.3, nobody=5e-324, most=2**62)
@example(waits=60.0, nobody=2.0**-53, most=100)
@example(waits=0.3, nobody=1.0, most=1)
def test_rounds_until_nobody_is_chosen_stay_within_the_horizon(waits, nobody, most):
    choices = set_worlds.rounds_with_choice(waits, nobody, most)
    assert 0 <= choices <= most
    if nobody == 0:
        assert choices == most
    elif nobody == 1:
        assert choices == 0
    if 0 < nobody < 1 and choices < most:
        # The quantile of the geometric distribution, up to rounding at its steps.
        quantile = waits / -math.log1p(-nobody)
        assert choices == pytest.approx(quantile, rel=1e-9, abs=1.000001)


def test_a_set_of_which_somebody_is_always_chosen_is_offered_to_the_end():
    for most in (1, 40, 700, 10**6):
        played, rewards = draw(SOMETIMES, (0, 1), most, 200, until=True)
        assert np.all(played == most) and np.all(rewards.sum(axis=1) == most)
    assert np.all(draw(SOMETIMES, (0, 2), 10**6, 200, until=True)[0] < 99)


def test_a_choice_of_nobody_may_be_rarer_than_rounding():
    """Total weight 1.2e17 beside 1: once in 1.2e17 rounds, and not never."""
    assert ALMOST.probabilities((0, 1)).sum() == 1.0
    played, _ = draw(ALMOST, (0, 1), 2**62, 400, until=True)
    assert played.min() > 10**12
    distribution = stats.expon(scale=1.2e17)
    assert stats.kstest(played.astype(float), distribution.cdf).pvalue > FALSE_ALARM


def test_probabilities_of_nobody_complete_those_of_the_arms():
    masks = np.array([[True, True, False, False], [True, False, True, True]])
    for world in (WINNER, RANKED, choice.gaussian_utility([0.4, 0.0, 0.2, 0.1], 2)):
        total = world.rule.probabilities(masks).sum(axis=1)
        nobody = world.rule.no_choice_probability(masks)
        np.testing.assert_allclose(total + nobody, 1.0, rtol=0, atol=1e-12)
    assert np.all(ALWAYS.rule.no_choice_probability(masks[:, :3]) == 0)
    above = choice.choice_table(ChoiceTable([[0, 1]], [[0.5 + 5e-10, 0.5]]))
    assert np.all(above.rule.no_choice_probability(np.array([[True, True]])) == 0)


def test_rankings_are_drawn_without_replacement():
    arms = (0, 1, 2)
    _, rewards = draw(RANKED, arms, 1, 8000)
    weights = {0: 0.9, 1: 0.2, 2: 0.5}
    for first, second in combinations(arms, 2):
        for one, other in ((first, second), (second, first)):
            (last,) = set(arms) - {one, other}
            distribution = weights[one] / 1.6 * weights[other] / (1.6 - weights[one])
            share = np.mean((rewards[:, one] == 2) & (rewards[:, other] == 1))
            assert abs(share - distribution) < 5 * np.sqrt(distribution / len(rewards))
            assert np.all(rewards[rewards[:, one] == 2][:, last] < 2)
    assert np.all(rewards[:, 3] == 0)


@pytest.mark.parametrize("rounds", [1, 30])
def test_independent_rewards_are_shares_of_the_largest(rounds):
    _, rewards = draw(SHARES, (0, 1, 3), rounds, 4000)
    steps = rewards / (2.0 / 4)
    np.testing.assert_array_equal(steps, np.round(steps))
    assert np.all(rewards[:, 2] == 0)
    for arm, share in ((0, 0.9), (1, 0.2), (3, 0.3)):
        cells = np.arange(4 * rounds + 1)
        counts = np.bincount(steps[:, arm].astype(int), minlength=len(cells))
        distribution = stats.binom(4 * rounds, share).pmf(cells)
        assert chi_square(counts, distribution) > FALSE_ALARM


def test_large_counts_keep_their_total():
    table = ChoiceTable([[0, 1, 2, 3]], [[0.2, 0.0, 0.5, 0.3]])
    for number in (1, 2, 65, 10**12, 2**53):
        played, rewards = draw(choice.choice_table(table), range(4), number, 20)
        assert np.all(played == number) and np.all(rewards[:, 1] == 0)
        assert np.all(rewards.sum(axis=1) == number)
    many = choice.independent_rewards([0.5, 1.0, 0.0], 3, levels=3)
    _, rewards = draw(many, range(3), 2**62, 5)
    assert np.all(rewards[:, 1] == 2.0**62) and np.all(rewards[:, 2] == 0)
    assert np.all(abs(rewards[:, 0] / 2.0**61 - 1) < 1e-6)
