"""The arguments of an experiment, read and checked before anything is computed."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, MOST_CHECKPOINTS, MOST_JOBS
from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.parameter_grids import expand
from bayesduel.experiments.problems import (
    ComparedInstance,
    Instance,
    problem_of,
    read_instance,
)
from bayesduel.experiments.results import FILE_NAMES, ZARR
from bayesduel.instances.world import WorldBase
from bayesduel.policies.lookup import parse_policy
from bayesduel.policies.parameter_values import check_kinds
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.policy import check_rule as check_defined
from bayesduel.policies.policy_around import rule_of
from theory.arguments import integer_from, one_of, whole_number
from theory.preferences import PreferenceMatrix

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
    single = isinstance(value, str | PolicyBase | PreferenceMatrix | WorldBase)
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
        from bayesduel.experiments.stored.zarr_files import require_zarr

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


_TAKEN = (
    "arm",
    "best_set",
    "choice_probabilities",
    "choice_sets",
    "feature",
    "features",
    "opponent",
    "preference",
)
"""What a node of an instance holds besides its policies."""


def read_grids(argument: str, given: Any) -> tuple[list[Any], bool]:
    """Return one or several things, with texts of several values taken apart."""
    values, numbered = as_sequence(argument, given)
    found = []
    for index, value in enumerate(values):
        with errors_about(argument, value, index if numbered else None):
            found += expand(value) if isinstance(value, str) else [value]
    return found, numbered


def with_features_of(instance: Instance, path: Path | str) -> Any:
    """Return a matrix or a world with the features that a file tells of its arms.

    As :func:`bayesduel.votes.read_covariates` reads it; arms without names are called
    0, 1, ... there.
    """
    from bayesduel.votes import read_covariates

    names = instance.arm_names or [str(arm) for arm in range(instance.num_arms)]  # pyright: ignore
    table, _ = read_covariates(path, names)
    name = "features" if isinstance(instance, PreferenceMatrix) else "arm_features"
    if name not in {each.name for each in fields(instance)}:
        raise SimulationArgumentError(
            "instances",
            f"{instance.name} has no field {name}, so it takes no {{features}}",
            instance,
            remedy="leave them out, or write the field in the class of the world",
        )
    return replace(instance, **{name: table})


def read_policies(given: Any) -> tuple[PolicyBase, ...]:
    """Return policies under different names."""
    values, numbered = read_grids("policies", given)
    found = []
    for position, value in enumerate(values):
        index = position if numbered else None
        with errors_about("policies", value, index):
            policy = parse_policy(value) if isinstance(value, str) else value
            if not isinstance(policy, PolicyBase):
                raise SimulationArgumentError(
                    "policies",
                    "must be a policy or the name of one",
                    value,
                    remedy="bayesduel.policies.names() lists them",
                )
            check_kinds(policy)
            if (rule := rule_of(policy)) is not None:
                check_defined(rule)
            found.append(policy)
    _check_names("policies", [each.label for each in found], values)
    return tuple(found)


def read_instances(given: Any) -> tuple[Instance, ...]:
    """Return matrices or worlds, of one kind, under different names."""
    values, numbered = read_grids("instances", given)
    found = []
    for position, value in enumerate(values):
        with errors_about("instances", value, position if numbered else None):
            found.append(read_instance(value))
    problems = [problem_of(each) for each in found]
    _check_names("instances", [each.name for each in problems], values)
    first = problems[0]
    for index, other in enumerate(problems):
        if type(other) is not type(first):
            raise SimulationArgumentError(
                "instances",
                f"{first.name} is {first.words} and {other.name} {other.words}",
                found[index],
                index=index,
                remedy="compare duels and sets separately",
            )
    return tuple(found)


def read_notions(
    given: Any, problems: Sequence[ComparedInstance]
) -> tuple[str, ...] | None:
    """Return the notions of regret, each once; None where none is asked for."""
    if given is None:
        return None
    single = isinstance(given, str)
    notions = [given] if single else list(several("regret", given))
    if not notions:
        raise SimulationArgumentError(
            "regret",
            "must name at least one notion",
            given,
            remedy=f"name one, such as {problems[0].default_notion!r}",
        )
    for index, notion in enumerate(notions):
        for problem in problems:
            with errors_about("regret", notion, None if single else index):
                problem.check_notion(notion)
    return tuple(dict.fromkeys(notions))


def _check_names(argument: str, names: Sequence[str], values: Sequence[Any]) -> None:
    """Raise unless every name is one that a group of a results file can have."""
    if not names:
        raise SimulationArgumentError(
            argument, "must hold at least one", values, remedy="name one"
        )
    for index, name in enumerate(names):
        printable = name.isprintable() and name == name.strip()
        if not printable or "/" in name or name in {"", ".", "..", *_TAKEN}:
            raise SimulationArgumentError(
                argument,
                f"results cannot be kept under the name {name!r}",
                values[index],
                index=index,
                remedy="give it another one: printable, without a slash or spaces "
                f"around it, and none of ., .., {', '.join(_TAKEN)}",
            )
        if name in names[:index]:
            one, other = values[names.index(name)], values[index]
            texts = isinstance(one, str) and isinstance(other, str) and one != other
            twice = f"{name!r} is given twice"
            raise SimulationArgumentError(
                argument,
                f"{one!r} and {other!r} are both called {name!r}" if texts else twice,
                other,
                index=index,
                remedy="results need different names",
            )
