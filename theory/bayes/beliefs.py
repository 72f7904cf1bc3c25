"""What three independent Beta posteriors say: who wins, and what a duel costs.

A pair that was won w times and lost l times has a preference p with the distribution
Beta(prior + w, prior + l). Copeland regret only asks on which side of 1/2 each of the
three preferences lies, and there the pairs are independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float64

NUM_ARMS = 3
PAIRS = ((0, 1), (0, 2), (1, 2))
"""The pairs of different arms, as counts of this package list them."""


class PairBeliefs(NamedTuple):
    """Of a pair after n duels, by the number of those that its first arm won."""

    # Posterior probability that the preference is above 1/2.
    ahead: Float64[np.ndarray, " outcome"]
    # Posterior mean of the preference: the probability to win the next duel.
    mean: Float64[np.ndarray, " outcome"]


def pair_beliefs(duels: int, prior: float) -> PairBeliefs:
    """Return the beliefs about a pair, for every outcome of so many duels."""
    from scipy import special  # As much as all of theory to import.

    won = prior + np.arange(duels + 1.0)
    lost = won[::-1]
    # P(Beta(a, b) > 1/2) = P(Beta(b, a) < 1/2): accurate where it is small.
    return PairBeliefs(special.betainc(lost, won, 0.5), won / (won + lost))


def arm_regret(
    first: Float64[np.ndarray, "*first"],
    second: Float64[np.ndarray, "*second"],
    third: Float64[np.ndarray, "*third"],
) -> tuple[Float64[np.ndarray, "*shape"], ...]:
    """Return the expected Copeland regret of a self-duel of each of three arms.

    Given are the probabilities that arm 0 beats 1, that 0 beats 2, and that 1 beats 2.
    It is E(losses of the arm - fewest losses) / 2; a duel of two arms costs the mean of
    both. The fewest losses are 1 in a circle, which has two directions, else 0.
    """
    circle = first * third * (1 - second) + (1 - first) * (1 - third) * second
    return (
        ((1 - first) + (1 - second) - circle) / 2,
        (first + (1 - third) - circle) / 2,
        (second + third - circle) / 2,
    )
