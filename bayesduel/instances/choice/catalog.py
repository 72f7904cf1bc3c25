"""Find a world of subset choice by name, with parameters as on a command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.errors import UnknownNameError, near_and_all
from bayesduel.instances import choice
from bayesduel.instances.families import REQUIRED, parse_parameters
from theory.arguments import seed_of, short_repr

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld

# Titles of worlds by name; :func:`maker` makes a world
TITLES = {
    "camera": "three of six search results, no total order",
    "mnl": "multinomial logit with weights in arithmetic progression (D.1)",
    "random-utility": "Gaussian random utilities (D.2)",
    "preference-pairs": "a preference matrix with no choice (D.3)",
    "random-table": "random table with weak optimal-set consistency (D.4)",
    "exclusive-gap": "lower bound, one reward per round (C.1)",
    "independent-gap": "lower bound, independent rewards (C.2)",
}


def maker(name: str) -> Callable[..., ChoiceWorld]:
    """Return the function that makes a world: in this package, called by its name."""
    return getattr(choice, name.replace("-", "_"))


@dataclass(frozen=True, kw_only=True)
class WorldDescription:
    """A description of a name that `load_world` accepts.

    Attributes
    ----------
    name, title : str
        Its name and what it is.
    parameters : tuple of str
        ``key`` is required, ``key=default`` may be left out.
    """

    name: str
    title: str
    parameters: tuple[str, ...]


def world_names() -> tuple[str, ...]:
    """Return the names of the worlds of subset choice.

    Examples
    --------
    >>> from bayesduel.instances import choice
    >>> choice.world_names()[:2]
    ('camera', 'mnl')
    """
    return tuple(TITLES)


def describe_world(name: str) -> WorldDescription:
    """Describe a world and its parameters.

    Examples
    --------
    >>> from bayesduel.instances import choice
    >>> choice.describe_world("random-table").parameters
    ('num_arms=10', 'subset_size=5', 'seed')
    """
    if not isinstance(name, str) or name not in TITLES:
        raise _unknown("name", name, name)
    parameters = tuple(
        key if default is REQUIRED else f"{key}={default}"
        for key, default in _parameters(name).items()
    )
    return WorldDescription(name=name, title=TITLES[name], parameters=parameters)


def is_world_name(text: str) -> bool:
    """Say whether a text names a world, with or without parameters."""
    return isinstance(text, str) and text.partition(":")[0].strip() in TITLES


def load_world(text: str) -> ChoiceWorld:
    """Return a world of subset choice by name.

    Parameters
    ----------
    text : str
        A name in `world_names`, with parameters as in
        ``"mnl:num_arms=8,subset_size=3"``. Random worlds take a ``seed``.

    Returns
    -------
    ChoiceWorld
        Named by the text.

    Raises
    ------
    ValueError
        When the name or a parameter is unknown or wrong.

    Examples
    --------
    >>> from bayesduel.instances import choice
    >>> choice.load_world("mnl:num_arms=8,subset_size=3").num_arms
    8
    """
    if not isinstance(text, str):
        raise _unknown("text", text, text)
    name, _, rest = (part.strip() for part in text.partition(":"))
    if name not in TITLES:
        raise _unknown("text", name, text)
    allowed = _parameters(name)
    given = parse_parameters(name, rest, allowed, "text", text)
    if "seed" in allowed:
        seed = seed_of(given.pop("seed"), "seed")
        given["rng"] = np.random.default_rng(seed)
    return replace(maker(name)(**given), name=f"{name}:{rest}" if rest else name)


def _parameters(name: str) -> dict[str, object]:
    signature = inspect.signature(maker(name)).parameters
    parameters: dict[str, object] = {
        key: parameter.default for key, parameter in signature.items() if key != "rng"
    }
    return parameters | ({"seed": REQUIRED} if "rng" in signature else {})


def _unknown(argument: str, name: object, given: object) -> UnknownNameError:
    return UnknownNameError(
        argument,
        f"there is no world of subset choice called {short_repr(name)}",
        given,
        remedy=near_and_all(short_repr(name), TITLES),
    )
