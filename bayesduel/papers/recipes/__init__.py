"""The experiments of the papers, as data.

Each figure has one TOML file. It states the instances, the policies with their
parameters, the numbers of runs and rounds, the layout, and what the paper says about
the figure. `bayesduel.papers.reproducing` runs these recipes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from bayesduel.errors import UnknownNameError, near_and_all

__all__ = ["Claim", "Panel", "Recipe", "all_names", "load", "names"]


@dataclass(frozen=True)
class Panel:
    """One instance of a figure.

    Attributes
    ----------
    key : str
        Short name, such as "a".
    label : str
        Title in the figure.
    instance : mapping
        One of ``matrix`` (a name of `bayesduel.instances.load`), ``world`` (a name of
        `bayesduel.instances.choice.load_world`), ``mslr`` (a key of
        `bayesduel.instances.MSLR_SELECTIONS`), ``mslr_random`` (arms, min_gap, winner,
        seed) and ``games`` (count, fewest_arms, most_arms, seed: random matrices with
        one Copeland winner).
    policies : tuple of str
        Names with parameters, as the command line reads them.
    optional : tuple of str
        Policies of the paper that are left out where they are not available.
    unshuffled : tuple of str
        Policies that are run a second time with the arms in their printed order.
    runs, horizon : int
        As in the paper.
    checkpoints : int
        Rounds to record: so many per decade, or in equal steps if the recipe says so.
    """

    key: str
    label: str
    instance: Mapping[str, Any]
    policies: tuple[str, ...]
    optional: tuple[str, ...]
    unshuffled: tuple[str, ...]
    runs: int
    horizon: int
    checkpoints: int


@dataclass(frozen=True)
class Claim:
    """One statement of a paper about a figure.

    Attributes
    ----------
    kind : str
        See `bayesduel.papers.claims`.
    text : str
        The statement in words.
    panels : tuple of str
        Keys of the panels that it is about.
    first, second : tuple of str
        Policies that it compares; every pair of them is looked at.
    factor, value, tolerance : float
        Numbers of the statement.
    at : int
        Round; 0 stands for the horizon.
    arms : tuple of two int
        Only matrices with at least and at most so many arms.
    """

    kind: str
    text: str
    panels: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...] = ()
    factor: float = 1.0
    value: float = 0.0
    tolerance: float = 0.0
    at: int = 0
    arms: tuple[int, int] = (0, 2**31)


@dataclass(frozen=True)
class Recipe:
    """A figure of a paper.

    Attributes
    ----------
    name, figure, paper, title : str
        The name here and there, the paper, and what is shown.
    kind : {"regret", "spread", "exploitation", "games", "games-by-arms", "delays"}
        What is drawn.
    notion : str
        Which regret.
    columns : int
        Panels per row.
    log_x : bool
        Logarithmic rounds; the checkpoints follow.
    log_y : bool
        Logarithmic regret, where the worst policies would hide the others.
    bounds : bool
        Whether the bounds of theory are drawn.
    panels : tuple of Panel
        In the order of the paper.
    claims : tuple of Claim
        What the paper says.
    notes : tuple of str
        What the paper leaves open, and what was chosen here.
    """

    name: str
    figure: str
    paper: str
    title: str
    kind: str
    notion: str
    columns: int
    log_x: bool
    log_y: bool
    bounds: bool
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def missing(self) -> tuple[str, ...]:
        """Policies without which the figure cannot be drawn, and that are not there."""
        from bayesduel import policies

        known = {*policies.names(), *policies.subset_names()}
        needed = dict.fromkeys(
            policy for panel in self.panels for policy in panel.policies
        )
        return tuple(
            policy for policy in needed if policy.partition(":")[0] not in known
        )


def names() -> tuple[str, ...]:
    """Return the names of the recipes whose policies are all registered.

    Examples
    --------
    >>> from bayesduel.papers import recipes
    >>> "dts-1" in recipes.names()
    True
    """
    return tuple(name for name in all_names() if not load(name).missing)


def all_names() -> tuple[str, ...]:
    """Return the names of all recipes."""
    stems = (file.name for file in files(__name__).iterdir())
    return tuple(
        sorted(stem.removesuffix(".toml") for stem in stems if stem.endswith(".toml"))
    )


@cache
def load(name: str) -> Recipe:
    """Read a recipe.

    Parameters
    ----------
    name : str
        One of `all_names`.

    Raises
    ------
    UnknownNameError
        When there is no such recipe.

    Examples
    --------
    >>> from bayesduel.papers import recipes
    >>> recipes.load("dts-1").panels[0].runs
    500
    """
    if name not in all_names():
        rule, remedy = f"there is no figure {name!r}", near_and_all(name, names())
        raise UnknownNameError("name", rule, name, remedy=remedy)
    data = tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))
    defaults = data.pop("defaults", {})
    panels = tuple(_panel(defaults | panel) for panel in data.pop("panels"))
    claims = tuple(_claim(claim, panels) for claim in data.pop("claims", ()))
    notes = tuple(data.pop("notes", ()))
    options = {
        "kind": "regret", "notion": "copeland", "columns": 2, "log_x": True,
        "log_y": False, "bounds": False,
    }  # fmt: skip
    return Recipe(
        name=name, **(options | data), panels=panels, claims=claims, notes=notes
    )


def _panel(data: dict[str, Any]) -> Panel:
    sources = ("matrix", "world", "mslr", "mslr_random", "games")
    instance = {key: data.pop(key) for key in sources if key in data}
    lists = {
        key: tuple(data.pop(key, ())) for key in ("policies", "optional", "unshuffled")
    }
    rest: dict[str, Any] = {"checkpoints": 4} | data
    return Panel(instance=instance, **lists, **rest)


def _claim(data: dict[str, Any], panels: tuple[Panel, ...]) -> Claim:
    keys = tuple(data.pop("panels", [panel.key for panel in panels]))
    lists = {key: tuple(data.pop(key, ())) for key in ("first", "second")}
    if "arms" in data:
        data["arms"] = tuple(data["arms"])
    return Claim(panels=keys, **lists, **data)
