"""Runs one after the other, in segments that can be interrupted; what comes of them."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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


class Runs(Protocol):
    """The runs of a chunk, one policy in one environment, by their places in it."""

    side_by_side: int
    """How many are played at once."""

    device: str

    def compile(self, rng: np.random.Generator) -> None:
        """Make ready what plays them; whatever is drawn is forgotten."""

    def begin(self, place: int, rng: np.random.Generator) -> GoOn:
        """Return what plays a run, and those beside it, up to so many events of each.

        It returns their events and their rounds, so far.
        """
        ...

    def info(self) -> dict[str, Any]:
        """Return what the policy says of the runs that were begun last."""
        ...

    def found(self, done: int) -> Found:
        """Return what the first ``done`` runs have come to."""
        ...


def play_runs(
    own: Runs,
    words: UInt32[np.ndarray, "run W"],
    *,
    runs: range,
    horizon: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
    most_seconds: float = math.inf,
) -> RunRecords:
    """Play the runs numbered ``runs``, each with a generator seeded by its words.

    The words are those of :func:`bayesduel.simulation.run_orders.orders_and_words`, the
    settings those of :class:`Segments`.
    """
    began = time.perf_counter()
    rng = new_generator()
    own.compile(rng)
    compiled = time.perf_counter()
    segments = Segments(
        segment_seconds, len(runs), horizon, event_limit, on_progress, most_seconds
    )
    infos: list[dict[str, Any]] = []
    done = 0
    while done < len(runs) and not segments.is_enough():
        reseed(rng, words[done])
        beside = runs[done : done + own.side_by_side]
        segments.play(beside, own.begin(done, rng))
        infos.append(own.info())
        done += len(beside)
    if any(each.keys() != infos[0].keys() for each in infos):
        raise SimulationError("info must name the same numbers after every run")
    found = own.found(done)
    told = {
        name: np.concatenate([np.atleast_1d(each[name]) for each in infos])[:done]
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


class Segments:
    """Plays runs a segment of about so many ``seconds`` at a time, reporting between.

    ``on_progress`` is called with the share of rounds played, on a log scale. Runs are
    played for ``most_seconds`` if the others would still take long.
    """

    def __init__(
        self,
        seconds: float,
        num_runs: int,
        horizon: int,
        event_limit: int,
        on_progress: Callable[[float], None] | None,
        most_seconds: float = math.inf,
    ) -> None:
        self._seconds = seconds
        self._num_runs = num_runs
        self._horizon = horizon
        self._event_limit = event_limit
        self._on_progress = on_progress
        self._events = 1  # Of an expensive model, one takes seconds.
        self._finished = 0
        self._most_seconds = most_seconds
        self._began = self._reported = time.perf_counter()

    def is_enough(self) -> bool:
        """Say whether the runs that are finished took long, and the others would."""
        if self._finished == 0:
            return False
        took = time.perf_counter() - self._began
        if took < self._most_seconds:
            return False
        to_come = took * (self._num_runs / self._finished - 1)
        return to_come > self._most_seconds / 2

    def play(self, runs: range, go_on: GoOn) -> None:
        """Play runs side by side to their end, by what :meth:`Runs.begin` returns.

        Raises ``SimulationError`` if one of them has used up its events.
        """
        limit = ended = 0
        while ended < len(runs):
            limit = min(limit + self._events, self._event_limit)
            began = time.perf_counter()
            events, played = (np.atleast_1d(x)[: len(runs)] for x in go_on(limit))
            took = time.perf_counter() - began
            plays = played < self._horizon
            if plays.any():
                longer = self._events * self._seconds / max(took, 1e-3)
                self._events = int(np.clip(longer, 1, 1e9))
            before, ended = ended, len(runs) - int(plays.sum())
            self.note(ended - before, float(np.log1p(played[plays]).sum()))
            for place in np.flatnonzero(plays & (events >= self._event_limit)):
                raise out_of_events(runs[place], played[place], events[place])

    def note(self, finished: int, log_rounds: float) -> None:
        """Report that so many more runs are finished, and how far the others are.

        Those on their way by the logarithms of one more than their rounds, summed.
        """
        self._finished += finished
        if self._on_progress is None:
            return
        now = time.perf_counter()
        is_last = self._finished == self._num_runs
        if is_last or now - self._reported > self._seconds:
            share = self._finished + log_rounds / np.log1p(self._horizon)
            self._on_progress(float(share / self._num_runs))
            self._reported = now


def out_of_events(run: int, played: int, events: int) -> SimulationError:
    """Return the error that a run has used up its events."""
    return SimulationError(
        f"run {run} stopped at round {played + 1} after {events} events: at most "
        f"{events} fit into its counts; shorten the horizon or use look-ahead"
    )
