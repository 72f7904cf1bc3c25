"""PCOMP: batches in which all remaining arms meet (Agarwal et al. 2022)."""

from typing import ClassVar

from numpy.random import Generator

from bayesduel.policies.batched._batches import (
    BatchedPolicy,
    BatchedState,
    after_pairwise,
    is_over,
)
from bayesduel.policies.policy import Wins
from bayesduel.policies.registry import register
from theory.theorems import pcomp_bound


@register("pcomp", acronym="PCOMP", theorems=(pcomp_bound,))
class PairwiseComparisons(BatchedPolicy):
    r"""Batched dueling bandits with a Condorcet winner, PCOMP.

    Compares all pairs of remaining arms in B batches of growing size, and looks at the
    outcomes only between batches.

    Use it if there are very few batches and a Condorcet winner. Under strong stochastic
    transitivity SCOMP2 had less regret in our measurements.

    Parameters
    ----------
    num_batches : int
        B, from 1 to the horizon; 16 in the paper.
    elimination : {"kl", "hoeffding"}
        Test by which an arm removes another one, as in the rule.
    overflow : {"truncate", "commit"}
        Treatment of a batch that would pass the horizon, as in the details.

    Notes
    -----
    **Rule.** In batch r (natural logarithms):

    1. Compare every pair of remaining arms :math:`c_r=\lfloor T^{r/B}\rfloor` times.
    2. Remove every arm that some remaining arm surely beats.

    The last arm is compared with itself in one last batch. There are at most B batches;
    results have their number in ``batches``.

    - ``elimination="hoeffding"``: i removes j if its mean in *this* batch exceeds
      :math:`1/2+\gamma_r`, :math:`\gamma_r=\sqrt{\log(6TK^2B)/(2c_r)}`. This is the
      version of the theorem.
    - ``elimination="kl"``: i removes j if i is ahead and
      :math:`n_{ij}\,\mathrm{KL}(\hat\mu_{ij},1/2)` exceeds :math:`\log(TK^2)`, with all
      duels so far. This is the version of the paper's experiments (Section 5), where
      the threshold is printed as log(T delta), which would be negative.

    **Assumptions.** A Condorcet winner, and a known horizon.

    **Details.** If the test would remove all arms, it removes none. A batch that would
    pass the horizon is cut, about which the paper is silent: the rounds left go to its
    pairs in equal parts, one more to some of them at random (``overflow="truncate"``),
    or to self-duels of the remaining arm that beats the most others empirically
    (``overflow="commit"``; ties by total wins, then at random). Pairs are compared one
    after the other, in the order of the arms (which the environment shuffles by
    default), each by a single binomial draw.

    References
    ----------
    A. Agarwal, R. Ghuge, V. Nagarajan, "Batched Dueling Bandits", ICML 2022,
    Algorithm 1, Theorem 1.1 and Section 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("pcomp", num_batches=8, elimination="hoeffding").label
    'PCOMP:num_batches=8,elimination=hoeffding'
    """

    title: ClassVar[str] = "Batched pairwise comparisons"

    def update(
        self,
        state: BatchedState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: Wins,
    ) -> None:
        """Count the outcome; after the last one of a batch, decide on the next."""
        if is_over(state, first, second, won):
            after_pairwise(state)
