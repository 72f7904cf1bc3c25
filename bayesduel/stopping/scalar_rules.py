"""Rules for stopping inside the scalar engine: told of every duel, they say when.

A rule has a state of arrays and one function, which is found by the class of that
state, as those of policies are (``policies.scalar_kernel``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from bayesduel.ops.scalar.compiled import by_state, implement_one, inlined

GO_ON = -2
"""Result of ``observe``: do not stop. Numbers of arms say who is named."""

NAMELESS = -1
"""Result of ``observe``: stop, and name nobody."""


@dataclass(frozen=True)
class ScalarStopping:
    """How the scalar engine plays a rule for stopping.

    Attributes
    ----------
    name : str
        Of the part of compiled programs; no other rule has it.
    new_state : callable
        ``new_state(num_arms) -> state`` before the first duel, a named tuple.
    """

    name: str
    new_state: Callable[[int], Any]


@by_state
def observe(state: Any, first: int, second: int, won: bool) -> int:
    """Take in that ``first`` has won or lost a duel; return an arm, or a code above."""
    raise NotImplementedError


class NeverStops(NamedTuple):
    """The state of what lets all runs go on to the horizon."""

    nothing: Int[np.ndarray, " 1"]


class DuelsLeft(NamedTuple):
    """The state of a budget."""

    left: Int[np.ndarray, " 1"]


class OneOrOther(NamedTuple):
    """The states of two rules, of which the first to stop decides."""

    one: Any
    other: Any


class LooksLeft(NamedTuple):
    """The state of a rule that is looked at after every so many duels only."""

    rule: Any
    counts: Int[np.ndarray, " 2"]
    """Duels between two looks, and those that are left until the next."""


NEVER_STOPS = ScalarStopping("", lambda num_arms: NeverStops(np.zeros(1, np.int64)))


def budget(duels: int) -> ScalarStopping:
    """Return what stops after so many duels."""
    return ScalarStopping("budget", lambda _: DuelsLeft(np.full(1, duels, np.int64)))


def first_of(one: ScalarStopping, other: ScalarStopping) -> ScalarStopping:
    """Return what stops with the first of two rules."""

    def initial_state(num_arms: int) -> OneOrOther:
        return OneOrOther(one.new_state(num_arms), other.new_state(num_arms))

    return ScalarStopping(f"{one.name}-or-{other.name}", initial_state)


def look_every(rule: ScalarStopping, duels: int) -> ScalarStopping:
    """Return what stops with a rule, after every so many duels only."""

    def initial_state(num_arms: int) -> LooksLeft:
        return LooksLeft(rule.new_state(num_arms), np.full(2, duels, np.int64))

    return ScalarStopping(f"{rule.name}-sometimes", initial_state)


@inlined
def _go_on(state: NeverStops, first: int, second: int, won: bool) -> int:
    return GO_ON


@inlined
def _count_down(state: DuelsLeft, first: int, second: int, won: bool) -> int:
    state.left[0] -= 1
    return GO_ON if state.left[0] > 0 else NAMELESS


@inlined
def _ask_both(state: OneOrOther, first: int, second: int, won: bool) -> int:
    one = observe(state.one, first, second, won)
    other = observe(state.other, first, second, won)
    return other if one == GO_ON else one


@inlined
def _look_sometimes(state: LooksLeft, first: int, second: int, won: bool) -> int:
    said = observe(state.rule, first, second, won)
    state.counts[1] -= 1
    if state.counts[1] > 0:
        return GO_ON
    state.counts[1] = state.counts[0]
    return said


implement_one(observe, NeverStops, _go_on)
implement_one(observe, DuelsLeft, _count_down)
implement_one(observe, OneOrOther, _ask_both)
implement_one(observe, LooksLeft, _look_sometimes)
