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

    Fits linear utilities to all duels, and shows the pair whose utilities may have the
    largest sum. GINOP weights every duel by its information; MaxPairUCB does not.

    Use it if arms have features, fixed or new in every round, and utilities are about
    linear in them. GINOP is the one to begin with: it needs no horizon, and its default
    factor c is close to the best one in published simulations.

    Parameters
    ----------
    width : float
        The factor c; a multiple of :math:`\sqrt{d\log T}` if ``grows``, with the
        natural logarithm of the horizon. 2 in both forms.
    grows : bool
        Whether the width grows with the horizon.
    by_curvature : bool
        Whether duels are weighted by their information: False is MaxPairUCB, True
        GINOP.
    ridge : float
        The penalty :math:`\lambda`, above 0; 0.001 in the authors' program of
        MaxPairUCB.

    Notes
    -----
    **Rule.** In every round, with z the features of the first arm of a duel minus those
    of the second one:

    1. Fit :math:`\hat\theta` by maximum likelihood to all duels, with the penalty
       :math:`\lambda|\theta|^2/2`.
    2. GINOP: :math:`H=\lambda I+\sum s'(z^\top\hat\theta)zz^\top`, with the slope
       :math:`s'` of the logistic function. MaxPairUCB: :math:`H=\lambda I+\sum
       zz^\top`.
    3. Show the arms i and j, which may be the same, with the largest
       :math:`(x_i+x_j)^\top\hat\theta+c\,|x_i-x_j|_{H^{-1}}`. Of several such pairs
       each is equally likely.

    The recommendation is the arm with the largest estimated utility in the last round.

    **Assumptions.** Utilities :math:`x^\top\theta`, and a logistic link. The regret of
    GINOP is :math:`\tilde O(d\sqrt{T/s'(0)}+\kappa d^3)` (Theorem 5.1 and Corollary
    6.2): its leading term does not contain :math:`\kappa`, the inverse of the least
    slope. No bound is given here for MaxPairUCB. That of GINOP is proved for a width
    that grows with d and log T; the default here is the one of published experiments,
    and too narrow for very long runs.

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
