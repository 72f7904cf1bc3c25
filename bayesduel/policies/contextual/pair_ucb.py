"""MaxPairUCB (Di et al. 2024) and GINOP (Ben Yahmed et al. 2026)."""

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


@register("ginop", acronym="GINOP", by_curvature=True, grows=False)
@register("max-pair-ucb", acronym="MaxPairUCB")
class PairUCB(LinearPolicy):
    r"""MaxPairUCB and GINOP: the pair with the largest optimistic sum of utilities.

    GINOP and MaxPairUCB are for arms with features. They estimate utilities that are
    linear in the features from all duels so far. Then they play the pair with the
    largest sum of the two utilities plus an exploration bonus. The bonus is large for a
    pair whose difference of utilities is little known. The two policies differ in how
    they measure what is known: GINOP weights every duel by its information, and
    MaxPairUCB gives all duels the same weight.

    Use it if arms have features, fixed or new in every round, and utilities are about
    linear in them. Begin with ``ginop``: it needs no horizon, and its default width is
    close to the best one in published simulations. ``max-pair-ucb`` is the baseline of
    a published comparison. It needs the horizon, and with its default width it explores
    far more. With tuned widths their regrets differ far less: see
    ``docs/theory/widths.md``.

    Parameters
    ----------
    width : float
        Factor c of the exploration bonus in step 3. If ``grows``, c is ``width`` times
        :math:`\sqrt{d\log T}`, with d the number of features, T the horizon and the
        natural logarithm. The default is 2 for both policies.
    grows : bool
        Whether c grows with the horizon, as described for ``width``. True is
        MaxPairUCB, False GINOP.
    by_curvature : bool
        Whether duels are weighted by their information in step 2. False is MaxPairUCB,
        True GINOP.
    ridge : float
        The penalty :math:`\lambda`, above 0; 0.001 in the authors' program of
        MaxPairUCB.

    Notes
    -----
    **Rule.** Arm i has the features :math:`x_i`, a vector of length d, and the utility
    :math:`x_i^\top\theta` with unknown coefficients :math:`\theta`. It beats arm j with
    probability :math:`s((x_i-x_j)^\top\theta)`, where s is the logistic function. For
    every past duel let z be the features of its first arm minus those of its second
    one. In each round:

    1. *Estimate.* Fit :math:`\hat\theta` to all duels by maximum likelihood with the
       penalty :math:`\lambda|\theta|^2/2`.
    2. *What is known.* Compute the matrix :math:`H`. MaxPairUCB: :math:`H=\lambda
       I+\sum zz^\top`, a sum over all past duels. GINOP: :math:`H=\lambda I+\sum
       s'(z^\top\hat\theta)zz^\top`, where :math:`s'` is the slope of s. The slope is
       largest, 1/4, where both arms are equally good, so duels with an uncertain
       outcome count most.
    3. *Pair.* Play the arms i and j, which may be the same, with the largest
       :math:`(x_i+x_j)^\top\hat\theta+c\,|x_i-x_j|_{H^{-1}}`. The first term is the sum
       of the estimated utilities. The second one is the bonus, with
       :math:`|v|_{H^{-1}}=\sqrt{v^\top H^{-1}v}`, the standard error of the difference
       of the two utilities up to a factor. Of several such pairs each is equally
       likely.

    The recommendation is the arm with the largest estimated utility in the last round.

    For example, let three arms have the features (1, 0), (0, 1) and (-1, 0), let
    :math:`\hat\theta=(1,0)`, and let :math:`H=I`. With c = 2 the pair of the first and
    the third arm has the largest index, 0 + 2 * 2 = 4. The pair of the first two arms
    has 1 + 2 * 1.414 = 3.83. After four times as many duels :math:`H=4I`, and the bonus
    is half as large. With c = 1 instead of 2 the first arm then meets itself: its index
    is 2, and all other pairs have at most 1 + 0.71.

    **Assumptions.** Utilities :math:`x^\top\theta`, and a logistic link. The regret of
    GINOP is :math:`\tilde O(d\sqrt{T/s'(0)}+\kappa d^3)` (Theorem 5.1 and Corollary
    6.2). Its leading term does not contain :math:`\kappa`, the inverse of the smallest
    slope. This is proved for a width that grows with d and log T. The default here is
    the one of published experiments, and too narrow for very long runs. No bound is
    given here for MaxPairUCB.

    **Large horizons.** :math:`\hat\theta` is exact for up to 10,000 duels or, with
    fixed features, for up to 10,000 different pairs. Older duels enter by a quadratic
    approximation of their log likelihood.

    **Look-ahead.** None: every duel changes the estimate.

    References
    ----------
    Q. Di, T. Jin, Y. Wu, H. Zhao, F. Farnoud, Q. Gu, "Variance-aware Regret Bounds for
    Stochastic Contextual Dueling Bandits", ICLR 2024: MaxPairUCB, as a baseline.

    Ben Yahmed, Abeille and Calauzènes, "On the Complexity of Preference-Based Bandits",
    2026, Algorithm 1 in the linear case.

    Examples
    --------
    >>> import bayesduel
    >>> policy = bayesduel.policies.get("ginop", compiled=False)  # For a few rounds.
    >>> result = bayesduel.simulate(
    ...     "ginop-contexts", policy, num_runs=2, horizon=50, regret=["utility_mean"]
    ... )
    >>> result["regret"].sizes["run"]
    2
    """

    width: float = checked(2.0, number_from, 0.0)
    grows: bool = True
    by_curvature: bool = False
    title: ClassVar[str] = "Optimistic pairs of linear utilities"

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore
        """Whether the width depends on the horizon."""
        return self.grows

    def numbers(self, size: int, problem: Problem) -> Any:
        """Return the width."""
        factor = log_width(size, problem) if self.grows else 1.0
        return record(width=self.width * factor)

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: LinearState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Return the pair with the largest index."""
        state.latest[:] = utilities(features, state.fit.theta)
        inverse = state.fit.inverse if self.by_curvature else state.inverse
        return largest_pair(
            rng, state.latest, products(features, inverse), state.now.width
        )


def largest_pair(
    rng: Generator,
    utility: Float[np.ndarray, " K"],
    values: Float[np.ndarray, "K K"],
    width: float,
) -> tuple[int, int]:
    """Return a pair i <= j with the largest u_i + u_j + width |x_i - x_j|."""
    first, second, number, largest = 0, 0, 0, -np.inf
    for i in range(len(utility)):
        for j in range(i, len(utility)):
            index = utility[i] + utility[j] + width * gap_norm(values, i, j)
            largest, number, leads = among_largest(rng, index, largest, number)
            if leads:
                first, second = i, j
    return first, second
