"""Policies by name: each enters itself, where it is written.

A policy's names, its acronym and the theorems on it stand above its class. Its file is
imported when it is first asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from bayesduel.arguments.named_objects import value_text
from bayesduel.errors import ArgumentError
from bayesduel.models.in_policies.betas import BetaArms, BetaPairs
from bayesduel.models.in_policies.names import (
    changed_numbers,
    is_posterior,
    numbers_that_differ,
)

MODULES = {
    "d-ts": "thompson.double_thompson",
    "d-ts+": "thompson.double_thompson",
    "pure-d-ts": "thompson.double_thompson",
    "bt-ts": "thompson.double_thompson",
    "rcs": "thompson.relative_confidence_sampling",
    "rd-ts": "thompson.rival_directed",
    "rd-ts-star": "thompson.rival_directed_star",
    "self-sparring": "thompson.self_sparring",
    "ccb": "ucb.copeland_confidence_bound",
    "merge-rucb": "ucb.merge_relative_ucb",
    "rucb": "ucb.relative_ucb",
    "sup-klucb": "ucb.sup_kl_ucb",
    "cw-rmed": "rmed.copeland_winner",
    "ecw-rmed": "rmed.efficient_copeland_winner",
    "rmed1": "rmed.rmed",
    "rmed2": "rmed.rmed",
    "rmed2fh": "rmed.rmed",
    "beat-the-mean": "elimination.beat_the_mean",
    "savage": "elimination.generic_exploration",
    "savage-copeland": "elimination.generic_exploration",
    "interleaved-filter": "elimination.interleaved_filter",
    "scb": "elimination.scalable_copeland_bandits",
    "doubler": "reductions.doubler",
    "multisbm": "reductions.singleton_machines",
    "sparring": "reductions.sparring",
    "scomp": "batched.seeded_comparisons",
    "scomp2": "batched.candidate_comparisons",
    "pcomp": "batched.pairwise_comparisons",
    "parwis": "identification.active_winner_recovery",
    "d-optimal": "identification.d_optimal",
    "information": "identification.expected_information",
    "track-and-stop": "identification.track_and_stop",
    "choice-bandits": "subsets.choice_bandits",
    "cucb": "subsets.combinatorial_ucb",
    "combucb1": "subsets.combinatorial_ucb",
    "escb": "subsets.efficient_sampling",
    "logit-ts": "subsets.logit_thompson",
    "maxmin-ucb": "subsets.maxmin_ucb",
    "rec-maxmin-ucb": "subsets.maxmin_ucb",
    "mnl-ee": "subsets.mnl_exploration",
    "mnl-ts": "subsets.mnl_thompson",
    "random-subsets": "subsets.random_subsets",
    "stagewise": "subsets.stagewise_elimination",
    "ucb-no-order": "subsets.ucb_without_order",
    "random": "random_pairs",
}
"""Where each policy of the package is written, by name, family by family."""


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
        other = _ENTRIES.get(name)
        if name in MODULES and cls.__module__ != _module_of(name):
            other = entry(name)
        # A module that is run again brings its classes anew.
        if other is not None and other.kind.__qualname__ != cls.__qualname__:
            raise ArgumentError(
                "name",
                f"must be new, but is that of {other.kind.__name__}",
                name,
                remedy="choose another one",
            )
        _ENTRIES[name] = Entry(acronym, cls, parameters, tuple(theorems))
        return cls

    return enter


def _module_of(name: str) -> str:
    return f"bayesduel.policies.{MODULES[name]}"


def registered_names() -> tuple[str, ...]:
    """Return the names, family by family, those of one's own policies last."""
    return tuple(dict.fromkeys([*MODULES, *_ENTRIES]))


def entry(name: str) -> Entry:
    """Return what is registered under a name."""
    if name in MODULES:
        import_module(_module_of(name))
    return _ENTRIES[name]


def entries() -> dict[str, Entry]:
    """Return all that is registered, family by family."""
    return {name: entry(name) for name in registered_names()}


def registered_name(policy: Any) -> str | None:
    """Return the name that fits a policy best, None if its class has none.

    Among forms of one class, the one that shares the most parameters.
    """
    known = [name for name, entry in _ENTRIES.items() if entry.kind is type(policy)]
    if len(known) < 2:  # Most classes have one form.
        return next(iter(known), None)
    likeness = []
    for name in known:
        form = _form(_ENTRIES[name], policy)
        values = [
            (getattr(policy, x.name), getattr(form, x.name)) for x in fields(form)
        ]
        likeness.append(sum(_likeness(*each) for each in values))
    return known[likeness.index(max(likeness))]


def _form(entry: Entry, policy: Any) -> Any:
    """Return the default form, without its model where the policy has none.

    A model takes JAX, which takes a second to import.
    """
    has_none = isinstance(getattr(policy, "posterior", None), BetaPairs | BetaArms)
    if has_none and isinstance(entry.parameters.get("posterior"), str):
        return entry.kind(**entry.parameters | {"posterior": None})
    return entry.default


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
            numbers, kind = numbers_that_differ(value, default), []
        return kind + [f"{x}={value_text(y)}" for x, y in numbers.items()]
    return [] if _same(value, default) else [f"{name}={value}"]


def _likeness(one: Any, other: Any) -> float:
    """Return 1 for equal parameters, 1/2 for posteriors that differ by a number."""
    if _same(one, other):
        return 1.0
    both = is_posterior(one) and is_posterior(other)
    if not both:
        return 0.0
    same_model = type(_model_of(one)) is type(_model_of(other))
    return 0.5 * (one.name == other.name) + 0.25 * same_model


def _same(one: Any, other: Any) -> bool:
    """Whether two parameters are equal; a wrong one may be an array."""
    return bool(np.array_equal(one, other))


def _model_of(posterior: Any) -> Any:
    return getattr(posterior, "model", None)
