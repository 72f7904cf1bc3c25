"""Simulating a chunk of runs by a kernel: the host's side of the scalar engine.

Run after run is played, in segments between which the host can report and be
interrupted. Generator and order of arms are those of any policy
(``simulation.run_orders``): a run is a function of the seed and its number.
"""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int

from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.scalar.loop import Problem, new_progress, new_record
from bayesduel.simulation.scalar.programs import (
    program,
    program_name,
    tell_program,
)
from bayesduel.simulation.segments import Segments, new_generator, reseed
from bayesduel.stopping.scalar_rules import NEVER_STOPS, ScalarStopping


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
    most_seconds: float = math.inf,
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
    most_seconds : float
        As :func:`bayesduel.simulation.driver.run_chunk` takes it.
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
    name = program_name(kernel.name, ends.name)
    play = program(name)
    rng = new_generator()
    # No events: this compiles, and prepares a state that is thrown away.
    play(
        kernel.new_state(orders[0], horizon),
        rng,
        Problem(np.array(preference), orders[0], grid),
        new_record(ledger[0], new_progress(1), ends),
        0,
    )
    compiled = time.perf_counter()
    segments = Segments(
        segment_seconds, len(runs), horizon, event_limit, on_progress, most_seconds
    )
    found, infos = new_progress(len(runs)), []
    for row, order in enumerate(orders):
        state = kernel.new_state(order, horizon)
        record = new_record(ledger[row], found[row : row + 1], ends)
        reseed(rng, seeds[row])
        if variations.preferences is not None:
            preference = variations.preferences[row]
        if variations.votes is not None:
            told = rng.permutation(variations.votes)
            told[:, :2] = np.argsort(order)[told[:, :2]]
            tell_program(name)(state, rng, record, told)
        problem = Problem(preference[order[:, None], order], order, grid)
        go_on = partial(
            _go_on, play, kernel.solve_on_host, (state, rng, problem, record)
        )
        segments.play(runs[row], go_on)
        infos.append(kernel.info(state))
        if segments.is_enough():
            break
    ledger, found = ledger[: len(infos)], found[: len(infos)]
    info = {name: np.array([each[name] for each in infos]) for name in infos[0]}
    if stopping is not None:
        info |= {"stopped_at": found["stopped_at"], "answer": found["answer"]}
    return RunRecords(
        ledger={"plays": ledger},
        recommendation=found["recommendation"],
        info=info,
        events=found["events"],
        finished=np.ones(len(infos), dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
    )


def _go_on(
    play: Callable[..., None],
    solve_on_host: Callable[[Any], bool],
    inputs: tuple[Any, ...],
    event_limit: int,
) -> tuple[int, int]:
    """Play up to so many events; return those, and the rounds, that there were."""
    play(*inputs, event_limit)
    while solve_on_host(inputs[0]):
        play(*inputs, event_limit)
    run = inputs[-1].progress
    return int(run["events"][0]), int(run["played"][0])
