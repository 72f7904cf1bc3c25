"""Asking the kernel of a policy for one question at a time, as studies do."""

from collections.abc import Callable
from functools import cache
from time import thread_time
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.arguments.limits import PATIENCE
from bayesduel.ops.scalar.compiled import Records
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.scalar_kernel import (
    NOT_ASKED,
    choose,
    init,
    is_waiting,
    note,
    reads_self_duels,
    recall,
    update,
)

_ASKED = ("has_duel", "champion", "idle", "first", "second", "noted", "round")

FOUND = np.dtype([(name, np.int64) for name in _ASKED])
"""What a policy asks for, after ``idle`` last rounds of the champion; ``round`` is on
the clock of the policy, after the question."""

_VOTED = ("first", "second", "round", "noted", "won", "count")

VOTE = np.dtype([(name, np.int64) for name in _VOTED])
"""Equal votes: the ``round`` in which the policy asked for them, 0 if it did not, and
whether ``first`` got them."""

MOST_SECONDS = 1.0
"""In Python; loading the program of a kernel takes as long, compiling it longer."""

_VOTES_AT_ONCE = 16
"""After so many it is seen again whether the rest takes Python too long."""

_loaded: set[str] = set()
"""Kernels whose programs this process has."""


class Asker:
    """Runs :func:`ask` and :func:`tell_votes` of a kernel: in Python, or compiled.

    A question takes Python a millisecond, but a program a second to be loaded, or
    several to be compiled. So Python plays for as long as that takes less time in all,
    and the program goes on from there: the digits are the same.

    Parameters
    ----------
    kernel : str
        Its name.
    most_seconds : float, optional
        What Python may take, with all that is known to come; ``MOST_SECONDS``, or
        nothing where this process has the program.

    Attributes
    ----------
    is_compiled : bool
        Whether the program plays from now on.
    """

    def __init__(self, kernel: str, most_seconds: float | None = None) -> None:
        if most_seconds is None:
            most_seconds = 0.0 if kernel in _loaded else MOST_SECONDS
        self._kernel, self._most_seconds = kernel, most_seconds
        self._seconds, self._played = 0.0, 0
        self.is_compiled = False

    def expect(self, more: int) -> None:
        """Take in that so many votes and questions are to come."""
        each = self._seconds / max(self._played, 1)
        if self._seconds + more * each >= self._most_seconds:
            self.is_compiled = True

    def ask(
        self, state: Any, rng: Generator, played: int, horizon: int, found: Records
    ) -> None:
        """Run :func:`ask`."""
        self.expect(1)
        self._run(ask, 1, (state, rng, played, horizon, found))

    def tell_votes(
        self, state: Any, rng: Generator, played: int, begins: bool, votes: Records
    ) -> int:
        """Run :func:`tell_votes` until all is told, or the host has to help."""
        left = int(votes["count"].sum())
        while True:
            self.expect(left)
            most = left if self.is_compiled else min(left, _VOTES_AT_ONCE)
            given = state, rng, played, begins, votes, most
            played, begins = self._run(tell_votes, most, given), False
            still = int(votes["count"].sum())
            if still in (0, left):
                return played
            left = still

    def _run(self, function: Any, number: int, given: tuple[Any, ...]) -> Any:
        """Call a function of so many votes and questions."""
        if not self.is_compiled:
            generator = given[1].bit_generator
            before, began = generator.state, thread_time()
            try:
                found = run_uncompiled(function, *given)
            except (ArithmeticError, ValueError):
                # Nothing has happened yet; compiled code takes these numbers.
                generator.state, self.is_compiled = before, True
            else:
                self._seconds += thread_time() - began
                self._played += number
                return found
        return _program(function, self._kernel)(*given)


@cache
def _program(function: Any, kernel: str) -> Callable[..., Any]:
    """Return a function compiled for the kernel of this name."""
    # Most questions need no program, so neither Numba.
    from bayesduel.simulation.programs import cached_program

    _loaded.add(kernel)
    return cached_program(function, f"{kernel}-{_SUFFIXES[function]}")


def ask(state: Any, rng: Generator, played: int, horizon: int, found: Records) -> None:
    """Let a policy choose after ``played`` rounds until it names different arms.

    It gives up at the horizon, and after very many self-duels; where the policy comes
    to wait for the host, it goes on when asked again after ``found.round``.
    """
    asked = found[0]
    asked.round = played
    for _ in range(PATIENCE):
        duel = choose(state, rng, asked.round + 1)
        if is_waiting(state):
            return
        idle = min(duel.idle_rounds, horizon - asked.round)
        asked.round += idle
        if asked.round >= horizon:
            return
        if duel.explores:
            asked.round += 1
            if duel.first != duel.second:
                asked.has_duel = True
                # Where several share the idle rounds, any of them stands for them.
                asked.champion = duel.champion if duel.champion >= 0 else duel.first
                asked.first, asked.second = duel.first, duel.second
                asked.idle, asked.noted = idle, note(state)
                return
            if reads_self_duels(state):
                update(state, rng, asked.round, duel.first, duel.second, False)
                if is_waiting(state):
                    return


def tell_votes(
    state: Any, rng: Generator, played: int, begins: bool, votes: Records, most: int
) -> int:
    """Tell a policy of votes, a new one after its preparation; return its rounds.

    Votes that it did not ask for take rounds now. What was told is taken out of
    ``votes``: after ``most`` of them, or where the policy comes to wait for the host,
    the rest is told later.
    """
    if begins:
        init(state, rng)
    for place in range(votes.size):
        vote = votes[place]
        while vote.count > 0:
            if most == 0 or is_waiting(state):
                return played
            most -= 1
            vote.count -= 1
            if vote.round > 0:
                recall(state, vote.first, vote.second, vote.noted)
                round_ = vote.round
            else:
                recall(state, vote.first, vote.second, NOT_ASKED)
                played += 1
                round_ = played
            update(state, rng, round_, vote.first, vote.second, vote.won > 0)
    return played


_SUFFIXES = {ask: "asked", tell_votes: "heard"}
