"""MaxMin-UCB and Rec-MaxMin-UCB (Saha and Gopalan 2019)."""

from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.rules import most_beaten, only, top
from bayesduel.policies.policy import Problem, checked
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from bayesduel.policies.subsets._rank_breaking import (
    add_rivals,
    bounds_at,
    break_ranking,
    least_beaten,
    settled_rounds,
    unbeaten,
)
from theory.arguments import number_above


class Comparisons(NamedTuple):
    """Comparisons that choices were broken into."""

    wins: Int[np.ndarray, "n n"]
    size: int
    """k."""


class WinsPolicy(SubsetPolicy):
    """Breaks choices into comparisons and counts who won them."""

    alpha: float = checked(0.51, number_above, 0.5)
    compiled = True

    feedbacks: ClassVar[tuple[str, ...]] = ("winner", "ranking")
    least_size: ClassVar[int] = 2

    def start(self, problem: Problem, rng: Generator) -> Comparisons:
        """Return the state before the first round."""
        wins = np.zeros((problem.num_arms, problem.num_arms), dtype=np.int64)
        return Comparisons(wins=wins, size=problem.subset_size)

    def update(
        self,
        state: Comparisons,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Break the choice into comparisons."""
        break_ranking(state.wins, subset, rewards)


@register("maxmin-ucb", acronym="MaxMin-UCB")
class MaxMinUCB(WinsPolicy):
    r"""Sets of arms that may be best and challenge each other most.

    Breaks choices into comparisons, and fills the set with arms that may beat those
    already in it.

    Use it if choices imply comparisons between the arms of a set. A single arm is
    offered alone in the end, so the sets have at most k arms.

    Parameters
    ----------
    alpha : float
        Above 1/2.
    look_ahead : bool
        Play rounds with one arm in one go.

    Notes
    -----
    **Rule.** The chosen arm (of a ranking: each ranked one) beats every offered arm
    behind it. With :math:`w_{ij}` comparisons won out of :math:`n_{ij}`,
    :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log t/n_{ij}}` (natural logarithm), and 2
    if there are none. In each round:

    1. The candidates are the arms i with :math:`u_{ij}>1/2` for all j. If there is
       none, any one arm stands for them.
    2. Draw the first arm of the set uniformly among them.
    3. Add the candidate with the largest minimum of u against the set, ties at random,
       until k arms or all candidates are in.

    A single candidate is offered alone, which costs and teaches nothing. The
    recommendation is the arm that beats the most others. That the first arm is uniform
    is a choice made here.

    **Look-ahead.** The rounds in which one arm is alone are one event: only log t
    changes, and the round at which another arm joins is known.

    References
    ----------
    A. Saha, A. Gopalan, "Combinatorial Bandits with Relative Feedback", NeurIPS 2019,
    Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("maxmin-ucb", alpha=0.765).label
    'MaxMin-UCB:alpha=0.765'
    """

    look_ahead: bool = True

    title: ClassVar[str] = "MaxMin-UCB"
    assumes = (FIXED_PREFERENCES,)
    offers_fewer: ClassVar[bool] = True

    def choose(self, state: Comparisons, rng: Generator, round_: int) -> Offer:
        """Offer rivals, or one arm as long as it has none."""
        bounds = bounds_at(state.wins, self.alpha, round_)
        everybody = np.ones(len(state.wins), dtype=np.bool_)
        subset = np.zeros(len(state.wins), dtype=np.bool_)
        best = unbeaten(bounds, everybody)
        added = add_rivals(rng, bounds, best, subset, state.size)
        if added == 0:
            add_rivals(rng, bounds, everybody, subset, 1)
        is_alone = added == 1 and self.look_ahead
        return Offer(subset, settled_rounds(bounds) if is_alone else 1, False)

    def recommend(self, state: Comparisons, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Mark the arm that beats the most others."""
        everybody = np.ones(len(state.wins), dtype=np.bool_)
        return only(most_beaten(rng, state.wins, everybody), len(state.wins))


@register("rec-maxmin-ucb", acronym="Rec-MaxMin-UCB")
class RecursiveMaxMinUCB(WinsPolicy):
    r"""Rec-MaxMin-UCB: sets of exactly k arms, filled up level by level.

    As :class:`MaxMinUCB`, for worlds in which sets must have k arms.

    Use it if choices are full rankings, as in the paper. With winners only it learns
    more slowly.

    Parameters
    ----------
    alpha : float
        Above 1/2.

    Notes
    -----
    **Rule.** Statistics and the building of a set are those of :class:`MaxMinUCB`.

    1. Fill the set with arms that may be best.
    2. If there are fewer than k, fill it up from the arms that may be best among the
       others, and so on.
    3. If no arm may be best (every one surely loses to another), take the arm with the
       largest minimum of u.

    The recommendation is the k arms that beat the most others; ties by the share of
    comparisons won.

    References
    ----------
    A. Saha, A. Gopalan, "Combinatorial Bandits with Relative Feedback", NeurIPS 2019,
    Algorithm 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rec-maxmin-ucb", alpha=0.765).label
    'Rec-MaxMin-UCB:alpha=0.765'
    """

    title: ClassVar[str] = "Rec-MaxMin-UCB"
    assumes = (FIXED_PREFERENCES,)

    def choose(
        self, state: Comparisons, rng: Generator, round_: int
    ) -> Bool[np.ndarray, " n"]:
        """Offer k arms, level by level."""
        bounds = bounds_at(state.wins, self.alpha, round_)
        left = np.ones(len(state.wins), dtype=np.bool_)
        subset = np.zeros(len(state.wins), dtype=np.bool_)
        missing = state.size
        while missing > 0:
            level = unbeaten(bounds, left)
            if not level.any():
                level = least_beaten(rng, bounds, left)
            missing -= add_rivals(rng, bounds, level, subset, missing)
            for arm in range(len(left)):
                left[arm] = left[arm] and not subset[arm]
        return subset

    def recommend(self, state: Comparisons, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Mark the k arms that beat the most others."""
        wins, value = state.wins, np.zeros(len(state.wins))
        for arm in range(len(wins)):
            won, lost = 0, 0
            for other in range(len(wins)):
                won, lost = won + wins[arm, other], lost + wins[other, arm]
                value[arm] += wins[arm, other] > wins[other, arm]
            value[arm] += won / (won + lost + 1.0)
        return top(rng, value, state.size)
