"""Lower bounds on the regret of every consistent algorithm, for one matrix.

Natural logarithms. The lower bound of batched algorithms stands in
`theory.theorems.batched`, those of subset choice in `theory.theorems.subsets`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import one_of
from theory.copeland_program.constants import copeland_lower_bound
from theory.copeland_program.program_data import evidence_costs, matrix_without_ties
from theory.divergences import kl_to_half
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.structured.bounds import structured_lower_bound
from theory.theorems.catalog import CONDORCET, NO_TIES, condorcet_winner, theorem

theorem("Copeland lower bound")(copeland_lower_bound)


@theorem("Condorcet lower bound, Copeland regret", regret="copeland")
@theorem("Condorcet lower bound")
def condorcet_lower_bound(
    matrix: PreferenceMatrix | ArrayLike, *, regret: str = "condorcet_mean"
) -> RegretBound:
    """Compute the lower bound for algorithms that expect a Condorcet winner.

    With the Condorcet winner w, every other arm i needs evidence from its cheapest
    superior: the sum over i != w of the minimum over j with g_ij < 0 of rho_ij / d_ij.
    Here rho is the regret of a duel: (g_wi + g_wj) / 2 for "condorcet_mean", and r_ij
    for "copeland".

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties, with a Condorcet winner
    regret : {"condorcet_mean", "copeland"}
        Notion of regret.

    Returns
    -------
    RegretBound
        In Copeland regret it is at most the constant of `theory.copeland_lower_bound`:
        it asks for consistency on matrices with a Condorcet winner only, a weaker
        demand.

    References
    ----------
    Komiyama, Honda, Kashima and Nakagawa (2015), "Regret lower bound and optimal
    algorithm in dueling bandit problem", COLT, arXiv:1506.02550.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> bound = condorcet_lower_bound(matrix)
    >>> round(bound.log_coefficient, 6), bound.regret
    (3.026558, 'condorcet_mean')
    """
    one_of(regret, ("condorcet_mean", "copeland"), "regret")
    checked = matrix_without_ties(matrix)
    winner = condorcet_winner(checked)
    gaps = checked.gaps
    if regret == "condorcet_mean":
        to_winner = gaps[winner]
        prices = (to_winner[:, None] + to_winner[None, :]) / (2 * _divergences(gaps))
    else:
        prices = evidence_costs(gaps)
    cheapest = np.where(gaps < 0, prices, np.inf).min(axis=1)
    return RegretBound(
        name="Condorcet lower bound",
        log_coefficient=float(np.delete(cheapest, winner).sum()),
        kind="asymptotic lower",
        regret=regret,
        assumptions=(
            CONDORCET,
            NO_TIES,
            "expected regret o(T^a) for each a > 0 on every matrix with a Condorcet "
            "winner",
        ),
        remainder="- o(log T)",
        source="Komiyama, Honda, Kashima and Nakagawa (2015)",
    )


def _divergences(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divergence of every pair from 1/2; 1 on the diagonal, which is never used."""
    return np.where(gaps != 0, kl_to_half(gaps), 1.0)


for _title, _model in (("Bradley-Terry", "bradley-terry"), ("Thurstone", "thurstone")):
    # Both posteriors are over the same model.
    _knows = (_model, f"{_model}-hmc")
    theorem(f"{_title} lower bound", knows=_knows, model=_model)(structured_lower_bound)
    theorem(f"{_title} lower bound, gaps", knows=_knows, model=_model, cost="gap")(
        structured_lower_bound
    )
