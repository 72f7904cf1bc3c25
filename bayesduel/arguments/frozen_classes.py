"""Classes whose annotated fields are parameters, without a decorator: ``FrozenClass``.

Policies and worlds are such classes. Their fields can be set by name, in Python and on
the command line, and labels show the fields that differ from their defaults.
"""

import hashlib
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from inspect import signature
from typing import Any, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class FrozenClass:
    """Make a frozen dataclass of every subclass."""

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        annotations = cls.__annotations__
        if "compiled" in vars(cls) and "compiled" not in annotations:
            # A class that says only ``compiled = True`` changes the default.
            cls.__annotations__ = {**annotations, "compiled": bool}
            cls.compiled = field(  # pyright: ignore
                default=vars(cls)["compiled"],
                kw_only=True,
                metadata={"distribution": False},
            )
        dataclass(frozen=True)(cls)


def other_signature(method: Any, wanted: list[str]) -> str:
    """Return the signature of a method that cannot be given these arguments, or ""."""
    given = signature(method)
    try:
        given.bind(*wanted)
    except TypeError:
        return str(given)
    return ""


def title_with_changes(instance: Any) -> str:
    """Return the title of a class, and the fields that are not the default ones.

    Where the class has no title of its own, its name is used; so two forms of one class
    can be compared.

    Examples
    --------
    >>> from bayesduel.policies import Policy
    >>> class ExploreFirst(Policy):
    ...     title = "ETC"
    ...     rounds: int = 100
    >>> title_with_changes(ExploreFirst()), title_with_changes(ExploreFirst(rounds=50))
    ('ETC', 'ETC:rounds=50')
    """
    changed = [
        f"{each.name}={value_text(getattr(instance, each.name))}"
        for each in fields(instance)
        if each.metadata.get("distribution", True)
        and not _is_default(getattr(instance, each.name), each)
    ]
    # An inherited title belongs to another class.
    title = vars(type(instance)).get("title") or type(instance).__name__
    return title + (":" + ",".join(changed) if changed else "")


def _is_default(value: Any, parameter: Field) -> bool:
    if parameter.default is not MISSING:
        return value_text(value) == value_text(parameter.default)
    if parameter.default_factory is not MISSING:
        return value_text(value) == value_text(parameter.default_factory())
    return False


def value_text(value: Any) -> str:
    """Return a value as a label shows it; equal texts mean equal values."""
    label = getattr(value, "label", None)
    if is_dataclass(value) and isinstance(label, str):
        return label  # A policy within a policy, or a world within a world.
    if getattr(value, "shape", None) == ():
        return str(np.asarray(value).item())
    has_rows = isinstance(value, tuple) and value and isinstance(value[0], tuple)
    if hasattr(value, "__array__") or has_rows:
        array = np.asarray(value)
        digest = hashlib.sha256(array.tobytes()).hexdigest()[:6]
        return f"array {digest}"
    return getattr(value, "__name__", None) or str(value)
