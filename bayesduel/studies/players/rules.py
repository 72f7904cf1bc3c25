"""A policy written in NumPy that is asked by people, one question at a time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.errors import SimulationError
from bayesduel.policies.policy import Policy, Wins, check_rule
from bayesduel.simulation.rounds import as_duel, is_in_bulk
from bayesduel.studies.players.played import Player, PlayerState, generator
from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState

__all__ = ["RulePlayer"]


class RulePlayer(Player):
    """Asks a policy in NumPy."""

    def __init__(self, policy: Policy, state: StudyState) -> None:
        check_rule(policy)
        self._policy = policy
        self._in_bulk = is_in_bulk(policy)
        self._horizon = state.settings.budget or LONGEST_HORIZON
        self._generator = partial(generator, state)
        num_arms = len(state.active)
        began = policy.start(num_arms, self._horizon, self._generator(0))
        super().__init__(state, PlayerState(began))

    def _ask(self, game: PlayerState, number: int) -> dict[str, Any] | None:
        rng, before = self._generator(number), game.round
        for _ in range(PATIENCE):
            duel = as_duel(self._policy.choose(game.state, rng, game.round + 1))
            self._check(duel, game.round + 1)
            idle = min(int(duel.idle_rounds), self._horizon - game.round)
            game.round += idle
            if game.round >= self._horizon:
                return None
            rounds = min(int(duel.explores), self._horizon - game.round)
            game.round += rounds
            if rounds > 0 and duel.first != duel.second:
                chosen = duel.champion, idle, duel.first, duel.second
                return self._duel(game, before, chosen, rounds)
        return None

    def _begin(self, told: list[PolicyEvent]) -> None:
        """Go through votes from before; one that plans batches counts its own only."""
        if not self._in_bulk:
            self._follow(told)

    def _check(self, duel: Any, round_: int) -> None:
        for arm in (duel.champion, duel.first, duel.second):
            if not 0 <= arm < len(self.positions):
                raise SimulationError(
                    f"{self._policy.label}: choose named the arm {arm} in its round "
                    f"{round_}; arms are numbered 0 to {len(self.positions) - 1}"
                )

    def _follow(self, told: Iterable[PolicyEvent]) -> None:
        for each in told:
            if each.duel is None:
                self._ask(self._game, each.number)
            else:
                self._tell(self._game, each)

    def _tell(self, game: PlayerState, told: PolicyEvent) -> None:
        """Tell the policy of votes; those it did not ask for take rounds now."""
        first, second = self._places(told)
        duel, rng = told.duel or {}, self._generator(told.number)
        if self._in_bulk:
            if told.asked_for:
                # Also where nobody answered: then that is what came of the duel.
                won = Wins(told.wins, told.votes)
                self._policy.update(game.state, rng, duel["round"], first, second, won)
            return
        for vote in range(told.votes):
            if not told.asked_for:
                game.round += 1
            round_ = duel.get("round", game.round)
            won = vote < told.wins
            self._policy.update(game.state, rng, round_, first, second, won)
