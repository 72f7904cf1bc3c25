"""The arguments of an experiment, read and checked before anything is computed."""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, MOST_CHECKPOINTS, MOST_JOBS
from bayesduel.arguments.literals import literal
from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.problems import (
    ComparedInstance,
    Instance,
    problem_of,
    read_instance,
)
from bayesduel.instances.world import WorldBase
from bayesduel.policies.lookup import parse_policy
from bayesduel.policies.parameter_values import check_kinds
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.policy import check_rule as check_defined
from bayesduel.policies.policy_around import rule_of
from theory.arguments import as_number, integer_from, one_of, whole_number
from theory.preferences import PreferenceMatrix

RECORDS = ("plays", "regret", "quantiles")
"""Values of ``record``: the results of runs that are kept."""

_MOST_RUNS_WITH_PLAYS = 10**4
_PER_DECADE = 10
_MANY_ARMS = 64
_PER_DECADE_MANY_ARMS = 4


def as_sequence(argument: str, value: Any) -> tuple[list[Any], bool]:
    """Return a list of one or several things, and whether several could be given."""
    single = isinstance(value, str | type | PolicyBase | PreferenceMatrix | WorldBase)
    if single or hasattr(value, "__array__"):
        return [value], False
    if isinstance(value, Sequence) and value:
        rows = [row for row in value if isinstance(row, Sequence)]
        plain = [not isinstance(row, str) for row in rows]
        if len(rows) == len(value) and all(plain):
            if all(isinstance(entry, int | float) for row in rows for entry in row):
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


def worker_count(jobs: Any) -> int:
    """Return a number of worker processes; None takes one per core."""
    if jobs is None:
        return cpu_count() or 1
    return integer_from(jobs, 1, "jobs", MOST_JOBS, kind=SimulationArgumentError)


def check_record(value: Any, num_runs: int, stopping: Any) -> str:
    """Return what is kept of runs; None is the usual thing for their number."""
    if value is None:
        return "plays" if num_runs <= _MOST_RUNS_WITH_PLAYS else "regret"
    one_of(value, RECORDS, "record", kind=SimulationArgumentError)
    if value == "quantiles" and stopping is not None:
        rule = "keeps no single run, so not when a rule ended it"
        raise SimulationArgumentError("record", rule, value, remedy="record regret")
    return value


def check_horizon(value: Any) -> int:
    """Return ``value`` as a number of rounds."""
    kind = SimulationArgumentError
    return integer_from(value, 1, "horizon", LONGEST_HORIZON, kind=kind)


def check_checkpoints(values: Any, horizon: int, num_arms: int) -> tuple[int, ...]:
    """Return increasing checkpoints that end with the horizon."""
    if values is None:
        per_decade = _PER_DECADE if num_arms <= _MANY_ARMS else _PER_DECADE_MANY_ARMS
        steps = int(np.ceil(per_decade * np.log10(horizon))) + 1
        grid = 10.0 ** (np.arange(steps) / per_decade)
        rounds = {int(round(point)) for point in grid}
        values = sorted(number for number in rounds if number <= horizon)
    checked: list[int] = []
    for index, value in enumerate(several("checkpoints", values)):
        number = whole_number(value)
        if number is None or not 1 <= number <= horizon:
            rule = f"must be an integer from 1 to the horizon {horizon}"
            remedy = "round it, or leave it out"
            raise SimulationArgumentError(
                "checkpoints", rule, value, index=index, remedy=remedy
            )
        if index >= MOST_CHECKPOINTS:
            rule, remedy = f"must be at most {MOST_CHECKPOINTS}", "thin them out"
            raise SimulationArgumentError("checkpoints", rule, values, remedy=remedy)
        if checked and number <= checked[-1]:
            rule = f"must be above the one before it, {checked[-1]}"
            remedy = "sort them and drop those given twice"
            raise SimulationArgumentError(
                "checkpoints", rule, value, index=index, remedy=remedy
            )
        checked.append(number)
    return (*checked, horizon) if checked[-1:] != [horizon] else tuple(checked)


_TAKEN = (
    "arm", "best_set", "choice_probabilities", "choice_sets", "feature", "features",
    "opponent", "preference", "prices",
)  # fmt: skip
"""Names in the node of an instance that are not policies."""


def read_grids(argument: str, given: Any) -> tuple[list[Any], bool]:
    """Return one or several things, with texts of several values taken apart."""
    values, numbered = as_sequence(argument, given)
    expanded = []
    for index, value in enumerate(values):
        with errors_about(argument, value, index if numbered else None):
            expanded += expand(value) if isinstance(value, str) else [value]
    return expanded, numbered


def with_features_of(instance: Any, path: Path | str) -> Any:
    """Return a matrix or a world with the features that a file tells of its arms."""
    from bayesduel.votes import read_covariates

    names = instance.arm_names or [str(arm) for arm in range(instance.num_arms)]  # pyright: ignore
    table, _ = read_covariates(path, names)
    name = "features" if isinstance(instance, PreferenceMatrix) else "arm_features"
    if name not in {field.name for field in fields(instance)}:
        rule = f"{instance.name} has no field {name}, so it takes no {{features}}"
        remedy = "leave them out, or write the field in the class of the world"
        raise SimulationArgumentError("instances", rule, instance, remedy=remedy)
    return replace(instance, **{name: table})


def with_prices_of(instance: Any, path: Path | str) -> PreferenceMatrix:
    """Return a matrix with the prices of duels that a file tells."""
    from bayesduel.instances import read_prices

    if not isinstance(instance, PreferenceMatrix):
        rule = f"{instance.name} is no preference matrix, and takes no {{prices}}"
        raise SimulationArgumentError(
            "instances", rule, instance, remedy="leave them out"
        )
    return replace(instance, prices=read_prices(path))


def read_policies(given: Any) -> tuple[PolicyBase, ...]:
    """Return policies under different names."""
    values, numbered = read_grids("policies", given)
    checked = []
    for position, value in enumerate(values):
        index = position if numbered else None
        with errors_about("policies", value, index):
            policy = parse_policy(value) if isinstance(value, str) else value
            if not isinstance(policy, PolicyBase):
                is_class = isinstance(policy, type) and issubclass(policy, PolicyBase)
                raise SimulationArgumentError(
                    "policies",
                    "must be a policy or the name of one",
                    value,
                    remedy=f"write {policy.__name__}()"
                    if is_class
                    else "bayesduel.policies.names() lists them",
                )
            check_kinds(policy)
            if (rule := rule_of(policy)) is not None:
                check_defined(rule)
            checked.append(policy)
    _check_names("policies", [one.label for one in checked], values)
    return tuple(checked)


def read_instances(given: Any) -> tuple[Instance, ...]:
    """Return matrices or worlds, of one kind, under different names."""
    values, numbered = read_grids("instances", given)
    known = []
    for position, value in enumerate(values):
        with errors_about("instances", value, position if numbered else None):
            known.append(read_instance(value))
    problems = [problem_of(one) for one in known]
    _check_names("instances", [one.name for one in problems], values)
    first = problems[0]
    for index, problem in enumerate(problems):
        if type(problem) is not type(first):
            rule = f"{first.name} is {first.words} and {problem.name} {problem.words}"
            remedy = "compare duels and sets separately"
            raise SimulationArgumentError(
                "instances", rule, known[index], index=index, remedy=remedy
            )
    return tuple(known)


def read_notions(
    given: Any, problems: Sequence[ComparedInstance]
) -> tuple[str, ...] | None:
    """Return the notions of regret, each once; None where none is asked for."""
    if given is None:
        return None
    single = isinstance(given, str)
    notions = [given] if single else list(several("regret", given))
    if not notions:
        rule = "must name at least one notion"
        remedy = f"name one, such as {problems[0].usual_notions[0]!r}"
        raise SimulationArgumentError("regret", rule, given, remedy=remedy)
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
            earlier, later = values[names.index(name)], values[index]
            texts = (
                isinstance(earlier, str) and isinstance(later, str) and earlier != later
            )
            twice = f"{name!r} is given twice"
            raise SimulationArgumentError(
                argument,
                f"{earlier!r} and {later!r} are both called {name!r}"
                if texts
                else twice,
                later,
                index=index,
                remedy="results need different names",
            )


# --- Several values in one text ------------------------------------------------------

_RANGE = re.compile(
    r"(?P<first>[^/|]+?)\.\.(?P<last>[^/|]+)/(?P<count>[0-9]+)(?P<log>log)?"
)
_TOGETHER = re.compile(r"&(?=\s*[A-Za-z_]\w*\s*=)")
_MOST = 1000  # Values of a range, and texts that come of one.


def expand(text: str) -> list[str]:
    """Return one text for each value, or combination of values, of the parameters.

    Parameters
    ----------
    text : str
        ``name:parameter=value,...``. A value may be a list, ``0.51|1|2``, or a range
        with both ends in it: ``0.51..2/10`` is ten values in equal steps,
        ``1..1000/4log`` four in equal ratios. Several such parameters are crossed, and
        the last one changes fastest; those with ``&`` in place of the comma between
        them are zipped: the first value of one goes with the first of the other.

    Raises
    ------
    SimulationArgumentError
        For a range that is none, zipped parameters with different numbers of values, or
        more than 1000 combinations.

    Examples
    --------
    >>> expand("rcs:prior=1|2,look_ahead=false")
    ['rcs:prior=1,look_ahead=false', 'rcs:prior=2,look_ahead=false']
    >>> expand("d-ts:alpha=0.5..2/4")
    ['d-ts:alpha=0.5', 'd-ts:alpha=1', 'd-ts:alpha=1.5', 'd-ts:alpha=2']
    >>> expand("d-ts:alpha=1|2&every=10..1000/2log")
    ['d-ts:alpha=1,every=10', 'd-ts:alpha=2,every=1000']
    >>> expand("d-ts")
    ['d-ts']
    """
    name, colon, rest = text.rpartition(":")
    if not colon or "=" not in rest:
        return [text]
    choices = [_together(text, part) for part in rest.split(",")]
    count = 1
    for values in choices:
        count *= len(values)
    if count > _MOST:
        raise _refused(text, f"stands for {count} combinations, more than {_MOST}")
    return [f"{name}:{','.join(row)}" for row in itertools.product(*choices)]


def _together(text: str, part: str) -> list[str]:
    """Return what stands between two commas, once for each of its values."""
    columns, counts = [], []
    for piece in _TOGETHER.split(part):
        parameter, equals, value = piece.partition("=")
        values = _values(text, value.strip()) if equals else [""]
        columns.append([f"{parameter}{equals}{one}" for one in values])
        counts.append(f"{len(values)} of {parameter.strip()}")
    if len({*map(len, columns)}) > 1:
        rule = f"zips {' and '.join(counts)}: as many of each must be given"
        raise _refused(text, rule)
    return [",".join(row) for row in zip(*columns, strict=True)]


def _values(text: str, value: str) -> list[str]:
    """Return the values that a text stands for; one that is plain is itself."""
    match = _RANGE.fullmatch(value)
    if match is None:
        several = [part.strip() for part in value.split("|")]
        if not all(several) and len(several) > 1:
            raise _refused(text, f"{value!r} has an empty place in its list")
        return several
    ends = [as_number(literal(match[end].strip())) for end in ("first", "last")]
    first, last = ends
    count = int(match["count"][:9])
    if not all(map(math.isfinite, ends)):
        raise _refused(text, f"{value!r} is no range of numbers")
    if not 2 <= count <= _MOST:
        raise _refused(text, f"a range has 2 to {_MOST} values, not {count}")
    if match["log"]:
        if min(ends) <= 0:
            raise _refused(text, f"{value!r} has ratios, so both ends must be above 0")
        first, last = math.log(first), math.log(last)
    shares = [step / (count - 1) for step in range(1, count - 1)]
    steps = [first * (1 - share) + last * share for share in shares]
    # Twelve digits: 0.1 + 0.2 is 0.3 here.
    inner = [f"{math.exp(step) if match['log'] else step:.12g}" for step in steps]
    return [match["first"].strip(), *inner, match["last"].strip()]


def _refused(text: str, rule: str) -> SimulationArgumentError:
    remedy = (
        "write a list as 0.5|1|2, a range as 0.5..2/4 or 1..1000/4log, and what goes "
        "together as a=1|2&b=10|20"
    )
    return SimulationArgumentError("text", rule, text, remedy=remedy)
