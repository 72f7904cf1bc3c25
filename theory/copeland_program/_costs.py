"""Losses and costs of a matrix of gaps.

Notation of Komiyama, Honda and Nakagawa (2016): L_i is the number of arms that beat i,
L(1) <= L(2) are the two smallest elements of the multiset {L_i}, arms with L_i = L(1)
are the Copeland winners, r_ij = (L_i + L_j - 2 L(1)) / (2 (K - 1)) is the regret of one
duel, d_ij the divergence between P(i beats j) and 1/2, and c_ij = r_ij / d_ij the price
of one unit of evidence. "Evidence" on a pair is N_ij d_ij / log T.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.divergences import kl_to_half

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int32


def losses(gaps: Float[np.ndarray, "R K"]) -> Int32[np.ndarray, " R"]:
    """Count the superiors L_i of every arm, or of the arms whose rows are given."""
    return np.sum(gaps < 0, axis=-1, dtype=np.int32)


def evidence_costs(gaps: Float64[np.ndarray, "K K"]) -> Float64[np.ndarray, "K K"]:
    """Compute the price c_ij of one unit of evidence.

    Copeland regret (from losses) per unit of N_ij d_ij; symmetric, 0 on the diagonal
    and for tied pairs.
    """
    counts = losses(gaps)
    excess = (counts - counts.min()).astype(np.float64)
    regret = (excess[:, None] + excess[None, :]) / (2 * (gaps.shape[0] - 1))
    return costs_at_prices(regret, gaps)


def costs_at_prices(
    prices: Float64[np.ndarray, "R K"], gaps: Float64[np.ndarray, "R K"]
) -> Float64[np.ndarray, "R K"]:
    """Divide the price of a duel by the evidence d of one; 0 for tied pairs.

    With the regret of a duel as its price this is c_ij.
    """
    decided = gaps != 0
    return np.where(decided, prices / np.where(decided, kl_to_half(gaps), 1.0), 0.0)
