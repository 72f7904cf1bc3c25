"""Maximum Informative Pair (Saha 2021): the least certain pair of possible winners."""

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.ops.rules import among_largest, record
from bayesduel.policies.contextual.estimation import (
    gap_norm,
    log_width,
    products,
    utilities,
)
from bayesduel.policies.contextual.linear_policy import LinearPolicy, LinearState
from bayesduel.policies.policy import Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import number_from


@register("max-in-p", acronym="MaxInP")
class MaximumInformativePair(LinearPolicy):
    r"""Maximum Informative Pair (MaxInP).

    MaxInP is for arms with features. It keeps the arms that may still be the best one,
    and shows the two of them whose difference in utility is the most uncertain.

    Use it if arms have features, utilities are about linear in them, and an arm should
    be excluded only when it is surely worse. With the usual width it explores far more
    than GINOP.

    Parameters
    ----------
    width : float
        The factor c, as a multiple of :math:`\sqrt{d\log T}`, with the natural
        logarithm of the horizon; 2 in the program of Di et al.
    ridge : float
        The penalty :math:`\lambda`, above 0. With 0.001, as in the program of Di et
        al., early estimates are so large that the best arm may be excluded for good.

    Notes
    -----
    **Rule.** Arm i has the features :math:`x_i`, of length d. For every past duel let z
    be the features of its first arm minus those of its second one. :math:`|v|_{V^{-1}}`
    stands for :math:`\sqrt{v^\top V^{-1}v}`. In every round:

    1. *Estimate.* Fit :math:`\hat\theta` to all duels by maximum likelihood, with the
       penalty :math:`\lambda|\theta|^2/2`, and compute :math:`V=\lambda I+\sum
       zz^\top`.
    2. *Candidates.* An arm i is a candidate if
       :math:`(x_i-x_j)^\top\hat\theta+c\,|x_i-x_j|_{V^{-1}}\ge0` for all arms j, that
       is, if no arm is surely better.
    3. *Pair.* Show the candidates i and j with the largest :math:`|x_i-x_j|_{V^{-1}}`.
       If there are several such pairs, one of them is drawn at random. A single
       candidate meets itself.

    The recommendation is the arm with the largest estimated utility in the last round.

    **Assumptions.** Utilities :math:`x^\top\theta`, and a logistic link. The regret is
    :math:`\tilde O(d\sqrt T)` for a width that Saha derives. That width has a factor
    :math:`\kappa`, the inverse of the smallest slope of the link.

    **Large horizons.** :math:`\hat\theta` is exact for up to 10,000 duels or, with
    fixed features, for up to 10,000 different pairs. Older duels enter by a quadratic
    approximation of their log likelihood.

    **Look-ahead.** None: every duel changes the estimate.

    References
    ----------
    A. Saha, "Optimal Algorithms for Stochastic Contextual Preference Bandits", NeurIPS
    2021.

    Q. Di, T. Jin, Y. Wu, H. Zhao, F. Farnoud, Q. Gu, "Variance-aware Regret Bounds for
    Stochastic Contextual Dueling Bandits", ICLR 2024: the program.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("max-in-p", width=0.5).label
    'MaxInP:width=0.5'
    """

    width: float = checked(2.0, number_from, 0.0)
    title: ClassVar[str] = "Maximum Informative Pair"

    def numbers(self, size: int, problem: Problem) -> Any:
        """Return the width."""
        return record(width=self.width * log_width(size, problem))

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: LinearState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Return the least certain pair of candidates."""
        utility = utilities(features, state.fit.theta)
        state.latest[:] = utility
        values, width = products(features, state.inverse), state.now.width
        num_arms = len(utility)
        candidates = np.zeros(num_arms, dtype=np.int64)
        left = 0
        for i in range(num_arms):
            possible = True
            for j in range(num_arms):
                gap = utility[i] - utility[j] + width * gap_norm(values, i, j)
                if gap < 0:
                    possible = False
                    break
            if possible:
                candidates[left] = i
                left += 1
        first, second, number, largest = candidates[0], candidates[0], 0, -np.inf
        for i in range(left):
            for j in range(i):
                norm = gap_norm(values, candidates[i], candidates[j])
                largest, number, leads = among_largest(rng, norm, largest, number)
                if leads:
                    first, second = candidates[i], candidates[j]
        return first, second
