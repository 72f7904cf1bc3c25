"""The arguments of an experiment, read and checked one by one."""

from collections.abc import Sequence
from typing import Any

from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments import checks
from bayesduel.experiments.parameter_grids import expand
from bayesduel.experiments.problems import (
    Instance,
    Problem,
    problem_of,
    read_instance,
)
from bayesduel.policies.checks import check_kinds
from bayesduel.policies.lookup import parse_policy
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.policy import check_rule as check_defined
from bayesduel.policies.policy_around import rule_of
from bayesduel.stopping.rules import StoppingRule, check_rule

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


def read_stopping(given: Any) -> StoppingRule | None:
    """Return a rule for stopping, or None."""
    return None if given is None else check_rule("stopping", given)


def check_stopping(problem: Problem, policy: PolicyBase, shuffle: bool) -> None:
    """Raise unless runs of a policy can be stopped."""
    from bayesduel.simulation.driver import check_stops

    check_stops(problem.environment((problem.default_notion,), shuffle=shuffle), policy)


def read_grids(argument: str, given: Any) -> tuple[list[Any], bool]:
    """Return one or several things, with texts of several values taken apart."""
    values, numbered = checks.as_sequence(argument, given)
    found = []
    for index, value in enumerate(values):
        with errors_about(argument, value, index if numbered else None):
            found += expand(value) if isinstance(value, str) else [value]
    return found, numbered


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
                check_defined(rule[0])
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


def read_notions(given: Any, problems: Sequence[Problem]) -> tuple[str, ...] | None:
    """Return the notions of regret, each once; None where none is asked for."""
    if given is None:
        return None
    single = isinstance(given, str)
    notions = [given] if single else list(checks.several("regret", given))
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
