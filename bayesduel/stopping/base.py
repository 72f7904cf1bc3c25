"""Base of rules for stopping, and how studies and simulations look at one.

A rule has a state of arrays and two functions, which are found by the class of that
state (`implement`): ``count`` takes in duels of a pair, ``look`` concludes from all of
them. Simulations compile both; what evaluates a table of counts, as a study does, calls
them in Python.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError
from bayesduel.ops.code_digest import functions_digest, is_users
from bayesduel.ops.scalar.compiled import BY_STATE, by_state, compiled, implement_one
from bayesduel.ops.scalar.uncompiled import unpacked
from theory.arguments import integer_from

NOBODY: Any = np.int64(-1)
"""In place of an arm, where none is named; of the type of an arm."""

GO_ON = -2  # Result of ``observe``: do not stop. Numbers of arms and ``NOBODY`` stop.

MOST_ARMS = 150
"""Arms up to which Python takes a second at most for a table of counts.

Loading a program takes as long, and compiling it longer.
"""


class StoppingState(NamedTuple):
    """Conclusions of a rule from counts: whether to stop, and which arm to name."""

    stopped: bool
    """Whether to stop now."""

    answer: int
    """The arm that is named; -1 before the rule stops, and where it names none."""

    leader: int
    """The arm with the most evidence, the lowest number of several; -1 if the rule
    looks at none."""

    evidence: float
    """Evidence for the leader; the number of duels for a budget."""

    threshold: float
    """The evidence that suffices."""


class StoppingRule(ABC):
    """Says after every duel whether to stop, and which arm to name.

    ``one | other`` stops with the first of both.
    """

    word: ClassVar[str] = ""
    """Name of the rule where it is typed, as ``anytime`` in ``anytime:delta=0.05``."""

    @abstractmethod
    def new_state(self, num_arms: int) -> Any:
        """Return the state before the first duel.

        A named tuple of arrays for which ``bayesduel.stopping.base.implement`` has
        entered how to count duels and how to look at them.
        """

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether to stop.

        Parameters
        ----------
        wins : array-like (K, K)
            Entry (i, j): number of duels with j that i won, at most 10^12. The
            diagonal is not read.
        """
        # A comparison without a rule loads nothing of this.
        from theory.identification.evidence import checked_wins

        counts = checked_wins(wins)
        return conclude(self.new_state(len(counts)), counts)

    def __or__(self, other: "StoppingRule") -> "FirstOf":
        """Return the rule that stops with the first of both."""
        return FirstOf((self, other))


# --- What every rule can do ----------------------------------------------------------


@by_state
def count(state: Any, first: int, second: int, won: int, lost: int) -> None:
    """Take in duels of a pair: how many ``first`` has won and lost."""
    raise NotImplementedError


@by_state
def look(state: Any, in_full: bool) -> StoppingState:
    """Conclude from the duels that were counted."""
    raise NotImplementedError


def implement(
    state_class: type, count: Callable[..., None], look: Callable[..., StoppingState]
) -> None:
    """Enter the two functions of a rule by the class of its state."""
    implement_one(_COUNT, state_class, count)
    implement_one(_LOOK, state_class, look)


_COUNT, _LOOK = count, look


@compiled
def observe(state: Any, first: int, second: int, won: bool) -> int:
    """Take in that ``first`` has won or lost a duel; return an arm, or a code above."""
    count(state, first, second, int(won), int(not won))
    seen = look(state, False)
    return seen.answer if seen.stopped else GO_ON


@compiled
def conclusion(
    stopped: bool, leader: int, evidence: float, threshold: float
) -> StoppingState:
    """Return that a rule names the leader if it stops."""
    answer = leader if stopped else NOBODY
    return StoppingState(stopped, answer, leader, evidence, threshold)


def conclude(state: Any, wins: Float[np.ndarray, "K K"]) -> StoppingState:
    """Count duels into a new state and look: in Python or, of many arms, compiled."""
    counts = wins.astype(np.int64)
    if len(counts) > MOST_ARMS:
        concluded = _program(f"{part_name(state)}-table")(state, counts)
    else:
        # Python reads fields of records, as Numba does.
        concluded = _count_and_look(unpacked(state), unpacked(counts))
    stopped, answer, leader, evidence, threshold = concluded
    return StoppingState(
        bool(stopped), int(answer), int(leader), float(evidence), float(threshold)
    )


@cache
def _program(name: str) -> Callable[..., StoppingState]:
    # Where Python is fast enough, Numba is not imported.
    from bayesduel.ops.scalar.compiler import cached_program

    return cached_program(_count_and_look, name)


@compiled
def _count_and_look(state: Any, wins: Int[Any, "K K"]) -> StoppingState:
    for first in range(len(wins)):
        for second in range(first):
            count(state, first, second, wins[first, second], wins[second, first])
    return look(state, True)


def part_name(state: Any) -> str:
    """Return how the part of compiled programs that stops with a state is called."""
    if isinstance(state, OneOrOther):
        return f"{part_name(state.one)}-or-{part_name(state.other)}"
    if isinstance(state, LooksLeft):
        return f"{part_name(state.rule)}-sometimes"
    kind = type(state)
    if not is_users(kind.__module__):
        return kind.__name__
    functions = [BY_STATE[stub][kind] for stub in (_COUNT, _LOOK)]
    return f"{kind.__name__}-{functions_digest(functions)[:16]}"


# --- The first of several rules, and rules that are looked at seldom -----------------


@dataclass(frozen=True)
class FirstOf(StoppingRule):
    """Stop as soon as one of several rules stops.

    Use it to limit a rule that may never stop, for example by a budget. The operator
    ``|`` makes the same combination: ``AnytimeEvidence(0.01) | Budget(1000)``. In text,
    as for ``--stopping``, it is written ``anytime:delta=0.01|budget:duels=1000``.

    Parameters
    ----------
    rules : tuple of StoppingRule
        At least one.

    Raises
    ------
    StoppingRuleError
        If ``rules`` is no tuple, is empty, or has a member that is no rule.

    Notes
    -----
    If several rules stop at the same vote, the state is that of the first one in
    ``rules``. Until a rule stops, ``evaluate`` returns the state of the first rule. So
    put the rule first whose answer and evidence you want to see. The error of the
    combination is at most the sum of the errors of the rules that name an arm.

    Examples
    --------
    After 100 duels the evidence names arm 0. After 12 duels it does not, and the budget
    ends the run without a name (-1):

    >>> from bayesduel.stopping import AnytimeEvidence, Budget
    >>> rule = FirstOf((AnytimeEvidence(0.01), Budget(10)))
    >>> rule.evaluate([[0, 90], [10, 0]]).answer
    0
    >>> state = rule.evaluate([[0, 7], [5, 0]])
    >>> state.stopped, state.answer
    (True, -1)
    >>> rule == AnytimeEvidence(0.01) | Budget(10)
    True
    """

    rules: tuple[StoppingRule, ...]

    def __post_init__(self) -> None:
        """Check the rules."""
        given = self.rules
        if not isinstance(given, tuple) or not given:
            rule = "must be a tuple of at least one rule"
            raise StoppingRuleError("rules", rule, given)
        for index, member in enumerate(given):
            check_rule("rules", member, index)

    def new_state(self, num_arms: int) -> Any:
        """Return the states of all rules."""
        *others, last = (rule.new_state(num_arms) for rule in self.rules)
        for state in reversed(others):
            last = OneOrOther(state, last)
        return last


class OneOrOther(NamedTuple):
    """The states of two rules, of which the first to stop decides."""

    one: Any
    other: Any


def _count_both(
    state: OneOrOther, first: int, second: int, won: int, lost: int
) -> None:
    count(state.one, first, second, won, lost)
    count(state.other, first, second, won, lost)


def _look_at_both(state: OneOrOther, in_full: bool) -> StoppingState:
    first = look(state.one, in_full)
    if first.stopped:
        return first
    second = look(state.other, in_full)
    return second if second.stopped else first


implement(OneOrOther, _count_both, _look_at_both)


@dataclass(frozen=True)
class LookEvery(StoppingRule):
    """Check a rule only after every n-th duel.

    Parameters
    ----------
    rule : StoppingRule
    duels : int
        At least 1.

    Examples
    --------
    >>> from bayesduel.stopping import Budget
    >>> LookEvery(Budget(5), duels=4).evaluate([[0, 4], [2, 0]]).stopped
    False
    >>> LookEvery(Budget(5), duels=3).evaluate([[0, 4], [2, 0]]).stopped
    True
    """

    rule: StoppingRule
    duels: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_rule("rule", self.rule)
        check_duels(self.duels)

    def new_state(self, num_arms: int) -> Any:
        """Return the state of the rule, and no duels."""
        counts = np.array([self.duels, 0], dtype=np.int64)
        return LooksLeft(self.rule.new_state(num_arms), counts)


class LooksLeft(NamedTuple):
    """The state of a rule that is looked at after every so many duels only."""

    rule: Any
    # Duels between two looks, and those that were counted.
    counts: Int[np.ndarray, " 2"]


def _count_for_look(
    state: LooksLeft, first: int, second: int, won: int, lost: int
) -> None:
    state.counts[1] += won + lost
    count(state.rule, first, second, won, lost)


def _look_sometimes(state: LooksLeft, in_full: bool) -> StoppingState:
    looks = state.counts[1] % state.counts[0] == 0
    if not looks and not in_full:
        return conclusion(False, NOBODY, 0.0, 0.0)
    seen = look(state.rule, in_full)
    stopped = seen.stopped and looks
    return conclusion(stopped, seen.leader, seen.evidence, seen.threshold)


implement(LooksLeft, _count_for_look, _look_sometimes)


class NeverStops(NamedTuple):
    """The state of what lets all runs go on to the horizon."""

    nothing: Int[np.ndarray, " 1"]


def never_stops(num_arms: int) -> NeverStops:
    """Return the state that compiled programs have in place of a rule."""
    return NeverStops(np.zeros(1, np.int64))


def _ignore(state: NeverStops, first: int, second: int, won: int, lost: int) -> None:
    pass


def _go_on(state: NeverStops, in_full: bool) -> StoppingState:
    return conclusion(False, NOBODY, 0.0, 0.0)


implement(NeverStops, _ignore, _go_on)


# --- Checks of arguments -------------------------------------------------------------


def check_duels(value: Any) -> None:
    """Raise ``StoppingRuleError`` for what is no number of duels."""
    integer_from(value, 1, "duels", kind=StoppingRuleError)


def check_rule(argument: str, value: Any, index: int | None = None) -> StoppingRule:
    """Return ``value`` if it is a rule for stopping."""
    if not isinstance(value, StoppingRule):
        rule = "must be a rule of bayesduel.stopping"
        remedy = "give stopping.AnytimeEvidence(0.05), for instance"
        raise StoppingRuleError(argument, rule, value, index=index, remedy=remedy)
    return value
