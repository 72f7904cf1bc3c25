"""A policy over a NumPyro model, advanced by one question or answer at a time.

By the compiled calls that simulations make, with one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.program_cache import enable_program_cache
from bayesduel.simulation import asked_models
from bayesduel.simulation.runs import PROGRAMS
from bayesduel.simulation.steppers import Memory, Question, pairs_of
from bayesduel.types import Duel as _Duel
from bayesduel.types import OnHost
from bayesduel.types import Outcome as _Outcome

if TYPE_CHECKING:
    from jaxtyping import Int

    from bayesduel.policies.over_models.base import ModelRule

Duel: Any = _Duel
"""Of numbers of Python, in place of arrays."""

Outcome: Any = _Outcome

_NO_DUEL: Any = Duel(np.int32(0), np.int64(0), np.int32(0), np.int32(0), np.int64(0))
"""With the types of a duel."""

_BEGINS = 2**31
"""Above the numbers of events: those of the votes from which a policy begins."""

_RECOMMENDATION = 2**31 - 1


class ModelStepper:
    """Advances a policy in JAX."""

    program = PROGRAMS["jax"]

    def __init__(self, policy: ModelRule, num_arms: int, seeds: Any) -> None:
        enable_program_cache()
        self._num_arms, self._seeds = num_arms, seeds
        with jax.enable_x64(True):
            self._policy = jax.tree.map(asked_models.as_leaf, policy)
            self._key = jax.random.fold_in(jax.random.key(seeds.seed), seeds.epoch)

    def begin(self, wins: Int[np.ndarray, "K K"]) -> Memory:
        """Tell votes pair by pair."""
        order = np.arange(self._num_arms, dtype=np.int32)
        with jax.enable_x64(True):
            words = jax.random.key_data(self._key)[None]
            horizon = np.int64(LONGEST_HORIZON)
            given = self._policy, words, order[None], None, horizon, None
            memory = Memory(asked_models.begin(*given))
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

    def expect(self, more: int) -> None:
        """Do nothing."""

    def ask(self, memory: Memory, number: int) -> Question | None:
        """Let the policy choose."""
        before, rng = memory.round, self._seeds.generator(number)
        told: Any = None
        for step in range(PATIENCE):
            duel = self._call(memory, number, step, told)
            left = LONGEST_HORIZON - memory.round
            idle = min(int(duel.exploit_rounds), left)
            rounds = min(int(duel.explore_rounds), left - idle)
            duel = duel._replace(exploit_rounds=idle, explore_rounds=rounds)
            memory.round += idle + rounds
            if rounds > 0 and duel.first != duel.second:
                pair = int(duel.first), int(duel.second)
                since, champion = memory.round - before - rounds, int(duel.champion)
                return Question(*pair, rounds, champion, idle, since, memory.round)
            # A duel of an arm with itself would teach people nothing: by fair coins.
            told = duel, Outcome(idle, rounds, rng.binomial(rounds, 0.5))
            if memory.round >= LONGEST_HORIZON:
                break
        self._call(memory, number, PATIENCE, told, asks=False)
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
            question = None  # Of an older version, where self-duels were left out.
        memory.round += votes if question is None else 0
        duel, round_ = Duel(first, 0, first, second, votes), memory.round
        if question is not None:
            duel = duel._replace(
                champion=question.champion,
                exploit_rounds=question.exploit,
                explore_rounds=question.votes,
            )
            round_ = question.round
        outcome = Outcome(duel.exploit_rounds, votes, wins)
        self._call(memory, number, 0, (duel, outcome), asks=False, round_=round_)

    def recommend(self, memory: Memory) -> int:
        """Return the arm that the policy recommends."""
        with jax.enable_x64(True):
            words = jax.random.key_data(self._key)[None]
            event = np.array([_RECOMMENDATION], np.uint32)
            given = self._policy, words, event, memory.state
            best, _ = asked_models.conclude(*given)
            return int(best[0])

    def _call(
        self,
        memory: Memory,
        number: int,
        step: int,
        told: Any,
        *,
        asks: bool = True,
        round_: int | None = None,
    ) -> OnHost[_Duel]:
        """Tell the policy of a duel and its outcome, or of nothing, and ask it."""
        duel, outcome = told or (_NO_DUEL, Outcome(0, 0, 0))
        given = asked_models.Feedback(
            counts=np.array([told is not None]),
            asks_about=np.array([memory.round + 1 if asks else 0]),
            round=np.array([memory.round if round_ is None else round_]),
            request=Duel(*map(_typed, duel, _NO_DUEL)),
            outcome=Outcome(*(np.array([each], dtype=np.int64) for each in outcome)),
        )
        with jax.enable_x64(True):
            words = jax.random.key_data(jax.random.fold_in(self._key, number))[None]
            found, memory.state = asked_models.ask(
                self._policy, words, np.array([step], np.uint32), memory.state, given
            )
            return jax.tree.map(lambda leaf: leaf[0], jax.device_get(found))


def _typed(value: int, like: np.integer) -> np.ndarray:
    return np.array([value], dtype=like.dtype)
