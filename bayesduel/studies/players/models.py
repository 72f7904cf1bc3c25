"""A policy in JAX that is asked by people: by the calls that simulations make."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.policies.over_models.base import ModelRule
from bayesduel.program_cache import enable_program_cache
from bayesduel.simulation import asked_models
from bayesduel.simulation.runs import PROGRAMS
from bayesduel.studies.players.played import Player, PlayerState, generator
from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState
from bayesduel.types import Duel as _Duel
from bayesduel.types import OnHost
from bayesduel.types import Outcome as _Outcome

__all__ = ["ModelPlayer"]

Duel: Any = _Duel
"""Of numbers of Python, in place of arrays."""

Outcome: Any = _Outcome

_NO_DUEL: Any = Duel(np.int32(0), np.int64(0), np.int32(0), np.int32(0), np.int64(0))
"""With the types of a duel."""

_BEGINS = 2**31
"""Above the numbers of events: those of the votes from which a policy begins."""


class ModelPlayer(Player):
    """Asks a policy in JAX."""

    program = PROGRAMS["jax"]

    def __init__(self, policy: ModelRule, state: StudyState) -> None:
        enable_program_cache()
        self._generator = partial(generator, state)
        self._horizon = LONGEST_HORIZON
        order = np.arange(len(state.active), dtype=np.int32)
        with jax.enable_x64(True):
            self._policy = jax.tree.map(asked_models.as_leaf, policy)
            self._key = jax.random.fold_in(
                jax.random.key(state.settings.seed), state.epoch
            )
            words = jax.random.key_data(self._key)[None]
            began = asked_models.begin(
                self._policy, words, order[None], None, np.int64(self._horizon), None
            )
        super().__init__(state, PlayerState(began))

    def _begin(self, told: list[PolicyEvent]) -> None:
        super()._begin([replace(each, number=_BEGINS + each.number) for each in told])

    def _ask(self, number: int) -> dict[str, Any] | None:
        game, rng = self._game, self._generator(number)
        before = game.round
        told: Any = None
        for step in range(PATIENCE):
            duel = self._call(number, step, told)
            left = self._horizon - game.round
            idle = min(int(duel.exploit_rounds), left)
            rounds = min(int(duel.explore_rounds), left - idle)
            duel = duel._replace(exploit_rounds=idle, explore_rounds=rounds)
            game.round += idle + rounds
            if rounds > 0 and duel.first != duel.second:
                return self._found(before, duel)
            # A duel of an arm with itself would teach people nothing: by fair coins.
            told = duel, Outcome(idle, rounds, rng.binomial(rounds, 0.5))
            if game.round >= self._horizon:
                break
        self._call(number, PATIENCE, told, asks=False)
        return None

    def _found(self, before: int, duel: OnHost[_Duel]) -> dict[str, Any]:
        chosen = duel.champion, duel.exploit_rounds, duel.first, duel.second
        found = self._duel(before, chosen, int(duel.explore_rounds))
        return found | {"note": [], "program": self.program}

    def _tell(self, told: PolicyEvent) -> None:
        game, asked = self._game, told.duel or {}
        first, second = self._places(told)
        mine = told.asked_for and asked.get("program") == self.program
        # Older versions had notes where self-duels were left out.
        mine = mine and not asked["note"]
        game.round += 0 if mine else told.votes
        duel = Duel(first, 0, first, second, told.votes)
        if mine:
            duel = duel._replace(
                champion=self.positions.index(asked["champion"]),
                exploit_rounds=asked["exploit"],
                explore_rounds=asked["votes"],
            )
        outcome = Outcome(duel.exploit_rounds, told.votes, told.wins)
        round_ = asked["round"] if mine else game.round
        self._call(told.number, 0, (duel, outcome), asks=False, round_=round_)

    def _call(
        self,
        number: int,
        step: int,
        told: Any,
        *,
        asks: bool = True,
        round_: int | None = None,
    ) -> OnHost[_Duel]:
        """Tell the policy of a duel and its outcome, or of nothing, and ask it."""
        game = self._game
        duel, outcome = told or (_NO_DUEL, Outcome(0, 0, 0))
        given = asked_models.Feedback(
            counts=np.array([told is not None]),
            asks_about=np.array([game.round + 1 if asks else 0]),
            round=np.array([game.round if round_ is None else round_]),
            request=Duel(*map(_typed, duel, _NO_DUEL)),
            outcome=Outcome(*(np.array([each], dtype=np.int64) for each in outcome)),
        )
        with jax.enable_x64(True):
            words = jax.random.key_data(jax.random.fold_in(self._key, number))[None]
            found, game.state = asked_models.ask(
                self._policy, words, np.array([step], np.uint32), game.state, given
            )
            return jax.tree.map(lambda leaf: leaf[0], jax.device_get(found))


def _typed(value: int, like: np.integer) -> np.ndarray:
    return np.array([value], dtype=like.dtype)
