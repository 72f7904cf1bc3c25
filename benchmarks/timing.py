"""Timing on one core, and tables of what was measured."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from bayesduel import instances
from bayesduel.policies import Policy
from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment


def pin_to_one_core() -> None:
    """Keep this process, and the threads it will start, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@dataclass(frozen=True)
class Timing:
    """Medians over repetitions of one simulation, compilation excluded."""

    seconds: float
    events: float
    rounds: int
    compile_seconds: float

    @property
    def nanoseconds_per_round(self) -> float:
        """Processor time per round and run."""
        return self.seconds / self.rounds * 1e9

    @property
    def microseconds_per_event(self) -> float:
        """Processor time per event of a run."""
        return self.seconds / self.events * 1e6


def time_policy(
    matrix: str | np.ndarray,
    policy: Policy,
    *,
    runs: int,
    horizon: int,
    repetitions: int = 3,
) -> Timing:
    """Simulate ``runs`` runs some times over, and take medians.

    Processor time, not elapsed time: other processes may share the machine.
    """
    named = isinstance(matrix, str)
    values = np.array(instances.load(matrix).values) if named else matrix
    environment = PairwiseEnvironment(values)
    grid = np.unique(np.geomspace(1, horizon, 32).round().astype(np.int64))

    def simulate(seed: int) -> tuple[float, RunRecords]:
        began = time.process_time()
        records = run_chunk(
            environment, policy, runs=range(runs), checkpoints=grid, seed=seed
        )
        return time.process_time() - began, records

    began = time.process_time()
    simulate(0)
    first = time.process_time() - began
    measured = [simulate(seed) for seed in range(1, repetitions + 1)]
    seconds = median(each for each, _ in measured)
    return Timing(
        seconds=seconds,
        events=median(float(records.events.sum()) for _, records in measured),
        rounds=runs * horizon,
        compile_seconds=max(0.0, first - seconds),
    )


def time_call(function: Callable[[], object], *, at_least: float = 0.2) -> float:
    """Return the seconds of one call, the best of three averages."""
    function()
    calls = 1
    while True:
        began = time.process_time()
        for _ in range(calls):
            function()
        seconds = time.process_time() - began
        if seconds > at_least:
            break
        calls *= 2
    others = []
    for _ in range(2):
        began = time.process_time()
        for _ in range(calls):
            function()
        others.append(time.process_time() - began)
    return min(seconds, *others) / calls


def report(title: str, rows: list[dict[str, object]]) -> None:
    """Print a table, and the same as one line of JSON."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(_shown(value) for value in row.values()))
    Console().print(table)
    print(json.dumps({"benchmark": title, "rows": rows}))


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
