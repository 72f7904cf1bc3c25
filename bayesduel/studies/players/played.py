"""What follows the events of a study with a policy: one question at a time."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["PlayerState", "Player"]

_PAIRS_OF_A_VOTE = 2**11
"""Of so many pairs a copy of the policy takes as long as the next vote or question."""


@dataclass
class PlayerState:
    """The policy in the middle of a study."""

    state: Any
    round: int = 0
    """Rounds so far by its own clock, exploitation and open questions among them."""


class Player:
    """Follows the events of a study, and says what a policy asks for next.

    Everything is a function of the events: what is random about one is a function of
    its number. Subclasses know the policy. What another ``program`` asked for, as in
    files of older versions, is votes that nobody asked for: it was not in the state
    that chose them. Rules in NumPy have no program.
    """

    program: str | None = None

    def __init__(self, state: StudyState, game: PlayerState) -> None:
        self.positions = state.active
        self._place = {arm: place for place, arm in enumerate(self.positions)}
        self._epoch = state.epoch
        self._read = 0
        self._game = game
        self._before: tuple[int, PlayerState] | None = None
        # The last question, by the number of its event, if that is not yet stored.
        self._asked: tuple[int, dict[str, Any] | None] | None = None
        self._begin(self._votes_before(state))

    def is_of(self, state: StudyState) -> bool:
        """Say whether nothing has made the policy begin anew."""
        return self._epoch == state.epoch

    def kept(self) -> tuple[int, int, PlayerState]:
        """Return of which beginning it is, what it has read, and the policy then."""
        if self._asked is not None and self._before is not None:
            return self._epoch, *self._before
        return self._epoch, self._read, self._game

    def resume(self, found: tuple[int, int, PlayerState], state: StudyState) -> bool:
        """Go on from what :meth:`kept` returned; say whether it is of this study."""
        epoch, read, game = found
        if epoch != state.epoch or read > len(state.told):
            return False
        self._read, self._game = read, game
        return True

    def follow(self, state: StudyState) -> None:
        """Take in what has happened since."""
        if self._asked is not None and self._asked[0] != state.last + 1:
            self._take_back()
        self._follow(state.told[self._read :])
        self._read = len(state.told)

    def next_duel(self, state: StudyState) -> dict[str, Any] | None:
        """Return what the policy asks for at the next event, None for nothing.

        Where another event comes instead, the question is taken back. That takes a copy
        from before: of many arms it is not made for every question, and what came after
        it is gone through again.
        """
        self.follow(state)
        if self._asked is None:
            since = None if self._before is None else self._read - self._before[0]
            if since is None or since * _PAIRS_OF_A_VOTE >= len(self.positions) ** 2:
                self._before = self._read, deepcopy(self._game)
            number = state.last + 1
            self._asked = number, self._ask(number)
        return self._asked[1]

    def has_asked(self, state: StudyState) -> None:
        """Go on from what :meth:`next_duel` returned; its event comes next."""
        self._asked = None
        self._read += 1
        self.follow(state)

    def _take_back(self) -> None:
        """Go back to where nothing was asked that is not stored."""
        assert self._before is not None
        (self._read, self._game), self._before = self._before, None
        self._asked = None

    def _begin(self, told: list[PolicyEvent]) -> None:
        """Go through the votes from which the policy begins."""
        self._follow(told)

    def _follow(self, told: Sequence[PolicyEvent]) -> None:
        """Go through what it has to go through."""
        for place, each in enumerate(told):
            self._expect(len(told) - place)
            if each.duel is not None:
                self._tell(each)
            elif self.program in (None, each.program):
                self._ask(each.number)

    def _expect(self, more: int) -> None:
        """Take in how much is still to be gone through."""

    def _ask(self, number: int) -> dict[str, Any] | None:
        """Let the policy choose until it names different arms."""
        raise NotImplementedError

    def _tell(self, told: PolicyEvent) -> None:
        """Tell the policy of votes; those it did not ask for take rounds now."""
        raise NotImplementedError

    def _duel(self, before: int, chosen: Any, rounds: int = 1) -> dict[str, Any]:
        """Return champion, its last rounds, and two arms as an event has them."""
        champion, exploit, first, second = map(int, chosen)
        arms, round_ = self.positions, self._game.round
        return {
            "champion": arms[champion],
            "exploit": exploit,
            "first": arms[first],
            "second": arms[second],
            "votes": rounds,
            "round": round_,
            "idle": round_ - before - rounds,
        }

    def _places(self, told: PolicyEvent) -> tuple[int, int]:
        """Return how the policy knows the two arms."""
        return self._place[told.first], self._place[told.second]

    def _votes_before(self, state: StudyState) -> list[PolicyEvent]:
        """Return the votes from which a policy begins, pair by pair."""
        wins, arms = state.epoch_wins, self.positions
        votes = np.triu((wins + wins.T)[np.ix_(arms, arms)])
        found = []
        for place, at in zip(*np.nonzero(votes), strict=True):
            pair, number = (arms[place], arms[at]), int(votes[place, at])
            told = PolicyEvent(len(found), {}, *pair, number, int(wins[pair]))
            found.append(told)
        return found


def generator(state: StudyState, number: int) -> Generator:
    """Return what is random about an event, with 0 for the beginning."""
    return np.random.default_rng((state.settings.seed, state.epoch, number))
