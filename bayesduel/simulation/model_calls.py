"""Calls to policies in JAX, compiled, each for many runs at once.

A policy describes one run; ``jax.vmap`` lays runs side by side. Simulated duels are
played by several events a call, as a call to a GPU takes milliseconds. Sets, duels in a
manner of their own, and questions of a player or a study take a call an event.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int, Shaped, UInt32

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.ops.program_cache import enable_program_cache
from bayesduel.simulation.runs import INIT, PROGRAMS
from bayesduel.simulation.steppers import (
    Memory,
    Question,
    Stepper,
    pairs_of,
    question_of,
)
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

EVENTS = 32  # Events of a run in one call of :func:`play`, at most


class Feedback(NamedTuple):
    """Feedback that a policy gets before it chooses for a round, or for none (0)."""

    # ``counts``: whether there is an outcome of ``request``, up to its last ``round``.

    counts: Bool[Any, ""]
    asks_about: Int[Any, ""]
    round: Int[Any, ""]
    request: Action
    outcome: Any


# A run on its way, after so many events and rounds
type Seat = tuple[State, UInt32[Array, ""], RoundCount]

# The rounds of stretches of one pair, and the two arms of each
type Stretches = tuple[Int[Array, "*stretch"], Int[Array, "*stretch 2"]]


def as_leaf(value: Any) -> Shaped[Array, "..."]:
    """Give a number of a policy one dtype, whatever Python number it came as."""
    value = np.asarray(value)
    return jnp.asarray(value, dtype=np.int64 if value.dtype.kind == "i" else np.float64)


def key_of(words: UInt32[Array, " 2"], event: UInt32[Array, ""]) -> RunKey:
    """Return the key of an event of a run."""
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    return jax.random.fold_in(key, event)


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
    """Return the state before the first round, by the words of the key of the run."""
    key_policy = jax.random.split(key_of(words, jnp.uint32(INIT)))[1]
    if subset_size is None:
        return policy.in_order(order).init(key_policy, len(order), horizon)
    return policy.init(key_policy, len(order), subset_size, horizon, revenues)


@partial(jax.jit, donate_argnums=3)
@partial(jax.vmap, in_axes=(None, 0, 0, 0, 0), axis_name="run")
def ask(
    policy: Any,
    words: UInt32[Array, " 2"],
    event: UInt32[Array, ""],
    state: State,
    feedback: Feedback,
) -> tuple[Action, State]:
    """Tell a policy what came of a request, and let it choose the next one."""
    key_update, key_choose = jax.random.split(key_of(words, event))

    def update(state: State) -> State:
        new = policy.update(
            key_update, state, feedback.round, feedback.request, feedback.outcome
        )
        return jax.tree.map(partial(jnp.where, feedback.counts), new, state)

    def choose(state: State) -> tuple[Action, State]:
        request, new = policy.choose(key_choose, state, feedback.asks_about)
        asks = feedback.asks_about > 0
        return request, jax.tree.map(partial(jnp.where, asks), new, state)

    any_counts = jax.lax.pmax(feedback.counts.astype(jnp.int32), "run") > 0
    any_asks = jax.lax.pmax(feedback.asks_about, "run") > 0
    state = jax.lax.cond(any_counts, update, lambda state: state, state)
    return jax.lax.cond(
        any_asks, choose, lambda state: (feedback.request, state), state
    )


@jax.jit
@partial(jax.vmap, in_axes=(None, 0, 0, 0))
def conclude(
    policy: Any, words: UInt32[Array, " 2"], event: UInt32[Array, ""], state: State
) -> tuple[Arm | Bool[Array, " n"], dict[str, Shaped[Array, ""]]]:
    """Return what a policy recommends, and its numbers of a finished run."""
    # The event after the last one, whose key told the policy of that.
    best = policy.recommend(key_of(words, event + 1), state)
    return best, policy.info(state)


def _play(
    policy: Any,
    preference: Float[Array, "K K"],
    horizon: RoundCount,
    words: UInt32[Array, " 2"],
    order: Int[Array, " K"],
    seat: Seat,
) -> tuple[Seat, Stretches]:
    """Play one event of a run, or none at its horizon."""
    state, event, played = seat
    key_choose, key_answer, key_update = jax.random.split(key_of(words, event), 3)
    request, state = policy.choose(key_choose, state, played + 1)
    left = horizon - played
    idle = jnp.minimum(request.exploit_rounds, left)
    rounds = jnp.minimum(request.explore_rounds, left - idle)
    duel = request._replace(exploit_rounds=idle, explore_rounds=rounds)
    # A fair coin decides a self-duel: the diagonal is 1/2.
    probability = preference[order[duel.first], order[duel.second]]
    won = jax.random.uniform(key_answer, dtype=jnp.float64) < probability
    outcome = Outcome(idle, rounds, jnp.where(won, rounds, 0))
    after = played + idle + rounds
    state = policy.update(key_update, state, after, duel, outcome)
    arms = jnp.array([[duel.champion, duel.champion], [duel.first, duel.second]])
    new = state, event + jnp.uint32(1), after
    new = jax.tree.map(partial(jnp.where, left > 0), new, seat)
    return new, (jnp.array([idle, rounds]), arms)


@partial(jax.jit, donate_argnums=5)
def play(
    policy: Any,
    words: UInt32[Array, "run 2"],
    orders: Int[Array, "run K"],
    preference: Float[Array, "K K"],
    horizon: RoundCount,
    seats: Batch[Seat],
    most: Int[Any, ""],
) -> tuple[Batch[Seat], Batch[Stretches]]:
    """Play duels of runs up to their horizon, at most ``most`` events of each."""
    # Consumes the seats. Axes of stretches: events, two stretches, runs.
    play_one = partial(_play, policy, preference, horizon)
    step = jax.vmap(play_one, out_axes=(0, 1))
    none = jax.tree.map(jnp.zeros_like, jax.eval_shape(step, words, orders, seats)[1])

    def event(seats: Seat, number: Array) -> tuple[Seat, Stretches]:
        return jax.lax.cond(
            (number < most) & jnp.any(seats[2] < horizon),
            lambda: step(words, orders, seats),
            lambda: (seats, none),
        )

    return jax.lax.scan(event, seats, jnp.arange(EVENTS))


_DUEL: Any = Duel
_OUTCOME: Any = Outcome  # Tuples of Python numbers in place of arrays

# With the types of a duel
_NO_DUEL: Any = _DUEL(np.int32(0), np.int64(0), np.int32(0), np.int32(0), np.int64(0))

# Above the numbers of events: those of the votes from which a policy begins
_BEGINS = 2**31
_RECOMMENDATION = 2**31 - 1


class ModelStepper(Stepper):
    """Advances a policy in JAX."""

    program = PROGRAMS["jax"]

    def __init__(self, policy: Any, num_arms: int, seed: int, epoch: int) -> None:
        super().__init__(num_arms, seed, epoch)
        enable_program_cache()
        with jax.enable_x64(True):
            self._policy = jax.tree.map(as_leaf, policy)
            self._key = jax.random.fold_in(jax.random.key(seed), epoch)

    def begin(self, wins: Int[np.ndarray, "K K"]) -> Memory:
        """Tell votes pair by pair."""
        order = np.arange(self._num_arms, dtype=np.int32)
        with jax.enable_x64(True):
            words = jax.random.key_data(self._key)[None]
            horizon = np.int64(LONGEST_HORIZON)
            given = self._policy, words, order[None], None, horizon, None
            memory = Memory(begin(*given))
        for number, (pair, won, votes) in enumerate(pairs_of(wins)):
            self.tell(memory, _BEGINS + number, None, pair, won, votes)
        return memory

    def copied(self, memory: Memory) -> Memory:
        """Copy the state, whose arrays the next call consumes."""
        with jax.enable_x64(True):
            return Memory(jax.tree.map(jnp.copy, memory.state), memory.round)

    def packed(self, memory: Memory) -> Memory:
        """Return it with arrays of NumPy, as those of JAX lose bits when unpickled."""
        return Memory(jax.device_get(memory.state), memory.round)

    def restored(self, memory: Memory) -> Memory:
        """Return it with arrays of JAX."""
        with jax.enable_x64(True):
            return Memory(jax.tree.map(jnp.asarray, memory.state), memory.round)

    def ask(self, memory: Memory, number: int) -> Question | None:
        """Let the policy choose."""
        before, rng = memory.round, self._generator(number)
        feedback: Any = None
        for step in range(PATIENCE):
            duel = self._call(memory, number, step, feedback)
            left = LONGEST_HORIZON - memory.round
            idle = min(int(duel.exploit_rounds), left)
            rounds = min(int(duel.explore_rounds), left - idle)
            duel = duel._replace(exploit_rounds=idle, explore_rounds=rounds)
            memory.round += idle + rounds
            if rounds > 0 and duel.first != duel.second:
                return question_of(duel, rounds, idle, before, memory.round)
            # A duel of an arm with itself would teach people nothing: by fair coins.
            feedback = duel, _OUTCOME(idle, rounds, rng.binomial(rounds, 0.5))
            if memory.round >= LONGEST_HORIZON:
                break
        self._call(memory, number, PATIENCE, feedback, asks=False)
        return None

    def tell(
        self,
        memory: Memory,
        number: int,
        question: Question | None,
        pair: tuple[int, int],
        wins: int,
        votes: int,
    ) -> None:
        """Tell the policy of votes, all at once."""
        first, second = pair
        if question is not None and question.note:
            question = None  # From an older version, which left out self-duels.
        memory.round += votes if question is None else 0
        duel, round_ = _DUEL(first, 0, first, second, votes), memory.round
        if question is not None:
            duel = duel._replace(
                champion=question.champion,
                exploit_rounds=question.exploit,
                explore_rounds=question.votes,
            )
            round_ = question.round
        outcome = _OUTCOME(duel.exploit_rounds, votes, wins)
        self._call(memory, number, 0, (duel, outcome), asks=False, round_=round_)

    def recommend(self, memory: Memory) -> int:
        """Return the arm that the policy recommends."""
        with jax.enable_x64(True):
            words = jax.random.key_data(self._key)[None]
            event = np.array([_RECOMMENDATION], np.uint32)
            given = self._policy, words, event, memory.state
            best, _ = conclude(*given)
            return int(best[0])

    def _call(
        self,
        memory: Memory,
        number: int,
        step: int,
        feedback: Any,
        *,
        asks: bool = True,
        round_: int | None = None,
    ) -> OnHost[Duel]:
        """Tell the policy of a duel and its outcome, or of nothing, and ask it."""
        duel, outcome = feedback or (_NO_DUEL, _OUTCOME(0, 0, 0))
        given = Feedback(
            counts=np.array([feedback is not None]),
            asks_about=np.array([memory.round + 1 if asks else 0]),
            round=np.array([memory.round if round_ is None else round_]),
            request=_DUEL(*map(_typed, duel, _NO_DUEL)),
            outcome=_OUTCOME(*(np.array([count], dtype=np.int64) for count in outcome)),
        )
        with jax.enable_x64(True):
            words = jax.random.key_data(jax.random.fold_in(self._key, number))[None]
            duels, memory.state = ask(
                self._policy, words, np.array([step], np.uint32), memory.state, given
            )
            return jax.tree.map(lambda leaf: leaf[0], jax.device_get(duels))


def _typed(value: int, like: np.integer) -> np.ndarray:
    return np.array([value], dtype=like.dtype)
