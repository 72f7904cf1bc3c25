"""Classes whose annotated fields are parameters, and their objects by name.

Policies and worlds are such classes (`FrozenClass`). Their fields can be set by name,
in Python and on the command line: ``mine:Greedy:epsilon=0.2`` is a module, a class or
an object in it, and parameters. Nothing needs to be registered.
"""

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from inspect import signature
from typing import Any, NamedTuple, dataclass_transform

import numpy as np

from bayesduel.arguments.literals import literal, look_there
from bayesduel.errors import ArgumentError, UnknownNameError, near_and_all
from theory.arguments import as_number


class NamedKind(NamedTuple):
    """A kind of objects that have names: policies, or worlds."""

    noun: str
    base: type
    # Raised for wrong parameters, and for objects of another kind.
    error: type[ArgumentError]
    example: str  # A text with parameters, for remedies.


def is_own_name(text: str) -> bool:
    """Say whether ``text`` is of the form ``module:Class``, parameters included."""
    module, _, rest = text.strip().partition(":")
    name = rest.partition(":")[0].strip()
    dotted = [part.isidentifier() for part in module.strip().split(".")]
    return all(dotted) and name.isidentifier()


def default_object(text: str, kind: NamedKind) -> tuple[Any, str]:
    """Import what ``module:Class`` names; return it with defaults, and parameters."""
    module, _, rest = text.strip().partition(":")
    module = module.strip()
    name, _, parameters = rest.partition(":")
    name = name.strip()
    look_there()
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise _not_imported(module, str(error), text, kind) from error
        rule = f"there is no module {module!r} for the {kind.noun} {text!r}"
        remedy = "run from the folder that holds it, or install it"
        raise UnknownNameError("text", rule, text, remedy=remedy) from error
    except Exception as error:  # A file of a user may raise anything.
        reason = f"{type(error).__name__}: {error}"
        raise _not_imported(module, reason, text, kind) from error
    value = getattr(imported, name, None)
    if value is None:
        classes = [
            key
            for key, one in vars(imported).items()
            if isinstance(one, type)
            and issubclass(one, kind.base)
            and one.__module__ == module
        ]
        rule = f"{module!r} has no {kind.noun} {name!r}"
        remedy = f"it has {', '.join(classes) or 'none'}"
        raise UnknownNameError("text", rule, text, remedy=remedy)
    if isinstance(value, kind.base):
        return value, parameters
    if not (isinstance(value, type) and issubclass(value, kind.base)):
        rule = f"{text!r} is no {kind.noun} but {value!r}"
        remedy = f"name a subclass of bayesduel.{kind.noun.title()}, or a "
        remedy += f"{kind.noun}"
        raise kind.error("text", rule, text, remedy=remedy)
    needed = [
        parameter.name
        for parameter in fields(value)  # pyright: ignore[reportArgumentType]
        if field_default(parameter) is MISSING
    ]
    if needed:
        raise kind.error(
            f"{value.__name__}: {', '.join(needed)}",
            "must have a default to be used by name",
            None,
            remedy="give one in the class",
        )
    return value(), parameters


def _not_imported(
    module: str, reason: str, text: str, kind: NamedKind
) -> ArgumentError:
    rule = f"{module!r} cannot be imported: {reason}"
    return kind.error("text", rule, text, remedy="mend the module")


def read_parameters(
    text: str, rest: str, kind: NamedKind, word: Callable[[str, str], str | None]
) -> dict[str, Any]:
    """Read ``parameter=value`` between commas."""
    parameters: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in rest.split(","))):
        parameter, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not parameter or not value:
            rule = f"{text!r}: {part!r} is not of the form parameter=value"
            remedy = f"write {kind.example!r}"
            raise kind.error("text", rule, text, remedy=remedy)
        if parameter in parameters:
            rule = f"{text!r} gives {parameter} twice"
            remedy = "leave one out"
            raise kind.error("text", rule, text, remedy=remedy)
        spelled = word(parameter, value)
        parameters[parameter] = literal(value) if spelled is None else spelled
    return parameters


def usual_value(instance: Any, parameter: str) -> Any:
    """Return the value of a field, as a float where it is annotated as one."""
    value = getattr(instance, parameter)
    annotated = {known.name: known.type for known in fields(instance)}.get(parameter)
    is_float = annotated is float or annotated == "float"
    if is_float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def as_kind(
    owner: str, parameter: str, value: Any, default: Any, error: type[ArgumentError]
) -> Any:
    """Check ``value`` against the kind of the default; ints become floats."""
    kind = type(default)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return as_number(value)
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    words = {bool: "true or false", float: "a number", int: "an integer", str: "a word"}
    raise error(
        f"{owner}: {parameter}", f"must be {words.get(kind, kind.__name__)}", value
    )


def refuse_parameter(
    owner: str, parameter: str, value: Any, known: set[str], error: type[ArgumentError]
) -> None:
    """Raise an error for a parameter that there is not, with near ones."""
    rule = f"{owner} has no parameter {parameter!r}"
    raise error(parameter, rule, value, remedy=near_and_all(parameter, sorted(known)))


def word_of(value: Any) -> str:
    """Return a value as it is typed after ``parameter=``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- Classes of objects with parameters ----------------------------------------------


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
        f"{parameter.name}={value_text(getattr(instance, parameter.name))}"
        for parameter in fields(instance)
        if parameter.metadata.get("distribution", True)
        and value_text(getattr(instance, parameter.name))
        != value_text(field_default(parameter))
    ]
    # An inherited title belongs to another class.
    title = vars(type(instance)).get("title") or type(instance).__name__
    return title + (":" + ",".join(changed) if changed else "")


def field_default(parameter: Field) -> Any:
    """Return the default of a field of a dataclass; MISSING where it has none."""
    factory = parameter.default_factory
    return parameter.default if factory is MISSING else factory()


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
