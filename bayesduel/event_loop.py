"""The compiled loop: lanes of runs that take one event after the other.

A lane whose run is finished takes the next run, so no lane waits for the slowest one.
All functions are pure; ``simulator`` calls them from the host.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Int

from bayesduel.environments.pairwise import PairwiseEnvironment
from bayesduel.lanes import map_lanes
from bayesduel.policies.base import Policy
from bayesduel.types import Duel, Outcome, RoundCount, RunKey, State

_INIT = 2**32 - 1
"""What is folded in instead of an event number when a run starts."""

NO_ROW = 2**30
"""Row of a lane that writes nothing."""


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


def new_lanes(problem: Problem, runs: Int[Array, " lane"]) -> Lane:
    """Put the runs numbered ``runs`` of the chunk at their start, one per lane."""
    return jax.vmap(partial(_new_lane, problem), out_axes=-1)(runs)


def vmap_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """Map over trailing lanes where speed does not matter."""
    return jax.vmap(function, in_axes=-1, out_axes=-1)


@partial(jax.jit, static_argnums=(1, 2))
def start(problem: Problem, num_runs: int, num_lanes: int) -> Carry:
    """Put the first runs into lanes and make room for the results of all."""
    lanes = new_lanes(problem, jnp.arange(num_lanes, dtype=jnp.int32))
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
def play_segment(
    problem: Problem, carry: Carry, num_events: Int[Array, ""], *, num_runs: int
) -> Carry:
    """Let every lane take up to ``num_events`` events."""

    def going(loop: tuple[Array, Carry]) -> Bool[Array, ""]:
        count, carry = loop
        return (count < num_events) & jnp.any(is_active(problem, carry.lanes, num_runs))

    def advance(loop: tuple[Array, Carry]) -> tuple[Array, Carry]:
        count, carry = loop
        before = carry.lanes
        active = is_active(problem, before, num_runs)
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


def is_active(problem: Problem, lanes: Lane, num_runs: int) -> Bool[Array, " lane"]:
    """Lanes with a run to play, not waiting for the host, not out of event numbers."""
    active = (lanes.run < num_runs) & (lanes.event < problem.event_limit)
    if problem.policy.assisted:
        active &= ~vmap_last(problem.policy.is_waiting)(lanes.policy)
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
        lanes = vmap_last(problem.environment.record)(before.environment, part)
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


def _refill(problem: Problem, carry: Carry, num_runs: int) -> Carry:
    """File finished runs and hand their lanes the next ones."""

    def is_done(lanes: Lane) -> Bool[Array, " lane"]:
        return (lanes.run < num_runs) & (lanes.played >= problem.horizon)

    def hand_out(carry: Carry) -> Carry:
        lanes = carry.lanes
        done = is_done(lanes)
        row = jnp.where(done, lanes.run, NO_ROW)
        keys = jax.vmap(jax.random.fold_in)(lanes.key, lanes.event)
        best = vmap_last(problem.policy.recommend)(keys, lanes.policy)
        old = carry.buffers
        buffers = old._replace(
            recommendation=old.recommendation.at[row].set(best, mode="drop"),
            events=old.events.at[row].set(lanes.event, mode="drop"),
            rounds=old.rounds.at[row].set(lanes.played, mode="drop"),
        )
        waiting = jnp.cumsum(done, dtype=jnp.int32)
        run = jnp.minimum(carry.next_run + waiting - 1, num_runs)
        fresh = new_lanes(problem, run)
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
