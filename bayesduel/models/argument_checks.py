"""Arguments of fits and of what is asked of them, checked before anything is computed.

The rules are those of `theory.arguments`; what breaks one is a ``FitError`` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesduel.arguments.limits import MOST_FITTED_NUMBERS, MOST_STEPS
from bayesduel.errors import FitError
from theory.arguments import (
    LARGEST_SEED,
    as_number,
    integer_from,
    number_that,
    one_of,
    true_or_false,
)


def check_numbers(argument: str, value: Any, size: int = 1, least: int = 1) -> int:
    """Return how many draws are asked for, each of them of so many numbers."""
    most = MOST_FITTED_NUMBERS // max(size, 1)
    return integer_from(value, least, argument, most, kind=FitError)


def check_probability(value: Any, argument: str = "probability") -> float:
    """Return a number strictly between 0 and 1, and not so close that 1 - p is 1."""
    return number_that(
        value, argument, "in (0, 1)", lambda p: 0.0 < 1.0 - p < 1.0, kind=FitError
    )


def next_seed(seed: int, steps: int = 1) -> int:
    """Return another seed, for another purpose."""
    return (seed + steps) % (LARGEST_SEED + 1)


def check_real(
    argument: str,
    value: Any,
    low: float = 1e-6,
    high: float = 1e6,
    index: tuple[int, ...] | None = None,
) -> None:
    """Raise unless a value is a number of Python or NumPy from ``low`` to ``high``."""
    # Beyond 1e-6 and 1e6 squares and exponentials of what is drawn leave float64.
    plain = isinstance(value, int | float | np.integer | np.floating)
    if not plain or isinstance(value, bool) or not low <= as_number(value) <= high:
        bounds = f"from {low:g} to {high:g}".replace("e-0", "e-").replace("e+0", "e")
        raise FitError(argument, f"must be a number {bounds}", value, index=index)


def check_tie_prior(values: Any) -> None:
    """Raise unless values are two positive numbers in a tuple."""
    # Lists and arrays have no hash, which programs are found by.
    if not isinstance(values, tuple) or len(values) != 2:
        raise FitError("tie_prior", "must be two numbers in a tuple", values)
    for index, value in enumerate(values):
        check_real("tie_prior", value, index=(index,))


def check_prior(prior: Any, num_arms: int) -> None:
    """Raise unless a prior of pairs is one number, or a table with one for each."""
    if not isinstance(prior, tuple):
        check_real("prior", prior)
        return
    rows = [len(row) if isinstance(row, tuple) else -1 for row in prior]
    if rows != [num_arms] * num_arms:
        size = f"{num_arms} x {num_arms}"
        rule = f"must be a number or a {size} table as nested tuples"
        raise FitError("prior", rule, prior)
    for i, row in enumerate(prior):
        for j, value in enumerate(row):
            if i != j:  # The diagonal is not read.
                check_real("prior", value, index=(i, j))


def check_posterior(posterior: Any) -> Any:
    """Return a fit; raise ``FitError`` for anything else."""
    if not (hasattr(posterior, "draws") and hasattr(posterior, "part_of")):
        rule = "must be a fit, as bayesduel.inference.fit returns it"
        raise FitError("posterior", rule, posterior)
    return posterior


_GUIDES = ("multivariate-normal", "normal")
_COUNTS = {"max_iterations": 1, "num_steps": 1, "num_warmup": 0}
_FLAGS = ("dense_mass", "resample")


def check_options(
    method: str, options: dict[str, Any], known: Sequence[str]
) -> dict[str, Any]:
    """Return the options of a method, integers and flags as Python has them."""
    checked = dict(options)
    for name, value in options.items():
        if name not in known:
            rule = f"must be left out: method {method!r} has no such option, but "
            rule += ", ".join(known) or "none"
            of_chains = name in ("num_warmup", "target_acceptance", "dense_mass")
            remedy = "method='nuts' (--method nuts) has" if of_chains else ""
            raise FitError(name, rule, value, remedy=remedy)
        if name in _COUNTS:
            least = _COUNTS[name]
            checked[name] = integer_from(value, least, name, MOST_STEPS, kind=FitError)
        elif name in _FLAGS:
            checked[name] = true_or_false(value, name, kind=FitError)
        elif name == "guide":
            one_of(value, _GUIDES, name, kind=FitError)
        elif name == "step_size":
            check_real(name, value, 1e-9, 1e3)
        elif name == "target_acceptance":
            checked[name] = check_probability(value, name)
    return checked
