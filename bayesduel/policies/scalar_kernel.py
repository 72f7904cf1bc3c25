"""The interface between kernels and the loop over rounds: arrays and functions.

A *kernel* is the rule of a policy for one run at a time, which Python plays and Numba
can compile. Its state is a named tuple of NumPy arrays, which its functions change in
place. They are found by its class, so that one loop plays all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import UnknownNameError
from bayesduel.ops.scalar.compiled import by_state, implement_one
from bayesduel.policies.policy import Duel

# The champion where the idle rounds are shared: ``share_idle_rounds`` says how. Of the
# type of an arm, so that a variable can have either value.
SEVERAL: Any = np.int64(-1)


NOT_ASKED: Any = np.int64(-1)  # In place of the note of a duel that nobody asked for


@by_state
def init(state: Any, rng: Generator) -> None:
    """Prepare a new state for the first round, where that takes compiled code."""


@by_state
def choose(state: Any, rng: Generator, round_: int) -> Duel:
    """Say what to play from ``round_`` on, as ``Policy.choose``.

    With ``SEVERAL`` champions each of the idle rounds has one of its own, drawn from
    the same distribution.
    """
    raise NotImplementedError


@by_state
def update(
    state: Any, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Take in that ``first`` has won or lost against ``second`` in ``round_``.

    Of self-duels nothing is told, unless the rule ``reads_self_duels``: then of those
    that it chose as a duel, with ``won`` false, for it tosses their coins itself.
    """
    raise NotImplementedError


@by_state
def count_ahead(state: Any, first: int, second: int, won: bool, votes: int) -> int:
    """Count votes of a pair that the rule did not choose, and return how many.

    Called before ``recall`` and ``update`` with the vote that follows them, after which
    the state must be as if each had been told. It counts at most ``votes``, all of
    which ``first`` won or lost, and 0 where the state depends on each of them.
    """
    return 0


@by_state
def reads_self_duels(state: Any) -> bool:
    """Say whether ``update`` is told of a self-duel that was chosen as a duel."""
    return False


@by_state
def note(state: Any) -> int:
    """Return what the rule must know again when it is told of its last choice.

    Not negative. Read only where other choices may come before the answer does.
    """
    return 0


@by_state
def recall(state: Any, first: int, second: int, noted: int) -> None:
    """Prepare for an ``update`` that is not of the last choice, but of one noted.

    Or, with ``NOT_ASKED``, of a duel that the rule did not choose.
    """


@by_state
def is_waiting(state: Any) -> bool:
    """Say whether a rule cannot go on before the host has served its state.

    It may come to wait by what it is told of a duel that it asked for, never by
    another. What chooses or recommends in a state that waits afterwards is void: it is
    asked again.
    """
    return False


@by_state
def recommend(state: Any, rng: Generator) -> int:
    """Return the arm that the policy believes to be best."""
    raise NotImplementedError


@by_state
def share_idle_rounds(
    state: Any, rng: Generator, rounds: int, shares: Int[np.ndarray, " K"]
) -> None:
    """Draw in how many of the idle rounds every arm meets itself.

    Called after a ``choose`` that says ``SEVERAL``, before ``update``; ``shares`` are 0
    before.
    """


@by_state
def play_to_the_end(
    state: Any,
    rng: Generator,
    preferences: Float[np.ndarray, "K K"],
    ledger: Any,
    checkpoint: int,
    played: int,
) -> bool:
    """Draw all that is left of a run at once, where a rule can.

    Given the preference matrix in the order of the run, the record of
    the loop, the number of its next checkpoint, and the rounds so far; writes down the
    plays at that checkpoint and at all later ones, and says whether it did. Not called
    where outcomes are told late, in other worlds, and under a rule for stopping.
    """
    return False


def _nothing(state: Any) -> dict[str, Any]:
    return {}


def _solves_nothing(state: Any) -> bool:
    return False


@dataclass(frozen=True)
class ScalarKernel:
    """A kernel: the form of a policy that the loop plays in place of its rule.

    Attributes
    ----------
    name : str
        Of the compiled program; no other kernel has it.
    new_state : callable
        ``new_state(order, horizon) -> state`` before the first round, a named tuple of
        arrays; ``order[position]`` is the arm that the kernel knows as ``position``.
    info : callable
        ``info(state)`` of a finished run, as ``Policy.info``.
    solve_on_host : callable
        ``solve_on_host(state)``: where a state is waiting, does on the host what
        compiled code cannot, so that it can go on. Says whether it did.
    """

    name: str
    new_state: Callable[[Int[np.ndarray, " K"], int], Any]
    info: Callable[[Any], dict[str, Any]] = _nothing
    solve_on_host: Callable[[Any], bool] = _solves_nothing


_FUNCTIONS = {
    stub.__name__: stub
    for stub in (init, choose, update, recommend, share_idle_rounds)
    + (count_ahead, reads_self_duels, note, recall, is_waiting, play_to_the_end)
}


def implement(state_class: type, **functions: Callable[..., Any]) -> None:
    """Enter the functions of a kernel by the class of its state.

    Parameters
    ----------
    state_class : type
        A named tuple, which is the first argument of all functions.
    **functions
        What those of this module with the same names do, compiled or not. Every kernel
        has ``choose``, ``update`` and ``recommend``. Without ``init`` a run begins with
        the state that the host has made, without ``count_ahead`` votes are told one by
        one, without ``reads_self_duels`` no self-duel is told, without ``note`` and
        ``recall`` it is all one why a duel was chosen, without ``is_waiting`` no state
        waits for the host, and without ``play_to_the_end`` all choices are asked for.
    """
    if unknown := functions.keys() - _FUNCTIONS:
        rule = "must be functions of kernels"
        raise UnknownNameError("functions", rule, ", ".join(sorted(unknown)))
    for name, function in functions.items():
        implement_one(_FUNCTIONS[name], state_class, function)
