"""Simulating a chunk of runs of a policy in NumPy, run after run: the host's side."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Int

from bayesduel.errors import BayesduelError, SimulationError
from bayesduel.policies.policy import Policy, check_rule, declared
from bayesduel.simulation import rounds
from bayesduel.simulation.beginnings import orders_and_words
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.segments import Segments, begin_anew, new_generator

_FAULTS = {
    rounds.BAD_ARM: "choose named the arm {wrong}; arms are numbered 0 to {last}",
    rounds.BAD_IDLE_ROUNDS: "choose asked for {wrong} idle rounds; ask for 0 or more",
    rounds.BAD_ROUNDS: (
        "choose asked for {wrong} rounds of a pair; ask for 0 or 1, or for more in a "
        "class that says explores_in_bulk = True"
    ),
    rounds.BAD_RECOMMENDATION: (
        "recommend named the arm {wrong}; arms are numbered 0 to {last}"
    ),
}


def run_chunk(
    environment: PairwiseEnvironment,
    policy: Policy,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
    every: int = 1,
    self_duels: bool = True,
    most_seconds: float = math.inf,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    Parameters
    ----------
    every : int
        After so many rounds the policy is told the outcomes so far.
    self_duels : bool
        Whether the self-duels that it chooses are played.

    Raises
    ------
    PolicyParameterError
        If the policy lacks a function, or cannot be compiled though it shall be.
    SimulationError
        If it asks for an arm that there is not; names run and round. An exception of
        the policy itself is raised as it is, with a note that names them.
    """
    check_rule(policy)
    began = time.perf_counter()
    orders, words = orders_and_words(environment, runs, seed)
    num_arms, horizon = environment.num_arms, int(checkpoints[-1])
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    # A copy: of an array that may not be written to Numba would make another program.
    preference = np.array(environment.preference, dtype=np.float64, order="C")
    shape = (num_arms, num_arms)
    ledger = np.zeros((len(runs), len(grid), *shape), dtype=np.int64)
    progress = rounds.new_progress(len(runs))
    rng = new_generator()
    play, own = _program(policy)
    with _about(policy, progress[0], runs[0]):
        # No events: this compiles. The state is thrown away.
        state = policy.start(num_arms, horizon, rng)
        manner = every, self_duels, rounds.new_reports(every, horizon)
        nothing = np.zeros(shape, dtype=np.int64), ledger[0], 0
        play(own, state, rng, preference, grid, *manner, progress[0], *nothing)
    compiled = time.perf_counter()
    segments = Segments(
        segment_seconds, len(runs), horizon, event_limit, on_progress, most_seconds
    )
    found: list[dict[str, float]] = []
    for run, order, seeds, row, plays_at in zip(
        runs, orders, words, progress, ledger, strict=True
    ):
        begin_anew(rng, seeds)
        mine = np.ascontiguousarray(preference[order[:, None], order])
        plays = np.zeros(shape, dtype=np.int64)
        with _about(policy, row, run):
            state = policy.start(num_arms, horizon, rng)
            given = (own, state, rng, mine, grid, *manner, row, plays, plays_at)

            def go_on(
                limit: int, given: Any = given, row: Any = row, run: int = run
            ) -> Any:
                play(*given, limit)
                _raise_on_fault(policy, row, run, num_arms)
                return int(row[rounds.EVENTS]), int(row[rounds.PLAYED])

            segments.play(run, go_on)
            found.append(declared(policy, "info")(state))
        if segments.is_enough():
            break
    done = len(found)
    progress = progress[:done]
    played, best = environment.with_original_labels(
        {"plays": ledger[:done]}, progress[:, rounds.RECOMMENDED], orders[:done]
    )
    return RunRecords(
        ledger=played,
        recommendation=best,
        info={name: np.array([each[name] for each in found]) for name in found[0]},
        events=progress[:, rounds.EVENTS].copy(),
        finished=np.ones(done, dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
    )


def _program(policy: Policy) -> tuple[Callable[..., None], Any]:
    """Return what plays a policy, and the form in which that knows it."""
    if not policy.compiled:
        return rounds.play, policy
    # Numba takes half a second to import.
    from bayesduel.simulation.scalar.compiled_rounds import (
        compiled_rounds,
        parameters_record,
    )

    return compiled_rounds(type(policy)), parameters_record(policy)


def _raise_on_fault(policy: Policy, row: Any, run: int, num_arms: int) -> None:
    if row[rounds.FAULT] != rounds.NO_FAULT:
        said = _FAULTS[int(row[rounds.FAULT])]
        raise SimulationError(
            f"{policy.label}: {said.format(wrong=row[rounds.WRONG], last=num_arms - 1)}"
            f" (round {row[rounds.PLAYED] + 1} of run {run})"
        )


@contextmanager
def _about(policy: Policy, row: Any, run: int) -> Iterator[None]:
    """Say of an exception of a policy where it was raised."""
    try:
        yield
    except BayesduelError:
        raise
    except Exception as error:
        where = f"round {row[rounds.PLAYED] + 1} of run {run}"
        error.add_note(f"raised by {policy.label} in {where}")
        raise
