"""Epochs of the MNL bandit: one set is offered until nobody chooses.

Agrawal, Avadhanula, Goyal and Zeevi (2017, 2019): in an epoch the number of purchases
of an offered arm is geometric with mean v_i, whatever the other arms.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.rules import record
from bayesduel.policies.policy import Problem
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from bayesduel.policies.subsets._assortments import best_assortment


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


def count_purchases(
    epochs: Epochs, rounds: int, rewards: Float[np.ndarray, " n"]
) -> None:
    """Count purchases; the epoch is over if nobody chose in one of the rounds."""
    bought = 0.0
    for arm in range(len(rewards)):
        epochs.purchases[arm] += rewards[arm]
        bought += rewards[arm]
    if bought < rounds:
        for arm in range(len(rewards)):
            epochs.number[arm] += epochs.subset[arm]
        epochs.now.finished += 1
        epochs.now.begins = True


def best_by_means(epochs: Epochs, rng: Generator) -> Bool[np.ndarray, " n"]:
    """Return the set of largest expected revenue under V_i/n_i; ties at random.

    An arm without a purchase counts a little, so that sets are full.
    """
    means = np.empty(len(epochs.number))
    for arm in range(len(means)):
        mean = epochs.purchases[arm] / max(epochs.number[arm], 1)
        means[arm] = max(mean, 1e-9)
    return best_assortment(rng, means, epochs.revenues, epochs.size)


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
        """Count purchases."""
        count_purchases(state.epochs, rounds, rewards)

    def recommend(self, state: Any, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Return the best set under the mean purchases per epoch."""
        return best_by_means(state.epochs, rng)
