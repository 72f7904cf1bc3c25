"""Runs of a policy in NumPy, by the loop over its rounds: the host's side."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np
from jaxtyping import Float64, Int, Shaped, UInt32

from bayesduel.arguments.limits import PATIENCE
from bayesduel.errors import (
    BayesduelError,
    PolicyParameterError,
    SimulationArgumentError,
    SimulationError,
)
from bayesduel.instances.world import FixedWorld, WorldBase, arrivals_of
from bayesduel.ops.code_digest import is_users
from bayesduel.ops.scalar.uncompiled import unpacked
from bayesduel.policies.policy import Problem, check_rule, declared
from bayesduel.policies.policy_around import STRAIGHT, Manner
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.simulation import rounds
from bayesduel.simulation.monitoring import BEGINS_ANEW, Monitor, new_monitor
from bayesduel.simulation.open_worlds import (
    BAD_PROBABILITY,
    BAD_REGRET,
    WorldRun,
    python_loop,
)
from bayesduel.simulation.pools import (
    Arrivals,
    CountedWins,
    begins_from_counts,
    tell_wins,
)
from bayesduel.simulation.rounds import (
    CLOCK,
    EVENTS,
    FAULT,
    NO_FAULT,
    PLAYED,
    RECOMMENDED,
    WRONG,
    PairLedger,
    new_progress,
    when_stopped,
)
from bayesduel.simulation.runs import (
    OF_WORLDS,
    Environment,
    GoOn,
    PairwiseEnvironment,
    RunRecords,
    WorldEnvironment,
    new_generator,
    num_features,
    orders_and_words,
    play_runs,
    reseed,
)
from bayesduel.stopping.base import StoppingRule, never_stops

# Events, and what of a run moves: rules of sets have no clock, and where votes are told
# late the rounds that are played lag behind it
_MOVES = [EVENTS, CLOCK, PLAYED]


class PairTables:
    """Inputs and records of runs of duels, ``grid`` being their checkpoints."""

    play = staticmethod(rounds.play)

    def __init__(
        self,
        environment: PairwiseEnvironment | WorldEnvironment,
        num_runs: int,
        grid: Int[np.ndarray, " C"],
        manner: Manner,
        new_stopping: Callable[[int], Any] | None = None,
        preferences: Float64[np.ndarray, "run K K"] | None = None,
    ) -> None:
        self._num_arms, self.grid = environment.num_arms, grid
        self._features = environment.features
        self._num_features = num_features(environment)
        self._manner, self._new_stopping = manner, new_stopping
        if preferences is None and isinstance(environment, PairwiseEnvironment):
            preferences = np.broadcast_to(
                environment.preference, (num_runs, *environment.preference.shape)
            )
        self._preferences = preferences
        shape = (num_runs, len(grid), self._num_arms, self._num_arms)
        self.plays_at = np.zeros(shape, dtype=np.int64)
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
        if isinstance(policy, ScalarKernel):
            return policy.new_state(order.astype(np.int64), int(self.grid[-1]))
        problem = Problem(
            len(order), int(self.grid[-1]), num_features=self._num_features
        )
        if self._features is not None:
            problem = problem._replace(features=self._features[order])
        return policy.start(problem, rng)

    def world_of_run(self, row: int, order: Int[np.ndarray, " K"]) -> Any:
        """Return the preference matrix of a run, in its order."""
        # A copy: Numba makes another program of an array that is read-only.
        values: Any = self._preferences
        return np.array(values[row][order[:, None], order], dtype=np.float64, order="C")

    def of_run(
        self, row: int, order: Int[np.ndarray, " K"], progress: Int[np.ndarray, " 12"]
    ) -> tuple[Any, ...]:
        """Return what the loop is given of a run, in its order."""
        mine = self.world_of_run(row, order)
        every, self_duels, patience, progress[CLOCK], monitored = self._manner
        num_arms = self._num_arms
        ledger = PairLedger(
            checkpoints=self.grid,
            plays=np.zeros((num_arms, num_arms), dtype=np.int64),
            plays_at=self.plays_at[row],
            shares=np.zeros((3, num_arms), dtype=np.int64),
        )
        reports = rounds.new_reports(every, int(self.grid[-1]))
        stopping = self._new_stopping and self._new_stopping(num_arms)
        given = mine, every, 0 if self_duels else patience, ledger, reports
        monitor = None
        if monitored is not None:
            monitor = new_monitor(num_arms, int(self.grid[-1]), *monitored)
        return *given, progress, monitor, stopping

    def best_of(
        self, progress: Int[np.ndarray, "run 12"]
    ) -> Shaped[np.ndarray, "run ..."]:
        """Return where recommended arms are written."""
        return progress[:, RECOMMENDED]

    def results(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return the plays of the first runs, by positions."""
        return {"plays": self.plays_at[:done]}


class WorldTables(PairTables):
    """The same for runs in a world, which has a generator of its own in every run."""

    def __init__(
        self,
        environment: WorldEnvironment,
        num_runs: int,
        grid: Int[np.ndarray, " C"],
        manner: Manner,
        words: UInt32[np.ndarray, "run W"],
        *,
        contextual: bool,
        side_by_side: bool = False,
        new_stopping: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__(environment, num_runs, grid, manner, new_stopping)
        self._world, self._words = environment.world, words
        # One for all runs that follow one another; see `runs.new_generator`.
        self._rng = None if side_by_side else new_generator()
        self.is_compiled = False
        self.play = python_loop(type(self._world), contextual=contextual)
        self._regret_at = np.zeros((num_runs, len(grid), environment.num_notions))
        self.runs: dict[int, WorldRun] = {}
        self.faults |= {
            BAD_PROBABILITY: "probability returned {value}, which is not from 0 to 1",
            BAD_REGRET: "regret returned {value}, which is not a finite number",
        }

    def world_of_run(self, row: int, order: Int[np.ndarray, " K"]) -> WorldRun:
        """Return a run of the world before its first round."""
        rng = new_generator() if self._rng is None else self._rng
        reseed(rng, np.append(self._words[row], np.uint32(OF_WORLDS)))
        state = self._world.start(int(self.grid[-1]), rng)
        table, num_notions = self._features, self._regret_at.shape[-1]
        table = np.zeros((len(order), 0)) if table is None else table[order]
        if self._rng is not None:
            self.runs.clear()
        self.runs[row] = WorldRun(
            world=self._record if self.is_compiled else self._world,
            state=state,
            rng=rng,
            order=order.astype(np.int64),
            table=np.array(table, dtype=np.float64, order="C"),
            advances=self._world.defines("advance"),
            until=np.zeros(1, dtype=np.int64),
            costs=np.zeros(num_notions),
            regret=np.zeros(num_notions),
            regret_at=self._regret_at[row],
            counts=np.zeros(len(order), dtype=np.int64),
            wrong=np.zeros(1),
        )
        return self.runs[row]

    def arrivals(
        self, order: Int[np.ndarray, " K"], given: tuple[Any, ...]
    ) -> Arrivals | None:
        """Return what arms arrive in a run; None where all are there."""
        if not self._world.defines("first_rounds"):
            return None
        first = arrivals_of(self._world, given[0].state)
        return Arrivals(given, first[order])

    @cached_property
    def _record(self) -> np.record:
        from bayesduel.simulation.compiled_rounds import parameters_record

        return parameters_record(self._world)

    def results(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return the plays of the first runs, by positions, and regret by notions."""
        return super().results(done) | {"regret": self._regret_at[:done]}


# The keys of splits are to overflow.
_play_quietly: Any = np.errstate(over="ignore")(rounds.play)


class PolicyRuns:
    """Runs of a policy: a rule, compiled with the loop if it says so, or a kernel."""

    side_by_side = 1
    device = "cpu"

    def __init__(
        self,
        environment: Environment,
        policy: Any,
        runs: range | Int[np.ndarray, " run"],
        orders: Int[np.ndarray, "run K"],
        tables: Any,
        stopping: StoppingRule | None = None,
        votes: Int[np.ndarray, "vote 3"] | None = None,
        label: str = "",
    ) -> None:
        self._environment: Any = environment
        self._policy, self._tables, self._votes = policy, tables, votes
        self._label = label or getattr(policy, "label", policy.name)
        self._runs, self._orders = runs, orders
        self._stops = stopping is not None and not isinstance(stopping, CountedWins)
        self._progress = new_progress(len(runs))
        self._place, self._state = 0, None
        # The function that plays the policy, and the policy as it expects it.
        self._play, self._rule = tables.play, policy
        if self._play is rounds.play and not is_users(type(policy).__module__):
            self._play = _play_quietly
        world = getattr(environment, "world", None)
        form: Any = None
        if isinstance(environment, WorldEnvironment):
            form = type(world), len(environment.world.notions) > 1
        is_open = getattr(tables, "is_open", False)
        in_one = not is_open and is_program(environment, policy)
        # Numba takes half a second to import.
        if isinstance(policy, ScalarKernel):
            self._rule = None
            if world is None:
                from bayesduel.simulation.programs import program, program_name

                name = program_name(policy.name, stopping)
                self._play, self._hear = program(name), program(name, "hear")
            elif in_one:
                from bayesduel.simulation.compiled_rounds import kernel_rounds
                from bayesduel.simulation.programs import program_name

                name = program_name(policy.name, stopping)
                self._play = kernel_rounds(name, form)
            else:
                self._play = python_loop(type(world), contextual=False, kernel=policy)
        elif in_one:
            from bayesduel.simulation.compiled_rounds import (
                compiled_rounds,
                parameters_record,
            )

            self._play = compiled_rounds(type(policy), form)
            self._rule = parameters_record(policy)
        tables.is_compiled = in_one

    def compile(self, rng: np.random.Generator) -> None:
        """Play no event, with a state that is thrown away."""
        self.begin(0, rng)(0)

    def begin(self, row: int, rng: np.random.Generator) -> GoOn:
        """Return what plays a run up to so many events; it returns events, rounds."""
        progress, order = self._progress[row], self._orders[row]
        self._place, progress[:] = row, 0
        with self._about(row):
            given = self._tables.of_run(row, order, progress)
            arrivals = None
            if isinstance(self._tables, WorldTables):
                arrivals = self._tables.arrivals(order, given)
            if arrivals is not None:
                positions, _, given = arrivals.open()
                order = order[positions]
            self._state = state = self._tables.start(self._policy, order, rng)
            if self._votes is not None:
                votes = rng.permutation(self._votes)
                votes[:, :2] = np.argsort(order)[votes[:, :2]]
                self._hear(self._rule, state, rng, given[-1], progress, votes)
        serve = getattr(self._policy, "solve_on_host", None)

        monitor = given[-2] if isinstance(given[-2], Monitor) else None

        def play_on(limit: int) -> None:
            self._play(self._rule, state, rng, *given, limit)
            while serve is not None and serve(state):
                self._play(self._rule, state, rng, *given, limit)

        def go_on(limit: int) -> tuple[int, int]:
            nonlocal state, given
            events, *before = progress[_MOVES]
            with self._about(row):
                play_on(limit)
                while arrivals is not None and arrivals.has_more():
                    positions, wins, given = arrivals.open()
                    arms = self._orders[row][positions]
                    self._state = state = self._tables.start(self._policy, arms, rng)
                    if not begins_from_counts(self._environment.world):
                        wins[:] = 0
                    tell_wins(self._policy, state, rng, wins)
                    play_on(limit)
                while monitor is not None and monitor.now[BEGINS_ANEW]:
                    self._state = state = self._tables.start(self._policy, order, rng)
                    progress[CLOCK] = 0
                    self._play(self._rule, state, rng, *given, limit)
            if (fault := progress[FAULT]) != NO_FAULT:
                raise self._fault(row, fault, progress[WRONG])
            now, *after = progress[_MOVES]
            if after == before and now > events + PATIENCE:
                raise self._error(row, "choose asks for no round, again and again")
            return int(progress[EVENTS]), int(progress[PLAYED])

        return go_on

    def info(self) -> dict[str, float]:
        """Return what the policy says of the run that was begun last."""
        with self._about(self._place):
            numbers = declared(self._policy, "info")(self._state)
            for name, value in dict(numbers).items():
                if np.ndim(value) > 0 or np.asarray(value).dtype.kind not in "biuf":
                    raise PolicyParameterError(
                        f"{self._label}: info of {name!r}", "must be one number", value
                    )
            return numbers

    def results(self, done: int) -> tuple[Any, Any, Any, Any]:
        """Return ledger, recommendations, events and stops of the first runs."""
        progress, orders = self._progress[:done], self._orders[:done]
        best = self._tables.best_of(self._progress)[:done]
        ledger, best = self._environment.with_original_labels(
            self._tables.results(done), best, orders
        )
        info = when_stopped(progress, orders) if self._stops else {}
        return ledger, best, progress[:, EVENTS].copy(), info

    def _fault(self, row: int, fault: int, wrong: int) -> SimulationError:
        said = self._tables.faults[fault]
        if fault not in (BAD_PROBABILITY, BAD_REGRET):
            return self._error(row, said.format(wrong=wrong))
        value = self._tables.runs[row].wrong[0]
        return SimulationError(
            f"{self._environment.world.label}: {said.format(value=value)} "
            f"(round {wrong} of run {self._runs[row]}, played by {self._label})"
        )

    def _error(self, row: int, said: str) -> SimulationError:
        return SimulationError(f"{self._label}: {said} ({self._where(row)})")

    def _where(self, row: int) -> str:
        played = self._progress[row, PLAYED]
        return f"round {played + 1} of run {self._runs[row]}"

    @contextmanager
    def _about(self, row: int) -> Iterator[None]:
        """Say of an exception of the policy where it was raised."""
        try:
            yield
        except BayesduelError:
            raise
        except Exception as error:
            culprit, line = self._label, ""
            for frame, number in walk_tb(error.__traceback__):
                owner = frame.f_locals.get("self")
                if isinstance(owner, WorldBase):
                    culprit = f"{owner.label}, in which {self._label} plays,"
                if is_users(frame.f_globals.get("__name__")):
                    line = f", {Path(frame.f_code.co_filename).name}, line {number}"
            note = f"raised by {culprit} in {self._where(row)}{line}"
            if "NoneType" in str(error) and self._environment.features is None:
                world = getattr(self._environment, "world", None)
                why = "the instance has no features"
                if world is not None and world.defines("features"):
                    why = "the features of this world are new in every round: choose "
                    why += "gets them if the class says contextual = True"
                note += f"; problem.features is None, as {why}"
            error.add_note(note)
            raise


def is_compiled(policy: Any) -> bool:
    """Say whether a rule is compiled: it asks for it, and Numba was not told not to."""
    if not policy.compiled:
        return False
    # Numba takes half a second to import.
    from bayesduel.ops.scalar.compiler import is_disabled

    return not is_disabled()


def is_program(environment: Environment, policy: Any) -> bool:
    """Say whether Numba plays a policy, and its world if it has one, in one program."""
    opened = isinstance(environment, WorldEnvironment)
    if opened and not is_compiled(environment.world):
        return False
    return isinstance(policy, ScalarKernel) or is_compiled(policy)


def run_chunk(
    environment: Environment,
    policy: Any,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    stopping: StoppingRule | None = None,
    manner: Manner = STRAIGHT,
    preferences: Float64[np.ndarray, "run K K"] | None = None,
    votes: Int[np.ndarray, "vote 3"] | None = None,
    label: str = "",
    **settings: Any,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``."""
    is_kernel = isinstance(policy, ScalarKernel)
    if not is_kernel:
        check_rule(policy)
    contextual = declared(policy, "contextual") if not is_kernel else False
    if contextual and isinstance(environment, PairwiseEnvironment):
        if environment.features is None:
            raise SimulationArgumentError(
                "policies",
                "needs features of the arms, but the instance has none",
                None,
                remedy="give them, as PreferenceMatrix(values, features=...) or "
                "{features}, or take a world with features",
            )
        # A world gives its features in every round.
        world = FixedWorld(environment.preference, environment.features)
        environment = WorldEnvironment(world, 1, environment.shuffle)
    opened = isinstance(environment, WorldEnvironment)
    if opened and environment.world.defines("first_rounds"):
        stopping = CountedWins()
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    tables: Any
    if not isinstance(environment, PairwiseEnvironment | WorldEnvironment):
        from bayesduel.simulation.set_rounds import SetTables

        tables = SetTables(environment, policy, np.array(runs), words, grid)
    else:
        new: Any = stopping and stopping.new_state
        in_one = is_program(environment, policy)
        if is_kernel and stopping is None and in_one:
            new = never_stops
        elif stopping is not None and not in_one:
            # Python reads fields of records, as Numba does.
            new = lambda num_arms: unpacked(stopping.new_state(num_arms))  # noqa: E731
        if isinstance(environment, WorldEnvironment):
            tables = WorldTables(
                environment,
                len(runs),
                grid,
                manner,
                words,
                contextual=contextual,
                new_stopping=new,
            )
        else:
            tables = PairTables(environment, len(runs), grid, manner, new, preferences)
    policy_runs = PolicyRuns(
        environment, policy, runs, orders, tables, stopping, votes, label
    )
    return play_runs(policy_runs, words, runs=runs, horizon=int(grid[-1]), **settings)
