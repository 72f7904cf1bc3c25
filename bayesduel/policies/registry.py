"""Policies by name: each enters itself, where it is written.

A policy's names, its acronym and the theorems on it stand above its class. Its file is
imported when it is first asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.arguments.named_objects import value_text
from bayesduel.errors import ArgumentError
from bayesduel.models.in_policies.names import (
    changed_numbers,
    is_posterior,
)

# Folders of policies in the order of lists; others follow by name
_FAMILIES = (
    "thompson", "ucb", "rmed", "elimination", "reductions", "batched",
    "weak_regret", "adversarial", "contextual", "identification", "subsets",
)  # fmt: skip

# The mark above a class of policies, and the beginning of a class
_MARK = re.compile(r'^(?:@register\(\s*"([^"]+)"|class )', re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A registered policy."""

    acronym: str  # As the papers and the figures call it.
    kind: type  # Its class.
    # Fields that make this form of it; the others keep their defaults.
    parameters: dict[str, Any]
    # Functions of `theory` that bound its regret.
    theorems: tuple[Callable[..., Any], ...]

    @cached_property
    def default(self) -> Any:
        """Its default form."""
        return self.kind(**self.parameters)

    @cached_property
    def family(self) -> str:
        """Folder of the policy; empty for one outside of all."""
        parts = self.kind.__module__.split(".")
        inside = parts[:2] == ["bayesduel", "policies"] and len(parts) > 3
        return parts[2] if inside else ""


_ENTRIES: dict[str, Entry] = {}


def register[T: type](
    name: str,
    *,
    acronym: str,
    theorems: tuple[Callable[..., Any], ...] = (),
    **parameters: Any,
) -> Callable[[T], T]:
    """Register a policy class, or one form of it, under a name.

    Parameters
    ----------
    name : str
        For :func:`bayesduel.policies.get` and the command line.
    acronym : str
        For tables and figures; theorems speak of the algorithm by it.
    theorems : tuple of callable, optional
        Functions of `theory` that bound its regret: all that are in the catalog of
        `theory.all_bounds` under this acronym.
    **parameters
        Fields that make this form; the others keep their defaults.

    Returns
    -------
    callable
        A decorator that returns the class as it is. The first form to be entered, the
        lowest of several decorators, gives the class its name.

    Raises
    ------
    ValueError
        If the name is taken by another class.

    Notes
    -----
    A class of one's own registers in the same way; then its name works wherever those
    of the package do::

        @policies.register("etc", acronym="ETC")
        class ExploreFirst(bayesduel.Policy):
            rounds: int = 100
    """

    def enter(cls: T) -> T:
        known = _ENTRIES.get(name)
        if modules().get(name, cls.__module__) != cls.__module__:
            known = entry(name)
        # A module that is run again brings its classes anew.
        if known is not None and known.kind.__qualname__ != cls.__qualname__:
            raise ArgumentError(
                "name",
                f"must be new, but is that of {known.kind.__name__}",
                name,
                remedy="choose another one",
            )
        _ENTRIES[name] = Entry(acronym, cls, parameters, tuple(theorems))
        return cls

    return enter


@cache
def modules() -> dict[str, str]:
    """Return the module of every policy of the package by name, family by family."""
    # Read from the sources, so that none is imported before it is asked for. The lowest
    # mark above a class is the first to be entered.
    root, homes = Path(__file__).parent, {}
    known = {family: position for position, family in enumerate(_FAMILIES)}

    def rank(path: Path) -> tuple[bool, int, Path]:
        return len(path.parts) == 1, known.get(path.parts[0], len(known)), path

    for path in sorted((x.relative_to(root) for x in root.rglob("*.py")), key=rank):
        names: list[str] = []
        for mark in _MARK.finditer((root / path).read_text(encoding="utf-8")):
            if mark[1]:
                names.append(mark[1])
                continue
            module = ".".join(("bayesduel", "policies", *path.with_suffix("").parts))
            homes |= dict.fromkeys(reversed(names), module)
            names = []
    return homes


def registered_names() -> tuple[str, ...]:
    """Return the names, family by family, those of one's own policies last."""
    return tuple(dict.fromkeys([*modules(), *_ENTRIES]))


def entry(name: str) -> Entry:
    """Return what is registered under a name."""
    if name in modules():
        import_module(modules()[name])
    return _ENTRIES[name]


def entries() -> dict[str, Entry]:
    """Return all that is registered, family by family."""
    return {name: entry(name) for name in registered_names()}


def registered_name(policy: Any) -> str | None:
    """Return the name of the form that a policy has, None if its class has none."""
    # The one with the most parameters of those whose parameters the policy has, else
    # the first.
    forms = {
        name: entered
        for name, entered in _ENTRIES.items()
        if entered.kind is type(policy)
    }
    fitting = [
        name
        for name, form in forms.items()
        if all(_has(policy, *parameter) for parameter in form.parameters.items())
    ]
    size = {name: len(form.parameters) for name, form in forms.items()}
    return max(fitting or [*forms][:1], key=size.__getitem__, default=None)


def _has(policy: Any, name: str, value: Any) -> bool:
    """Say whether a policy has a parameter, of a posterior the model that is named."""
    current = getattr(policy, name)
    if isinstance(value, str) and is_posterior(current):
        return current.name in (value, f"{value}-hmc")
    return _same(current, value)


def registered_label(policy: Any) -> str | None:
    """Return the acronym with the parameters that are not the default ones."""
    name = registered_name(policy)
    if name is None:
        return None
    entry = _ENTRIES[name]
    changed = [
        text
        for field in fields(policy)
        if field.metadata.get("distribution", True)
        and getattr(policy, field.name) is not getattr(entry.default, field.name)
        for text in _change(
            field.name, getattr(policy, field.name), getattr(entry.default, field.name)
        )
    ]
    return entry.acronym + (":" + ",".join(changed) if changed else "")


def _change(name: str, value: Any, default: Any) -> list[str]:
    """Return ``name=value`` if it is not the default, of a posterior its own fields."""
    if is_posterior(value) and is_posterior(default):
        if value.name != default.name:
            numbers, kind = changed_numbers(value), [f"{name}={value.name}"]
        else:
            numbers, kind = changed_numbers(value, default), []
        return kind + [f"{x}={value_text(y)}" for x, y in numbers.items()]
    return [] if _same(value, default) else [f"{name}={value}"]


def _same(first: Any, second: Any) -> bool:
    """Whether two parameters are equal; a wrong one may be an array."""
    return bool(np.array_equal(first, second))
