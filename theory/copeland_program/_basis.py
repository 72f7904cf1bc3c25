"""The optimal program for an algorithm that needs it after every duel.

For the only Copeland winner i1 the small program of
`theory.copeland_program._cutting_planes` has one price per column: that of a pair (i1,
j), or the sum of the t cheapest superiors of a rival i2. Signs of the gaps decide about
its constraints, their sizes about prices only. So an optimal *basis* of one matrix is a
solution for every matrix of the same signs whose prices keep its multipliers feasible,
and that takes a few sums to check, no solver. The check holds for all columns, whatever
the order of the costs in a block.

An optimum need not be unique. The one taken is that of prices tilted by up to one part
in a million, by factors that no two pairs share: then it does not matter what was
solved before, and how. Its value is within a relative 1e-6 of the optimum.

`theory.copeland_program._basis_reuse` solves for a basis.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program._costs import evidence_costs

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int8, Int32


_TILT = 1e-6
# Relative; far below the tilt, far above rounding.
_TOLERANCE = 1e-12
ROWS_PER_ARM = 3


class Basis(NamedTuple):
    """An optimal basis with at most R = 3 K constraints, as arrays of fixed shape.

    Places of a price table are (i1, j) for an inferior j of the winner i1, and
    (i2, t - 1) for the t cheapest superiors of a rival i2 together.
    """

    # Signs of the gaps that it is for; all 0 if it fits none.
    signs: Int8[np.ndarray, "K K"]
    # Evidence on (i1, j), and on the t-th cheapest superior of i2.
    amounts: Float64[np.ndarray, "K K"]
    # Place, row by row, of the price of each basic column.
    columns: Int32[np.ndarray, " R"]
    # Multipliers of the constraints = inverse @ basic prices.
    inverse: Float64[np.ndarray, "R R"]
    # What a unit of each multiplier takes from every price.
    loads: Int8[np.ndarray, "R K K"]


class PriceTable(NamedTuple):
    """Prices of the columns of the program, and the order behind them."""

    # See `Basis`; 0 at a place that does not exist.
    prices: Float64[np.ndarray, "K K"]
    # [i2, j] is the place of j among the superiors of i2 by cost.
    ranks: Int[np.ndarray, "K K"]
    # [i2, j]: j beats i2, and neither of them is the winner.
    pool: Bool[np.ndarray, "K K"]
    own: Bool[np.ndarray, "K K"]  # [i1, j]: the winner beats j.


def empty_basis(num_arms: int) -> Basis:
    """Return a basis that fits no matrix, NumPy arrays of zeros."""
    rows = ROWS_PER_ARM * num_arms
    square = (num_arms, num_arms)
    return Basis(
        signs=np.zeros(square, dtype=np.int8),
        amounts=np.zeros(square),
        columns=np.zeros(rows, dtype=np.int32),
        inverse=np.zeros((rows, rows)),
        loads=np.zeros((rows, *square), dtype=np.int8),
    )


def tilted_costs(gaps: Float64[np.ndarray, "K K"]) -> Float64[np.ndarray, "K K"]:
    """Compute the price of evidence on every pair, so tilted that optima are unique.

    Copeland regret (from losses) per unit of evidence, symmetric, times `cost_tilts`.
    """
    return evidence_costs(gaps) * cost_tilts(len(gaps))


@lru_cache(maxsize=8)
def cost_tilts(num_arms: int) -> NDArray[np.float64]:
    """Return the factor of every pair that makes the optimum of a program unique.

    1 + 1e-6 sin n for the n-th pair, n = 1, 2, ... in lexicographic order; the numbers
    sin n are linearly independent over the rationals.
    """
    tilt = np.zeros((num_arms, num_arms))
    row, column = np.triu_indices(num_arms, 1)
    tilt[row, column] = _TILT * np.sin(np.arange(1.0, row.size + 1))
    return 1.0 + tilt + tilt.T


def price_table(gaps: Float64[np.ndarray, "K K"], winner: int) -> PriceTable:
    """Lay out the tilted prices of the program of a winner, in O(K^3).

    Parameters
    ----------
    gaps : float (K, K)
    winner : int
        The arm i1, the only one with the fewest losses. For another arm the result has
        no meaning.
    """
    index = np.arange(len(gaps))
    tilted = tilted_costs(gaps)
    is_winner = index == winner
    pool = (gaps < 0) & ~is_winner[None, :] & ~is_winner[:, None]
    own = is_winner[:, None] & (gaps > 0)
    # Earlier by cost, then by number; a few dozen arms at most.
    this, other = tilted[:, :, None], tilted[:, None, :]
    earlier = (other < this) | ((other == this) & (index[None, :] < index[:, None]))
    ranks = (pool[:, None, :] & earlier).sum(axis=-1, dtype=np.int32)
    upto = pool[:, None, :] & (ranks[:, None, :] <= index[None, :, None])
    sums = np.where(upto, tilted[:, None, :], 0.0).sum(axis=-1)
    exists = index[None, :] < pool.sum(axis=-1)[:, None]
    prices = np.where(exists, sums, 0.0) + np.where(own, tilted, 0.0)
    return PriceTable(prices, ranks, pool, own)


def multipliers(
    basis: Basis, prices: Float64[np.ndarray, "K K"]
) -> Float64[np.ndarray, " R"]:
    """Compute the multipliers of the constraints of a basis for these signs.

    Their sum is the value of the allocation.
    """
    return _terms(basis, prices).sum(axis=-1)


def stays_optimal(
    basis: Basis, prices: Float64[np.ndarray, "K K"], tolerance: float = _TOLERANCE
) -> bool:
    """Say whether a basis is optimal at other prices, within a relative tolerance.

    The allocation is feasible for all matrices of the same signs and has the value of
    the multipliers. So it is optimal if they are feasible too: not negative, and no
    price exceeded. For a basis of other signs the result means nothing: compare them
    first. O(K^3) time and memory.
    """
    terms = _terms(basis, prices)
    values = terms.sum(axis=-1)
    scale = np.abs(terms).max(axis=-1)
    used = (basis.loads * values[:, None, None]).sum(axis=0)
    fits = bool((used <= prices * (1.0 + tolerance)).all())
    return fits and bool((values >= -tolerance * scale).all())


def allocation(basis: Basis, table: PriceTable) -> Float64[np.ndarray, "K K"]:
    """Lay out the evidence N_ij d_ij / log T that a basis asks for, symmetric.

    The order of the superiors in the table decides which pairs of a block get how much.
    """
    directed = directed_allocation(basis.amounts, table)
    return directed + directed.T


def directed_allocation(
    amounts: Float64[np.ndarray, "K K"], table: PriceTable
) -> Float64[np.ndarray, "K K"]:
    """Compute the allocation of evidence that belongs to a basis.

    Entry (i2, j) is the evidence that the block of i2 asks for on its superior j, or
    that the winner, as i2, needs on its inferior j. An allocation is the sum of all
    blocks and its transpose.
    """
    by_rank = np.take_along_axis(amounts, table.ranks, axis=1)
    return np.where(table.pool, by_rank, 0.0) + np.where(table.own, amounts, 0.0)


def _terms(
    basis: Basis, prices: Float64[np.ndarray, "K K"]
) -> Float64[np.ndarray, "R R"]:
    """Return inverse times basic prices, before it is summed."""
    return basis.inverse * prices.reshape(-1)[basis.columns][None, :]
