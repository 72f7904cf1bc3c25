"""Uniformly random sets: what a learner must beat."""

from typing import ClassVar

import numpy as np
from jaxtyping import Bool
from numpy.random import Generator

from bayesduel.policies.registry import register
from bayesduel.policies.subsets._reward_counts import CountingPolicy, RewardCounts


@register("random-subsets", acronym="Random subsets")
class RandomSubsets(CountingPolicy):
    """Offers k arms uniformly at random in every round.

    Random subsets offers k random arms in each round, whatever the outcomes so far.

    Use it as a yardstick for other policies.

    Notes
    -----
    **Rule.** Draw k arms uniformly at random in each round. The recommendation is the k
    arms with the largest mean reward. Ties are broken at random.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("random-subsets").label
    'Random subsets'
    """

    title: ClassVar[str] = "Random subsets"

    def choose(
        self, state: RewardCounts, rng: Generator, round_: int
    ) -> Bool[np.ndarray, " n"]:
        """Offer any k arms: each with the share of places left among the arms left."""
        num_arms, missing = len(state.plays), state.size
        subset = np.zeros(num_arms, dtype=np.bool_)
        for arm in range(num_arms):
            if rng.random() * (num_arms - arm) < missing:
                subset[arm] = True
                missing -= 1
        return subset
