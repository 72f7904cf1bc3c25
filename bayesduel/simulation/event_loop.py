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
from bayesduel.simulation.beginnings import INIT
from bayesduel.simulation.buffer_rows import write_rows
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


class Standing(NamedTuple):
    """Which lanes have something left to do after a segment."""

    moves: Bool[Array, " lane"]
    """With a run to play or to file."""

    waits: Bool[Array, " lane"]
    """With a run that waits for the host."""


class LoopInputs(NamedTuple):
    """Everything that stands still in the loop; all leaves are traced."""

    environment: Environment
    policy: Policy
    orders: Int[Array, "run K"]
    """The order of the arms in every run."""

    words: UInt32[Array, "run 2"]
    """The words of the key of every run."""

    checkpoints: Int[Array, " C"]
    horizon: RoundCount
    event_limit: UInt32[Array, ""]
    num_runs: Int[Array, ""]
    """Runs of the chunk, int32. There may be more rows than runs: chunks of different
    sizes share a program."""


def _new_lane(inputs: LoopInputs, run: Int[Array, ""]) -> RunState:
    """Put run number ``run`` of the chunk at its start."""
    order, words = (
        lax.dynamic_index_in_dim(rows, run, keepdims=False)
        for rows in (inputs.orders, inputs.words)
    )
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    key_policy = jax.random.split(jax.random.fold_in(key, INIT))[1]
    environment = inputs.environment.init(order)
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
    return map_lanes(partial(_new_lane, inputs), runs.shape[0])(runs)


def _in_all(lanes: Batch[RunState], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of what belongs to one run as one over all lanes."""
    return map_lanes(function, lanes.run.shape[0])


@partial(jax.jit, static_argnums=(1, 2), compiler_options=HARDLY_OPTIMIZED)
def start(inputs: LoopInputs, num_rows: int, num_lanes: int) -> Carry:
    """Make room for the lanes, all of them idle, and for the results of ``num_rows``.

    Only the shapes are taken from how runs begin, which the loop contains: compiling
    that here as well took a fifth of the time to the first result.
    """
    lanes = jax.eval_shape(
        lambda: new_lanes(inputs, jnp.arange(num_lanes, dtype=jnp.int32))
    )

    def rows_of(lane: RunState) -> tuple[Any, ...]:
        best = inputs.policy.recommend(lane.key, lane.policy)
        ledger = inputs.environment.ledger(lane.environment)
        return ledger, best, inputs.policy.info(lane.policy)

    ledger, *rest = jax.eval_shape(_in_all(lanes, rows_of), lanes)

    def blank(leaf: Any) -> Array:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            words = jnp.zeros((*leaf.shape, 2), dtype=jnp.uint32)
            return jax.random.wrap_key_data(words, impl="threefry2x32")
        return jnp.zeros(leaf.shape, leaf.dtype)

    def room(leaf: Any, *rows: int) -> Array:
        return jnp.zeros((*rows, *leaf.shape[:-1]), leaf.dtype)

    num_checkpoints = inputs.checkpoints.shape[0]
    recommendation, info = jax.tree.map(lambda leaf: room(leaf, num_rows), rest)
    return Carry(
        lanes=jax.tree.map(blank, lanes)._replace(
            run=jnp.broadcast_to(inputs.num_runs, num_lanes)
        ),
        next_run=jnp.int32(0),
        buffers=Buffers(
            ledger=jax.tree.map(
                lambda leaf: room(leaf, num_rows, num_checkpoints), ledger
            ),
            recommendation=recommendation,
            info=info,
            events=jnp.zeros(num_rows, dtype=jnp.uint32),
            rounds=jnp.zeros(num_rows, dtype=jnp.int64),
        ),
    )


def segment_program(num_arms: int) -> Callable[..., tuple[Carry, Standing]]:
    """Return :func:`play_segment`, compiled for so many arms; donates the carry."""
    return _segment_program(options_of_loop(num_arms))


@cache
def _segment_program(
    options: tuple[tuple[str, Any], ...],
) -> Callable[..., tuple[Carry, Standing]]:
    return jax.jit(
        play_segment, donate_argnums=(1,), compiler_options=dict(options) or None
    )


def play_segment(
    inputs: LoopInputs, carry: Carry, num_events: Int[Array, ""]
) -> tuple[Carry, Standing]:
    """Let every lane take up to ``num_events`` events, and say how the lanes stand.

    Ends before that when nothing moves any more or runs have long waited for the host.
    """

    def going(loop: tuple[Array, Array, Carry]) -> Bool[Array, ""]:
        count, lost, carry = loop
        holds = jnp.sum(carry.lanes.run < inputs.num_runs, dtype=jnp.int64)
        return (
            (count < num_events)
            & (lost <= _EVENTS_PER_CALL * holds)
            & (jnp.any(_is_active(inputs, carry.lanes)) | _hands_out(inputs, carry))
        )

    def advance(loop: tuple[Array, Array, Carry]) -> tuple[Array, Array, Carry]:
        count, lost, carry = loop
        carry = _refill(inputs, carry)
        before = carry.lanes
        active = _is_active(inputs, before)
        if inputs.policy.assisted:
            waits = (before.run < inputs.num_runs) & ~active
            lost += jnp.sum(waits, dtype=jnp.int64)
        after, request = _in_all(before, partial(_event, inputs))(before)
        after = _select(active, after, before)
        request = inputs.environment.cut(
            request, jnp.where(active, jnp.int64(_ALL_ROUNDS), 0)
        )
        after, ledger = _record(inputs, before, after, request, carry.buffers.ledger)
        carry = carry._replace(
            lanes=after, buffers=carry.buffers._replace(ledger=ledger)
        )
        return count + 1, lost, carry

    nothing = jnp.zeros_like(num_events)
    carry = lax.while_loop(going, advance, (nothing, nothing, carry))[2]
    lanes = carry.lanes
    return carry, Standing(
        moves=_is_active(inputs, lanes) | _is_done(inputs, lanes),
        waits=_is_waiting(inputs, lanes),
    )


def _is_active(inputs: LoopInputs, lanes: Batch[RunState]) -> Bool[Array, " lane"]:
    """Lanes with a run to play, not waiting for the host, not out of event numbers."""
    numbered = lanes.event < inputs.event_limit
    return _plays(inputs, lanes) & numbered & ~_is_waiting(inputs, lanes)


def _is_waiting(inputs: LoopInputs, lanes: Batch[RunState]) -> Bool[Array, " lane"]:
    if not inputs.policy.assisted:
        return jnp.zeros_like(lanes.run, dtype=bool)
    waits = _in_all(lanes, inputs.policy.is_waiting)(lanes.policy)
    return _plays(inputs, lanes) & waits


def _plays(inputs: LoopInputs, lanes: Batch[RunState]) -> Bool[Array, " lane"]:
    return (lanes.run < inputs.num_runs) & (lanes.played < inputs.horizon)


def _is_done(inputs: LoopInputs, lanes: Batch[RunState]) -> Bool[Array, " lane"]:
    """Lanes with a run that is finished and still to be filed."""
    return (lanes.run < inputs.num_runs) & (lanes.played >= inputs.horizon)


def _hands_out(inputs: LoopInputs, carry: Carry) -> Bool[Array, ""]:
    """Say whether a run is to be filed, or to be begun in an idle lane."""
    idle = carry.lanes.run >= inputs.num_runs
    begins = idle & (carry.next_run < inputs.num_runs)
    return jnp.any(begins | _is_done(inputs, carry.lanes))


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
        lanes = _in_all(before, inputs.environment.record)(before.environment, part)
        values = jax.vmap(inputs.environment.ledger, in_axes=-1)(lanes)
        ledger = jax.tree.map(
            partial(write_rows, which=due, index=(before.run, column)), ledger, values
        )
        return jnp.where(due, index + 1, index), ledger

    index, ledger = lax.while_loop(
        lambda loop: jnp.any(is_due(loop[0])), write, (before.next_checkpoint, ledger)
    )
    return after._replace(next_checkpoint=index), ledger


def _refill(inputs: LoopInputs, carry: Carry) -> Carry:
    """File finished runs and hand their lanes, and those that are idle, the next ones.

    Done before an event, so that runs begin in one place of the program.
    """

    def hand_out(carry: Carry) -> Carry:
        lanes, old = carry.lanes, carry.buffers
        done = _is_done(inputs, lanes)
        free = done | (lanes.run >= inputs.num_runs)
        waiting = jnp.cumsum(free, dtype=jnp.int32)
        run = jnp.minimum(carry.next_run + waiting - 1, inputs.num_runs)
        fresh = new_lanes(inputs, run)
        # No policy is asked what it recommends in the blank state of an idle lane.
        states = _select(done, lanes.policy, fresh.policy)
        keys = _in_all(lanes, jax.random.fold_in)(lanes.key, lanes.event)
        best = _in_all(lanes, inputs.policy.recommend)(keys, states)
        info = _in_all(lanes, inputs.policy.info)(states)
        rows = (best, info, lanes.event, lanes.played)
        written = jax.tree.map(
            partial(write_rows, which=done, index=(lanes.run,)),
            (old.recommendation, old.info, old.events, old.rounds),
            jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), rows),
        )
        return Carry(
            lanes=_select(free, fresh, lanes),
            next_run=jnp.minimum(carry.next_run + waiting[-1], inputs.num_runs),
            buffers=Buffers(old.ledger, *written),
        )

    # A loop that runs at most once: unlike a conditional it copies nothing when idle.
    return lax.while_loop(partial(_hands_out, inputs), hand_out, carry)


def _select(which: Bool[Array, " lane"], one: Any, other: Any) -> Any:
    """Pick per lane between two batched pytrees."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(jnp.expand_dims(which, tuple(range(a.ndim - 1))), a, b)

    return jax.tree.map(pick, one, other)
