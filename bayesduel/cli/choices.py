"""Turning names of environments and policies into objects, once, before computing."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from bayesduel.cli import parse
from bayesduel.cli.parse import near_names

if TYPE_CHECKING:
    from bayesduel.experiments.checks import Instance
    from theory import PreferenceMatrix

__all__ = [
    "check_pairings",
    "load_environments",
    "load_matrix",
    "parse_policies",
    "recorded_notions",
]

_AS_TYPED = {
    "policies: ": "--policy: ",
    "policies.subset_names() lists": "bayesduel list subset-policies lists",
    "policies.names() lists": "bayesduel list policies lists",
    "bayesduel.instances.names() lists the matrices and family_names() the families": (
        "bayesduel list names all"
    ),
    "repair=True": "--repair",
}
"""What errors say to callers from Python, and what they say here."""


def load_matrix(
    text: str, *, repair: bool = False, option: str = ""
) -> PreferenceMatrix:
    """Return a matrix by name or from a file, with a name of its own.

    Raises
    ------
    ValueError
        When the name is unknown (near ones are suggested) or the file is no matrix.
    OSError
        When there is no such file.
    """
    from bayesduel import instances

    try:
        return instances.load(text, repair=repair)
    except ValueError as error:
        raise type(error)(f"{option}{_as_typed(str(error))}") from error


def load_environments(
    texts: Sequence[str], *, repair: bool = False
) -> dict[str, Instance]:
    """Return matrices or worlds by their names in the result, in the order given.

    Raises
    ------
    ValueError
        When two of them have the same name, one cannot be loaded, or there are both
        matrices and worlds.
    """
    from bayesduel.instances.choice import ChoiceWorld, is_world_name, load_world

    found: dict[str, Instance] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        if is_world_name(text):
            try:
                problem = load_world(text)
            except ValueError as error:
                raise type(error)(f"--environment: {error}") from error
        else:
            problem = load_matrix(text, repair=repair, option="--environment: ")
        name = problem.name or text
        _refuse_twice("--environment", name, text, spelled)
        found[name] = problem
    worlds = [name for name, each in found.items() if isinstance(each, ChoiceWorld)]
    matrices = [name for name in found if name not in worlds]
    if worlds and matrices:
        raise ValueError(
            f"--environment: {matrices[0]} is a preference matrix and {worlds[0]} a "
            "world of subset choice; compare duels and sets separately"
        )
    return found


def recorded_notions(
    environments: Mapping[str, Instance], asked: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return what is recorded of each environment; the first is the one reported.

    Copeland regret of a matrix, of a world the regret of its source; then what is asked
    for.

    Raises
    ------
    ValueError
        For a notion that is unknown or not defined in one of the environments, and for
        others beside those of worlds that do not agree in their own.
    """
    from bayesduel.instances.choice import ChoiceWorld
    from theory import REGRET_NOTIONS, SUBSET_REGRET_NOTIONS

    worlds = {
        name: each
        for name, each in environments.items()
        if isinstance(each, ChoiceWorld)
    }
    if not worlds:
        notions = parse.notions(asked, REGRET_NOTIONS, first="copeland")
        for each in environments.values():
            for notion in notions:
                each.regret_per_pair(notion)  # pyright: ignore
        return dict.fromkeys(environments, notions)
    own = {name: world.regret for name, world in worlds.items()}
    if asked and len(set(own.values())) > 1:
        both = ", ".join(f"{name} ({notion})" for name, notion in own.items())
        raise ValueError(
            "--regret: cannot be added to worlds with regrets of their own that "
            f"differ: {both}; compare them separately"
        )
    found = {
        name: parse.notions(asked, tuple(SUBSET_REGRET_NOTIONS), first=own[name])
        for name in worlds
    }
    for name, world in worlds.items():
        for notion in found[name]:
            try:
                world.check_notion(notion)
            except ValueError as error:
                raise type(error)(f"--{error}") from error
    return found


def check_pairings(
    environments: Mapping[str, Instance], policies: Mapping[str, Any], horizon: int
) -> list[str]:
    """Check that every policy can play everywhere; return what it warns of.

    Raises
    ------
    ValueError
        For a policy that asks for duels in a world of subset choice, or the reverse; a
        bad parameter; feedback that it cannot read.
    """
    from bayesduel.experiments.checks import check_pairing

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, problem in environments.items():
            for policy in policies.values():
                try:
                    check_pairing(policy, name, problem, horizon)
                except ValueError as error:
                    raise type(error)(_as_typed(str(error))) from error
    return list(dict.fromkeys(str(each.message) for each in caught))


def _as_typed(text: str) -> str:
    for there, here in _AS_TYPED.items():
        text = text.replace(there, here)
    return text


def parse_policies(texts: Sequence[str], *, look_ahead: bool) -> dict[str, Any]:
    """Return the policies by their labels in the result, in the order given.

    Parameters
    ----------
    texts : sequence of str
        Such as "d-ts", "d-ts:alpha=0.6" or "mymodule:MyPolicy".
    look_ahead : bool
        False switches look-ahead off in every policy that has it.

    Raises
    ------
    ValueError
        For an unknown policy or parameter (near ones are suggested), a wrong value, or
        the same policy twice.
    """
    from bayesduel import policies

    known = (*policies.names(), *policies.subset_names())
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        policy: Any = _parsed(policies.parse, known, text)
        if not look_ahead and "look_ahead" in {each.name for each in fields(policy)}:
            policy = replace(policy, look_ahead=False)
        _refuse_twice("--policy", policy.label, text, spelled)
        found[policy.label] = policy
    return found


def _parsed(parse: Callable[[str], object], names: Sequence[str], text: str) -> object:
    """Parse one policy; the message names the option and near names."""
    from bayesduel.policies.own_policies import is_own_name

    name = text.partition(":")[0].strip()
    if name not in names and is_own_name(text):
        # An installed command does not look for modules where it is called.
        sys.path.insert(0, os.getcwd())
    elif name not in names:
        raise ValueError(
            f"--policy: there is no policy {name!r}; {near_names(name.lower(), names)}"
            f"all: {', '.join(names)}"
        )
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"--policy: {error}") from error


def _refuse_twice(option: str, name: str, text: str, spelled: dict[str, str]) -> None:
    """Raise ValueError when the name is taken, else take it."""
    if name in spelled:
        first = spelled[name]
        both = f"{text!r} is given twice" if first == text else (
            f"{first!r} and {text!r} are both called {name!r}"
        )  # fmt: skip
        raise ValueError(f"{option}: {both}; results need different names")
    spelled[name] = text
