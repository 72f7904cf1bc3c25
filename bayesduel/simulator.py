"""The only loop over rounds.

Lanes step through events in one compiled ``while``; a lane whose run is finished takes
the next run, so no lane waits for the slowest one. The host calls the loop in segments,
between which it can report, serve, and be interrupted. A run is a function of the seed
and its own number: how runs are put into lanes, segments or chunks changes no bit.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Int

from bayesduel.environments.pairwise import PairwiseEnvironment
from bayesduel.errors import SimulationError
from bayesduel.lanes import map_lanes
from bayesduel.policies.base import Policy
from bayesduel.policies.thresholds import NEVER
from bayesduel.types import Duel, Outcome, RoundCount, RunKey, State

EVENT_LIMIT = 2**32 - 2
"""Events that one run may take: their number is folded into 32 bits of its key."""

_INIT = 2**32 - 1
"""What is folded in instead of an event number when a run starts."""

_CHECKPOINT_BLOCK = 32
"""Checkpoints are padded to a multiple of this, so that most grids share a program."""

_SEGMENT_SECONDS = 0.5
"""Aim for the length of a segment: short enough for Ctrl-C and a progress bar."""


class Lane(NamedTuple):
    """One simulated run on its way; in a batch, every leaf has a trailing lane axis."""

    run: Int[Array, ""]
    """Number of the run within the chunk; the number of runs when idle."""

    key: RunKey
    event: Int[Array, ""]
    played: RoundCount
    next_checkpoint: Int[Array, ""]
    policy: State
    environment: State


class Buffers(NamedTuple):
    """What the loop leaves behind, one row per run."""

    ledger: Any
    """The environment's ledger at each checkpoint, (run, checkpoint, ...)."""

    recommendation: Int[Array, " run"]
    events: Int[Array, " run"]
    rounds: Int[Array, " run"]
    """Rounds of finished runs; 0 while a run has not finished."""


class Carry(NamedTuple):
    """Everything that moves in the loop."""

    lanes: Lane
    next_run: Int[Array, ""]
    buffers: Buffers


class Problem(NamedTuple):
    """Everything that stands still in the loop; all leaves are traced."""

    environment: PairwiseEnvironment
    policy: Policy
    key: RunKey
    first_run: Int[Array, ""]
    checkpoints: Int[Array, " C"]
    horizon: RoundCount
    event_limit: Int[Array, ""]


@dataclass(frozen=True)
class RunRecords:
    """NumPy results of a chunk of runs, in the original labels of the arms."""

    ledger: dict[str, np.ndarray]
    recommendation: np.ndarray
    events: np.ndarray
    finished: np.ndarray
    run_seconds: float
    compile_seconds: float


def run_chunk(
    environment: PairwiseEnvironment,
    policy: Policy,
    *,
    runs: range,
    checkpoints: np.ndarray,
    seed: int,
    num_lanes: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> RunRecords:
    """Simulate the runs numbered ``runs`` up to the last checkpoint.

    Parameters
    ----------
    environment : PairwiseEnvironment
        Who answers.
    policy : Policy
        Who asks.
    runs : range
        Numbers of the runs, contiguous. Run r is the same in every chunk.
    checkpoints : int64 (C,)
        Increasing positive rounds to record at; the last one is the horizon.
    seed : int
        Seed of all runs.
    num_lanes : int, optional
        Runs simulated side by side; a matter of speed only.
    on_progress : callable, optional
        Called after each segment with the share of rounds played, on a log scale.

    Returns
    -------
    RunRecords
        Of all runs; after Ctrl-C the interrupt carries those of the finished runs as
        ``.records``.
    """
    with jax.enable_x64(True):
        problem = _problem(environment, policy, runs, checkpoints, seed)
        lanes = num_lanes or default_num_lanes(len(runs))
        began = time.perf_counter()
        carry = _start(problem, len(runs), lanes)
        carry = jax.block_until_ready(
            _segment(problem, carry, np.int64(0), num_runs=len(runs))
        )
        compiled = time.perf_counter()
        try:
            carry = _drive(problem, carry, len(runs), on_progress)
        except KeyboardInterrupt as interrupt:
            interrupt.records = None  # pyright: ignore[reportAttributeAccessIssue]
            raise
        _raise_on_status(problem, carry, runs)
        return _collect(
            problem,
            carry,
            runs,
            len(checkpoints),
            run_seconds=time.perf_counter() - compiled,
            compile_seconds=compiled - began,
        )


def default_num_lanes(num_runs: int) -> int:
    """Return how many lanes suit this machine, a power of two.

    Some runs take three times as many events as others, so a CPU gets a third as many
    lanes as there are runs: at the end, few lanes are without one.
    """
    if jax.default_backend() != "cpu":
        return min(4096, 1 << (num_runs - 1).bit_length())
    return 1 << min(7, max(3, (num_runs // 3).bit_length()))


def _problem(
    environment: PairwiseEnvironment,
    policy: Policy,
    runs: range,
    checkpoints: np.ndarray,
    seed: int,
) -> Problem:
    padding = -len(checkpoints) % _CHECKPOINT_BLOCK
    padded = np.pad(checkpoints.astype(np.int64), (0, padding), constant_values=NEVER)
    return Problem(
        environment=jax.tree.map(jnp.asarray, environment),
        policy=jax.tree.map(_as_leaf, policy),
        key=jax.random.key(seed),
        first_run=jnp.uint32(runs.start),
        checkpoints=jnp.asarray(padded),
        horizon=jnp.int64(checkpoints[-1]),
        event_limit=jnp.uint32(EVENT_LIMIT),
    )


def _as_leaf(value: Any) -> Array:
    """Give a hyperparameter one dtype, whatever Python number it came as."""
    value = np.asarray(value)
    return jnp.asarray(value, dtype=np.int64 if value.dtype.kind == "i" else np.float64)


def _new_lane(problem: Problem, run: Int[Array, ""]) -> Lane:
    """Put run number ``run`` of the chunk at its start."""
    key = jax.random.fold_in(problem.key, problem.first_run + run.astype(jnp.uint32))
    key_environment, key_policy = jax.random.split(jax.random.fold_in(key, _INIT))
    num_arms = problem.environment.num_arms
    return Lane(
        run=run,
        key=key,
        event=jnp.uint32(0),
        played=jnp.int64(0),
        next_checkpoint=jnp.int32(0),
        policy=problem.policy.init(key_policy, num_arms, problem.horizon),
        environment=problem.environment.init(key_environment),
    )


def _new_lanes(problem: Problem, runs: Int[Array, " lane"]) -> Lane:
    return jax.vmap(partial(_new_lane, problem), out_axes=-1)(runs)


def _vmap_last(function: Callable[..., Any]) -> Callable[..., Any]:
    return jax.vmap(function, in_axes=-1, out_axes=-1)


@partial(jax.jit, static_argnums=(1, 2))
def _start(problem: Problem, num_runs: int, num_lanes: int) -> Carry:
    lanes = _new_lanes(problem, jnp.arange(num_lanes, dtype=jnp.int32))
    ledger = problem.environment.ledger(
        jax.tree.map(lambda leaf: leaf[..., 0], lanes.environment)
    )
    rows = (num_runs, problem.checkpoints.shape[0])
    return Carry(
        lanes=lanes._replace(run=jnp.minimum(lanes.run, num_runs)),
        next_run=jnp.int32(num_lanes),
        buffers=Buffers(
            ledger=jax.tree.map(
                lambda leaf: jnp.zeros((*rows, *leaf.shape), leaf.dtype), ledger
            ),
            recommendation=jnp.zeros(num_runs, dtype=jnp.int32),
            events=jnp.zeros(num_runs, dtype=jnp.uint32),
            rounds=jnp.zeros(num_runs, dtype=jnp.int64),
        ),
    )


@partial(jax.jit, static_argnames=("num_runs",), donate_argnums=(1,))
def _segment(
    problem: Problem, carry: Carry, num_events: Int[Array, ""], *, num_runs: int
) -> Carry:
    """Let every lane take up to ``num_events`` events."""

    def going(loop: tuple[Array, Carry]) -> Bool[Array, ""]:
        count, carry = loop
        return (count < num_events) & jnp.any(
            _is_active(problem, carry.lanes, num_runs)
        )

    def advance(loop: tuple[Array, Carry]) -> tuple[Array, Carry]:
        count, carry = loop
        before = carry.lanes
        active = _is_active(problem, before, num_runs)
        after, duel = map_lanes(partial(_event, problem), before.run.shape[0])(before)
        after = _select(active, after, before)
        duel = duel._replace(
            exploit_rounds=jnp.where(active, duel.exploit_rounds, 0),
            explore_rounds=jnp.where(active, duel.explore_rounds, 0),
        )
        after, ledger = _record(problem, before, after, duel, carry.buffers.ledger)
        carry = carry._replace(
            lanes=after, buffers=carry.buffers._replace(ledger=ledger)
        )
        return count + 1, _refill(problem, carry, num_runs)

    return lax.while_loop(going, advance, (jnp.zeros_like(num_events), carry))[1]


def _is_active(problem: Problem, lanes: Lane, num_runs: int) -> Bool[Array, " lane"]:
    """Lanes with a run to play, not waiting for the host, not out of event numbers."""
    active = (lanes.run < num_runs) & (lanes.event < problem.event_limit)
    if problem.policy.assisted:
        active &= ~_vmap_last(problem.policy.is_waiting)(lanes.policy)
    return active


def _event(problem: Problem, lane: Lane) -> tuple[Lane, Duel]:
    """Ask the policy, play, and tell it."""
    environment, policy = problem.environment, problem.policy
    key = jax.random.fold_in(lane.key, lane.event)
    key_choose, key_answer, key_update = jax.random.split(key, 3)
    duel, state = policy.choose(key_choose, lane.policy, lane.played + 1)
    left = problem.horizon - lane.played
    exploit = jnp.minimum(duel.exploit_rounds, left)
    explore = jnp.minimum(duel.explore_rounds, left - exploit)
    duel = duel._replace(exploit_rounds=exploit, explore_rounds=explore)
    wins = environment.answer(
        key_answer,
        lane.environment,
        duel.first,
        duel.second,
        explore,
        in_bulk=policy.explores_in_bulk,
    )
    played = lane.played + exploit + explore
    outcome = Outcome(exploit_rounds=exploit, rounds=explore, wins=wins)
    after = lane._replace(
        event=lane.event + 1,
        played=played,
        policy=policy.update(key_update, state, played, duel, outcome),
        environment=environment.record(lane.environment, duel),
    )
    return after, duel


def _record(
    problem: Problem, before: Lane, after: Lane, duel: Duel, ledger: Any
) -> tuple[Lane, Any]:
    """Write down the checkpoints that the event passed.

    Inside a stretch the plays are known, one pair after the other, so a checkpoint
    there only reads them: the grid of checkpoints changes nothing else.
    """
    last = problem.checkpoints.shape[0] - 1

    def is_due(index: Int[Array, " lane"]) -> Bool[Array, " lane"]:
        # A padded checkpoint is never reached.
        due = problem.checkpoints[jnp.minimum(index, last)] <= after.played
        return due & (index <= last) & (before.played < after.played)

    def write(loop: tuple[Array, Any]) -> tuple[Array, Any]:
        index, ledger = loop
        due = is_due(index)
        column = jnp.minimum(index, last)
        so_far = problem.checkpoints[column] - before.played
        exploit = jnp.clip(so_far, 0, duel.exploit_rounds)
        explore = jnp.clip(so_far - duel.exploit_rounds, 0, duel.explore_rounds)
        part = duel._replace(exploit_rounds=exploit, explore_rounds=explore)
        lanes = _vmap_last(problem.environment.record)(before.environment, part)
        values = jax.vmap(problem.environment.ledger, in_axes=-1)(lanes)
        # An index past the end is dropped: those lanes have nothing to write.
        row = jnp.where(due, before.run, NO_ROW)
        ledger = jax.tree.map(
            lambda buffer, value: buffer.at[row, column].set(value, mode="drop"),
            ledger,
            values,
        )
        return jnp.where(due, index + 1, index), ledger

    index, ledger = lax.while_loop(
        lambda loop: jnp.any(is_due(loop[0])), write, (before.next_checkpoint, ledger)
    )
    return after._replace(next_checkpoint=index), ledger


NO_ROW = 2**30
"""Row of a lane that writes nothing."""


def _refill(problem: Problem, carry: Carry, num_runs: int) -> Carry:
    """File finished runs and hand their lanes the next ones."""

    def is_done(lanes: Lane) -> Bool[Array, " lane"]:
        return (lanes.run < num_runs) & (lanes.played >= problem.horizon)

    def hand_out(carry: Carry) -> Carry:
        lanes = carry.lanes
        done = is_done(lanes)
        row = jnp.where(done, lanes.run, NO_ROW)
        keys = jax.vmap(jax.random.fold_in)(lanes.key, lanes.event)
        best = _vmap_last(problem.policy.recommend)(keys, lanes.policy)
        old = carry.buffers
        buffers = old._replace(
            recommendation=old.recommendation.at[row].set(best, mode="drop"),
            events=old.events.at[row].set(lanes.event, mode="drop"),
            rounds=old.rounds.at[row].set(lanes.played, mode="drop"),
        )
        waiting = jnp.cumsum(done, dtype=jnp.int32)
        run = jnp.minimum(carry.next_run + waiting - 1, num_runs)
        fresh = _new_lanes(problem, run)
        return Carry(
            lanes=_select(done, fresh, lanes),
            next_run=carry.next_run + waiting[-1],
            buffers=buffers,
        )

    # A loop that runs at most once: unlike a conditional it copies nothing when idle.
    return lax.while_loop(lambda c: jnp.any(is_done(c.lanes)), hand_out, carry)


def _select(which: Bool[Array, " lane"], one: Any, other: Any) -> Any:
    """Pick per lane between two batched pytrees."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(jnp.expand_dims(which, tuple(range(a.ndim - 1))), a, b)

    return jax.tree.map(pick, one, other)


def _drive(
    problem: Problem,
    carry: Carry,
    num_runs: int,
    on_progress: Callable[[float], None] | None,
) -> Carry:
    """Call segments until nothing moves any more."""
    events = 256
    while True:
        began = time.perf_counter()
        carry = _segment(problem, carry, np.int64(events), num_runs=num_runs)
        lanes = carry.lanes
        if problem.policy.assisted:
            carry = _assist(problem, carry, num_runs)
            lanes = carry.lanes
        if on_progress is not None:
            on_progress(_progress(problem, carry, num_runs))
        if not bool(jnp.any(_is_active(problem, lanes, num_runs))):
            return carry
        seconds = time.perf_counter() - began
        events = int(np.clip(events * _SEGMENT_SECONDS / max(seconds, 1e-3), 64, 1e6))


def _assist(problem: Problem, carry: Carry, num_runs: int) -> Carry:
    """Serve, on the host, exactly the lanes whose policy waits for it."""
    lanes = carry.lanes
    asking = _vmap_last(problem.policy.is_waiting)(lanes.policy)
    asking = np.asarray(asking & (lanes.run < num_runs))
    if not asking.any():
        return carry
    states = jax.tree.map(lambda leaf: np.array(leaf), lanes.policy)
    for lane in np.flatnonzero(asking):
        served = problem.policy.assist(
            jax.tree.map(lambda leaf, lane=lane: leaf[..., lane], states)
        )
        for leaf, new in zip(
            jax.tree.leaves(states), jax.tree.leaves(served), strict=True
        ):
            leaf[..., lane] = new
    return carry._replace(
        lanes=lanes._replace(policy=jax.tree.map(jnp.asarray, states))
    )


def _progress(problem: Problem, carry: Carry, num_runs: int) -> float:
    """Share of the work done: finished runs, and the others by their log t."""
    done = np.count_nonzero(np.asarray(carry.buffers.rounds))
    lanes = carry.lanes
    playing = np.asarray(lanes.run) < num_runs
    started = np.log1p(np.asarray(lanes.played)[playing].astype(np.float64))
    return float((done + np.sum(started / np.log1p(float(problem.horizon)))) / num_runs)


def _raise_on_status(problem: Problem, carry: Carry, runs: range) -> None:
    unfinished = np.flatnonzero(np.asarray(carry.buffers.rounds) == 0)
    if unfinished.size:
        lane = int(np.argmax(np.asarray(carry.lanes.run) == unfinished[0]))
        raise SimulationError(
            f"run {runs[int(unfinished[0])]} stopped at round "
            f"{int(carry.lanes.played[lane]) + 1} after "
            f"{int(carry.lanes.event[lane])} events: at most "
            f"{int(problem.event_limit)} fit into its random key; "
            "shorten the horizon or use look-ahead"
        )


def _collect(
    problem: Problem,
    carry: Carry,
    runs: range,
    num_checkpoints: int,
    *,
    run_seconds: float,
    compile_seconds: float,
) -> RunRecords:
    """Bring the buffers to the host, with the arms' original labels."""
    number = jnp.arange(len(runs), dtype=jnp.int32)
    lanes = _new_lanes(problem, number)
    order = np.asarray(lanes.environment.order).T
    buffers = jax.tree.map(np.asarray, carry.buffers)
    ledger = {
        name: problem.environment.unshuffle(values[:, :num_checkpoints], order)
        for name, values in buffers.ledger.items()
    }
    best = np.take_along_axis(order, buffers.recommendation[:, None], axis=1)[:, 0]
    return RunRecords(
        ledger=ledger,
        recommendation=best.astype(np.int64),
        events=buffers.events.astype(np.int64),
        finished=buffers.rounds > 0,
        run_seconds=run_seconds,
        compile_seconds=compile_seconds,
    )
