"""The loop over rounds of the scalar engine: one run, any kernel."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.ops.scalar.draws import raw_bits
from bayesduel.ops.scalar.splits import take_first
from bayesduel.policies.scalar_kernel import (
    SEVERAL,
    choose,
    init,
    is_waiting,
    reads_self_duels,
    recommend,
    share_idle_rounds,
    update,
)
from bayesduel.stopping.scalar_rules import GO_ON, NEVER_STOPS, ScalarStopping, observe

_PROGRESS = np.dtype(
    [
        ("played", np.int64),
        ("events", np.int64),
        ("next_checkpoint", np.int64),  # Its number, and its round or ``_AFTER_ALL``.
        ("next_stop", np.int64),
        ("recommendation", np.int64),
        ("stopped_at", np.int64),
        ("answer", np.int64),
    ]
)


_AFTER_ALL = 2**63 - 1
"""A round later than any that a run may end in."""


class Problem(NamedTuple):
    """What stands still in a run."""

    preference: Float[np.ndarray, "K K"]
    """By positions: the kernel knows arm ``order[position]`` as ``position``."""

    order: Int[np.ndarray, " K"]

    checkpoints: Int[np.ndarray, " C"]


class Record(NamedTuple):
    """How far a run has come, and what is left of it."""

    progress: Records
    """One of ``_PROGRESS``."""

    plays: Int[np.ndarray, "K K"]
    """Rounds so far, by the positions of the first and of the second arm."""

    ledger: Int[np.ndarray, "C K K"]
    """Rounds at every checkpoint: of arms above the diagonal, of self-duels on it."""

    shares: Int[np.ndarray, "3 K"]
    """Of a stretch with several champions: ``ops.scalar.splits.take_first``."""

    stopping: Any
    """What says after every duel whether to stop."""


def new_progress(num_runs: int) -> Records:
    """Return how far runs are before their first rounds."""
    progress = np.zeros(num_runs, dtype=_PROGRESS)
    progress["stopped_at"] = progress["answer"] = -1
    return progress


def new_record(
    ledger: Int[np.ndarray, "C K K"],
    progress: Records,
    stopping: ScalarStopping = NEVER_STOPS,
) -> Record:
    """Return the record of a run before its first round.

    It fills ``ledger`` and ``progress``, one of ``new_progress``.
    """
    return Record(
        progress=progress,
        plays=np.zeros(ledger.shape[1:], dtype=np.int64),
        ledger=ledger,
        shares=np.zeros((3, ledger.shape[1]), dtype=np.int64),
        stopping=stopping.new_state(ledger.shape[1]),
    )


def play(
    state: Any, rng: Generator, problem: Problem, record: Record, event_limit: int
) -> None:
    """Play a run to its last checkpoint, to so many events, or until it waits.

    Compiled, once per kernel, by ``programs``.
    """
    run = record.progress[0]
    horizon = problem.checkpoints[-1]
    if run.events == 0:
        init(state, rng)
    run.next_stop = _round_of_next_checkpoint(problem, record)
    while run.played < horizon and run.events < event_limit:
        if is_waiting(state):
            return
        run.events += 1
        duel = choose(state, rng, run.played + 1)
        if is_waiting(state):
            return
        idle = min(duel.idle_rounds, horizon - run.played)
        if idle > 0 and duel.champion == SEVERAL:
            record.shares[0] = 0
            share_idle_rounds(state, rng, duel.idle_rounds, record.shares[0])
            # Of the whole stretch, and drawn always: no checkpoint changes a draw.
            key = raw_bits(rng)
            _record_shared(problem, record, key, duel.idle_rounds, idle)
        elif idle > 0:
            _record_rounds(problem, record, duel.champion, duel.champion, idle)
        explored = min(int(duel.explores), horizon - run.played)
        if explored > 0:
            first, second = duel.first, duel.second
            _record_rounds(problem, record, first, second, explored)
            if first != second:
                won = _answer(rng, problem, first, second)
                update(state, rng, run.played, first, second, won)
                said = observe(record.stopping, first, second, won)
                if said != GO_ON:
                    _stop(problem, record, said)
            elif reads_self_duels(state):
                update(state, rng, run.played, first, second, False)
    if run.played == horizon and not is_waiting(state):
        run.recommendation = problem.order[recommend(state, rng)]


def tell(
    state: Any, rng: Generator, record: Record, votes: Int[np.ndarray, "vote 3"]
) -> None:
    """Let a new policy and its rule for stopping take in duels from before.

    ``votes`` are positions of winners and losers, and whether the rule is told, too.
    Compiled as ``play`` is, which goes on from here.
    """
    init(state, rng)
    for place in range(len(votes)):
        winner, loser = votes[place, 0], votes[place, 1]
        update(state, rng, place + 1, winner, loser, True)
        if votes[place, 2]:
            observe(record.stopping, winner, loser, True)
    # So that ``play`` does not begin anew.
    record.progress[0].events = 1


@compiled
def _stop(problem: Problem, record: Record, arm: int) -> None:
    """End a run, naming an arm or none; what it has played stays."""
    run = record.progress[0]
    run.stopped_at = run.played
    run.answer = problem.order[arm] if arm >= 0 else arm
    while run.next_checkpoint < problem.checkpoints.size:
        _copy_plays(problem, record, run.next_checkpoint)
        run.next_checkpoint += 1
    run.played = problem.checkpoints[-1]


@compiled
def _copy_plays(problem: Problem, record: Record, checkpoint: int) -> None:
    """Write down the rounds so far, of the arms that stand at the positions."""
    order, plays = problem.order, record.plays
    for i in range(order.size):
        for j in range(order.size):
            low, high = min(order[i], order[j]), max(order[i], order[j])
            record.ledger[checkpoint, low, high] += plays[i, j]


@inlined
def _answer(rng: Generator, problem: Problem, first: int, second: int) -> bool:
    """Draw whether ``first`` beats ``second``."""
    return rng.random() < problem.preference[first, second]


@inlined
def _record_rounds(
    problem: Problem, record: Record, first: int, second: int, rounds: int
) -> None:
    """Write down rounds of one pair, and the checkpoints among them."""
    run = record.progress[0]
    end = run.played + rounds
    if run.next_stop <= end:
        _pass_checkpoints(problem, record, first, second, end)
    record.plays[first, second] += rounds
    run.played = end


@compiled
def _record_shared(
    problem: Problem, record: Record, key: np.uint64, whole: int, rounds: int
) -> None:
    """Write down the first ``rounds`` of ``whole`` self-duels that arms share."""
    run, order, parts = record.progress[0], problem.order, record.shares[2]
    end = run.played + rounds
    while run.next_stop <= end:
        _copy_plays(problem, record, run.next_checkpoint)
        take_first(record.shares, whole, run.next_stop - run.played, key)
        for i in range(order.size):
            record.ledger[run.next_checkpoint, order[i], order[i]] += parts[i]
        run.next_checkpoint += 1
        run.next_stop = _round_of_next_checkpoint(problem, record)
    if rounds < whole:
        take_first(record.shares, whole, rounds, key)
    else:
        parts = record.shares[0]
    for i in range(order.size):
        record.plays[i, i] += parts[i]
    run.played = end


@inlined
def _round_of_next_checkpoint(problem: Problem, record: Record) -> Any:
    place, checkpoints = record.progress[0].next_checkpoint, problem.checkpoints
    return checkpoints[place] if place < checkpoints.size else _AFTER_ALL


@compiled
def _pass_checkpoints(
    problem: Problem, record: Record, first: int, second: int, end: int
) -> None:
    """Write down the plays at the checkpoints up to round ``end``."""
    run = record.progress[0]
    one, other = problem.order[first], problem.order[second]
    low, high = min(one, other), max(one, other)
    while run.next_stop <= end:
        _copy_plays(problem, record, run.next_checkpoint)
        rounds = run.next_stop - run.played
        record.ledger[run.next_checkpoint, low, high] += rounds
        run.next_checkpoint += 1
        run.next_stop = _round_of_next_checkpoint(problem, record)
