"""A policy that follows the events of a study, and what it asks for next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.simulation.player import stepper_of
from bayesduel.simulation.steppers import Memory, Question
from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesduel.policies.policy import PolicyBase

__all__ = ["PolicyFollower"]

_PAIRS_OF_A_VOTE = 2**11
"""Of so many pairs a copy of the policy takes as long as the next vote or question."""


class PolicyFollower:
    """Follows the events of a study, and says what a policy asks for next.

    As in :class:`bayesduel.Player`, everything is a function of the events: what is
    random about one is a function of its number. Questions of another ``program``, as
    in files of older versions, are votes that nobody asked for: they were not in the
    state that chose them.
    """

    def __init__(self, policy: PolicyBase, state: StudyState) -> None:
        from bayesduel.policies.parameter_values import with_features

        self.positions = state.active
        self._place = {arm: place for place, arm in enumerate(self.positions)}
        features = getattr(state.model, "features", None)
        self._stepper = stepper_of(
            with_features(policy, features),
            len(self.positions),
            seed=state.settings.seed,
            epoch=state.epoch,
            horizon=state.settings.budget,
            features=None if features is None else np.array(features),
        )
        self._epoch = state.epoch
        self._read = 0
        wins = state.epoch_wins[np.ix_(self.positions, self.positions)]
        self.memory = self._stepper.begin(wins)
        self._before: tuple[int, Memory] | None = None
        # The last question, by the number of its event, if that is not yet stored.
        self._unstored: tuple[int, dict[str, Any] | None] | None = None

    def is_of(self, state: StudyState) -> bool:
        """Say whether nothing has made the policy begin anew."""
        return self._epoch == state.epoch

    def kept(self) -> tuple[int, int, Memory]:
        """Return of which beginning it is, what it has read, and the policy then."""
        read, memory = self._read, self.memory
        if self._unstored is not None and self._before is not None:
            read, memory = self._before
        return self._epoch, read, self._stepper.packed(memory)

    def resume(self, found: tuple[int, int, Memory], state: StudyState) -> bool:
        """Go on from what :meth:`kept` returned; say whether it is of this study."""
        epoch, read, memory = found
        if epoch != state.epoch or read > len(state.told):
            return False
        self._read, self.memory = read, self._stepper.restored(memory)
        return True

    def follow(self, state: StudyState) -> None:
        """Take in what has happened since."""
        if self._unstored is not None and self._unstored[0] != state.last + 1:
            self.take_back()
        self._follow(state.told[self._read :])
        self._read = len(state.told)

    def next_duel(self, state: StudyState) -> dict[str, Any] | None:
        """Return what the policy asks for at the next event, None for nothing.

        Where another event comes instead, the question is taken back. That takes a copy
        from before: of many arms it is not made for every question, and what came after
        it is gone through again.
        """
        self.follow(state)
        if self._unstored is None:
            since = None if self._before is None else self._read - self._before[0]
            if since is None or since * _PAIRS_OF_A_VOTE >= len(self.positions) ** 2:
                self._before = self._read, self._stepper.copied(self.memory)
            number = state.last + 1
            question = self._stepper.ask(self.memory, number)
            self._unstored = number, self._duel(question)
        return self._unstored[1]

    def has_asked(self, state: StudyState) -> None:
        """Go on from what :meth:`next_duel` returned; its event comes next."""
        self._unstored = None
        self._read += 1
        self.follow(state)

    def take_back(self) -> None:
        """Go back to where nothing was asked that is not stored."""
        if self._unstored is not None:
            assert self._before is not None
            (self._read, self.memory), self._before = self._before, None
            self._unstored = None

    def _follow(self, told: Sequence[PolicyEvent]) -> None:
        """Go through what it has to go through."""
        program = self._stepper.program
        for place, event in enumerate(told):
            self._stepper.expect(len(told) - place)
            if event.duel is not None:
                pair = self._place[event.first], self._place[event.second]
                question = self._question(event.duel)
                votes = event.wins, event.votes
                given = self.memory, event.number, question, pair
                self._stepper.tell(*given, *votes)
            elif program in (None, event.program):
                self._stepper.ask(self.memory, event.number)

    def _duel(self, question: Question | None) -> dict[str, Any] | None:
        """Return a question as an event has it."""
        if question is None:
            return None
        duel: dict[str, Any] = {
            "champion": self.positions[question.champion],
            "exploit": question.exploit,
            "first": self.positions[question.first],
            "second": self.positions[question.second],
            "votes": question.votes,
            "round": question.round,
            "idle": question.idle,
        }
        program = self._stepper.program
        if program is None:
            return duel
        return duel | {"note": [*question.note], "program": program}

    def _question(self, duel: dict[str, Any]) -> Question | None:
        """Return what an event asked for, None where this program did not ask."""
        program = self._stepper.program
        if not duel or (program is not None and duel.get("program") != program):
            return None
        return Question(
            first=self._place[duel["first"]],
            second=self._place[duel["second"]],
            votes=duel["votes"],
            champion=self._place[duel["champion"]],
            exploit=duel["exploit"],
            idle=duel["idle"],
            round=duel["round"],
            note=tuple(duel.get("note", ())),
        )
