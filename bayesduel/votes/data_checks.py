"""Tables of votes that somebody put together by hand, checked field by field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import arm_names_of, check_opponents, vote_counts
from theory.arguments import shown


def check_comparisons(data: Any) -> None:
    """Raise unless the fields of ``Comparisons`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_rows")
    first, second = data.first, data.second
    rows = len(first) if isinstance(first, np.ndarray) and first.ndim == 1 else -1
    _array("first", first, (rows if rows >= 0 else None,), "i", "from_rows")
    _array("second", second, (rows,), "i", "from_rows")
    _array("counts", data.counts, (rows, 3), "f", "from_rows")
    check_opponents(first, second, data.arm_names)
    vote_counts("counts", data.counts)
    _flag("order_known", data.order_known)
    names, table = data.covariate_names, data.covariates
    if not isinstance(names, tuple):
        raise ComparisonDataError(
            f"covariate_names must be a tuple, got {shown(names)}; use "
            "with_covariates()"
        )
    _array(
        "covariates", table, (num_arms if names else None, len(names)), "f",
        "with_covariates",
    )  # fmt: skip
    if not np.all(np.isfinite(table)):
        raise ComparisonDataError("covariates must be finite; use with_covariates()")


def check_choices(data: Any) -> None:
    """Raise unless the fields of ``Choices`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_counts")
    _array("offered", data.offered, (None, num_arms), "b", "from_counts")
    rows = len(data.offered)
    _array("counts", data.counts, (rows, num_arms + 1), "f", "from_counts")
    vote_counts("counts", data.counts)
    _flag("outside", data.outside)


def check_rankings(data: Any) -> None:
    """Raise unless the fields of ``Rankings`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_places")
    _array("places", data.places, (None, num_arms), "i", "from_places")
    _array("counts", data.counts, (len(data.places),), "f", "from_places")
    vote_counts("counts", data.counts)
    if np.any(data.places < 0):
        row, arm = map(int, np.argwhere(data.places < 0)[0])
        raise ComparisonDataError(
            f"places must not be negative, got {data.places[row, arm]} at ({row}, "
            f"{arm})"
        )


def _checked_names(names: Any, remedy: str) -> int:
    if not isinstance(names, tuple) or arm_names_of(names, None) != names:
        raise ComparisonDataError(
            f"arm_names must be a tuple of names, got {shown(names)}; use {remedy}()"
        )
    return len(names)


def _array(
    name: str, values: Any, shape: tuple[int | None, ...], kind: str, remedy: str
) -> NDArray[Any]:
    """Return an array of a kind of numbers; None stands for any length."""
    fits = isinstance(values, np.ndarray) and values.dtype.kind == kind
    fits = fits and values.ndim == len(shape)
    if not fits or any(
        n not in (None, m) for n, m in zip(shape, values.shape, strict=True)
    ):
        words = {"i": "integers", "f": "floats", "b": "True and False"}[kind]
        size = ", ".join("n" if each is None else str(each) for each in shape)
        found = (
            f"{values.dtype} of the shape {values.shape}"
            if isinstance(values, np.ndarray)
            else shown(values)
        )
        raise ComparisonDataError(
            f"{name} must be an array of {words} of the shape ({size}), got {found}; "
            f"use {remedy}(), which converts what it is given"
        )
    return values


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ComparisonDataError(f"{name} must be True or False, got {shown(value)}")
