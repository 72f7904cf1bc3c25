"""Policies that offer subsets against slow twins, set by set or in distribution."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.instances import choice
from bayesduel.policies.subsets._epochs import best_assortment
from bayesduel.policies.subsets.efficient_sampling import Beliefs, set_index
from tests.policies.distributions import rejected, same_distribution
from tests.policies.subsets.subset_driving import (
    CHECKPOINTS,
    WORLD,
    replay,
    simulate_offers,
)
from tests.policies.subsets.test_contract import runs_of
from tests.reference import subset_rivals as rivals
from tests.reference import subsets as twins
from theory.theorems import lowest_index, unoffered_index_range

FALSE_ALARM = 1e-5

HORIZON = 400

FOLLOWED = {
    "ucb-no-order": (twins.ucb_without_order, {"look_ahead": False}),
    "cucb": (twins.cucb, {"look_ahead": False}),
    "combucb1": (twins.comb_ucb1, {"look_ahead": False}),
    "mnl-ee": (twins.MNLExploration, {"scale": 0.5, "look_ahead": False}),
    "choice-bandits": (rivals.ChoiceBandits, {"look_ahead": False}),
    "escb": (twins.ESCB, {}),
}
"""Random among equals only: every set is checked."""


@pytest.mark.parametrize(
    "name",
    [
        # Its look-ahead form is followed below.
        pytest.param(name, marks=[pytest.mark.slow] * (name == "combucb1"))
        for name in FOLLOWED
    ],
)
def test_every_set_is_one_that_the_twin_admits(name):
    make, parameters = FOLLOWED[name]
    for events in replay(policies.get(name, **parameters), WORLD, 4, HORIZON):
        twin = make(WORLD.num_arms, WORLD.subset_size, HORIZON)
        assert len(events) == HORIZON
        for round_, event in enumerate(events, start=1):
            assert twin.admits(event.subset), f"round {round_}"
            twin.update(event.subset, event.rewards)


PLAYING = {
    "random-subsets": twins.RandomSets, "mnl-ts": twins.MNLThompson,
    "mnl-ts:variant=correlated": twins.CorrelatedMNLThompson,
    "stagewise": rivals.StagewiseElimination, "maxmin-ucb": rivals.MaxMinUCB,
    "rec-maxmin-ucb": rivals.RecursiveMaxMinUCB,
}  # fmt: skip
"""Rules that draw: compared in distribution."""

TWIN_RUNS = 40


@pytest.mark.parametrize(
    "name",
    # The sets of the other one are made of its sets.
    [pytest.param(x, marks=[pytest.mark.slow] * (x == "maxmin-ucb")) for x in PLAYING],
)
def test_distribution_of_offers_is_that_of_the_twin(name, in_python):
    rng = np.random.default_rng(7)
    horizon = CHECKPOINTS[-1]
    offers = np.stack(
        [
            twins.play_alone(
                PLAYING[name](WORLD.num_arms, WORLD.subset_size, horizon),
                WORLD,
                horizon,
                CHECKPOINTS,
                rng,
            )
            for _ in range(TWIN_RUNS)
        ]
    )
    ours = runs_of(name).ledger["offers"]
    assert not rejected(
        same_distribution(features(ours), features(offers)), FALSE_ALARM
    )


def features(offers):
    """Return offers of every arm at every checkpoint, per run."""
    return {
        f"offers of {arm} at {index}": offers[:, index, arm]
        for index in range(offers.shape[1])
        for arm in range(offers.shape[2])
    }


def test_look_ahead_skips_only_rounds_that_cannot_change_the_set():
    """Take arms that are told apart soon, so that stretches are long.

    Of UCB without order: ``test_long_stretches``.
    """
    world = choice.multinomial_logit([0.9, 0.05, 0.8, 0.04, 0.7], 3)
    skipped = 0
    policy = policies.parse_policy("combucb1:cap=true")
    for events in replay(policy, world, 4, HORIZON):
        twin = twins.comb_ucb1(world.num_arms, world.subset_size, HORIZON, cap=1.0)
        for event in events:
            rounds = int(event.rounds)
            assert twin.admits(event.subset)
            assert twin.stays(event.subset, rounds)
            skipped += rounds - 1
            twin.update(event.subset * rounds, event.rewards)
            twin.round += rounds - 1
    assert skipped > 0.1 * 4 * HORIZON


def test_lemma_1_holds_in_every_round():
    """Yang et al. 2021: rho(t) >= index >= rho(t) (1 - 1/N(t)) of arms left out."""
    world = choice.load_world("camera")
    policy = policies.get("ucb-no-order", look_ahead=False)
    for events in replay(policy, world, 3, 1200, seed=5):
        twin = twins.ucb_without_order(world.num_arms, world.subset_size, 1200)
        indices, offered, plays = [], [], []
        for event in events:
            indices.append(twin.indices())
            offered.append(event.subset)
            plays.append(twin.plays.copy())
            twin.update(event.subset, event.rewards)
        indices, offered, plays = map(np.array, (indices, offered, plays))
        _, rho = lowest_index(indices, offered)
        row, arm = np.nonzero(~offered & (plays >= 1) & np.isfinite(rho)[:, None])
        assert len(row) > 1200
        low, high = unoffered_index_range(rho[row], plays[row, arm])
        index = indices[row, arm]
        assert np.all(index <= high * (1 + 1e-12))
        assert np.all(index >= low * (1 - 1e-12))
        assert np.all(indices[offered] >= np.repeat(rho, world.subset_size))


@pytest.mark.slow
def test_distribution_of_the_laplace_posterior_is_that_of_the_twin():
    checkpoints, rng = (40, 120), np.random.default_rng(8)
    offers = np.stack(
        [
            twins.play_alone(
                twins.LogitThompson(5, 3, 120), WORLD, 120, checkpoints, rng
            )
            for _ in range(40)
        ]
    )
    ours = runs_of("logit-ts").ledger["offers"][:, :2]
    assert not rejected(
        same_distribution(features(ours), features(offers)), FALSE_ALARM
    )


def test_index_of_escb_1_is_the_largest_sum_within_the_budget():
    """By a solver that knows nothing of multipliers."""
    rng = np.random.default_rng(9)
    sets = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    for budget in (0.05, 2.0, 9.0):
        means = rng.uniform(0.05, 0.95, 4)
        means[1] = rng.choice([0.0, 1.0, means[1]])
        times = rng.integers(1, 60, 4).astype(float)
        known = Beliefs(means, times, budget, 1)
        for inside in sets:
            value = set_index(known, np.flatnonzero(inside))
            expected = twins.escb_1_index(means[inside], times[inside], budget)
            assert value == pytest.approx(expected, abs=2e-4)


def test_local_search_of_escb_finds_what_enumeration_finds():
    """Up to ties, in nearly all rounds, on a problem where both can be done."""
    for events in replay(policies.get("escb", most_sets=0), WORLD, 2, HORIZON):
        twin, strays = twins.ESCB(5, 3, HORIZON), 0
        for event in events:
            strays += not twin.admits(event.subset)
            twin.update(event.subset, event.rewards)
        assert strays < 0.02 * HORIZON


def test_best_assortment_against_enumeration():
    """With revenues: the best of all sets of at most three arms."""
    rng = np.random.default_rng(10)
    for _ in range(40):
        weights, revenues = rng.uniform(0, 2, 6), rng.uniform(0, 1, 6) ** 3
        result = best_assortment(rng, weights, revenues, 3)
        earned = twins.revenue(weights, revenues, result)
        best = max(
            twins.revenue(weights, revenues, np.isin(np.arange(6), arms))
            for size in (1, 2, 3)
            for arms in combinations(range(6), size)
        )
        assert result.sum() <= 3
        assert earned == pytest.approx(best, rel=1e-12)


def test_negative_weights_count_as_nothing_and_leave_no_place_empty():
    rng, cut = np.random.default_rng(11), 0
    for _ in range(200):
        weights, revenues = rng.normal(size=6), rng.uniform(0, 1, 6) ** 3
        result = best_assortment(rng, weights, revenues, 3)
        above = np.maximum(weights, 0)
        earned = twins.revenue(above, revenues, result)
        best = max(
            twins.revenue(above, revenues, np.isin(np.arange(6), arms))
            for size in (1, 2, 3)
            for arms in combinations(range(6), size)
        )
        assert earned == pytest.approx(best, rel=1e-12)
        # Arms that would earn more, were they chosen at all: the likeliest are in.
        open_ = revenues >= earned
        assert result.sum() == min(3, open_.sum()) and not np.any(result & ~open_)
        inside = result & (weights <= 0)
        cut += inside.any()
        if inside.any():
            left_out = weights[open_ & ~result]
            assert np.all(left_out <= weights[inside].min())
    assert cut > 20


@pytest.mark.parametrize("revenue", [1.0, 0.3, 0.0])
def test_with_equal_revenues_a_set_holds_the_largest_weights(revenue):
    """However small they are; ties at random."""
    rng, revenues = np.random.default_rng(12), np.full(5, revenue)
    for weights in ([3.0, -1.0, 2.0, -2.0, -9.0], [-5.0, -1.0, -2.0, -8.0, -9.0]):
        result = best_assortment(rng, np.array(weights), revenues, 3)
        assert np.flatnonzero(result).tolist() == [0, 1, 2]
    for weights in (np.full(5, -1.0), np.zeros(5), np.ones(5), np.full(5, np.inf)):
        draws = [best_assortment(rng, weights, revenues, 3) for _ in range(2000)]
        assert np.all(np.sum(draws, axis=1) == 3)
        assert stats.chisquare(np.sum(draws, axis=0)).pvalue > FALSE_ALARM
    weights = np.array([0.0, np.inf, 0, 0, 0])
    assert best_assortment(rng, weights, revenues, 3).sum() == 3


SHOP = choice.multinomial_logit([1.0, 0.8, 0.6, 0.5, 0.3, 0.2], 3)


def test_correlated_samples_offer_full_sets():
    """Also where the sample that all arms share is far below 0."""
    policy = policies.get("mnl-ts", variant="correlated")
    for events in replay(policy, SHOP, 4, 1500, seed=3):
        sizes = [event.subset.sum() for event in events]
        assert sizes[:6] == [1] * 6 and set(sizes[6:]) == {3}


def test_regret_of_correlated_samples(in_python):
    """The twin has 71.3 with a standard error of 0.4 in 200 runs.

    With sets of fewer arms it was 85; runs have a standard deviation of 5.6.
    """
    policy = policies.get("mnl-ts", variant="correlated")
    result = simulate_offers(
        policy, SHOP, runs=range(60), checkpoints=(1500,), notions=("expected_reward",)
    )
    regret = result.ledger["regret"][:, -1, 0]
    assert abs(regret.mean() - 71.3) < 4.5 * np.hypot(0.4, 5.6 / np.sqrt(60))
