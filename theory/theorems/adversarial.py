"""How the regret grows of algorithms that an adversary cannot mislead."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.copeland_program.program_data import matrix_without_ties
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.theorems.catalog import CONDORCET, NO_TIES, condorcet_winner, theorem


@theorem("Versatile-DB", policy="Versatile-DB")
def versatile_dueling_order(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Return the order of growth of the regret of Versatile-DB: the sum of 1 / Delta_i.

    Delta_i = P(w beats i) - 1/2, over all arms i but the Condorcet winner w.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties, with a Condorcet winner

    Returns
    -------
    RegretBound
        Regret "condorcet_mean"; kind "order only", as a constant factor is missing.

    Notes
    -----
    The same theorem says that against any adversary the regret is of order sqrt(K T):
    no bound on one matrix, and so not returned.

    References
    ----------
    A. Saha, P. Gaillard, "Versatile Dueling Bandits: Best-of-both World Analyses for
    Learning from Relative Preferences", ICML 2022.

    Examples
    --------
    >>> bound = versatile_dueling_order(
    ...     [[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]]
    ... )
    >>> round(bound.log_coefficient, 6), bound.order_only
    (15.0, True)
    """
    checked = matrix_without_ties(matrix)
    winner = condorcet_winner(checked)
    gaps = np.delete(checked.gaps[winner], winner)
    return RegretBound(
        name="Versatile-DB",
        log_coefficient=float((1 / gaps).sum()),
        kind="order only",
        regret="condorcet_mean",
        assumptions=(CONDORCET, NO_TIES),
        remainder="unspecified constant factor",
        policy="Versatile-DB",
        source="Saha and Gaillard (2022)",
    )
