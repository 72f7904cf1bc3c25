"""The functions of a kernel, called one at a time: in Python, or compiled."""

from __future__ import annotations

from collections.abc import Callable
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
    from jaxtyping import Int
    from numpy.random import Generator

    from bayesduel.policies.scalar_kernel import ScalarKernel

# Rows of equal votes: the ``round`` in which the policy chose the duel and its
# ``note``, or 0 where it did not choose it; whether ``first`` won; and how many votes
VOTES = np.dtype(
    [(name, np.int64) for name in ("first", "second", "round", "note", "won", "count")]
)

# Time that Python may take for votes that are told at once. Loading the program of a
# kernel takes as long, and compiling it longer.
MOST_SECONDS = 1.0

# Arms up to which Python takes less than a tenth of a second for a question
MOST_ARMS = 96

# Votes between two decisions whether the rest takes Python too long
_VOTES_AT_ONCE = 16
_loaded: set[str] = set()  # Kernels whose programs this process has loaded
_CODES = {
    name: code
    for code, name in enumerate(
        ("init", "choose", "update", "recommend", "share_idle_rounds")
        + ("reads_self_duels", "note", "recall", "is_waiting")
    )
}
_INIT, _CHOOSE, _UPDATE, _RECOMMEND, _SHARE_IDLE_ROUNDS = range(5)
_READS_SELF_DUELS, _NOTE, _RECALL, _IS_WAITING, _ASK, _TELL = range(5, 11)

_NO_VOTES = np.zeros(0, dtype=VOTES)
_NO_SHARES = np.zeros(0, dtype=np.int64)

_RESULTS: dict[str, Callable[[Any], Any]] = {
    "choose": lambda numbers: Duel(*numbers[:5].tolist()),
    "recommend": lambda numbers: int(numbers[0]),
    "note": lambda numbers: int(numbers[0]),
    "reads_self_duels": lambda numbers: bool(numbers[0]),
    "is_waiting": lambda numbers: bool(numbers[0]),
}


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
        """Let compiled code take over if Python were too slow for so many calls."""
        if more * self._seconds / max(self._calls, 1) >= self._most_seconds:
            self.is_compiled = True

    def call(self, name: str, state: Any, *given: Any) -> Any:
        """Call the function of this name in ``scalar_kernel``."""
        values, rng, shares = [*given], _unused_rng(), _NO_SHARES
        if given and isinstance(given[0], np.random.Generator):
            rng = values.pop(0)
        if name == "share_idle_rounds":
            shares = values.pop()
        numbers = self._call(state, rng, _CODES[name], *values, shares=shares)
        return _RESULTS[name](numbers) if name in _RESULTS else None

    def ask(
        self, state: Any, rng: Generator, played: int, horizon: int
    ) -> tuple[int, Duel | None, int]:
        """Let the policy choose after so many rounds until it names different arms."""
        # Return the rounds afterwards, the duel, or None where the policy gave up or
        # waits for the host, and the note that ``recall`` needs.
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
