"""Runs one after the other, in segments that can be interrupted; what comes of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt32

from bayesduel.errors import SimulationError

PROGRAMS = {
    "scalar": "kernel-1",
    "jax": "jax-3",
    "asked": "jax-4",
    "numpy": "numpy-1",
}
"""Names of the engines in results, with a version of their random streams: it grows
where run r of a seed becomes another one. ``asked`` is JAX where duels are told late,
or self-duels left out."""


@dataclass(frozen=True)
class RunRecords:
    """NumPy results of a chunk of runs, in the original labels of the arms."""

    ledger: dict[str, np.ndarray]
    recommendation: np.ndarray
    info: dict[str, np.ndarray]
    events: np.ndarray
    run_seconds: float
    compile_seconds: float
    device: str = "cpu"
    """What played them, as JAX calls it."""


class Found(NamedTuple):
    """What the first runs of a chunk have come to, in the original labels."""

    ledger: dict[str, np.ndarray]
    recommendation: np.ndarray
    events: np.ndarray
    info: dict[str, np.ndarray]


type GoOn = Callable[[int], tuple[Any, Any]]


def play_runs(
    own: Any,
    words: UInt32[np.ndarray, "run W"],
    *,
    runs: range,
    horizon: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
) -> RunRecords:
    """Play the runs numbered ``runs``, each with a generator seeded by its words.

    ``own`` is a :class:`bayesduel.simulation.rule_runs.PolicyRuns`, and the words are
    those of :func:`bayesduel.simulation.run_orders.orders_and_words`.
    Runs are played in segments of about ``segment_seconds``, between which
    ``on_progress`` is called with the share of rounds played, on a log scale.

    Raises ``SimulationError`` if a run has used up ``event_limit`` events.
    """
    began = time.perf_counter()
    rng = new_generator()
    own.compile(rng)
    compiled = reported = time.perf_counter()
    infos: list[dict[str, Any]] = []
    more = 1  # Events of a segment; of an expensive model, one takes seconds.
    for done in range(0, len(runs), own.side_by_side):
        reseed(rng, words[done])
        beside = runs[done : done + own.side_by_side]
        go_on, limit, plays = own.begin(done, rng), 0, np.array([True])
        while plays.any():
            limit = min(limit + more, event_limit)
            start = time.perf_counter()
            events, played = (np.atleast_1d(x)[: len(beside)] for x in go_on(limit))
            now = time.perf_counter()
            plays = played < horizon
            for place in np.flatnonzero(plays & (events >= event_limit)):
                raise out_of_events(beside[place], played[place], events[place])
            if plays.any():
                longer = more * segment_seconds / max(now - start, 1e-3)
                more = int(np.clip(longer, 1, 1e9))
            finished = done + len(beside) - int(plays.sum())
            is_due = finished == len(runs) or now - reported > segment_seconds
            if on_progress is not None and is_due:
                others = np.log1p(played[plays]).sum() / np.log1p(horizon)
                on_progress(float((finished + others) / len(runs)))
                reported = now
        infos.append(own.info())
    if any(each.keys() != infos[0].keys() for each in infos):
        raise SimulationError("info must name the same numbers after every run")
    found = own.found(len(runs))
    told = {
        name: np.concatenate([np.atleast_1d(each[name]) for each in infos])[: len(runs)]
        for name in infos[0]
    }
    return RunRecords(
        ledger=found.ledger,
        recommendation=found.recommendation,
        info=told | found.info,
        events=found.events,
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=own.device,
    )


def new_generator() -> np.random.Generator:
    """Return a generator that :func:`reseed` seeds run after run.

    NumPy's SFC64, as the fastest. To make another one known to compiled code takes as
    long as 50 duels.
    """
    return np.random.Generator(np.random.SFC64(0))


def reseed(rng: np.random.Generator, seed: UInt32[np.ndarray, " W"]) -> None:
    """Seed the generator for a run."""
    rng.bit_generator.state = np.random.SFC64(np.random.SeedSequence(seed)).state


OF_WORLDS = 1
"""Added to the words that seed a run, for the generator of its world."""


def out_of_events(run: int, played: int, events: int) -> SimulationError:
    """Return the error that a run has used up its events."""
    return SimulationError(
        f"run {run} stopped at round {played + 1} after {events} events: at most "
        f"{events} fit into its counts; shorten the horizon or use look-ahead"
    )
