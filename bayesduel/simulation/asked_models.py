"""What is asked of a policy in JAX: compiled calls, each of many runs at once.

A policy describes one run; ``jax.vmap`` lays runs side by side. Simulated duels are
played by several events a call, as a call to a GPU takes milliseconds. Sets and studies
with people are answered outside of JAX, and so take a call an event.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int, Shaped, UInt32

from bayesduel.policies.policy_around import Manner
from bayesduel.simulation.run_orders import INIT
from bayesduel.types import (
    Action,
    Arm,
    Batch,
    Duel,
    OnHost,
    Outcome,
    RoundCount,
    RunKey,
    State,
)

EVENTS = 32
"""Events of a run in one call of :func:`play`, at most."""

_MOST_IDLE = 2**32
"""Self-duels that only a rule's own clock counts, in one event."""


class Feedback(NamedTuple):
    """What a policy is told before it is asked again, if ``asks``.

    ``counts`` says whether there is anything: not before the first round. ``round`` is
    the last round so far, ``request`` what it had asked for, as far as it was played.
    """

    counts: Bool[Any, ""]
    asks: Bool[Any, ""]
    round: Int[Any, ""]
    request: Action
    outcome: Any


class Seat(NamedTuple):
    """A run on its way, after ``played`` rounds; ``clock`` of them, as its rule counts.

    Of the ``reports`` it has not been told the first ``waiting``: the last round of an
    event by its clock, the duel and the outcome. None where it is told at once.
    """

    state: State
    event: UInt32[Array, ""]
    played: RoundCount
    clock: RoundCount
    reports: Batch[tuple[RoundCount, Duel, Outcome]] | None
    waiting: Int[Array, ""]


type Stretches = tuple[Int[Array, "*stretch"], Int[Array, "*stretch 2"]]
"""The rounds of stretches of one pair, and the two arms of each."""


def as_leaf(value: Any) -> Shaped[Array, "..."]:
    """Give a number of a policy one dtype, whatever Python number it came as."""
    value = np.asarray(value)
    return jnp.asarray(value, dtype=np.int64 if value.dtype.kind == "i" else np.float64)


def key_of(words: UInt32[Array, " 2"], event: UInt32[Array, ""]) -> RunKey:
    """Return the key of an event of a run."""
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    return jax.random.fold_in(key, event)


def _either(which: Bool[Array, ""], one: State, other: State) -> State:
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), one, other)


@partial(jax.jit, static_argnums=5)
@partial(jax.vmap, in_axes=(None, 0, 0, 0, None, None))
def begin(
    policy: Any,
    words: UInt32[Array, " 2"],
    order: Int[Array, " K"],
    revenues: Float[Array, " K"] | None,
    horizon: RoundCount,
    subset_size: int | None,
) -> State:
    """Return the state before the first round, by the words of the key of the run.

    ``order`` has the arm at each position; see ``ModelRule.in_order``. Policies over
    sets are told the revenues of the positions and the size of a set.
    """
    key_policy = jax.random.split(key_of(words, jnp.uint32(INIT)))[1]
    num_arms = order.shape[0]
    if subset_size is None:
        return policy.in_order(order).init(key_policy, num_arms, horizon)
    return policy.init(key_policy, num_arms, subset_size, horizon, revenues)


@partial(jax.jit, donate_argnums=3)
@partial(jax.vmap, in_axes=(None, 0, 0, 0, 0))
def ask(
    policy: Any,
    words: UInt32[Array, " 2"],
    event: UInt32[Array, ""],
    state: State,
    told: Feedback,
) -> tuple[Action, State]:
    """Tell a policy what came of its last request, and let it choose the next one.

    Consumes the state.
    """
    key_update, key_choose = jax.random.split(key_of(words, event))
    new = policy.update(key_update, state, told.round, told.request, told.outcome)
    state = _either(told.counts, new, state)
    request, new = policy.choose(key_choose, state, told.round + 1)
    return request, _either(told.asks, new, state)


@jax.jit
@partial(jax.vmap, in_axes=(None, 0, 0, 0))
def conclude(
    policy: Any, words: UInt32[Array, " 2"], event: UInt32[Array, ""], state: State
) -> tuple[Arm | Bool[Array, " n"], dict[str, Shaped[Array, ""]]]:
    """Return what a policy recommends, and its numbers of a finished run."""
    # The event after the last one, whose key told the policy of that.
    best = policy.recommend(key_of(words, event + 1), state)
    return best, policy.info(state)


def seated(policy: Any, every: int, most: int, states: State) -> Batch[Seat]:
    """Return runs before their first event; at most ``most`` of each are told late."""
    runs, reports = len(jax.tree.leaves(states)[0]), None
    none = np.zeros(runs, dtype=np.int64)
    if every > 1:
        told = none, blank_request(policy, states), Outcome._make([none] * 3)
        reports = jax.tree.map(
            lambda leaf: np.zeros((runs, most, *leaf.shape[1:]), leaf.dtype), told
        )
    short = none.astype(np.uint32), none.astype(np.int32)
    return Seat._make((states, short[0], none, none, reports, short[1]))


def _play(
    policy: Any,
    manner: Manner,
    preference: Float[Array, "K K"],
    horizon: RoundCount,
    words: UInt32[Array, " 2"],
    order: Int[Array, " K"],
    seat: Seat,
) -> tuple[Seat, Stretches]:
    """Play one event of a run, or none at its horizon."""
    key_choose, key_answer, key_update = jax.random.split(key_of(words, seat.event), 3)
    asked, state = policy.choose(key_choose, seat.state, seat.clock + 1)
    left = horizon - seat.played
    if manner.every > 1:
        # A stretch ends where outcomes arrive, but for what is only counted.
        due = manner.every - seat.played % manner.every
        left = jnp.where(seat.waiting > 0, jnp.minimum(left, due), left)
    idle = jnp.minimum(asked.exploit_rounds, left if manner.self_duels else _MOST_IDLE)
    rest = left - idle if manner.self_duels else left
    rounds = jnp.minimum(asked.explore_rounds, rest)
    duel = asked._replace(exploit_rounds=idle, explore_rounds=rounds)
    # Of a self-duel a fair coin decides: the diagonal is 1/2.
    probability = preference[order[duel.first], order[duel.second]]
    won = jax.random.uniform(key_answer, dtype=jnp.float64) < probability
    clock = seat.clock + idle + rounds
    report = clock, duel, Outcome(idle, rounds, jnp.where(won, rounds, 0))
    if not manner.self_duels:
        idle = jnp.zeros_like(idle)
        rounds = jnp.where(duel.first != duel.second, rounds, 0)
    played, event = seat.played + idle + rounds, seat.event + jnp.uint32(1)
    new = seat._replace(state=state, event=event, played=played, clock=clock)
    new = _told(policy, manner.every, key_update, new, report, played > seat.played)
    arms = jnp.array([[duel.champion, duel.champion], [duel.first, duel.second]])
    return _either(seat.played < horizon, new, seat), (jnp.array([idle, rounds]), arms)


def _told(
    policy: Any,
    every: int,
    key: RunKey,
    seat: Seat,
    new: tuple[RoundCount, Duel, Outcome],
    waits: Bool[Array, ""],
) -> Seat:
    """Tell a rule what has arrived; an event without a round is told at once."""
    if seat.reports is None:
        return seat._replace(state=policy.update(key, seat.state, *new))
    reports = jax.tree.map(
        lambda rows, row: rows.at[seat.waiting].set(row), seat.reports, new
    )
    arrives = waits & (seat.played % every == 0)
    start = jnp.where(waits, 0, seat.waiting)
    stop = jnp.where(waits & ~arrives, start, seat.waiting + 1)

    def tell(number: Array, state: State) -> State:
        told = jax.tree.map(lambda rows: rows[number], reports)
        return policy.update(jax.random.fold_in(key, number - start), state, *told)

    state = jax.lax.fori_loop(start, stop, tell, seat.state)
    waiting = jnp.where(arrives, 0, seat.waiting + waits.astype(jnp.int32))
    return seat._replace(state=state, reports=reports, waiting=waiting)


@partial(jax.jit, static_argnums=1, donate_argnums=6)
def play(
    policy: Any,
    manner: Manner,
    preference: Float[Array, "K K"],
    horizon: RoundCount,
    words: UInt32[Array, "run 2"],
    orders: Int[Array, "run K"],
    seats: Batch[Seat],
    most: Int[Any, ""],
) -> tuple[Batch[Seat], Batch[Stretches]]:
    """Play duels of runs up to their horizon, but no more than ``most`` events of each.

    Consumes the seats. Returns the new ones, and what was played: axes are events, the
    two stretches of each, and runs.
    """
    play_one = partial(_play, policy, manner, preference, horizon)
    step = jax.vmap(play_one, out_axes=(0, 1))
    none = jax.tree.map(jnp.zeros_like, jax.eval_shape(step, words, orders, seats)[1])

    def event(seats: Seat, number: Array) -> tuple[Seat, Stretches]:
        return jax.lax.cond(
            (number < most) & jnp.any(seats.played < horizon),
            lambda: step(words, orders, seats),
            lambda: (seats, none),
        )

    return jax.lax.scan(event, seats, jnp.arange(EVENTS))


def blank_request(policy: Any, states: State) -> Batch[OnHost[Action]]:
    """Return a request for nothing, of each of some runs."""

    def choose(state: State) -> Action:
        return policy.choose(jax.random.key(0), state, jnp.int64(1))[0]

    shapes = jax.eval_shape(jax.vmap(choose), states)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
