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

Everything runs on NumPy arrays and, traced, on arrays of any library that follows the
array-API standard. `theory.copeland_program._basis_reuse` solves for a basis.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory._arrays import AnyArrayLike, Array, floating
from theory.copeland_program._constraints import rank_by_counting
from theory.copeland_program._costs import evidence_costs

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Int8, Int32


_TILT = 1e-6
# Relative; far below the tilt, far above rounding.
_TOLERANCE = 1e-12
ROWS_PER_ARM = 3


class Basis(NamedTuple):
    """An optimal basis with at most R = 3 K constraints, as arrays of fixed shape.

    Places of a price table are (i1, j) for an inferior j of the winner i1, and
    (i2, t - 1) for the t cheapest superiors of a rival i2 together.
    """

    signs: Int8[Any, "K K"]
    """int8 (K, K): signs of the gaps that it is for; all 0 if it fits none."""

    amounts: Float[Any, "K K"]
    """float64 (K, K): evidence on (i1, j), and on the t-th cheapest superior of i2."""

    columns: Int32[Any, " R"]
    """int32 (R,): place, row by row, of the price of each basic column."""

    inverse: Float[Any, "R R"]
    """float64 (R, R): multipliers of the constraints = inverse @ basic prices."""

    loads: Int8[Any, "R K K"]
    """int8 (R, K, K): what a unit of each multiplier takes from every price."""


class PriceTable(NamedTuple):
    """Prices of the columns of the program, and the order behind them, for R arms."""

    prices: Float[Any, "R K"]
    """float64 (R, K): see `Basis`; 0 at a place that does not exist."""

    ranks: Int32[Any, "R K"]
    """int32 (R, K): [i2, j] is the place of j among the superiors of i2 by cost."""

    pool: Bool[Any, "R K"]
    """bool (R, K): [i2, j]: j beats i2, and neither of them is the winner."""

    own: Bool[Any, "R K"]
    """bool (R, K): [i1, j]: the winner beats j."""


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


def tilted_costs(
    gaps: AnyArrayLike, arms: Int[Any, " R"] | None = None
) -> Float[Any, "R K"]:
    """Compute the price of evidence on every pair, so tilted that optima are unique.

    Copeland regret (from losses) per unit of evidence, symmetric; of all arms or of
    some. The factors are 1 + 1e-6 sin n for the n-th pair, n = 1, 2, ... in
    lexicographic order; the numbers sin n are linearly independent over the rationals.
    """
    xp, gaps = floating(gaps)
    tilts = xp.asarray(_tilts(gaps.shape[0]))
    if arms is not None:
        tilts = xp.take(tilts, arms, axis=0)
    return evidence_costs(gaps, arms) * tilts


@lru_cache(maxsize=8)
def _tilts(num_arms: int) -> NDArray[np.float64]:
    """Return the factor of every pair."""
    tilt = np.zeros((num_arms, num_arms))
    row, column = np.triu_indices(num_arms, 1)
    tilt[row, column] = _TILT * np.sin(np.arange(1.0, row.size + 1))
    return 1.0 + tilt + tilt.T


def price_table(
    gaps: AnyArrayLike,
    winner: Int[Any, ""] | int,
    arms: Int[Any, " R"] | None = None,
    costs: Float[Any, "R K"] | None = None,
) -> PriceTable:
    """Lay out the tilted prices of the program of a winner, in O(K^3) or O(R K^2).

    Memory is as much where the operations are not fused.

    Parameters
    ----------
    gaps : float (K, K)
    winner : int
        The arm i1, the only one with the fewest losses; it may be traced. For another
        arm the result has no meaning.
    arms : int32 (R,), optional
        Only the rows of these arms. A duel that leaves all signs as they are changes
        the rows of its two arms.
    costs : float (R, K), optional
        `tilted_costs` of these arms, where they are at hand.
    """
    xp, gaps = floating(gaps)
    index = xp.arange(gaps.shape[0], dtype=xp.int32)
    tilted = tilted_costs(gaps, arms) if costs is None else costs
    rows = gaps if arms is None else xp.take(gaps, arms, axis=0)
    is_winner = ((index if arms is None else arms) == winner)[:, None]
    pool = (rows < 0) & ~(index == winner)[None, :] & ~is_winner
    own = is_winner & (rows > 0)
    ranks = rank_by_counting(tilted, pool)
    upto = pool[:, None, :] & (ranks[:, None, :] <= index[None, :, None])
    sums = xp.sum(xp.where(upto, tilted[:, None, :], 0.0), axis=-1)
    exists = index[None, :] < xp.sum(pool, axis=-1, dtype=xp.int32)[:, None]
    prices = xp.where(exists, sums, 0.0) + xp.where(own, tilted, 0.0)
    return PriceTable(prices, ranks, pool, own)


def multipliers(basis: Basis, prices: Float[Any, "K K"]) -> Float[Any, " R"]:
    """Compute the multipliers of the constraints of a basis for these signs.

    Their sum is the value of the allocation.
    """
    return _terms(basis, prices).sum(axis=-1)


def stays_optimal(
    basis: Basis, prices: Float[Any, "K K"], tolerance: float = _TOLERANCE
) -> Bool[Any, ""]:
    """Say whether a basis is optimal at other prices, within a relative tolerance.

    The allocation is feasible for all matrices of the same signs and has the value of
    the multipliers. So it is optimal if they are feasible too: not negative, and no
    price exceeded. For a basis of other signs the result means nothing: compare them
    first. O(K^3) time and memory.
    """
    xp, prices = floating(prices)
    terms = _terms(basis, prices)
    values = xp.sum(terms, axis=-1)
    scale = xp.max(xp.abs(terms), axis=-1)
    loads = xp.astype(basis.loads, prices.dtype) * values[:, None, None]
    used = xp.sum(loads, axis=0)
    fits = xp.all(used <= prices * (1.0 + tolerance))
    return fits & xp.all(values >= -tolerance * scale)


def allocation(basis: Basis, table: PriceTable) -> Float[Any, "K K"]:
    """Lay out the evidence N_ij d_ij / log T that a basis asks for, symmetric.

    The order of the superiors in the table decides which pairs of a block get how much.
    """
    xp, amounts = floating(basis.amounts)
    directed = directed_allocation(amounts, table)
    return directed + xp.permute_dims(directed, (1, 0))


def directed_allocation(
    amounts: Float[Any, "R K"], table: PriceTable
) -> Float[Any, "R K"]:
    """Lay out the evidence of some blocks: rows of the amounts of a basis.

    Entry (i2, j) is the evidence that the block of i2 asks for on its superior j, or
    that the winner, as i2, needs on its inferior j. An allocation is the sum of all
    blocks and its transpose.
    """
    xp, amounts = floating(amounts)
    places = xp.arange(amounts.shape[1], dtype=xp.int32)
    at_rank = table.ranks[:, :, None] == places[None, None, :]
    by_rank = xp.sum(xp.where(at_rank, amounts[:, None, :], 0.0), axis=-1)
    return xp.where(table.pool, by_rank, 0.0) + xp.where(table.own, amounts, 0.0)


def _terms(basis: Basis, prices: Array) -> Array:
    """Return inverse times basic prices, before it is summed."""
    xp, prices = floating(prices)
    basic = xp.take(xp.reshape(prices, (-1,)), basis.columns)
    return basis.inverse * basic[None, :]
