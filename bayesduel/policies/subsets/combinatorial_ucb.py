"""CUCB (Chen et al. 2013) and CombUCB1 (Kveton et al. 2015)."""

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.rules import top
from bayesduel.policies.policy import checked
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import Offer, warn_above_one
from bayesduel.policies.subsets._reward_counts import (
    CountingPolicy,
    RewardCounts,
    best_outside,
    index_values,
    safe_rounds,
)
from theory.arguments import number_above

if TYPE_CHECKING:
    from bayesduel.instances.subset_world import SubsetWorld


@register("combucb1", acronym="CombUCB1", previous_round=True)
@register("cucb", acronym="CUCB")
class CombinatorialUCB(CountingPolicy):
    r"""UCB for sets of independent arms, CUCB and CombUCB1.

    CUCB and CombUCB1 offer in each round the arms with the largest upper confidence
    bounds on their mean rewards. They do not take into account that the reward of an
    arm may depend on the other arms of the set. The two differ only in the logarithm of
    the bounds (previous_round).

    Use ``cucb`` for choices from sets if no single run may go wrong. In several worlds
    it did well although its assumption was false. Use ``combucb1`` if each arm of the
    set earns a reward by itself.

    Parameters
    ----------
    scale : float
        Factor s of the confidence bounds; 3/2 in both papers.
    previous_round : bool
        log(t - 1) in place of log t: CombUCB1.
    cap : bool
        Cap indices at 1 (ties at random).
    look_ahead : bool
        Play consecutive rounds that cannot change the set in one step.

    Notes
    -----
    **Rule.** k is the size of a set. Arm i has been offered :math:`N_i` times, with the
    total reward :math:`C_i`. In round t (natural logarithm):

    1. If there are arms that were never offered, offer them. This is the initialization
       of both papers.
    2. Otherwise offer the k arms with the largest index :math:`C_i/N_i+\sqrt{s\log
       t/N_i}`, where s is ``scale``. Ties are broken at random.

    t counts all rounds. CombUCB1 has log(t - 1) instead of log t (``previous_round``),
    or 0 where that is not defined. With ``cap`` an index is at most 1, as in the
    journal version of CUCB. The recommendation is the k arms with the largest means.

    **Assumptions.** Rewards in [0, 1], each arm independent of the others in the set.

    **Look-ahead.** The policy computes for how many rounds a set is sure to have the
    largest indices, whatever the rewards. It offers the set for all these rounds at
    once.

    References
    ----------
    W. Chen, Y. Wang, Y. Yuan, "Combinatorial Multi-Armed Bandit: General Framework and
    Applications", ICML 2013, Algorithm 1. B. Kveton, Z. Wen, A. Ashkan, C. Szepesvari,
    "Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits", AISTATS 2015,
    Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("cucb", scale=2.25).label
    'CUCB:scale=2.25'
    """

    scale: float = checked(1.5, number_above, 0)
    previous_round: bool = False
    cap: bool = False
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "Combinatorial UCB"
    assumes = (FIXED_PREFERENCES,)

    def warn_about(self, world: "SubsetWorld") -> None:
        """Warn where rewards exceed 1."""
        super().warn_about(world)
        warn_above_one(self.label, world)

    def choose(self, state: RewardCounts, rng: Generator, round_: int) -> Offer:
        """Offer the k largest indices, as long as they surely stay the largest."""
        values = indices(self, state, round_)
        subset = top(rng, values, state.size)
        rounds = 1
        if self.look_ahead:
            # The others grow with log t: allow them the longest time.
            width = width_at(self, round_)
            longest = safe_rounds(state, subset, width, best_outside(subset, values))
            later = indices(self, state, round_ + longest)
            highest = best_outside(subset, later)
            if highest < 1.0 or not self.cap:  # At the cap, inside and outside tie.
                rounds = safe_rounds(state, subset, width, highest)
        return Offer(subset, rounds, False)


def width_at(rule: Any, round_: int) -> float:
    """Return sqrt(scale log t), with t - 1 for t in CombUCB1."""
    time = round_ - 1 if rule.previous_round else round_
    return math.sqrt(rule.scale * math.log(max(time, 1)))


def indices(rule: Any, state: RewardCounts, round_: int) -> Float[np.ndarray, " n"]:
    """Return C_i/N_i + sqrt(scale log t / N_i), capped if asked for."""
    cap = 1.0 if rule.cap else np.inf
    return index_values(state, width_at(rule, round_), cap)
