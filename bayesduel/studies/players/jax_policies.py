"""A policy that is asked by people: compiled once, then a call per question."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Int

from bayesduel.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.ops.frozen_pytrees import as_leaf
from bayesduel.policies.base import Policy
from bayesduel.program_cache import keep_programs
from bayesduel.studies._state import StudyState, Told
from bayesduel.types import Duel, Outcome, RoundCount, RunKey, State

__all__ = ["PlayedPolicy"]

_TOLD_AT_ONCE = 256
"""Events that one call takes; the program is the same for fewer."""

_SOONER = {"xla_backend_optimization_level": 1}
"""Options of the compiler: with 40 arms the first question of D-TS+ comes after half
the time, and all others are found as fast."""

_ASK, _ANSWER, _COUNT = 0, 1, 2


class Machine(NamedTuple):
    """The policy in the middle of a study."""

    state: State
    round: RoundCount
    """Rounds so far by its own clock, exploitation and open questions among them."""

    steps: Int[Array, ""]
    """Steps of the question that is being looked for."""

    duel: Duel
    """The last one that it asked for."""

    found: Bool[Array, ""]
    """Whether that is a question."""


class Move(NamedTuple):
    """What the policy goes through next; in arrays, many of them."""

    kind: Any
    number: Any
    round: Any
    duel: Any
    votes: Any
    wins: Any


class _Program(NamedTuple):
    """What a compiled call needs beside machine and moves."""

    policy: Policy
    key: RunKey
    horizon: RoundCount


@jax.jit
def _asked(
    policy: Policy, key: RunKey, state: State, round_: RoundCount
) -> tuple[Duel, State]:
    """Let the policy choose; traced once, for its shapes and for the program."""
    return policy.choose(key, state, round_)


def _choose(program: _Program, machine: Machine, move: Move) -> Machine:
    """Let the policy choose, within its horizon."""
    key = _key_of(program, machine, move, 0)
    duel, state = _asked(program.policy, key, machine.state, machine.round + 1)
    left = program.horizon - machine.round
    exploit = jnp.minimum(duel.exploit_rounds, left)
    explore = jnp.minimum(duel.explore_rounds, left - exploit)
    return Machine(
        state=state,
        round=machine.round + exploit + explore,
        steps=machine.steps + 1,
        duel=duel._replace(exploit_rounds=exploit, explore_rounds=explore),
        found=(duel.first != duel.second) & (explore > 0),
    )


def _read(program: _Program, machine: Machine, move: Move) -> Machine:
    """Read what came of a duel; one that nobody asked for takes rounds now."""
    rounds = jnp.where(move.kind == _COUNT, move.votes, 0)
    return machine._replace(
        round=machine.round + rounds, duel=move.duel, found=jnp.bool_(False)
    )


def _learn(program: _Program, machine: Machine, move: Move) -> Machine:
    """Tell the policy what was read, or of a duel that is none.

    A duel of an arm with itself would teach nothing: it is played here, by fair coins,
    which is the law of it.
    """
    duel, asks = machine.duel, move.kind == _ASK
    key = _key_of(program, machine, move, 1)
    heads = jax.random.bernoulli(_key_of(program, machine, move, 2))
    rounds = jnp.where(asks, duel.explore_rounds, move.votes)
    half = rounds // 2 + rounds % 2 * heads.astype(rounds.dtype)
    wins = jnp.where(asks, half, move.wins)
    outcome = Outcome(duel.exploit_rounds, rounds, wins)
    round_ = jnp.where(move.kind == _ANSWER, move.round, machine.round)
    state = program.policy.update(key, machine.state, round_, duel, outcome)
    return machine._replace(state=state)


def _key_of(program: _Program, machine: Machine, move: Move, purpose: int) -> RunKey:
    key = jax.random.fold_in(program.key, move.number)
    return jax.random.fold_in(key, 3 * machine.steps + purpose)


def _play(
    program: _Program, machine: Machine, moves: Move, first: Array, end: Array
) -> tuple[Machine, Array]:
    """Go through moves up to ``end``, or until the policy waits for the host.

    A move that asks lasts until the policy names different arms.
    """
    policy = program.policy

    def goes_on(loop: tuple[Machine, Array]) -> Bool[Array, ""]:
        return (loop[1] < end) & ~policy.is_waiting(loop[0].state)

    def go(loop: tuple[Machine, Array]) -> tuple[Machine, Array]:
        machine, index = loop
        move = jax.tree.map(lambda leaf: leaf[index], moves)
        asks = move.kind == _ASK
        machine = lax.cond(
            asks, partial(_choose, program), partial(_read, program), machine, move
        )
        machine = lax.cond(
            machine.found,
            lambda machine, move: machine,
            partial(_learn, program),
            machine,
            move,
        )
        over = machine.found | (machine.steps >= PATIENCE)
        done = ~asks | over | (machine.round >= program.horizon)
        steps = jnp.where(done, 0, machine.steps)
        return machine._replace(steps=steps), index + done.astype(index.dtype)

    return lax.while_loop(goes_on, go, (machine, first))


@cache
def _compiled() -> Any:
    """Return the program; JAX keeps one per kind of policy."""
    return jax.jit(_play, compiler_options=_SOONER)


class PlayedPolicy:
    """Follows the events of a study, and says what the policy asks for next.

    Everything is a function of the events: the key of a move is that of its event.
    """

    def __init__(self, policy: Policy, state: StudyState) -> None:
        keep_programs()
        self._policy = policy
        self.positions = state.active
        settings = state.settings
        horizon = settings.budget if policy.needs_horizon else None
        self._horizon = LONGEST_HORIZON if horizon is None else horizon
        self._epoch = state.epoch
        self._read = 0
        with jax.enable_x64(True):
            key = jax.random.fold_in(jax.random.key(settings.seed), state.epoch)
            self._program = _Program(
                policy=jax.tree.map(as_leaf, policy),
                key=key,
                horizon=jnp.int64(self._horizon),
            )
            self._machine = self._first(key)
            self._note = jax.tree.map(
                lambda leaf: np.zeros(leaf.shape, leaf.dtype), self._machine.duel.note
            )
        self._go(self._beginning(state))

    def is_of(self, state: StudyState) -> bool:
        """Say whether nothing has made the policy begin anew."""
        return self._epoch == state.epoch

    def follow(self, state: StudyState) -> None:
        """Take in what has happened since."""
        self._go(self._moves(state.told[self._read :]))
        self._read = len(state.told)

    def next_duel(self, number: int) -> tuple[dict[str, Any] | None, Machine]:
        """Return what the policy asks for at an event of that number, None for nothing.

        And itself after that: to be handed to :meth:`has_asked` once the event is
        stored.
        """
        before = self._machine
        ask = self._move(_ASK, number, {})
        self._go([ask])
        after, self._machine = self._machine, before
        if not bool(after.found):
            return None, after
        duel, arms = jax.device_get(after.duel), self.positions
        rounds = int(duel.explore_rounds)
        found = {
            "champion": arms[int(duel.champion)],
            "exploit": int(duel.exploit_rounds),
            "first": arms[int(duel.first)],
            "second": arms[int(duel.second)],
            "votes": rounds,
            "round": int(after.round),
            "idle": int(after.round) - int(before.round) - rounds,
        }
        note = [leaf.item() for leaf in jax.tree.leaves(duel.note)]
        return found | ({"note": note} if note else {}), after

    def has_asked(self, machine: Machine, state: StudyState, *, told: int) -> None:
        """Go on from what :meth:`next_duel` returned; its event is among the told."""
        self._machine, self._read = machine, told + 1
        self.follow(state)

    def _first(self, key: RunKey) -> Machine:
        policy, num_arms = self._program.policy, len(self.positions)
        state = jax.tree.map(
            jnp.asarray, policy.init(key, num_arms, self._program.horizon)
        )
        duel, _ = jax.eval_shape(_asked, policy, key, state, jnp.int64(1))
        return Machine(
            state=state,
            round=jnp.int64(0),
            steps=jnp.int32(0),
            duel=jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), duel),
            found=jnp.bool_(False),
        )

    def _beginning(self, state: StudyState) -> list[tuple]:
        """Return the votes from which the policy begins, pair by pair.

        One that plans batches counts its own questions only.
        """
        moves = []
        if self._policy.explores_in_bulk:
            return moves
        wins = state.epoch_wins
        for place, first in enumerate(self.positions):
            for second in self.positions[place + 1 :]:
                won, lost = int(wins[first, second]), int(wins[second, first])
                if won + lost:
                    number = len(moves)
                    told = Told(number, {}, first, second, won + lost, won, False)
                    moves += self._moves([told])
        return moves

    def _moves(self, told: Iterable[Told]) -> list[tuple]:
        found = []
        for each in told:
            if each.duel is None:
                found.append(self._move(_ASK, each.number, {}))
            elif each.asked_for:
                found.append(self._move(_ANSWER, each.number, each.duel, each))
            elif not self._policy.explores_in_bulk:
                found.append(self._move(_COUNT, each.number, {}, each))
        return found

    def _move(
        self, kind: int, number: int, duel: dict[str, Any], told: Told | None = None
    ) -> tuple:
        """Return one row of numbers: those of a move, then those of the note."""
        places = self._places
        first, second = (0, 0) if told is None else (told.first, told.second)
        votes, wins = (0, 0) if told is None else (told.votes, told.wins)
        champion = places[duel.get("champion", first)] if told is not None else 0
        row = (
            kind, number, duel.get("round", 0),
            champion, duel.get("exploit", 0),
            places[first] if told else 0, places[second] if told else 0,
            duel.get("votes", votes), votes, wins,
        )  # fmt: skip
        size = len(jax.tree.leaves(self._note))
        return (*row, *duel.get("note", (0,) * size))

    @property
    def _places(self) -> dict[int, int]:
        return {arm: place for place, arm in enumerate(self.positions)}

    def _go(self, rows: list[tuple]) -> None:
        with jax.enable_x64(True):
            for start in range(0, len(rows), _TOLD_AT_ONCE):
                self._go_through(rows[start : start + _TOLD_AT_ONCE])

    def _go_through(self, rows: list[tuple]) -> None:
        padded = rows + rows[-1:] * (_TOLD_AT_ONCE - len(rows))
        moves = self._stacked(padded)
        machine, end = self._machine, np.int32(len(rows))
        index: Any = np.int32(0)
        while True:
            machine, index = _compiled()(self._program, machine, moves, index, end)
            if self._policy.assisted and bool(self._policy.is_waiting(machine.state)):
                state = self._policy.host_step(jax.device_get(machine.state))
                machine = machine._replace(state=jax.tree.map(jnp.asarray, state))
            elif int(index) == len(rows):
                break
        self._machine = machine

    def _stacked(self, rows: list[tuple]) -> Move:
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        (kind, number, round_, champion, exploit, first, second, explore, votes, wins,
         *notes) = columns  # fmt: skip
        leaves, tree = jax.tree.flatten(self._note)
        typed = [
            column.astype(leaf.dtype)
            for column, leaf in zip(notes, leaves, strict=True)
        ]
        return Move(
            kind=kind.astype(np.int32),
            number=number.astype(np.uint32),
            round=round_.astype(np.int64),
            duel=Duel(
                champion=jnp.asarray(champion, np.int32),
                exploit_rounds=jnp.asarray(exploit, np.int64),
                first=jnp.asarray(first, np.int32),
                second=jnp.asarray(second, np.int32),
                explore_rounds=jnp.asarray(explore, np.int64),
                note=jax.tree.unflatten(tree, typed),
            ),
            votes=votes.astype(np.int64),
            wins=wins.astype(np.int64),
        )
