"""Turning names of environments and policies into objects, once, before computing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from bayesduel.cli.parse import near_names

if TYPE_CHECKING:
    from theory import PreferenceMatrix

__all__ = ["load_environments", "load_matrix", "parse_policies"]


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
    from bayesduel import datasets

    try:
        return datasets.load(text, repair=repair)
    except ValueError as error:
        if repair or "repair=True" not in str(error):
            raise type(error)(f"{option}{error}") from error
        advice = str(error).replace("repair=True", "--repair")
        raise type(error)(f"{option}{advice}") from error


def load_environments(
    texts: Sequence[str], *, repair: bool = False
) -> dict[str, PreferenceMatrix]:
    """Return the matrices by their names in the result, in the order given.

    Raises
    ------
    ValueError
        When two of them have the same name, or one cannot be loaded.
    """
    found: dict[str, PreferenceMatrix] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        matrix = load_matrix(text, repair=repair, option="--environment: ")
        name = matrix.name or text
        _refuse_twice("--environment", name, text, spelled)
        found[name] = matrix
    return found


def parse_policies(texts: Sequence[str], *, look_ahead: bool) -> dict[str, Any]:
    """Return the policies by their labels in the result, in the order given.

    Parameters
    ----------
    texts : sequence of str
        Such as "d-ts" or "d-ts:alpha=0.6".
    look_ahead : bool
        False switches look-ahead off in every policy that has it.

    Raises
    ------
    ValueError
        For an unknown policy or parameter (near ones are suggested), a wrong value, or
        the same policy twice.
    """
    from bayesduel import policies

    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        policy: Any = _parsed(policies.parse, policies.names(), text)
        if not look_ahead and "look_ahead" in {each.name for each in fields(policy)}:
            policy = replace(policy, look_ahead=False)
        _refuse_twice("--policy", policy.label, text, spelled)
        found[policy.label] = policy
    return found


def _parsed(parse: Callable[[str], object], names: Sequence[str], text: str) -> object:
    """Parse one policy; the message names the option and near names."""
    name = text.partition(":")[0].strip()
    if name not in names:
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
