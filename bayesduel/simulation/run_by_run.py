"""Simulating a chunk of runs of a policy in NumPy, run after run: the host's side."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from jaxtyping import Int, Shaped

from bayesduel.errors import BayesduelError, SimulationError
from bayesduel.policies.policy import check_rule, declared
from bayesduel.simulation import rounds
from bayesduel.simulation.environment import Environment
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.segments import Segments, new_generator, reseed
from bayesduel.simulation.set_runs import SetRuns
from bayesduel.simulation.subsets import SubsetEnvironment


class Runs(Protocol):
    """What the runs of a chunk have of their environment."""

    loop: Any
    """The module whose ``play`` plays them."""

    faults: dict[int, str]
    """What is said of a fault."""

    def start(
        self, policy: Any, order: Int[np.ndarray, " K"], rng: np.random.Generator
    ) -> Any:
        """Return the state of a policy before the first round."""
        ...

    def tables(
        self, row: int, order: Int[np.ndarray, " K"], progress: Int[np.ndarray, " 8"]
    ) -> tuple[Any, ...]:
        """Return what ``play`` is given of a new run, between generator and limit."""
        ...

    def found(
        self, progress: Int[np.ndarray, "run 8"]
    ) -> tuple[dict[str, Shaped[np.ndarray, "run ..."]], Shaped[np.ndarray, "run ..."]]:
        """Return ledger and recommendation of the first runs, by positions."""
        ...


class PairRuns:
    """Runs of duels.

    Parameters
    ----------
    environment : PairwiseEnvironment
        Who answers.
    num_runs : int
        How many there are.
    grid : int64 (C,)
        Checkpoints.
    every : int
        After so many rounds the policy is told the outcomes so far.
    self_duels : bool
        Whether the self-duels that it chooses are played.
    """

    loop = rounds

    def __init__(
        self,
        environment: PairwiseEnvironment,
        num_runs: int,
        grid: Int[np.ndarray, " C"],
        every: int = 1,
        self_duels: bool = True,
    ) -> None:
        self._num_arms, self._grid = environment.num_arms, grid
        self._manner = every, self_duels
        # A copy: of an array that may not be written to Numba would make another
        # program.
        self._preference = np.array(environment.preference, dtype=np.float64, order="C")
        shape = (num_runs, len(grid), self._num_arms, self._num_arms)
        self._ledger = np.zeros(shape, dtype=np.int64)
        arms = f"arms are numbered 0 to {self._num_arms - 1}"
        self.faults = {
            rounds.BAD_ARM: f"choose named the arm {{wrong}}; {arms}",
            rounds.BAD_IDLE_ROUNDS: (
                "choose asked for {wrong} idle rounds; ask for 0 or more"
            ),
            rounds.BAD_ROUNDS: (
                "choose asked for {wrong} rounds of a pair; ask for 0 or 1, or for "
                "more in a class that says explores_in_bulk = True"
            ),
            rounds.BAD_RECOMMENDATION: f"recommend named the arm {{wrong}}; {arms}",
        }

    def start(
        self, policy: Any, order: Int[np.ndarray, " K"], rng: np.random.Generator
    ) -> Any:
        """Return the state of a policy before the first round."""
        return policy.start(self._num_arms, int(self._grid[-1]), rng)

    def tables(
        self, row: int, order: Int[np.ndarray, " K"], progress: Int[np.ndarray, " 8"]
    ) -> tuple[Any, ...]:
        """Return preferences, checkpoints, manner, progress and plays of a run."""
        every, self_duels = self._manner
        mine = np.ascontiguousarray(self._preference[order[:, None], order])
        reports = rounds.new_reports(every, int(self._grid[-1]))
        plays = np.zeros(mine.shape, dtype=np.int64)
        given = mine, self._grid, every, self_duels, reports, progress
        return *given, plays, self._ledger[row]

    def found(
        self, progress: Int[np.ndarray, "run 8"]
    ) -> tuple[dict[str, Shaped[np.ndarray, "run ..."]], Shaped[np.ndarray, "run ..."]]:
        """Return plays and recommended arms."""
        plays = self._ledger[: len(progress)]
        return {"plays": plays}, progress[:, rounds.RECOMMENDED]


def run_chunk(
    environment: Environment,
    policy: Any,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
    most_seconds: float = math.inf,
    **manner: Any,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    Parameters
    ----------
    **manner
        How duels are played: parameters of :class:`PairRuns`.

    Raises
    ------
    PolicyParameterError
        If the policy lacks a function, or cannot be compiled though it shall be.
    SimulationError
        If it asks for what there is not; names run and round. An exception of the
        policy itself is raised as it is, with a note that names them.
    """
    began = time.perf_counter()
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    horizon = int(grid[-1])
    all_runs: Runs
    if isinstance(environment, SubsetEnvironment):
        all_runs = SetRuns(environment, len(runs), grid)
    else:
        assert isinstance(environment, PairwiseEnvironment)
        all_runs = PairRuns(environment, len(runs), grid, **manner)
    check_rule(policy)
    progress = rounds.new_progress(len(runs))
    rng = new_generator()
    play, own = _program(policy, all_runs)
    with _about(policy, progress[0], runs[0]):
        # No events: this compiles. The state is thrown away.
        state = all_runs.start(policy, orders[0], rng)
        play(own, state, rng, *all_runs.tables(0, orders[0], progress[0]), 0)
    compiled = time.perf_counter()
    segments = Segments(
        segment_seconds,
        len(runs),
        horizon,
        event_limit,
        on_progress,
        most_seconds,
    )
    infos: list[dict[str, float]] = []
    for run, order, seeds, row in zip(runs, orders, words, progress, strict=True):
        reseed(rng, seeds)
        with _about(policy, row, run):
            state = all_runs.start(policy, order, rng)
            given = (own, state, rng, *all_runs.tables(len(infos), order, row))

            def go_on(
                limit: int, given: Any = given, row: Any = row, run: int = run
            ) -> Any:
                play(*given, limit)
                _raise_on_fault(policy, all_runs, row, run)
                return int(row[rounds.EVENTS]), int(row[rounds.PLAYED])

            segments.play(run, go_on)
            infos.append(declared(policy, "info")(state))
        if segments.is_enough():
            break
    done = len(infos)
    progress = progress[:done]
    ledger, best = environment.with_original_labels(
        *all_runs.found(progress), orders[:done]
    )
    return RunRecords(
        ledger=ledger,
        recommendation=best,
        info={name: np.array([each[name] for each in infos]) for name in infos[0]},
        events=progress[:, rounds.EVENTS].copy(),
        finished=np.ones(done, dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
    )


def _program(policy: Any, runs: Runs) -> tuple[Callable[..., None], Any]:
    """Return what plays a policy, and the form in which that knows it."""
    if not policy.compiled:
        return runs.loop.play, policy
    # Numba takes half a second to import.
    from bayesduel.simulation.scalar.compiled_rounds import (
        compiled_rounds,
        is_disabled,
        parameters_record,
    )

    if is_disabled():
        return runs.loop.play, policy
    return compiled_rounds(type(policy)), parameters_record(policy)


def _raise_on_fault(policy: Any, runs: Runs, row: Any, run: int) -> None:
    if row[rounds.FAULT] != rounds.NO_FAULT:
        said = runs.faults[int(row[rounds.FAULT])].format(wrong=row[rounds.WRONG])
        where = f"round {row[rounds.PLAYED] + 1} of run {run}"
        raise SimulationError(f"{policy.label}: {said} ({where})")


@contextmanager
def _about(policy: Any, row: Any, run: int) -> Iterator[None]:
    """Say of an exception of a policy where it was raised."""
    try:
        yield
    except BayesduelError:
        raise
    except Exception as error:
        where = f"round {row[rounds.PLAYED] + 1} of run {run}"
        error.add_note(f"raised by {policy.label} in {where}")
        raise
