"""A policy written in NumPy that is asked by people, one question at a time."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import SimulationError
from bayesduel.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.policies.policy import Policy, check_rule
from bayesduel.simulation.rounds import as_duel
from bayesduel.studies._state import StudyState, Told

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["PlayedRule"]


@dataclass
class _Game:
    """The policy in the middle of a study."""

    state: Any
    round: int = 0
    """Rounds so far by its own clock, exploitation and open questions among them."""


class PlayedRule:
    """Follows the events of a study, and says what the policy asks for next.

    As :class:`bayesduel.studies._played_policy.PlayedPolicy` for policies of JAX. What
    is random about an event is a function of its number.
    """

    def __init__(self, policy: Policy, state: StudyState) -> None:
        check_rule(policy)
        self._policy = policy
        self.positions = state.active
        self._horizon = state.settings.budget or LONGEST_HORIZON
        self._seed = state.settings.seed
        self._epoch = state.epoch
        self._read = 0
        rng = self._generator(0)
        began = policy.start(len(self.positions), self._horizon, rng)
        self._game = _Game(began)
        self._follow(_votes_before(state, self.positions))

    def is_of(self, state: StudyState) -> bool:
        """Say whether nothing has made the policy begin anew."""
        return self._epoch == state.epoch

    def follow(self, state: StudyState) -> None:
        """Take in what has happened since."""
        self._follow(state.told[self._read :])
        self._read = len(state.told)

    def next_duel(self, number: int) -> tuple[dict[str, Any] | None, _Game]:
        """Return what the policy asks for at an event of that number, None for nothing.

        And the policy after that: to be handed to :meth:`has_asked` once the event is
        stored.
        """
        after = deepcopy(self._game)
        return self._ask(after, number), after

    def has_asked(self, game: _Game, state: StudyState, *, told: int) -> None:
        """Go on from what :meth:`next_duel` returned; its event is among the told."""
        self._game, self._read = game, told + 1
        self.follow(state)

    def _generator(self, number: int) -> Generator:
        return np.random.default_rng((self._seed, self._epoch, number))

    def _ask(self, game: _Game, number: int) -> dict[str, Any] | None:
        """Let the policy choose until it names different arms."""
        rng, before = self._generator(number), game.round
        for _ in range(PATIENCE):
            duel = as_duel(self._policy.choose(game.state, rng, game.round + 1))
            self._check(duel, game.round + 1)
            idle = min(int(duel.idle_rounds), self._horizon - game.round)
            game.round += idle
            if game.round >= self._horizon:
                return None
            if not duel.explores:
                continue
            game.round += 1
            if duel.first != duel.second:
                arms = self.positions
                return {
                    "champion": arms[int(duel.champion)],
                    "exploit": idle,
                    "first": arms[int(duel.first)],
                    "second": arms[int(duel.second)],
                    "votes": 1,
                    "round": game.round,
                    "idle": game.round - before - 1,
                }
        return None

    def _check(self, duel: Any, round_: int) -> None:
        for arm in (duel.champion, duel.first, duel.second):
            if not 0 <= arm < len(self.positions):
                raise SimulationError(
                    f"{self._policy.label}: choose named the arm {arm} in its round "
                    f"{round_}; arms are numbered 0 to {len(self.positions) - 1}"
                )

    def _follow(self, told: Iterable[Told]) -> None:
        for each in told:
            if each.duel is None:
                self._ask(self._game, each.number)
            else:
                self._tell(self._game, each)

    def _tell(self, game: _Game, told: Told) -> None:
        """Tell the policy of votes; those it did not ask for take rounds now."""
        place = {arm: number for number, arm in enumerate(self.positions)}
        first, second = place[told.first], place[told.second]
        duel, rng = told.duel or {}, self._generator(told.number)
        for vote in range(told.votes):
            if not told.asked_for:
                game.round += 1
            round_ = duel.get("round", game.round)
            won = vote < told.wins
            self._policy.update(game.state, rng, round_, first, second, won)


def _votes_before(state: StudyState, arms: list[int]) -> list[Told]:
    """Return the votes from which a policy begins, pair by pair."""
    wins, found = state.epoch_wins, []
    for place, first in enumerate(arms):
        for second in arms[place + 1 :]:
            won, lost = int(wins[first, second]), int(wins[second, first])
            if won + lost:
                told = Told(len(found), {}, first, second, won + lost, won, False)
                found.append(told)
    return found
