"""Versatile Dueling Bandits (Saha and Gaillard 2022): Tsallis-INF against itself."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.rules import one_of_largest, record
from bayesduel.policies.policy import Duel, Policy, Problem
from bayesduel.policies.registry import register
from theory.arguments import number_above
from theory.theorems import versatile_dueling_order


class VersatileDuelingState(NamedTuple):
    """Estimated losses, and the distribution of the arms of the round."""

    losses: Float[np.ndarray, " K"]  # L: sums of estimates.
    weights: Float[np.ndarray, " K"]  # w, which adds up to 1.
    now: Any  # ``shift``: x in the round before, from which the search begins.


@register("versatile-db", acronym="Versatile-DB", theorems=(versatile_dueling_order,))
class VersatileDueling(Policy):
    r"""Versatile Dueling Bandits (Versatile-DB).

    Versatile-DB draws both arms independently from one distribution, in which arms that
    often lost have little weight. Its regret has a bound against any adversary, and is
    logarithmic if preferences are fixed.

    Use it if preferences may change arbitrarily and you need a guarantee. If they are
    fixed, it has two to four times the regret of D-TS.

    Parameters
    ----------
    rate : float
        Above 0; factor of the learning rate, 2 in the paper.

    Notes
    -----
    **Rule.** :math:`L_i` is the estimated loss of arm i, 0 at first. In round t:

    1. *Distribution.* Compute the weights :math:`w_i=4/(\eta(L_i-x))^2` of Tsallis-INF,
       with the learning rate :math:`\eta` = ``rate`` / sqrt(t), and with the
       :math:`x<\min L` for which they add up to 1.
    2. *Duel.* Draw both arms with these probabilities, independently.
    3. *Update.* Let c be the arm that lost. Add :math:`1/(2w_c)` to :math:`L_c`. An arm
       that meets itself loses in one of its two places, so it counts as the loser.

    :math:`L_i` is an unbiased estimate of how often arm i would have lost to the arms
    that were played. The recommendation is the arm with the smallest L. If there are
    several, one of them is drawn at random.

    **Assumptions.** None. The regret is at most of order :math:`\sqrt{KT}` against any
    adversary. At the same time it is at most of order :math:`\log T` if preferences are
    fixed and some arm beats all others.

    **Late outcomes.** A late outcome is weighted by the w of the round in which it
    arrives, so the estimates are no longer unbiased.

    **Look-ahead.** None: every round may change the distribution.

    References
    ----------
    A. Saha, P. Gaillard, "Versatile Dueling Bandits: Best-of-both World Analyses for
    Learning from Relative Preferences", ICML 2022, Algorithm 3 and Remark 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("versatile-db").label
    'Versatile-DB'
    """

    rate: float = 2.0
    compiled = True

    title: ClassVar[str] = "Versatile Dueling Bandits"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.rate, 0, "rate", kind=PolicyParameterError)

    def start(self, problem: Problem, rng: Generator) -> VersatileDuelingState:
        """Return losses of 0, and equal weights."""
        num_arms = problem.num_arms
        return VersatileDuelingState(
            losses=np.zeros(num_arms),
            weights=np.full(num_arms, 1.0 / num_arms),
            now=record(shift=-math.inf),
        )

    def choose(self, state: VersatileDuelingState, rng: Generator, round_: int) -> Duel:
        """Draw both arms from the weights of the round."""
        eta = self.rate / math.sqrt(round_)
        state.now.shift = find_weights(
            state.losses, eta, state.now.shift, state.weights
        )
        first, second = draw_arm(rng, state.weights), draw_arm(rng, state.weights)
        if first == second:
            state.losses[first] += 0.5 / state.weights[first]
        return Duel(first, 0, first, second, 1)

    def update(
        self,
        state: VersatileDuelingState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count a loss, by how likely it was to see it."""
        loser = second if won else first
        state.losses[loser] += 0.5 / state.weights[loser]

    def recommend(self, state: VersatileDuelingState, rng: Generator) -> int:
        """Return an arm with the least estimated loss."""
        return one_of_largest(rng, -state.losses)


def find_weights(
    losses: Float[np.ndarray, " K"],
    eta: float,
    guess: float,
    weights: Float[np.ndarray, " K"],
) -> float:
    """Fill in the weights w_i = 4 / (eta (L_i - x))^2, which add up to 1; return x."""
    # Their sum is convex in x and grows: it is at least 1 at min L - 2 / eta, and at
    # most 1 at min L - 2 sqrt(K) / eta. From the right, Newton's method never passes
    # the root; from a guess on the left, its first step may lead too far, and is cut.
    least = losses.min()
    highest, lowest = least - 2.0 / eta, least - 2.0 * math.sqrt(len(losses)) / eta
    x = min(max(guess, lowest), highest)
    total = 1.0
    for _ in range(100):
        total, slope = 0.0, 0.0
        for arm in range(len(losses)):
            root = 2.0 / (eta * (losses[arm] - x))
            weights[arm] = root * root
            total += weights[arm]
            slope += root * root * root * eta
        if abs(total - 1.0) < 1e-13:
            break
        x = min(max(x - (total - 1.0) / slope, lowest), highest)
    for arm in range(len(losses)):
        weights[arm] /= total
    return x


def draw_arm(rng: Generator, weights: Float[np.ndarray, " K"]) -> int:
    """Draw an arm; weights add up to 1."""
    left, arm = rng.random(), 0
    while arm < len(weights) - 1 and left >= weights[arm]:
        left -= weights[arm]
        arm += 1
    return arm
