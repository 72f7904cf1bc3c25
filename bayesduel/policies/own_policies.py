"""Policies that users bring along: their labels, and how the command finds them.

A policy of one's own needs no registration. Its label is its title (or, where its class
has none of its own, the name of that) with the fields that differ from their defaults,
so that two forms of one class can be compared; ``module:Class`` names it on the command
line.
"""

import hashlib
import importlib
from dataclasses import MISSING, Field, fields
from typing import Any

import numpy as np

from bayesduel.errors import PolicyParameterError, UnknownNameError
from bayesduel.policies.base import Policy


def own_label(policy: Policy) -> str:
    """Return the title of a policy with its fields that are not the default ones.

    Examples
    --------
    >>> from bayesduel.policies.base import policy_class
    >>> @policy_class
    ... class ExploreFirst(Policy):
    ...     title = "ETC"
    ...     rounds: int = 100
    >>> own_label(ExploreFirst()), own_label(ExploreFirst(rounds=50))
    ('ETC', 'ETC:rounds=50')
    """
    changed = [
        f"{field.name}={_text(getattr(policy, field.name))}"
        for field in fields(policy)  # pyright: ignore[reportArgumentType]
        if not _is_default(getattr(policy, field.name), field)
    ]
    # A title that is inherited is the one of another policy.
    title = vars(type(policy)).get("title") or type(policy).__name__
    return title + (":" + ",".join(changed) if changed else "")


def is_own_name(text: str) -> bool:
    """Say whether ``text`` is of the form ``module:Class``, parameters included."""
    module, _, rest = text.strip().partition(":")
    name = rest.partition(":")[0].strip()
    dotted = [part.isidentifier() for part in module.strip().split(".")]
    return all(dotted) and name.isidentifier()


def own_policy(text: str) -> tuple[type[Policy], str]:
    """Import the class that ``module:Class`` names; return it and the parameters' text.

    Raises
    ------
    UnknownNameError
        If there is no such module, or nothing of that name in it.
    PolicyParameterError
        If it is no policy, or the module cannot be imported.
    """
    module, _, rest = text.strip().partition(":")
    module = module.strip()
    name, _, parameters = rest.partition(":")
    name = name.strip()
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise PolicyParameterError(
                f"{module!r} cannot be imported: {error}"
            ) from error
        raise UnknownNameError(
            f"there is no module {module!r} for the policy {text!r}; run from the "
            "folder that holds it, or install it"
        ) from error
    except Exception as error:  # What a user's file raises when it runs is theirs.
        raise PolicyParameterError(
            f"{module!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    kind = getattr(found, name, None)
    if kind is None:
        own = [
            each
            for each, value in vars(found).items()
            if isinstance(value, type)
            and issubclass(value, Policy)
            and value.__module__ == module
        ]
        raise UnknownNameError(
            f"{module!r} has no policy {name!r}; it has {', '.join(own) or 'none'}"
        )
    if not (isinstance(kind, type) and issubclass(kind, Policy)):
        raise PolicyParameterError(
            f"{text!r} is no policy but {kind!r}; name a subclass of "
            "bayesduel.policies.base.Policy"
        )
    return kind, parameters


def default_of(kind: type[Policy]) -> Policy:
    """Return a policy with all fields at their defaults.

    Raises
    ------
    PolicyParameterError
        For a field without one: the command could not tell the kind of its value.
    """
    needed = [
        field.name
        for field in fields(kind)  # pyright: ignore[reportArgumentType]
        if field.default is MISSING and field.default_factory is MISSING
    ]
    if needed:
        raise PolicyParameterError(
            f"{kind.__name__}: {', '.join(needed)} must have a default to be used by "
            "name; give one in the class"
        )
    return kind()


def _is_default(value: Any, field: Field) -> bool:
    if field.default is not MISSING:
        return _text(value) == _text(field.default)
    if field.default_factory is not MISSING:
        return _text(value) == _text(field.default_factory())
    return False


def _text(value: Any) -> str:
    """Return a value as a label shows it; equal texts mean equal values."""
    if isinstance(value, Policy):
        return value.label
    if isinstance(value, np.generic) or getattr(value, "shape", None) == ():
        return str(value.item())
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        digest = hashlib.sha256(array.tobytes()).hexdigest()[:6]
        return f"array {digest}"
    return getattr(value, "__name__", None) or str(value)


__all__ = ["default_of", "is_own_name", "own_label", "own_policy"]
