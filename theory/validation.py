"""Checks of tables, made once, where they enter the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import Kind, number_from
from theory.errors import (
    ArgumentError,
    ArgumentTypeError,
    InvalidPreferenceError,
    errors_as,
)

if TYPE_CHECKING:
    from jaxtyping import Float64, Shaped


# mu + mu^T may differ from 1, and the diagonal from 1/2, by rounding only.
SYMMETRY_TOLERANCE = 1e-9

# The same of numbers that are given as float32: their distance from 1 upwards
FLOAT32_TOLERANCE = 2.0**-23

# Arms of a matrix at most: its checks take four tables of that size, 0.8 GB
MOST_ARMS = 5000
MOST_NUMBERS = MOST_ARMS**2  # Entries of any array at most

# Features, and their coefficients, at most: their products are numbers
LARGEST_FEATURE = 1e9


def numeric_array(values: object, argument: str) -> Float64[np.ndarray, "*shape"]:
    """Copy what NumPy can read of real numbers into a new float64 array in C order."""
    return np.array(real_array(values, argument), dtype=np.float64, order="C")


def any_array(values: object, argument: str) -> Shaped[np.ndarray, "*shape"]:
    """Read an array of anything, of at most `MOST_NUMBERS` entries, none masked."""
    if holds_more_than(values, MOST_NUMBERS):
        rule = f"must hold at most {MOST_NUMBERS:,} numbers"
        shape = getattr(values, "shape", values)
        raise InvalidPreferenceError(argument, rule, shape, remedy="split it")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        rule, masked = "must not have masked entries", np.ma.count_masked(values)
        raise InvalidPreferenceError(argument, rule, masked, remedy="fill them first")
    try:
        return np.asarray(values)
    except ValueError as error:
        rule, remedy = "must be a rectangular table", "make its rows equally long"
        raise InvalidPreferenceError(argument, rule, values, remedy=remedy) from error
    except TypeError as error:
        rule = f"must hold real numbers, and be read as an array ({error})"
        remedy, kind = "pass a NumPy array", type(values).__name__
        raise ArgumentTypeError(argument, rule, kind, remedy=remedy) from error


def real_array(values: object, argument: str) -> Shaped[np.ndarray, "*shape"]:
    """Read real numbers in the precision in which they are given."""
    array = any_array(values, argument)
    if array.dtype.kind == "c":
        rule, remedy = "must be real", "pass its real part"
        raise InvalidPreferenceError(argument, rule, array.dtype, remedy=remedy)
    if array.dtype.kind not in "iuf":
        rule = f"must hold real numbers, not dtype {array.dtype} of a "
        rule += type(values).__name__
        remedy = "convert the entries to float first"
        if hasattr(values, "toarray"):
            remedy = "pass its toarray()"
        raise ArgumentTypeError(argument, rule, values, remedy=remedy)
    return array


def refuse_entries(
    bad: Shaped[np.ndarray, "*shape"],
    array: Shaped[np.ndarray, "*shape"],
    argument: str,
    rule: str,
    *,
    kind: Kind = InvalidPreferenceError,
    remedy: str = "",
) -> None:
    """Raise where entries break a rule; the worst is named, the first among equals."""
    if (bad > 0).any():
        position = np.unravel_index(int(np.argmax(bad)), bad.shape)
        index = tuple(int(entry) for entry in position)
        where = index if len(index) > 1 else next(iter(index), None)
        raise kind(argument, rule, array[position], index=where, remedy=remedy)


def finite_vector(
    values: object,
    argument: str,
    least: int = 1,
    *,
    rule: str = "must be finite",
    holds: Callable[[Any], Any] = np.isfinite,
    remedy: str = "",
) -> Float64[np.ndarray, " n"]:
    """Copy a vector of finite numbers, ``least`` to `MOST_ARMS`, that fit a rule."""
    vector = numeric_array(values, argument)
    if vector.ndim != 1 or len(vector) < least:
        requirement = f"must be a vector of at least {least} numbers"
        raise ArgumentError(argument, requirement, values)
    if len(vector) > MOST_ARMS:
        requirement = f"must be at most {MOST_ARMS} numbers, one per arm"
        raise ArgumentError(argument, requirement, len(vector))
    for requirement, fits in (("must be finite", np.isfinite), (rule, holds)):
        bad = ~fits(vector)
        refuse_entries(
            bad, vector, argument, requirement, kind=ArgumentError, remedy=remedy
        )
    return vector


def feature_table(
    features: object, num_arms: int | None = None
) -> Float64[np.ndarray, "K d"]:
    """Return features of the arms as a new finite float64 table, a row per arm."""
    table = numeric_array(features, "features")
    rows = "K" if num_arms is None else num_arms
    fits = table.ndim == 2 and num_arms in (None, len(table))
    if not fits or 0 in table.shape:
        rule = f"must have one row per arm, shape ({rows}, d)"
        raise InvalidPreferenceError("features", rule, table.shape)
    rule = f"must be finite, at most {LARGEST_FEATURE:g}"
    remedy, bad = (
        "bring features to about unit size",
        ~(np.abs(table) <= LARGEST_FEATURE),
    )
    refuse_entries(bad, table, "features", rule, remedy=remedy)
    return table


def holds_more_than(values: object, most: int) -> bool:
    """Whether a collection holds more than so many things; asks without reading it."""
    if isinstance(values, np.ndarray):
        return values.size > most
    try:
        return isinstance(values, Sized) and len(values) > most
    except OverflowError:  # A range beyond what an index can be.
        return True
    except TypeError:  # An array of another library, without any axis.
        return False


def square_matrix(
    values: object, argument: str, *, infinite: bool = False
) -> Float64[np.ndarray, "K K"]:
    """Copy a square table of finite numbers, at least 2 by 2."""
    table = _square(values, argument, infinite=infinite)
    return np.array(table, dtype=np.float64, order="C")


def _square(values: object, argument: str, *, infinite: bool = False) -> NDArray[Any]:
    """Read a finite square table, in the precision in which it is given."""
    table = aligned_table(values, argument)[0]
    shape = getattr(table, "shape", ())
    rows = len(table) if isinstance(table, list | tuple) else next(iter(shape), 0)
    refuse_many_arms(rows, argument)
    array = real_array(table, argument)
    check_square(array, argument)
    refuse_many_arms(len(array), argument)
    bad, rule = np.isnan(array), "must be a number"
    if not infinite:
        bad, rule = ~np.isfinite(array), "must be finite"
    remedy = "estimate or remove what is missing first"
    refuse_entries(bad, array, argument, rule, remedy=remedy)
    return array


def check_square(array: Shaped[Any, "*shape"], argument: str) -> None:
    """Raise unless an array of any library is square, at least 2 by 2."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        rule = "must be a square table of at least 2 x 2, of the shape (K, K)"
        raise InvalidPreferenceError(argument, rule, tuple(array.shape))


def refuse_many_arms(num_arms: int, argument: str) -> None:
    """Raise where a matrix has more arms than `MOST_ARMS`."""
    if num_arms > MOST_ARMS:
        rule, remedy = f"must have at most {MOST_ARMS} arms", "leave some of them out"
        raise InvalidPreferenceError(argument, rule, num_arms, remedy=remedy)


def probability_matrix(
    values: object, argument: str = "values"
) -> Float64[np.ndarray, "K K"]:
    """Copy a preference matrix after checking every rule."""
    # For float32 numbers, in which an entry and its mirror image need not add up to 1,
    # 1/2 plus half of their difference; 1/2 where that is within their rounding.
    given = _square(values, argument)
    single = given.dtype == np.float32
    tolerance = FLOAT32_TOLERANCE if single else SYMMETRY_TOLERANCE
    array = np.array(given, dtype=np.float64, order="C")
    outside = np.maximum(-array, array - 1.0)
    refuse_entries(outside, array, argument, "must be a probability, in [0, 1]")
    diagonal = np.diag(np.abs(np.diagonal(array) - 0.5))
    refuse_entries(
        diagonal * (diagonal > tolerance),
        array,
        argument,
        "must be 1/2 on the diagonal",
        remedy="an arm ties with itself",
    )
    mismatch = np.triu(np.abs(array + array.T - 1.0))
    if mismatch.max() > tolerance:
        i, j = np.unravel_index(int(np.argmax(mismatch)), mismatch.shape)
        first, second = float(array[i, j]), float(array[j, i])
        raise InvalidPreferenceError(
            argument,
            f"must be 1 within {tolerance:.2g} with its mirror image; the worst pair "
            f"is ({i}, {j}): {first} + {second} = {first + second}",
            first,
            index=(int(i), int(j)),
            remedy="correct the entry; nothing is symmetrized silently",
        )
    if not single:
        return array
    gaps = (array - array.T) / 2
    gaps[np.abs(gaps) <= FLOAT32_TOLERANCE / 2] = 0.0
    return 0.5 + gaps


def symmetric_amounts(
    values: object,
    num_arms: int,
    argument: str,
    *,
    infinite: bool = False,
    remedy: str = "add both directions of a duel",
) -> Float64[np.ndarray, "K K"]:
    """Copy a table of counts, evidence or prices: symmetric, non-negative, (K, K)."""
    array = square_matrix(values, argument, infinite=infinite)
    if array.shape[0] != num_arms:
        rule = f"must have one row per arm, shape ({num_arms}, {num_arms})"
        raise InvalidPreferenceError(argument, rule, array.shape)
    refuse_entries(-array, array, argument, "must not be negative")
    if (array != array.T).any():
        # The difference of two infinite entries is no number.
        off = array != array.T
        by = np.abs(np.where(off, array, 0.0) - np.where(off, array.T, 0.0))
        i, j = np.unravel_index(int(np.argmax(by)), by.shape)
        rule = f"must be symmetric, as entry ({j}, {i}), {float(array[j, i])}"
        refuse_entries(by, array, argument, rule, remedy=remedy)
    return array


def symmetric_prices(
    values: object, num_arms: int, argument: str
) -> Float64[np.ndarray, "K K"]:
    """Copy a table of prices of duels, which may be infinite; as above."""
    remedy = "give a pair one price, in both entries"
    return symmetric_amounts(values, num_arms, argument, infinite=True, remedy=remedy)


MAXIMAL_RATIO = 1e9  # Largest ratio of two prices that are neither 0 nor infinite

# Largest finite price, and one over the smallest: sums stay in range
LARGEST_PRICE = 1e100


def price_table(
    prices: Any, num_arms: int, arm_names: Sequence[str] | None = None
) -> Float64[np.ndarray, "K K"]:
    """Return the prices of all pairs as a new table, 0 on the diagonal.

    From prices of pairs (K, K), or of arms (K,), where a pair costs the sum of both; by
    labels, or in a mapping, in any order. ``InvalidPreferenceError`` where labels name
    other arms, or a price is negative, nan, not that of the mirrored pair, out of range
    or more than a factor of `MAXIMAL_RATIO` from another one.
    """
    counted = tuple(map(str, range(num_arms)))
    known = None if arm_names is None else tuple(arm_names)
    if isinstance(prices, Mapping):
        names, table = tuple(map(str, prices)), list(prices.values())
    elif getattr(prices, "ndim", 0) == 1 and hasattr(prices, "iloc"):
        names, table = tuple(map(str, prices.index)), prices
        names = None if names == counted else names
    else:
        table, names = aligned_table(prices, "prices")
        names = None if known is None else names
    checked = numeric_array(table, "prices")
    if checked.ndim == 1:
        if len(checked) != num_arms:
            rule = f"must have an entry for each of {num_arms} arms, or of their pairs"
            raise InvalidPreferenceError("prices", rule, checked.shape)
        bad = ~(checked >= 0.0)
        refuse_entries(bad, checked, "prices", "must be a number from 0 on")
        checked = checked[:, None] + checked
    checked = symmetric_prices(checked, num_arms, "prices")
    arms = counted if known is None else known
    if names and names != arms:
        if set(names) != set(arms):
            missing = [name for name in arms if name not in names]
            raise InvalidPreferenceError(
                "prices",
                f"must name the arms of the matrix, {missing[0]!r} among them",
                list(names),
                remedy="rename them, or add what is missing",
            )
        order = [names.index(name) for name in arms]
        checked = checked[np.ix_(order, order)]
    np.fill_diagonal(checked, 0.0)
    paid = checked[(checked > 0) & np.isfinite(checked)]
    least, most = paid.min(initial=LARGEST_PRICE), paid.max(initial=0.0)
    wrong, rule = 0.0, ""
    if paid.size and (least < 1 / LARGEST_PRICE or most > LARGEST_PRICE):
        wrong = most if most > LARGEST_PRICE else least
        rule = f"from {1 / LARGEST_PRICE:g} to {LARGEST_PRICE:g}"
    elif most / least > MAXIMAL_RATIO:
        wrong, rule = most, f"at most {MAXIMAL_RATIO:g} times the least, {least:g}"
    if rule:
        refuse_entries(
            checked == wrong,
            checked,
            "prices",
            f"must be 0, infinite, or {rule}",
            remedy="use 0 for what is free and inf for what cannot be paid",
        )
    return checked


def pair_prices(prices: ArrayLike, judge: float = 0.0) -> Float64[np.ndarray, "K K"]:
    """Add up what a question about each pair costs: both arms, and the judge.

    Parameters
    ----------
    prices : array-like (K,)
        Price of showing each arm, 0 or more.
    judge : float
        Price of an answer, 0 or more.

    Returns
    -------
    float64 (K, K)
        The sum of the three prices for every pair of arms; 0 on the diagonal.

    Raises
    ------
    InvalidPreferenceError
        If the prices are no list of two numbers or more, or a price is negative or not
        finite.

    Examples
    --------
    >>> pair_prices([1, 1, 10], judge=0.5)
    array([[ 0. ,  2.5, 11.5],
           [ 2.5,  0. , 11.5],
           [11.5, 11.5,  0. ]])
    """
    with errors_as(InvalidPreferenceError):
        arms = finite_vector(
            prices,
            "prices",
            2,
            rule="must be finite, 0 or more",
            holds=lambda values: np.isfinite(values) & (values >= 0.0),
        )
    fee = number_from(judge, 0.0, "judge", kind=InvalidPreferenceError)
    table = arms[:, None] + arms + fee
    np.fill_diagonal(table, 0.0)
    return table


# --- Names that the two sides of a square table carry ---------------------------------


def aligned_table(values: Any, argument: str) -> tuple[Any, tuple[str, ...] | None]:
    """Bring the columns of a labelled table into the order of its rows."""
    # Labels are compared as text, as files have them. Of an array whose dimensions are
    # "arm" and "opponent" the former are the rows. Return the values and the names:
    # None without labels, or where they count 0, ..., K - 1 on both sides.
    if hasattr(values, "to_pandas") and hasattr(values, "dims"):
        if set(values.dims) == {"arm", "opponent"}:
            values = values.transpose("arm", "opponent")
        values = values.to_pandas()
    square = getattr(values, "ndim", 0) == 2 and values.shape[0] == values.shape[1]
    if not (square and hasattr(values, "iloc")):
        return values, None
    rows = [str(label) for label in values.index]
    columns = [str(label) for label in values.columns]
    for side, labels in (("rows", rows), ("columns", columns)):
        twice = [label for at, label in enumerate(labels) if label in labels[:at]]
        if twice:
            raise InvalidPreferenceError(
                argument,
                f"must name every arm once in its {side}",
                twice[0],
                remedy="rename one",
            )
    counted = [str(position) for position in range(len(rows))]
    if set(rows) == set(columns):
        if rows != columns:
            values = values.iloc[:, [columns.index(label) for label in rows]]
        return values, None if rows == counted else tuple(rows)
    if rows == counted or columns == counted:
        return values, tuple(columns if rows == counted else rows)
    only_rows = [label for label in rows if label not in columns]
    only_columns = [label for label in columns if label not in rows]
    raise InvalidPreferenceError(
        argument,
        "must name the same arms in its rows and columns; only the rows have "
        f"{_listed(only_rows)}, only the columns {_listed(only_columns)}",
        values.shape,
        remedy="rename them, or add the rows and columns that are missing",
    )


def _listed(labels: list[str]) -> str:
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    return ", ".join(map(repr, labels[:5])) + more
