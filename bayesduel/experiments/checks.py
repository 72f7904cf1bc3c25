"""Checking what users ask for, before anything is computed."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from bayesduel import instances
from bayesduel.errors import SimulationArgumentError, UnknownNameError
from bayesduel.instances.choice import ChoiceWorld, is_world_name, load_world
from bayesduel.limits import LONGEST_HORIZON, MOST_CHECKPOINTS
from bayesduel.policies.base import Policy, check_kinds
from bayesduel.policies.lookup import parse
from bayesduel.policies.subset_base import SubsetPolicy
from theory import REGRET_NOTIONS, SUBSET_REGRET_NOTIONS, PreferenceMatrix
from theory.arguments import shown
from theory.preferences import as_preference_matrix

Instance = PreferenceMatrix | ChoiceWorld
"""What answers: duels, or offers of subsets."""

_PER_DECADE = 10
_MANY_ARMS = 64
_PER_DECADE_MANY_ARMS = 4


def as_sequence(name: str, value: Any) -> list[Any]:
    """Return a list of one or several things; a matrix, world or string is one."""
    single = isinstance(value, str | PreferenceMatrix | ChoiceWorld | Policy)
    if single or hasattr(value, "__array__") or _is_nested_numbers(value):
        return [value]
    return list(_iterable(name, value))


def _iterable(name: str, value: Any) -> Iterable[Any]:
    if not isinstance(value, Iterable):
        raise SimulationArgumentError(
            f"{name} must be one or several, got {shown(value)}"
        )
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


def check_count(name: str, value: int, most: int | None = None) -> int:
    """Return ``value`` if it is a positive integer, and at most ``most``."""
    if not _is_whole(value) or value < 1:
        raise SimulationArgumentError(
            f"{name} must be a positive integer, got {shown(value)}"
        )
    if most is not None and value > most:
        raise SimulationArgumentError(
            f"{name} must be at most {most}, got {shown(value)}"
        )
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is True or False; a text such as "no" would be true."""
    if not isinstance(value, bool | np.bool_):
        raise SimulationArgumentError(
            f"{name} must be True or False, got {shown(value)}"
        )
    return bool(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_seed(value: int) -> int:
    """Return ``value`` if it is an integer from 0 to 2^63 - 1."""
    if not _is_whole(value) or not 0 <= value < 2**63:
        raise SimulationArgumentError(
            f"seed must be an integer from 0 to 2^63 - 1, got {shown(value)}"
        )
    return int(value)


def check_horizon(value: float) -> int:
    """Return ``value`` as a number of rounds."""
    if not _is_finite(value):
        raise SimulationArgumentError(
            f"horizon must be a number of rounds, got {shown(value)}"
        )
    if int(value) != value or not 1 <= value <= LONGEST_HORIZON:
        raise SimulationArgumentError(
            f"horizon must be an integer from 1 to 2^62 (4.6e18), got {shown(value)}"
        )
    return int(value)


def _is_finite(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool):
        return False
    return isinstance(value, int) or bool(np.isfinite(value))


def check_checkpoints(
    values: Sequence[int] | None, horizon: int, num_arms: int
) -> tuple[int, ...]:
    """Return increasing checkpoints that end with the horizon."""
    if values is None:
        per_decade = _PER_DECADE if num_arms <= _MANY_ARMS else _PER_DECADE_MANY_ARMS
        steps = int(np.ceil(per_decade * np.log10(horizon))) + 1
        grid = 10.0 ** (np.arange(steps) / per_decade)
        rounds = {int(round(each)) for each in grid}
        values = sorted(each for each in rounds if each <= horizon)
    checked: list[int] = []
    for index, value in enumerate(_iterable("checkpoints", values)):
        whole = _is_finite(value) and value == int(value)
        if not whole or not 1 <= value <= horizon:
            raise SimulationArgumentError(
                f"checkpoints[{index}] must be an integer from 1 to the horizon "
                f"{horizon}, got {shown(value)}"
            )
        if index >= MOST_CHECKPOINTS:
            raise SimulationArgumentError(
                f"checkpoints must be at most {MOST_CHECKPOINTS}; thin them out"
            )
        if checked and value <= checked[-1]:
            raise SimulationArgumentError(
                f"checkpoints must increase: checkpoints[{index}] is {value!r} after "
                f"{checked[-1]}; sort them and drop those given twice"
            )
        checked.append(int(value))
    return (*checked, horizon) if checked[-1:] != [horizon] else tuple(checked)


def check_notions(
    values: Sequence[str] | None, *, subsets: bool = False
) -> tuple[str, ...]:
    """Return the notions of regret, each once; none where none is asked for.

    ``subsets`` says that they are notions between sets.
    """
    if values is None:
        return ()
    known = tuple(SUBSET_REGRET_NOTIONS) if subsets else REGRET_NOTIONS
    example = "expected_reward" if subsets else "copeland"
    single = isinstance(values, str)
    notions = (values,) if single else tuple(_iterable("regret", values))
    if not notions:
        raise SimulationArgumentError(
            f"regret must name at least one notion, such as {example!r}"
        )
    for notion in notions:
        if not isinstance(notion, str) or notion not in known:
            near = get_close_matches(shown(notion), known, n=2)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UnknownNameError(
                f"regret: there is no notion {shown(notion)}; {hint}all: "
                f"{', '.join(known)}"
            )
    return tuple(dict.fromkeys(notions))


def resolve_policies(values: Sequence[Policy | str]) -> dict[str, Policy]:
    """Return policies by label."""
    found: dict[str, Policy] = {}
    for value in values:
        policy = parse(value) if isinstance(value, str) else value
        if not isinstance(policy, Policy):
            raise SimulationArgumentError(
                f"policies must be names or policies, got {shown(value)}"
            )
        check_kinds(policy)
        _add(found, policy.label, policy, "policies")
    if not found:
        raise SimulationArgumentError("policies must hold at least one policy")
    return found


def resolve_environments(values: Sequence[Any]) -> dict[str, Instance]:
    """Return matrices or worlds by name; one without a name is called by its size."""
    found: dict[str, Instance] = {}
    for index, value in enumerate(values):
        argument = "environment" if len(values) == 1 else f"environments[{index}]"
        matrix = _matrix(argument, value)
        name = (matrix.name or f"{matrix.num_arms}-arms").replace("/", "-")
        _add(found, name, matrix, "environments")
    if not found:
        raise SimulationArgumentError("environments must hold at least one matrix")
    if len({isinstance(each, ChoiceWorld) for each in found.values()}) > 1:
        raise SimulationArgumentError(
            "environments must be all matrices (duels) or all worlds of subset choice, "
            f"got both in {', '.join(found)}; compare them separately"
        )
    return found


def check_pairing(policy: Policy, name: str, problem: Instance, horizon: int) -> None:
    """Raise where a policy cannot play in an environment; warn outside its theory."""
    if isinstance(problem, ChoiceWorld):
        if not isinstance(policy, SubsetPolicy):
            raise SimulationArgumentError(
                f"policies: {policy.label} asks for duels, but {name} is a world of "
                "subset choice; policies.subset_names() lists those that offer sets"
            )
        policy.check_world(problem, horizon)
    elif isinstance(policy, SubsetPolicy):
        raise SimulationArgumentError(
            f"policies: {policy.label} offers sets, but {name} is a preference matrix; "
            "policies.names() lists those that ask for duels"
        )
    else:
        policy.check(problem.num_arms, horizon)


def _matrix(argument: str, value: Any) -> Instance:
    if isinstance(value, ChoiceWorld):
        return value
    if isinstance(value, str):
        return load_world(value) if is_world_name(value) else instances.load(value)
    try:
        return as_preference_matrix(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{argument}: {error}") from error


_TAKEN = {"preference", "best_set", "arm", "opponent"}
"""What a node of an environment holds besides its policies."""


def _add(found: dict[str, Any], name: str, value: Any, argument: str) -> None:
    """Add under a name that a group of a results file can have."""
    printable = name.isprintable() and name == name.strip()
    if not printable or "/" in name or name in {"", ".", "..", *_TAKEN}:
        raise SimulationArgumentError(
            f"{argument}: results cannot be kept under the name {name!r}; give it "
            "another one: printable, without a slash or spaces around it, and none of "
            f"., .., {', '.join(sorted(_TAKEN))}"
        )
    if name in found:
        raise SimulationArgumentError(
            f"{argument}: {name!r} is given twice; results need different names"
        )
    found[name] = value
