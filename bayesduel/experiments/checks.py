"""Numbers and switches of a request, checked before anything is computed."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from os import cpu_count
from typing import Any

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, MOST_CHECKPOINTS, MOST_JOBS
from bayesduel.errors import SimulationArgumentError
from bayesduel.experiments.problems import is_instance
from bayesduel.experiments.results import FILE_NAMES, ZARR
from bayesduel.experiments.stored.zarr_files import require_zarr
from bayesduel.policies.policy import PolicyBase
from theory.arguments import integer_from, one_of, whole_number

RECORDS = ("plays", "regret", "quantiles")
"""What can be kept of runs."""

_MOST_RUNS_WITH_PLAYS = 10**4
_PER_DECADE = 10
_MANY_ARMS = 64
_PER_DECADE_MANY_ARMS = 4


def as_sequence(argument: str, value: Any) -> tuple[list[Any], bool]:
    """Return a list of one or several things, and whether several could be given.

    A matrix, world, policy or string is one.
    """
    single = isinstance(value, str | PolicyBase) or is_instance(value)
    if single or hasattr(value, "__array__") or _is_nested_numbers(value):
        return [value], False
    return list(several(argument, value)), True


def several(argument: str, value: Any) -> Iterable[Any]:
    """Return ``value`` if it can hold several things."""
    try:  # Arrays of no axis have the method, and refuse.
        iter(value)
    except TypeError:
        raise SimulationArgumentError(
            argument, "must be one or several", value, remedy="give one, or a list"
        ) from None
    return value


def _is_nested_numbers(value: Any) -> bool:
    """Say whether ``value`` is a matrix written as lists of numbers."""
    return (
        isinstance(value, Sequence)
        and bool(value)
        and all(
            isinstance(row, Sequence)
            and not isinstance(row, str)
            and all(isinstance(entry, int | float) for entry in row)
            for row in value
        )
    )


def worker_count(jobs: Any) -> int:
    """Return a number of worker processes; None takes one per core."""
    if jobs is None:
        return cpu_count() or 1
    return integer_from(jobs, 1, "jobs", MOST_JOBS, kind=SimulationArgumentError)


def check_executor(value: Any) -> None:
    """Raise unless ``value`` is None or can be given jobs."""
    if value is not None and not isinstance(value, Executor):
        raise SimulationArgumentError(
            "executor",
            "must be a concurrent.futures.Executor",
            value,
            remedy="of a client of Dask take client.get_executor()",
        )


def check_record(value: Any, num_runs: int, stopping: Any) -> str:
    """Return what is kept of runs; None is the usual thing for their number."""
    if value is None:
        return "plays" if num_runs <= _MOST_RUNS_WITH_PLAYS else "regret"
    one_of(value, RECORDS, "record", kind=SimulationArgumentError)
    if value == "quantiles" and stopping is not None:
        raise SimulationArgumentError(
            "record",
            "keeps no single run, so not when a rule ended it",
            value,
            remedy="record regret",
        )
    return value


def check_format(value: Any) -> str:
    """Return ``value`` if it is a format of files whose library is there."""
    one_of(value, FILE_NAMES, "format", kind=SimulationArgumentError)
    if value == ZARR:
        require_zarr()
    return value


def check_horizon(value: Any) -> int:
    """Return ``value`` as a number of rounds."""
    kind = SimulationArgumentError
    return integer_from(value, 1, "horizon", LONGEST_HORIZON, kind=kind)


def check_checkpoints(values: Any, horizon: int, num_arms: int) -> tuple[int, ...]:
    """Return increasing checkpoints that end with the horizon."""
    if values is None:
        values = _usual_checkpoints(horizon, num_arms)
    checked: list[int] = []
    for index, value in enumerate(several("checkpoints", values)):
        number = whole_number(value)
        if number is None or not 1 <= number <= horizon:
            raise SimulationArgumentError(
                "checkpoints",
                f"must be an integer from 1 to the horizon {horizon}",
                value,
                index=index,
                remedy="round it, or leave it out",
            )
        if index >= MOST_CHECKPOINTS:
            rule, remedy = f"must be at most {MOST_CHECKPOINTS}", "thin them out"
            raise SimulationArgumentError("checkpoints", rule, values, remedy=remedy)
        if checked and number <= checked[-1]:
            raise SimulationArgumentError(
                "checkpoints",
                f"must be above the one before it, {checked[-1]}",
                value,
                index=index,
                remedy="sort them and drop those given twice",
            )
        checked.append(number)
    return (*checked, horizon) if checked[-1:] != [horizon] else tuple(checked)


def _usual_checkpoints(horizon: int, num_arms: int) -> list[int]:
    per_decade = _PER_DECADE if num_arms <= _MANY_ARMS else _PER_DECADE_MANY_ARMS
    steps = int(np.ceil(per_decade * np.log10(horizon))) + 1
    grid = 10.0 ** (np.arange(steps) / per_decade)
    rounds = {int(round(each)) for each in grid}
    return sorted(each for each in rounds if each <= horizon)
