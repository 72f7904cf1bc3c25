"""The compiled loop: lanes of runs that take one event after the other.

A lane whose run is finished takes the next run, so no lane waits for the slowest one.
All functions are pure; ``simulator`` calls them from the host.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Int, UInt32

from bayesduel.policies.base import Policy
from bayesduel.simulation.beginnings import run_keys
from bayesduel.simulation.compiler_options import HARDLY_OPTIMIZED, options_of_loop
from bayesduel.simulation.environment import Environment
from bayesduel.simulation.trailing_vmap import map_lanes
from bayesduel.types import Action, Batch, RoundCount, RunKey, State

_ALL_ROUNDS = 2**63 - 1
"""Where nothing is cut."""

_EVENTS_PER_CALL = 2
"""How many events of all lanes take as long as a call of the host. When those that
wait for it have lost as much, it is called: that costs at most twice the best."""


class RunState(NamedTuple):
    """One simulated run on its way; in a batch, every leaf has a trailing lane axis."""

    run: Int[Array, ""]
    """Number of the run within the chunk; the number of runs when idle."""

    key: RunKey
    event: UInt32[Array, ""]
    played: RoundCount
    next_checkpoint: Int[Array, ""]
    policy: State
    environment: State


class Buffers(NamedTuple):
    """What the loop leaves behind, one row per run."""

    ledger: Any
    """The environment's ledger at each checkpoint, (run, checkpoint, ...)."""

    recommendation: Array
    """What the policy recommends, (run, ...)."""

    info: dict[str, Array]
    """What else a policy tells of a finished run, (run, ...)."""

    events: UInt32[Array, " run"]
    rounds: Int[Array, " run"]
    """Rounds of finished runs; 0 while a run has not finished."""


class Carry(NamedTuple):
    """Everything that moves in the loop."""

    lanes: Batch[RunState]
    next_run: Int[Array, ""]
    buffers: Buffers


class LoopInputs(NamedTuple):
    """Everything that stands still in the loop; all leaves are traced."""

    environment: Environment
    policy: Policy
    key: RunKey
    first_run: UInt32[Array, ""]
    checkpoints: Int[Array, " C"]
    horizon: RoundCount
    event_limit: UInt32[Array, ""]
    num_runs: Int[Array, ""]
    """Runs of the chunk, int32. There may be more rows than runs: chunks of different
    sizes share a program."""


def _new_lane(inputs: LoopInputs, run: Int[Array, ""]) -> RunState:
    """Put run number ``run`` of the chunk at its start."""
    number = inputs.first_run + run.astype(jnp.uint32)
    key, key_environment, key_policy = run_keys(inputs.key, number)
    environment = inputs.environment.init(key_environment)
    return RunState(
        run=run,
        key=key,
        event=jnp.uint32(0),
        played=jnp.int64(0),
        next_checkpoint=jnp.int32(0),
        policy=inputs.environment.init_policy(
            inputs.policy, key_policy, environment, inputs.horizon
        ),
        environment=environment,
    )


def new_lanes(inputs: LoopInputs, runs: Int[Array, " lane"]) -> Batch[RunState]:
    """Put the runs numbered ``runs`` of the chunk at their start, one per lane."""
    return jax.vmap(partial(_new_lane, inputs), out_axes=-1)(runs)


def vmap_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """Map over trailing lanes where speed does not matter."""
    return jax.vmap(function, in_axes=-1, out_axes=-1)


@partial(jax.jit, static_argnums=(1, 2), compiler_options=HARDLY_OPTIMIZED)
def start(inputs: LoopInputs, num_rows: int, num_lanes: int) -> Carry:
    """Put the first runs into lanes and make room for the results of ``num_rows``."""
    lanes = new_lanes(inputs, jnp.arange(num_lanes, dtype=jnp.int32))
    first = jax.tree.map(lambda leaf: leaf[..., 0], lanes)
    ledger = inputs.environment.ledger(first.environment)
    best = inputs.policy.recommend(first.key, first.policy)

    def room(values: Any, *rows: int) -> Any:
        return jax.tree.map(
            lambda leaf: jnp.zeros((*rows, *leaf.shape), leaf.dtype), values
        )

    return Carry(
        lanes=lanes._replace(run=jnp.minimum(lanes.run, inputs.num_runs)),
        next_run=jnp.int32(num_lanes),
        buffers=Buffers(
            ledger=room(ledger, num_rows, inputs.checkpoints.shape[0]),
            recommendation=room(best, num_rows),
            info=room(inputs.policy.info(first.policy), num_rows),
            events=jnp.zeros(num_rows, dtype=jnp.uint32),
            rounds=jnp.zeros(num_rows, dtype=jnp.int64),
        ),
    )


def segment_program(num_arms: int) -> Callable[..., Carry]:
    """Return :func:`play_segment`, compiled for so many arms; donates the carry."""
    return _segment_program(options_of_loop(num_arms))


@cache
def _segment_program(options: tuple[tuple[str, Any], ...]) -> Callable[..., Carry]:
    return jax.jit(
        play_segment, donate_argnums=(1,), compiler_options=dict(options) or None
    )


def play_segment(inputs: LoopInputs, carry: Carry, num_events: Int[Array, ""]) -> Carry:
    """Let every lane take up to ``num_events`` events.

    Ends before that when nothing moves any more or runs have long waited for the host.
    """

    def going(loop: tuple[Array, Array, Carry]) -> Bool[Array, ""]:
        count, lost, carry = loop
        holds = jnp.sum(carry.lanes.run < inputs.num_runs, dtype=jnp.int64)
        return (
            (count < num_events)
            & (lost <= _EVENTS_PER_CALL * holds)
            & jnp.any(is_active(inputs, carry.lanes))
        )

    def advance(loop: tuple[Array, Array, Carry]) -> tuple[Array, Array, Carry]:
        count, lost, carry = loop
        before = carry.lanes
        active = is_active(inputs, before)
        if inputs.policy.assisted:
            waits = (before.run < inputs.num_runs) & ~active
            lost += jnp.sum(waits, dtype=jnp.int64)
        after, request = map_lanes(partial(_event, inputs), before.run.shape[0])(before)
        after = _select(active, after, before)
        request = inputs.environment.cut(
            request, jnp.where(active, jnp.int64(_ALL_ROUNDS), 0)
        )
        after, ledger = _record(inputs, before, after, request, carry.buffers.ledger)
        carry = carry._replace(
            lanes=after, buffers=carry.buffers._replace(ledger=ledger)
        )
        return count + 1, lost, _refill(inputs, carry)

    nothing = jnp.zeros_like(num_events)
    return lax.while_loop(going, advance, (nothing, nothing, carry))[2]


def is_active(inputs: LoopInputs, lanes: Batch[RunState]) -> Bool[Array, " lane"]:
    """Lanes with a run to play, not waiting for the host, not out of event numbers."""
    active = (lanes.run < inputs.num_runs) & (lanes.event < inputs.event_limit)
    if inputs.policy.assisted:
        active &= ~vmap_last(inputs.policy.is_waiting)(lanes.policy)
    return active


def _event(inputs: LoopInputs, lane: RunState) -> tuple[RunState, Action]:
    """Ask the policy, play, and tell it."""
    environment, policy = inputs.environment, inputs.policy
    key = jax.random.fold_in(lane.key, lane.event)
    key_choose, key_answer, key_update = jax.random.split(key, 3)
    request, state = policy.choose(key_choose, lane.policy, lane.played + 1)
    request, outcome, rounds = environment.play(
        key_answer,
        lane.environment,
        request,
        inputs.horizon - lane.played,
        in_bulk=policy.explores_in_bulk,
    )
    played = lane.played + rounds
    after = lane._replace(
        event=lane.event + 1,
        played=played,
        policy=policy.update(key_update, state, played, request, outcome),
        environment=environment.record(lane.environment, request),
    )
    return after, request


def _record(
    inputs: LoopInputs,
    before: Batch[RunState],
    after: Batch[RunState],
    request: Batch[Action],
    ledger: Any,
) -> tuple[Batch[RunState], Any]:
    """Write down the checkpoints that the event passed.

    Inside a stretch the plays are known, one pair after the other, so a checkpoint
    there only reads them: the grid of checkpoints changes nothing else.
    """
    last = inputs.checkpoints.shape[0] - 1

    def is_due(index: Int[Array, " lane"]) -> Bool[Array, " lane"]:
        # A padded checkpoint is never reached.
        due = inputs.checkpoints[jnp.minimum(index, last)] <= after.played
        return due & (index <= last) & (before.played < after.played)

    def write(loop: tuple[Array, Any]) -> tuple[Array, Any]:
        index, ledger = loop
        due = is_due(index)
        column = jnp.minimum(index, last)
        so_far = inputs.checkpoints[column] - before.played
        part = inputs.environment.cut(request, so_far)
        lanes = vmap_last(inputs.environment.record)(before.environment, part)
        values = jax.vmap(inputs.environment.ledger, in_axes=-1)(lanes)
        ledger = jax.tree.map(
            partial(_write_rows, which=due, index=(before.run, column)), ledger, values
        )
        return jnp.where(due, index + 1, index), ledger

    index, ledger = lax.while_loop(
        lambda loop: jnp.any(is_due(loop[0])), write, (before.next_checkpoint, ledger)
    )
    return after._replace(next_checkpoint=index), ledger


def _refill(inputs: LoopInputs, carry: Carry) -> Carry:
    """File finished runs and hand their lanes the next ones."""

    def is_done(lanes: Batch[RunState]) -> Bool[Array, " lane"]:
        return (lanes.run < inputs.num_runs) & (lanes.played >= inputs.horizon)

    def hand_out(carry: Carry) -> Carry:
        lanes = carry.lanes
        done = is_done(lanes)
        keys = jax.vmap(jax.random.fold_in)(lanes.key, lanes.event)
        best = vmap_last(inputs.policy.recommend)(keys, lanes.policy)
        info = vmap_last(inputs.policy.info)(lanes.policy)
        old = carry.buffers
        rows = (best, info, lanes.event, lanes.played)
        written = jax.tree.map(
            partial(_write_rows, which=done, index=(lanes.run,)),
            (old.recommendation, old.info, old.events, old.rounds),
            jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), rows),
        )
        buffers = Buffers(old.ledger, *written)
        waiting = jnp.cumsum(done, dtype=jnp.int32)
        run = jnp.minimum(carry.next_run + waiting - 1, inputs.num_runs)
        fresh = new_lanes(inputs, run)
        return Carry(
            lanes=_select(done, fresh, lanes),
            next_run=carry.next_run + waiting[-1],
            buffers=buffers,
        )

    # A loop that runs at most once: unlike a conditional it copies nothing when idle.
    return lax.while_loop(lambda c: jnp.any(is_done(c.lanes)), hand_out, carry)


def _write_rows(
    buffer: Array,
    values: Array,
    *,
    which: Bool[Array, " lane"],
    index: tuple[Int[Array, " lane"], ...],
) -> Array:
    """Write the rows of some lanes, each at its own leading indices.

    On a CPU one lane after the other: a scatter keeps XLA from compiling the loop
    around it as one function, and each operation of an event is then called.
    """
    if jax.default_backend() == "cpu":
        return _write_in_turn(buffer, values, which, index)
    return _scatter(buffer, values, which, index)


def _write_in_turn(
    buffer: Array, values: Array, which: Array, index: tuple[Array, ...]
) -> Array:
    single = (1,) * len(index)
    rest = (jnp.int32(0),) * (buffer.ndim - len(index))

    def write(lane: Int[Array, ""], buffer: Array) -> Array:
        start = (*(axis[lane] for axis in index), *rest)
        new = values[lane].reshape(single + buffer.shape[len(index) :])
        old = lax.dynamic_slice(buffer, start, new.shape)
        return lax.dynamic_update_slice(buffer, jnp.where(which[lane], new, old), start)

    return lax.fori_loop(0, which.shape[0], write, buffer)


def _scatter(
    buffer: Array, values: Array, which: Array, index: tuple[Array, ...]
) -> Array:
    # What is past the end is dropped.
    row = jnp.where(which, index[0], buffer.shape[0])
    return buffer.at[(row, *index[1:])].set(values, mode="drop")


def _select(which: Bool[Array, " lane"], one: Any, other: Any) -> Any:
    """Pick per lane between two batched pytrees."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(jnp.expand_dims(which, tuple(range(a.ndim - 1))), a, b)

    return jax.tree.map(pick, one, other)
