"""Pseudo-counts of Beta priors: one number, or a table of all pairs."""

import numbers
from typing import Any

import numpy as np

from bayesduel.errors import PolicyParameterError
from theory.validation import refuse_entries

LARGEST = 1e8
"""Largest pseudo-count: with those of the duels they must fit into 32 bits."""


def normalized(prior: Any) -> Any:
    """Return a prior with integral numbers as integers, tables as NumPy arrays.

    Whatever is no prior is returned as it is: :func:`check_prior` refuses it.
    """
    if isinstance(prior, np.bool_ | bool):
        return prior
    if isinstance(prior, numbers.Real) or _is_scalar_array(prior):
        number = np.asarray(prior)[()]
        if np.isfinite(number) and abs(number) <= LARGEST and number == int(number):
            return int(number)
        return float(number)
    if not isinstance(prior, list | tuple) and not hasattr(prior, "__array__"):
        return prior
    try:
        table = np.array(prior)
    except ValueError:  # Rows of different lengths.
        return prior
    if table.dtype.kind not in "iuf" or table.ndim != 2 or len(set(table.shape)) > 1:
        return prior
    np.fill_diagonal(table, 1)
    finite = np.all(np.isfinite(table)) and np.all(np.abs(table) <= LARGEST)
    whole = finite and np.all(table == np.floor(table))
    return table.astype(np.int64 if whole else np.float64)


def _is_scalar_array(value: Any) -> bool:
    array = np.asarray(value) if hasattr(value, "__array__") else None
    return array is not None and array.ndim == 0 and array.dtype.kind in "iuf"


def check_prior(prior: Any, num_arms: int | None = None, *, table: bool = True) -> None:
    """Raise unless a prior is a number in (0, 1e8], or a table of such numbers.

    The prior comes from :func:`normalized`. A table is of ``num_arms`` arms, if it is
    allowed. ``PolicyParameterError`` names the first value that breaks the rule.
    """
    size = "K x K" if num_arms is None else f"{num_arms} x {num_arms}"
    rule = f"must be a number above 0 and at most {LARGEST:.0e}"
    rule += f", or a {size} table of such numbers" if table else ""
    if isinstance(prior, bool) or not isinstance(prior, int | float | np.ndarray):
        raise PolicyParameterError("prior", rule, prior)
    values = np.asarray(prior)
    if values.dtype.kind not in "iuf":
        raise PolicyParameterError("prior", rule, prior)
    if values.ndim == 0:
        if not 0 < values <= LARGEST:
            raise PolicyParameterError("prior", rule, values.item())
        return
    square = values.ndim == 2 and values.shape[0] == values.shape[1]
    fits = square and (num_arms is None or len(values) == num_arms)
    if not (table and fits):
        raise PolicyParameterError("prior", rule, values.shape)
    bad = ~((values > 0) & (values <= LARGEST)) & ~np.eye(len(values), dtype=bool)
    refuse_entries(bad, values, "prior", rule, kind=PolicyParameterError)
