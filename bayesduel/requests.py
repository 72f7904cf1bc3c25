"""Checking what users ask for, before anything is computed."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from bayesduel import datasets
from bayesduel.errors import SimulationArgumentError, UnknownNameError
from bayesduel.policies.base import Policy
from bayesduel.policies.registry import parse
from theory import REGRET_NOTIONS, PreferenceMatrix
from theory.preferences import as_preference_matrix

LONGEST_HORIZON = 2**62
"""Rounds are counted in 64 bits."""

_PER_DECADE = 10
_MANY_ARMS = 64
_PER_DECADE_MANY_ARMS = 4


def as_sequence(value: Any, kind: Any) -> list[Any]:
    """Return a list of one or several things; matrices and strings are one thing."""
    single = isinstance(value, str | PreferenceMatrix | Policy | np.ndarray)
    if single or (isinstance(value, Sequence) and _is_nested_numbers(value)):
        return [value]
    return list(value)


def _is_nested_numbers(value: Sequence[Any]) -> bool:
    """Say whether ``value`` is a matrix written as lists of numbers."""
    return bool(value) and all(
        isinstance(row, Sequence)
        and not isinstance(row, str)
        and all(isinstance(entry, int | float) for entry in row)
        for row in value
    )


def check_count(name: str, value: int) -> int:
    """Return ``value`` if it is a positive integer."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise SimulationArgumentError(
            f"{name} must be a positive integer, got {value!r}"
        )
    return int(value)


def check_seed(value: int) -> int:
    """Return ``value`` if it is an integer from 0 to 2^63 - 1."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value < 2**63:
        raise SimulationArgumentError(
            f"seed must be an integer from 0 to 2^63 - 1, got {value!r}"
        )
    return int(value)


def check_horizon(value: float) -> int:
    """Return ``value`` as a number of rounds."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if (
        not number
        or isinstance(value, bool)
        or value != value
        or value
        in (
            float("inf"),
            float("-inf"),
        )
    ):
        raise SimulationArgumentError(
            f"horizon must be a number of rounds, got {value!r}"
        )
    if int(value) != value or not 1 <= value <= LONGEST_HORIZON:
        raise SimulationArgumentError(
            f"horizon must be an integer from 1 to 2^62 (4.6e18), got {value!r}"
        )
    return int(value)


def check_checkpoints(
    values: Sequence[int] | None, horizon: int, num_arms: int
) -> tuple[int, ...]:
    """Return increasing checkpoints that end with the horizon."""
    if values is None:
        per_decade = _PER_DECADE if num_arms <= _MANY_ARMS else _PER_DECADE_MANY_ARMS
        steps = int(np.ceil(per_decade * np.log10(horizon))) + 1
        grid = 10.0 ** (np.arange(steps) / per_decade)
        values = [int(round(each)) for each in grid]
        values = [each for each in values if each <= horizon]
    checked = []
    for index, value in enumerate(values):
        if value != int(value) or not 1 <= value <= horizon:
            raise SimulationArgumentError(
                f"checkpoints[{index}] must be an integer from 1 to the horizon "
                f"{horizon}, got {value!r}"
            )
        checked.append(int(value))
    return tuple(sorted({*checked, horizon}))


def check_notions(values: Sequence[str]) -> tuple[str, ...]:
    """Return the notions of regret, each once."""
    notions = (values,) if isinstance(values, str) else tuple(values)
    if not notions:
        raise SimulationArgumentError(
            "regret must name at least one notion, such as 'copeland'"
        )
    for notion in notions:
        if notion not in REGRET_NOTIONS:
            near = get_close_matches(notion, REGRET_NOTIONS, n=2)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UnknownNameError(
                f"regret: there is no notion {notion!r}; {hint}all: "
                f"{', '.join(REGRET_NOTIONS)}"
            )
    return tuple(dict.fromkeys(notions))


def resolve_policies(values: Sequence[Policy | str]) -> dict[str, Policy]:
    """Return policies by label."""
    found: dict[str, Policy] = {}
    for value in values:
        policy = parse(value) if isinstance(value, str) else value
        if not isinstance(policy, Policy):
            raise SimulationArgumentError(
                f"policies must be names or policies, got {value!r}"
            )
        _add(found, policy.label, policy, "policies")
    if not found:
        raise SimulationArgumentError("policies must hold at least one policy")
    return found


def resolve_environments(values: Sequence[Any]) -> dict[str, PreferenceMatrix]:
    """Return matrices by name; one without a name is called after its size."""
    found: dict[str, PreferenceMatrix] = {}
    for value in values:
        matrix = (
            datasets.load(value)
            if isinstance(value, str)
            else as_preference_matrix(value)
        )
        name = (matrix.name or f"{matrix.num_arms}-arms").replace("/", "-")
        _add(found, name, matrix, "environments")
    if not found:
        raise SimulationArgumentError("environments must hold at least one matrix")
    return found


def _add(found: dict[str, Any], name: str, value: Any, argument: str) -> None:
    if name in found:
        raise SimulationArgumentError(
            f"{argument}: {name!r} is given twice; results need different names"
        )
    found[name] = value
