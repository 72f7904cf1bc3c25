"""Epochs of the MNL bandit: one set is offered until nobody chooses.

Agrawal, Avadhanula, Goyal and Zeevi (2017, 2019): in an epoch the number of purchases
of an offered arm is geometric with mean v_i, whatever the other arms.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.rules import record, top
from bayesduel.policies.policy import Problem
from bayesduel.policies.subset_base import Offer, SubsetPolicy

_GROWS = 1.0 + 1e-12  # A revenue that grows by less has grown by rounding


def best_assortment(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
) -> Bool[np.ndarray, " n"]:
    """Return the set of at most ``size`` arms with the largest expected revenue."""
    # The revenue of a set is sum r_i v_i / (1 + sum v_i). Revenue z can be reached iff
    # the largest positive v_i (r_i - z) add up to z (Dinkelbach 1967). Weights below 0
    # count as 0. Places that are left go to arms with r_i >= z of the largest weights;
    # arms with an infinite weight come first, then others by v_i r_i.
    best = most_gaining(rng, weights, revenues, size, 0.0)
    earned = expected_revenue(weights, revenues, best)
    while earned < math.inf:
        subset = most_gaining(rng, weights, revenues, size, earned)
        revenue = expected_revenue(weights, revenues, subset)
        if revenue <= earned * _GROWS:
            break
        best, earned = subset, revenue
    fill_up(rng, weights, revenues, size, best, earned)
    return best


def most_gaining(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
    revenue: float,
) -> Bool[np.ndarray, " n"]:
    """Mark the arms with the largest v_i (r_i - z), those above 0."""
    gains, number = np.empty(len(weights)), 0
    for arm in range(len(weights)):
        gains[arm] = math.inf
        if weights[arm] < math.inf:
            gains[arm] = max(weights[arm], 0.0) * (revenues[arm] - revenue)
        number += gains[arm] > 0.0
    return top(rng, gains, min(size, number))


def fill_up(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
    subset: Bool[np.ndarray, " n"],
    revenue: float,
) -> None:
    """Add the largest weights of arms that earn as much as the set, up to its size."""
    least = revenue if revenue < math.inf else 0.0
    values, missing, number = np.full(len(weights), -math.inf), size, 0
    for arm in range(len(weights)):
        if subset[arm]:
            missing -= 1
        elif revenues[arm] >= least:
            values[arm] = weights[arm]
            number += 1
    added = top(rng, values, min(missing, number))
    for arm in range(len(weights)):
        subset[arm] = subset[arm] or added[arm]


def expected_revenue(
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    subset: Bool[np.ndarray, " n"],
) -> float:
    """Return sum r_i v_i / (1 + sum v_i), infinite if a weight of any arm is."""
    earned, total = 0.0, 1.0
    for arm in range(len(weights)):
        if weights[arm] == math.inf:
            return math.inf
        if subset[arm]:
            earned += revenues[arm] * max(weights[arm], 0.0)
            total += max(weights[arm], 0.0)
    return earned / total


class Epochs(NamedTuple):
    """Results of finished epochs, and the set of the present one."""

    subset: Bool[np.ndarray, " n"]  # The set of the present epoch.
    number: Int[np.ndarray, " n"]  # n_i: finished epochs in which each arm was offered.
    purchases: Float[np.ndarray, " n"]  # V_i: how often each arm was chosen.
    revenues: Float[np.ndarray, " n"]
    size: int  # Most arms of a set.
    # How many epochs are ``finished``, and whether the next round ``begins`` one.
    now: Any


def no_epochs(problem: Problem) -> Epochs:
    """Return the state before the first round."""
    num_arms = problem.num_arms
    return Epochs(
        subset=np.zeros(num_arms, dtype=bool),
        number=np.zeros(num_arms, dtype=np.int64),
        purchases=np.zeros(num_arms),
        revenues=problem.revenues,  # pyright: ignore[reportArgumentType]
        size=problem.subset_size,
        now=record(finished=0, begins=True),
    )


def begin_epoch(epochs: Epochs, subset: Bool[np.ndarray, " n"]) -> None:
    """Let a set be that of the present epoch."""
    for arm in range(len(subset)):
        epochs.subset[arm] = subset[arm]
    epochs.now.begins = False


def offer_of_epoch(epochs: Epochs, look_ahead: bool) -> Offer:
    """Offer the set of the epoch until nobody chooses, or for a single round."""
    return Offer(epochs.subset, LONGEST_HORIZON if look_ahead else 1, look_ahead)


class EpochPolicy(SubsetPolicy):
    """Offers a set until nobody chooses; its state has ``epochs``."""

    compiled = True

    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)
    needs_no_choice: ClassVar[bool] = True
    reads_revenues: ClassVar[bool] = True

    def update(
        self,
        state: Any,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Count purchases; the epoch is over if nobody chose in one of the rounds."""
        bought = 0.0
        for arm in range(len(rewards)):
            state.epochs.purchases[arm] += rewards[arm]
            bought += rewards[arm]
        if bought < rounds:
            for arm in range(len(rewards)):
                state.epochs.number[arm] += state.epochs.subset[arm]
            state.epochs.now.finished += 1
            state.epochs.now.begins = True

    def recommend(self, state: Any, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Return the best set under the mean purchases per epoch."""
        means = np.empty(len(state.epochs.number))
        for arm in range(len(means)):
            mean = state.epochs.purchases[arm] / max(state.epochs.number[arm], 1)
            means[arm] = max(mean, 1e-9)
        return best_assortment(rng, means, state.epochs.revenues, state.epochs.size)
