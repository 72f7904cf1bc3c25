"""Losses, levels and costs of a matrix of gaps, on NumPy and on traced arrays.

Notation of Komiyama, Honda and Nakagawa (2016): L_i is the number of arms that beat i,
L(1) <= L(2) are the two smallest elements of the multiset {L_i}, arms with L_i = L(1)
are the Copeland winners, r_ij = (L_i + L_j - 2 L(1)) / (2 (K - 1)) is the regret of one
duel, d_ij the divergence between P(i beats j) and 1/2, and c_ij = r_ij / d_ij the price
of one unit of evidence. "Evidence" on a pair is N_ij d_ij / log T.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory._arrays import floating
from theory.divergences import kl_to_half

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def losses(gaps: Float[Any, "R K"]) -> Int[Any, " R"]:
    """Count the superiors L_i of every arm, or of the arms whose rows are given."""
    xp, gaps = floating(gaps)
    return xp.sum(gaps < 0, axis=-1, dtype=xp.int32)


def two_smallest(counts: Int[Any, " K"]) -> tuple[Int[Any, ""], Int[Any, ""]]:
    """Return L(1) and L(2) of at least two numbers of losses; they may be equal."""
    xp = counts.__array_namespace__()
    index = xp.arange(counts.shape[0])
    others = xp.where(index == xp.argmin(counts), counts.shape[0], counts)
    return xp.min(counts), xp.min(others)


def evidence_costs(gaps: Float[Any, "K K"]) -> Float[Any, "K K"]:
    """Compute the price c_ij of one unit of evidence.

    Copeland regret (from losses) per unit of N_ij d_ij; symmetric, 0 on the diagonal
    and for tied pairs.
    """
    xp, gaps = floating(gaps)
    counts = losses(gaps)
    excess = xp.astype(counts - xp.min(counts), gaps.dtype)
    regret = (excess[:, None] + excess[None, :]) / (2 * (gaps.shape[0] - 1))
    return costs_at_prices(regret, gaps)


def costs_at_prices(
    prices: Float[Any, "R K"], gaps: Float[Any, "R K"]
) -> Float[Any, "R K"]:
    """Divide the price of a duel by the evidence d of one; 0 for tied pairs.

    With the regret of a duel as its price this is c_ij.
    """
    xp, gaps = floating(gaps)
    decided = gaps != 0
    return xp.where(decided, prices / xp.where(decided, kl_to_half(gaps), 1.0), 0.0)
