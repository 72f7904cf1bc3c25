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

    MaxMin-UCB turns each choice into comparisons of pairs, and computes upper
    confidence bounds for them. It fills the set with arms that may be the best one and
    may beat the arms that are already in the set. In the end it offers one arm alone.

    Use it if the choice from a set tells how its arms compare in pairs, and sets may
    have fewer than k arms.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, above 1/2.
    look_ahead : bool
        Play consecutive rounds with the same single arm in one step.

    Notes
    -----
    **Rule.** The chosen arm beats every other arm of the set. In a ranking each ranked
    arm beats every arm behind it. Let arm i have won :math:`w_{ij}` of :math:`n_{ij}`
    comparisons with j. The upper bound is :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log
    t/n_{ij}}` (natural logarithm), and 2 without comparisons. In each round:

    1. *Candidates.* The candidates are the arms i with :math:`u_{ij}>1/2` for all j. If
       there is none, a single arm, chosen arbitrarily, is the only candidate.
    2. *First arm.* Draw the first arm of the set uniformly from the candidates.
    3. *Fill up.* Add the candidate whose smallest u against the arms of the set is
       largest, ties at random. Repeat this until the set has k arms or all candidates.

    A single candidate is offered alone. Such a round costs nothing and gives no
    information. The recommendation is the arm that beats the most others. That the
    first arm is drawn uniformly is our choice; the paper leaves it open.

    **Look-ahead.** The rounds in which one arm is alone are one event. Only log t
    changes in them, and the round at which another arm joins is computed.

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
    """Rec-MaxMin-UCB: sets of exactly k arms, filled up level by level.

    Rec-MaxMin-UCB is MaxMin-UCB (``maxmin-ucb``) for worlds in which sets must have
    exactly k arms. If there are fewer candidates, the set is filled up with the best
    of the other arms.

    Use it if choices are full rankings, as in the paper. If only the best arm of each
    set is named, it learns more slowly.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, above 1/2.

    Notes
    -----
    **Rule.** Comparisons and upper bounds u are those of MaxMin-UCB
    (``maxmin-ucb``), and a set is built in the same way. In each round:

    1. Fill the set with arms that may be the best of all.
    2. If it has fewer than k arms, fill it up with arms that may be the best of those
       that are left. Repeat this until it has k arms.
    3. If no arm that is left may be the best, because every one surely loses to
       another, add the arm with the largest minimum of u.

    The recommendation is the k arms that beat the most others. Ties are broken by the
    share of comparisons won.

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
            for opponent in range(len(wins)):
                won, lost = won + wins[arm, opponent], lost + wins[opponent, arm]
                value[arm] += wins[arm, opponent] > wins[opponent, arm]
            value[arm] += won / (won + lost + 1.0)
        return top(rng, value, state.size)
