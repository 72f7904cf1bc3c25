"""Simulating a chunk of runs by a kernel: the host's side of the scalar engine.

Run after run is played, in segments between which the host can report and be
interrupted. The generator of a run is seeded by the key that the loop of JAX would give
it, and its arms are in the same order: a run is a function of the seed and its number.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int, UInt32

from bayesduel.errors import SimulationError
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.simulation.beginnings import orders_and_words
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.scalar.loop import Problem, Record, new_progress, new_record
from bayesduel.simulation.scalar.programs import program, telling_program
from bayesduel.stopping.scalar_rules import NEVER_STOPS, ScalarStopping

_FIRST_SEGMENT = 64
"""Events of the first segment: of many arms, one takes milliseconds."""


class Variations(NamedTuple):
    """What differs from run to run, and what was there before the first round."""

    preferences: Float64[np.ndarray, "run K K"] | None = None
    """Of every run, in place of the matrix of the environment."""

    votes: Int[np.ndarray, "vote 3"] | None = None
    """Winner and loser of duels from before, and 1 where the rule for stopping is told
    of it as well as the policy, else 0. Every run is told them in its own order."""


PLAIN = Variations()


def run_chunk(
    environment: PairwiseEnvironment,
    kernel: ScalarKernel,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
    stopping: ScalarStopping | None = None,
    variations: Variations = PLAIN,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    Parameters
    ----------
    event_limit : int
        Events that one run may take.
    segment_seconds : float
        About how long a segment lasts.
    stopping : ScalarStopping, optional
        What ends runs before the horizon. It does not look at duels from before alone.
    variations : Variations
        Matrices of the runs, and duels from before.
    """
    ends = stopping or NEVER_STOPS
    orders, seeds = orders_and_words(environment, runs, seed)
    orders = orders.astype(np.int64)
    num_arms = environment.num_arms
    ledger = np.zeros((len(runs), len(checkpoints), num_arms, num_arms), dtype=np.int64)
    preference = np.asarray(environment.preference, dtype=np.float64)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    horizon = int(grid[-1])
    began = time.perf_counter()
    name = "-".join(filter(None, (kernel.name, ends.name)))
    play = program(name)
    rng = np.random.Generator(np.random.SFC64(0))
    # No events: this compiles, and prepares a state that is thrown away.
    play(
        kernel.new_state(orders[0], horizon),
        rng,
        Problem(np.array(preference), orders[0], grid),
        new_record(ledger[0], new_progress(1), ends),
        0,
    )
    compiled = time.perf_counter()
    segments = _Segments(segment_seconds, len(runs), horizon, on_progress)
    found, infos = new_progress(len(runs)), []
    for row, order in enumerate(orders):
        state = kernel.new_state(order, horizon)
        record = new_record(ledger[row], found[row : row + 1], ends)
        _begin_anew(rng, seeds[row])
        if variations.preferences is not None:
            preference = variations.preferences[row]
        if variations.votes is not None:
            told = rng.permutation(variations.votes)
            told[:, :2] = np.argsort(order)[told[:, :2]]
            telling_program(name)(state, rng, record, told)
        problem = Problem(preference[order[:, None], order], order, grid)
        segments.play(play, (state, rng, problem), record, event_limit)
        if record.progress["played"][0] < horizon:
            raise SimulationError(_stuck(runs[row], record, event_limit))
        infos.append(kernel.info(state))
    info = {name: np.array([each[name] for each in infos]) for name in infos[0]}
    if stopping is not None:
        info |= {"stopped_at": found["stopped_at"], "answer": found["answer"]}
    return RunRecords(
        ledger={"plays": ledger},
        recommendation=found["recommendation"],
        info=info,
        events=found["events"],
        finished=np.ones(len(runs), dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
    )


def _begin_anew(rng: np.random.Generator, seed: UInt32[np.ndarray, " W"]) -> None:
    """Seed the generator, of NumPy's SFC64, as the fastest; compiled code knows it.

    To make another one known to compiled code takes as long as 50 duels.
    """
    rng.bit_generator.state = np.random.SFC64(np.random.SeedSequence(seed)).state


def _stuck(run: int, record: Record, event_limit: int) -> str:
    """Say at which round a run has used up its events."""
    return (
        f"run {run} stopped at round {int(record.progress['played'][0]) + 1} after "
        f"{int(record.progress['events'][0])} events: at most {event_limit} fit into "
        "its counts; shorten the horizon or use look-ahead"
    )


class _Segments:
    """Plays runs a segment at a time, and reports in between."""

    def __init__(
        self,
        seconds: float,
        num_runs: int,
        horizon: int,
        on_progress: Callable[[float], None] | None,
    ) -> None:
        self._seconds = seconds
        self._num_runs = num_runs
        self._horizon = horizon
        self._on_progress = on_progress
        self._events = _FIRST_SEGMENT
        self._finished = 0
        self._reported = time.perf_counter()

    def play(
        self,
        play: Callable[..., None],
        inputs: tuple[Any, ...],
        record: Record,
        event_limit: int,
    ) -> None:
        """Play a run until it has finished or used up its events."""
        progress = record.progress
        while True:
            done = int(progress["events"][0])
            limit = min(done + self._events, event_limit)
            began = time.perf_counter()
            play(*inputs, record, limit)
            took = time.perf_counter() - began
            played = int(progress["played"][0])
            finished = played == self._horizon
            if not finished:
                longer = self._events * self._seconds / max(took, 1e-3)
                self._events = int(np.clip(longer, _FIRST_SEGMENT, 1e9))
            self._finished += finished
            self._report(0.0 if finished else np.log1p(played))
            if finished or limit == event_limit:
                return

    def _report(self, log_played: float) -> None:
        """Tell the share of the work done, with the run on its way by its log t."""
        if self._on_progress is None:
            return
        now = time.perf_counter()
        is_last = self._finished == self._num_runs
        if is_last or now - self._reported > self._seconds:
            share = self._finished + log_played / np.log1p(self._horizon)
            self._on_progress(float(share / self._num_runs))
            self._reported = now
