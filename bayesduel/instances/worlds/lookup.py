"""Find a world of duels by name, or any world in a user's module, with parameters."""

from dataclasses import fields, replace
from importlib import import_module
from typing import Any, NamedTuple

from bayesduel.arguments.named_objects import (
    NamedKind,
    as_kind,
    default_object,
    is_own_name,
    read_parameters,
    refuse_parameter,
    usual_value,
    word_of,
)
from bayesduel.errors import ArgumentError, UnknownNameError, near_and_all
from bayesduel.instances.subset_world import SubsetWorld
from bayesduel.instances.world import World, WorldBase
from theory.arguments import short_repr

_WORLDS = NamedKind(
    "world", WorldBase, ArgumentError, "drifting:speed=0.001,num_arms=8"
)


class NamedWorld(NamedTuple):
    """A world of the package: its file, its class and a title of a few words."""

    module: str
    kind: str
    title: str


# Worlds of the package by name
WORLDS = {
    "piecewise": NamedWorld(
        "piecewise", "Piecewise", "matrices that change at given rounds"
    ),
    "drifting": NamedWorld(
        "drifting", "Drifting", "entries that walk at random, or move linearly"
    ),
    "adversarial": NamedWorld(
        "adversarial", "Adversarial", "one matrix for each round, from a table"
    ),
    "pool": NamedWorld("pool", "Pool", "arms that arrive at given rounds"),
    "corrupted": NamedWorld(
        "corrupted", "Corrupted", "an adversary reverses some answers of another world"
    ),
    "linear-contexts": NamedWorld(
        "linear_contexts", "LinearContexts", "utilities linear in features of the arms"
    ),
    "ginop-contexts": NamedWorld(
        "linear_contexts", "GinopContexts", "the same with 30 fixed arms of 10 features"
    ),
    "vacdb-contexts": NamedWorld(
        "linear_contexts", "VacdbContexts", "the same with 32 arms of 5 features"
    ),
}


def pair_world_names() -> tuple[str, ...]:
    """Return the names of the worlds of duels in this package.

    Returns
    -------
    tuple of str
        Names for :func:`bayesduel.load`, with or without parameters.

    Examples
    --------
    >>> from bayesduel.instances import worlds
    >>> worlds.pair_world_names()[:2]
    ('piecewise', 'drifting')
    """
    return tuple(WORLDS)


def default_world(name: str) -> World:
    """Return a world of the package with default parameters."""
    named = WORLDS[name]
    # By its name: worlds around others are built from names, too.
    module = import_module(f"bayesduel.instances.worlds.{named.module}")
    return getattr(module, named.kind)()


def parse_world(text: str) -> World | SubsetWorld:
    """Read a world with parameters, as the command line writes it."""
    name, _, rest = text.strip().partition(":")
    name = name.strip()
    if name in WORLDS:
        default = default_world(name)
    elif is_own_name(text):
        default, rest = default_object(text, _WORLDS)
        name = type(default).__name__
    else:
        raise UnknownNameError(
            "text",
            f"there is no world {short_repr(name)}",
            text,
            remedy=f"{near_and_all(name, WORLDS)}; one of your own is module:Class",
        )
    known = {field.name: usual_value(default, field.name) for field in fields(default)}  # pyright: ignore

    def word(parameter: str, value: str) -> str | None:
        return value if isinstance(known.get(parameter), str) else None

    parameters = read_parameters(text, rest, _WORLDS, word)
    for parameter, value in parameters.items():
        if parameter not in known:
            refuse_parameter(name, parameter, value, set(known), ArgumentError)
        usual = known[parameter]
        parameters[parameter] = as_kind(name, parameter, value, usual, ArgumentError)
    return replace(default, **parameters) if parameters else default  # pyright: ignore


def settable_fields(world: WorldBase) -> dict[str, Any]:
    """Return the fields of a world that a text can set: numbers, words and switches."""
    values = {field.name: getattr(world, field.name) for field in fields(world)}  # pyright: ignore
    usual = {field.name: field.default for field in fields(world)}  # pyright: ignore
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, str | int | float)
        and not (name == "compiled" and value == usual[name])
    }


def world_text(world: WorldBase) -> str:
    """Return the text that :func:`bayesduel.load` reads as the same world."""
    kind = type(world)
    names = [
        name
        for name, named in WORLDS.items()
        if kind.__module__ == f"bayesduel.instances.worlds.{named.module}"
        and kind.__name__ == named.kind
    ]
    text = names[0] if names else f"{kind.__module__}:{kind.__qualname__}"
    try:
        usual = settable_fields(parse_world(text))
        changes = [
            f"{name}={word_of(value)}"
            for name, value in settable_fields(world).items()
            if usual.get(name) != value
        ]
        text = f"{text}:{','.join(changes)}" if changes else text
        # A script is another module in the process that reads this.
        same = kind.__module__ != "__main__" and _same(parse_world(text), world)
    except (ValueError, OSError):
        same = False
    if not same:
        raise ArgumentError(
            "world",
            f"no text names the world {world.label}",
            world,
            remedy="name it by numbers, words and files; a world of your own needs a "
            "module, and a default for each parameter",
        )
    return text


def _same(first: WorldBase, second: WorldBase) -> bool:
    return type(first) is type(second) and first.checksum == second.checksum
