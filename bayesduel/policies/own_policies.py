"""Policies that users bring along: how the command finds them.

A policy of one's own needs no registration; ``module:Class`` names it, or
``module:name`` a policy that the module has made, as D-TS over a model of one's own.
"""

import importlib
from dataclasses import MISSING, fields
from typing import Any

from bayesduel.arguments.own_modules import look_there
from bayesduel.errors import PolicyParameterError, UnknownNameError
from bayesduel.policies.policy import PolicyBase


def is_own_name(text: str) -> bool:
    """Say whether ``text`` is of the form ``module:Class``, parameters included."""
    module, _, rest = text.strip().partition(":")
    name = rest.partition(":")[0].strip()
    dotted = [part.isidentifier() for part in module.strip().split(".")]
    return all(dotted) and name.isidentifier()


def own_policy(text: str) -> tuple[type[PolicyBase] | PolicyBase, str]:
    """Import what ``module:Class`` names; return it and the parameters' text.

    ``UnknownNameError`` if there is no such module, or nothing of that name in it.
    ``PolicyParameterError`` if it is no policy, or the module cannot be imported.
    """
    module, _, rest = text.strip().partition(":")
    module = module.strip()
    name, _, parameters = rest.partition(":")
    name = name.strip()
    look_there()
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise _not_imported(module, str(error), text) from error
        raise UnknownNameError(
            "text",
            f"there is no module {module!r} for the policy {text!r}",
            text,
            remedy="run from the folder that holds it, or install it",
        ) from error
    except Exception as error:  # What a user's file raises when it runs is theirs.
        what = f"{type(error).__name__}: {error}"
        raise _not_imported(module, what, text) from error
    kind = getattr(found, name, None)
    if kind is None:
        own = [
            each
            for each, value in vars(found).items()
            if isinstance(value, type)
            and issubclass(value, PolicyBase)
            and value.__module__ == module
        ]
        raise UnknownNameError(
            "text",
            f"{module!r} has no policy {name!r}",
            text,
            remedy=f"it has {', '.join(own) or 'none'}",
        )
    if isinstance(kind, PolicyBase):
        return kind, parameters
    if not (isinstance(kind, type) and issubclass(kind, PolicyBase)):
        raise PolicyParameterError(
            "text",
            f"{text!r} is no policy but {kind!r}",
            text,
            remedy="name a subclass of bayesduel.Policy, or a policy",
        )
    return kind, parameters


def _not_imported(module: str, what: str, text: str) -> PolicyParameterError:
    rule, remedy = f"{module!r} cannot be imported: {what}", "mend the module"
    return PolicyParameterError("text", rule, text, remedy=remedy)


def default_of(kind: type[PolicyBase] | PolicyBase) -> Any:
    """Return a policy with all fields at their defaults, or one that is made.

    ``PolicyParameterError`` for a field without one: the command could not tell the
    kind of its value.
    """
    if isinstance(kind, PolicyBase):
        return kind
    needed = [
        field.name
        for field in fields(kind)  # pyright: ignore[reportArgumentType]
        if field.default is MISSING and field.default_factory is MISSING
    ]
    if needed:
        raise PolicyParameterError(
            f"{kind.__name__}: {', '.join(needed)}",
            "must have a default to be used by name",
            None,
            remedy="give one in the class",
        )
    return kind()


__all__ = ["default_of", "is_own_name", "own_policy"]
