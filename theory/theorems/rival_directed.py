"""The regret bound of RD-TS*, rival-directed sampling with a proof."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from theory.copeland_program.constants import copeland_lower_bound
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.theorems.catalog import NO_TIES, theorem


@theorem("RD-TS*", policy="RD-TS*", only_if={"cost": "regret"})
def rival_directed_star_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the regret of RD-TS* by the constant C* of the lower bound.

    With the lower bound it says that E[R(T)] / log T tends to C*, the value of
    `theory.copeland_lower_bound`: no algorithm that is consistent on all matrices
    without ties does better to first order. The number of Copeland winners does not
    matter, and neither the best winner nor the optimal allocation has to be unique.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties

    Returns
    -------
    RegretBound
        Copeland regret; kind "asymptotic upper", for all parameters that the policy
        takes, with ``cost="regret"``.

    References
    ----------
    This project: Theorem 1 of ``docs/theory/rival_directed_star.md``, with its proof.

    Examples
    --------
    >>> bound = rival_directed_star_bound([[0.5, 0.6], [0.4, 0.5]])
    >>> round(bound.log_coefficient, 4)
    24.8317
    """
    return replace(
        copeland_lower_bound(matrix).bound,
        name="RD-TS*",
        kind="asymptotic upper",
        assumptions=(NO_TIES,),
        remainder="+ O((log T)^(3/4) log log T)",
        policy="RD-TS*",
        source="This project, Theorem 1 on the page of RD-TS*",
    )
