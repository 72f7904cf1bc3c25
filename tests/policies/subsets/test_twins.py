"""Policies that offer subsets against slow twins, set by set or in distribution."""

from itertools import combinations

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.instances import choice
from bayesduel.policies.subsets._assortments import best_assortment
from bayesduel.policies.subsets.efficient_sampling import Beliefs, set_index
from tests.policies.distributions import rejected, same_distribution
from tests.policies.subsets.subset_driving import (
    CHECKPOINTS,
    WORLD,
    replay,
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
    "random-subsets": twins.RandomSets,
    "mnl-ts": twins.MNLThompson,
    "stagewise": rivals.StagewiseElimination,
    "maxmin-ucb": rivals.MaxMinUCB,
    "rec-maxmin-ucb": rivals.RecursiveMaxMinUCB,
}
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
    """Of arms that are told apart soon, so that stretches are long.

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
        found = best_assortment(rng, weights, revenues, 3)
        earned = twins.revenue(weights, revenues, found)
        best = max(
            twins.revenue(weights, revenues, np.isin(np.arange(6), arms))
            for size in (1, 2, 3)
            for arms in combinations(range(6), size)
        )
        assert found.sum() <= 3
        assert earned == pytest.approx(best, rel=1e-12)
