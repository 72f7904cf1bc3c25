"""The functions of a kernel, called one at a time: in Python, or compiled."""

from __future__ import annotations

from functools import cache
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.arguments.limits import PATIENCE
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel
from bayesduel.policies.scalar_kernel import NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Int
    from numpy.random import Generator

    from bayesduel.policies.scalar_kernel import ScalarKernel

VOTES = np.dtype(
    [(name, np.int64) for name in ("first", "second", "round", "note", "won", "count")]
)
"""Rows of equal votes: the ``round`` in which the policy chose the duel and its
``note``, or 0 where it did not choose it; whether ``first`` won; and how many votes."""

MOST_SECONDS = 1.0
"""Time that Python may take for votes that are told at once.

Loading the program of a kernel takes as long, and compiling it longer.
"""

MOST_ARMS = 96
"""Arms up to which Python takes less than a tenth of a second for a question."""

_VOTES_AT_ONCE = 16
"""Votes between two decisions whether the rest takes Python too long."""

_loaded: set[str] = set()
"""Kernels whose programs this process has loaded."""

_INIT, _CHOOSE, _UPDATE, _RECOMMEND, _SHARE_IDLE_ROUNDS = range(5)
_READS_SELF_DUELS, _NOTE, _RECALL, _IS_WAITING, _ASK, _TELL = range(5, 11)
"""Codes of the operations."""

_NO_VOTES = np.zeros(0, dtype=VOTES)
_NO_SHARES = np.zeros(0, dtype=np.int64)


class KernelCalls:
    """Calls the functions of a kernel from Python, one at a time."""

    # Python and compiled code give the same digits. By default (``compiled=None``)
    # Python runs the kernel, as a program takes a second to load, unless there are very
    # many arms or the program is loaded already; it takes over before votes that would
    # take Python too long.

    def __init__(
        self, kernel: ScalarKernel, compiled: bool | None = None, num_arms: int = 0
    ) -> None:
        self._name = kernel.name
        self._numbers = np.zeros(8, dtype=np.int64)
        self._seconds, self._calls = 0.0, 0
        self._most_seconds = MOST_SECONDS if compiled is None else np.inf
        if compiled is None:
            compiled = num_arms > MOST_ARMS or kernel.name in _loaded
        self.is_compiled = compiled

    def expect(self, more: int) -> None:
        """Let compiled code take over if Python would take too long for ``more`` calls.

        Parameters
        ----------
        more : int
            Votes and questions that are known to come.
        """
        if more * self._seconds / max(self._calls, 1) >= self._most_seconds:
            self.is_compiled = True

    def init(self, state: Any, rng: Generator) -> None:
        """Prepare a new state for the first round."""
        self._call(state, rng, _INIT)

    def choose(self, state: Any, rng: Generator, round_: int) -> Duel:
        """Return what the policy plays from ``round_`` on."""
        numbers = self._call(state, rng, _CHOOSE, round_)
        return Duel(*numbers[:5].tolist())

    def update(
        self,
        state: Any,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Tell the policy who won in ``round_``."""
        self._call(state, rng, _UPDATE, round_, first, second, won)

    def recommend(self, state: Any, rng: Generator) -> int:
        """Return the arm that the policy believes to be best."""
        return int(self._call(state, rng, _RECOMMEND)[0])

    def share_idle_rounds(
        self, state: Any, rng: Generator, rounds: int, shares: Int[np.ndarray, " K"]
    ) -> None:
        """Draw in how many of the idle rounds every arm meets itself."""
        self._call(state, rng, _SHARE_IDLE_ROUNDS, rounds, shares=shares)

    def reads_self_duels(self, state: Any) -> bool:
        """Return whether ``update`` is told of self-duels chosen as duels."""
        return bool(self._call(state, _unused_rng(), _READS_SELF_DUELS)[0])

    def note(self, state: Any) -> int:
        """Return what the policy must know again when its last duel is answered."""
        return int(self._call(state, _unused_rng(), _NOTE)[0])

    def recall(self, state: Any, first: int, second: int, noted: int) -> None:
        """Prepare for an ``update`` that is not of the last choice."""
        self._call(state, _unused_rng(), _RECALL, first, second, noted)

    def is_waiting(self, state: Any) -> bool:
        """Return whether the policy waits for ``ScalarKernel.solve_on_host``."""
        return bool(self._call(state, _unused_rng(), _IS_WAITING)[0])

    def ask(
        self, state: Any, rng: Generator, played: int, horizon: int
    ) -> tuple[int, Duel | None, int]:
        """Let the policy choose after ``played`` rounds until it names different arms.

        Returns
        -------
        played : int
            Rounds after the duel, or until the policy gave up: at the horizon, after
            ``PATIENCE`` self-duels, or where it came to wait for the host. In the last
            case, ask again from there.
        duel : Duel or None
            The duel after its idle rounds; None where there is none.
        note : int
            What :meth:`recall` must be given with the answer.
        """
        numbers = self._call(state, rng, _ASK, played, horizon)
        round_, has_duel, champion, idle, first, second, note, _ = numbers.tolist()
        if not has_duel:
            return round_, None, 0
        return round_, Duel(champion, idle, first, second), note

    def tell(
        self, state: Any, rng: Generator, played: int, votes: Records, *, begins: bool
    ) -> int:
        """Tell the policy of rows of ``VOTES`` until the host has to help.

        The counts of votes that were told become 0. Votes that the policy did not
        choose take rounds now. With ``begins`` the state is prepared first.

        Returns
        -------
        int
            Rounds played afterwards.
        """
        left = int(votes["count"].sum())
        while True:
            if left > 1:
                self.expect(left)
            most = left if self.is_compiled else min(left, _VOTES_AT_ONCE)
            given = played, begins, most
            numbers = self._call(state, rng, _TELL, *given, votes=votes, num_calls=most)
            played, begins = int(numbers[0]), False
            still = int(votes["count"].sum())
            if still in (0, left):
                return played
            left = still

    def _call(
        self,
        state: Any,
        rng: Generator,
        code: int,
        *values: int,
        votes: Records = _NO_VOTES,
        shares: Int[np.ndarray, " K"] = _NO_SHARES,
        num_calls: int = 1,
    ) -> Int[np.ndarray, " 8"]:
        """Run an operation; its arguments and results are in one array."""
        numbers = self._numbers
        numbers[: len(values)] = values
        if self.is_compiled:
            _program(self._name)(state, rng, code, numbers, votes, shares)
            return numbers
        given = state, rng, code, numbers, votes, shares
        before, began = rng.bit_generator.state, thread_time()
        try:
            run_uncompiled(_operate, *given)
        except (ArithmeticError, ValueError):
            # Nothing has changed yet; compiled code goes on with these numbers.
            rng.bit_generator.state, self.is_compiled = before, True
            _program(self._name)(*given)
        else:
            self._seconds += thread_time() - began
            self._calls += num_calls
        return numbers


@cache
def _unused_rng() -> Generator:
    """Return the generator given to functions that draw nothing."""
    return np.random.default_rng(0)


@cache
def _program(kernel: str) -> Callable[..., None]:
    """Return the operations compiled with the kernel of this name."""
    # Where Python plays throughout, Numba is not imported.
    from bayesduel.ops.scalar.compiler import cached_program

    _loaded.add(kernel)
    return cached_program(_operate, f"{kernel}-calls")


def _operate(
    state: Any,
    rng: Generator,
    code: int,
    numbers: Int[np.ndarray, " 8"],
    votes: Records,
    shares: Int[np.ndarray, " K"],
) -> None:
    """Run the operation ``code`` of the kernel of a state."""
    if code == _ASK:
        _ask(state, rng, numbers)
    elif code == _TELL:
        _tell(state, rng, numbers, votes)
    elif code == _CHOOSE:
        duel = scalar_kernel.choose(state, rng, numbers[0])
        numbers[0], numbers[1] = duel.champion, duel.idle_rounds
        numbers[2], numbers[3] = duel.first, duel.second
        numbers[4] = duel.explores
    elif code == _UPDATE:
        round_, first, second = numbers[0], numbers[1], numbers[2]
        scalar_kernel.update(state, rng, round_, first, second, numbers[3] > 0)
    elif code == _RECOMMEND:
        numbers[0] = scalar_kernel.recommend(state, rng)
    elif code == _NOTE:
        numbers[0] = scalar_kernel.note(state)
    elif code == _RECALL:
        scalar_kernel.recall(state, numbers[0], numbers[1], numbers[2])
    elif code == _IS_WAITING:
        numbers[0] = scalar_kernel.is_waiting(state)
    elif code == _SHARE_IDLE_ROUNDS:
        scalar_kernel.share_idle_rounds(state, rng, numbers[0], shares)
    elif code == _READS_SELF_DUELS:
        numbers[0] = scalar_kernel.reads_self_duels(state)
    else:
        scalar_kernel.init(state, rng)


@compiled
def _ask(state: Any, rng: Generator, numbers: Int[np.ndarray, " 8"]) -> None:
    """Let a policy choose; see ``KernelCalls.ask``."""
    round_, horizon = numbers[0], numbers[1]
    numbers[1] = 0
    for _ in range(PATIENCE):
        duel = scalar_kernel.choose(state, rng, round_ + 1)
        if scalar_kernel.is_waiting(state):
            break
        idle = min(duel.idle_rounds, horizon - round_)
        round_ += idle
        if round_ >= horizon:
            break
        if duel.explores:
            round_ += 1
            if duel.first != duel.second:
                # Where several arms share the idle rounds, one stands for them.
                champion = duel.champion if duel.champion >= 0 else duel.first
                numbers[1], numbers[2], numbers[3] = 1, champion, idle
                numbers[4], numbers[5] = duel.first, duel.second
                numbers[6] = scalar_kernel.note(state)
                break
            if scalar_kernel.reads_self_duels(state):
                first, second = duel.first, duel.second
                scalar_kernel.update(state, rng, round_, first, second, False)
                if scalar_kernel.is_waiting(state):
                    break
    numbers[0] = round_


@compiled
def _tell(
    state: Any, rng: Generator, numbers: Int[np.ndarray, " 8"], votes: Records
) -> None:
    """Tell a policy of at most ``numbers[2]`` votes; see ``KernelCalls.tell``."""
    played, most = numbers[0], numbers[2]
    if numbers[1]:
        scalar_kernel.init(state, rng)
    for row in range(votes.size):
        vote = votes[row]
        while vote.count > 0 and most > 0 and not scalar_kernel.is_waiting(state):
            if vote.round == 0 and vote.count > 1:
                first, second, others = vote.first, vote.second, vote.count - 1
                counted = scalar_kernel.count_ahead(
                    state, first, second, vote.won > 0, others
                )
                vote.count -= counted
                played += counted
            most -= 1
            vote.count -= 1
            if vote.round > 0:
                scalar_kernel.recall(state, vote.first, vote.second, vote.note)
                round_ = vote.round
            else:
                scalar_kernel.recall(state, vote.first, vote.second, NOT_ASKED)
                played += 1
                round_ = played
            won = vote.won > 0
            scalar_kernel.update(state, rng, round_, vote.first, vote.second, won)
    numbers[0] = played
