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
from bayesduel.types import Duel, OnHost
from bayesduel.types import Outcome as _Outcome

__all__ = ["ModelPlayer"]

Outcome: Any = _Outcome
"""Of numbers of Python, in place of arrays."""

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
            blank = asked_models.blank_request(self._policy, began)
        self._blank = jax.tree.map(lambda leaf: leaf[0], blank)
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

    def _found(self, before: int, duel: OnHost[Duel]) -> dict[str, Any]:
        chosen = duel.champion, duel.exploit_rounds, duel.first, duel.second
        found = self._duel(before, chosen, int(duel.explore_rounds))
        note = [leaf.item() for leaf in jax.tree.leaves(duel.note)]
        return found | {"note": note, "program": self.program}

    def _tell(self, told: PolicyEvent) -> None:
        game, asked = self._game, told.duel or {}
        first, second = self._places(told)
        tree = jax.tree.structure(self._blank.note)
        mine = told.asked_for and asked.get("program") == self.program
        # Older versions had notes of their own where self-duels were left out.
        mine = mine and len(asked["note"]) == tree.num_leaves
        game.round += 0 if mine else told.votes
        duel = self._blank._replace(
            champion=first, first=first, second=second, explore_rounds=told.votes
        )
        if mine:
            duel = duel._replace(
                champion=self.positions.index(asked["champion"]),
                exploit_rounds=asked["exploit"],
                explore_rounds=asked["votes"],
                note=jax.tree.unflatten(tree, asked["note"]),
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
    ) -> OnHost[Duel]:
        """Tell the policy of a duel and its outcome, or of nothing, and ask it."""
        game = self._game
        duel, outcome = told or (self._blank, Outcome(0, 0, 0))
        typed = jax.tree.map(
            lambda leaf, value: np.asarray(value, leaf.dtype)[None], self._blank, duel
        )
        given = asked_models.Feedback(
            counts=np.array([told is not None]),
            asks=np.array([asks]),
            round=np.array([game.round if round_ is None else round_]),
            request=typed,
            outcome=Outcome(*(np.array([each], dtype=np.int64) for each in outcome)),
        )
        with jax.enable_x64(True):
            words = jax.random.key_data(jax.random.fold_in(self._key, number))[None]
            found, game.state = asked_models.ask(
                self._policy, words, np.array([step], np.uint32), game.state, given
            )
            return jax.tree.map(lambda leaf: leaf[0], jax.device_get(found))
