"""A policy that asks in a study: it follows the events, and says what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from bayesduel.policies.parameter_values import with_features, with_prices
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.player import stepper_of
from bayesduel.simulation.steppers import Memory, Question, near_pairs
from bayesduel.studies import snapshots
from bayesduel.studies.events import Asked
from bayesduel.studies.rules import Rule, generator, least_of, question_about
from bayesduel.studies.state import PolicyEvent, StudyState

_PAIRS_OF_A_VOTE = 2**11
"""Pairs from which on copying the policy takes as long as the next question."""


class PolicyFollower:
    """Follows the events of a study, and says what a policy asks for next."""

    def __init__(self, policy: PolicyBase, state: StudyState) -> None:
        self.positions = state.active
        self._index_of = {arm: index for index, arm in enumerate(self.positions)}
        features = getattr(state.model, "features", None)
        self._stepper = stepper_of(
            with_prices(with_features(policy, features), state.pair_prices),
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

    def snapshot(self) -> tuple[int, int, Memory]:
        """Return of which beginning it is, what it has read, and the policy then."""
        read, memory = self._read, self.memory
        if self._unstored is not None and self._before is not None:
            read, memory = self._before
        return self._epoch, read, self._stepper.packed(memory)

    def resume(self, snapshot: tuple[int, int, Memory], state: StudyState) -> bool:
        """Go on from :meth:`snapshot`; say whether it is of this study."""
        epoch, read, memory = snapshot
        if epoch != state.epoch or read > len(state.policy_events):
            return False
        self._read, self.memory = read, self._stepper.restored(memory)
        return True

    def follow(self, state: StudyState) -> None:
        """Take in what has happened since."""
        if self._unstored is not None and self._unstored[0] != state.last + 1:
            self.take_back()
        self._follow(state.policy_events[self._read :])
        self._read = len(state.policy_events)

    def next_duel(self, state: StudyState) -> dict[str, Any] | None:
        """Return what the policy asks for at the next event, None for nothing."""
        self.follow(state)
        if self._unstored is None:
            since = None if self._before is None else self._read - self._before[0]
            if since is None or since * _PAIRS_OF_A_VOTE >= len(self.positions) ** 2:
                self._before = self._read, self._stepper.copied(self.memory)
            number = state.last + 1
            question = self._stepper.ask(self.memory, number)
            duel, program = None, self._stepper.program
            if question is not None:
                duel = question._asdict()
                for name in ("champion", "first", "second"):
                    duel[name] = self.positions[duel[name]]
                del duel["note"]
                if program is not None:
                    duel |= {"note": [*question.note], "program": program}
            self._unstored = number, duel
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

    def _follow(self, policy_events: Sequence[PolicyEvent]) -> None:
        program = self._stepper.program
        for index, event in enumerate(policy_events):
            self._stepper.expect(len(policy_events) - index)
            if event.duel is None:
                if program in (None, event.program):
                    self._stepper.ask(self.memory, event.number)
                continue
            # Those of another program, as in older files, are votes nobody asked for.
            question, duel = None, event.duel
            if duel and program in (None, duel.get("program")):
                known = {name: duel[name] for name in Question._fields if name in duel}
                for name in ("champion", "first", "second"):
                    known[name] = self._index_of[known[name]]
                known["note"] = tuple(duel.get("note", ()))
                question = Question(**known)
            pair = self._index_of[event.first], self._index_of[event.second]
            given = self.memory, event.number, question, pair
            self._stepper.tell(*given, event.wins, event.votes)


class PolicyRule(Rule):
    """A policy of the registry, whose statistics the votes are."""

    def __init__(self, policy: PolicyBase) -> None:
        self._policy = policy
        # Finding the parameters that are not defaults takes a millisecond.
        self._name = policy.label
        self._follower: PolicyFollower | None = None
        self._snapshot: Any = None
        self._recalled = 0

    def prepare(self, state: StudyState) -> None:
        """Compile, and follow what has happened."""
        known = self._follower
        followed = self._followed(state)
        if followed is not known:
            followed.next_duel(state)

    def _followed(self, state: StudyState) -> PolicyFollower:
        if self._follower is None or not self._follower.is_of(state):
            self._follower = PolicyFollower(self._policy, state)
            snapshot, self._snapshot = self._snapshot, None
            self._recalled = 0
            if snapshot is not None and self._follower.resume(snapshot, state):
                self._recalled = snapshot[1]
        self._follower.follow(state)
        return self._follower

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Asked | str:
        """Return the pair, or one as near as may be where that is not allowed."""
        duel, name = self._followed(state).next_duel(state), self._name
        if duel is None and state.requests:
            count = len(state.requests)
            return f"{name} waits for the answers to {count} open questions"
        if duel is None:
            return f"{name} has settled: it would ask no informative pair"
        first, second = duel["first"], duel["second"]
        policy = state.settings.policy
        if allowed[first, second]:
            idle, rounds = "", duel["idle"]
            if rounds:
                idle = f", after {rounds} round{'s' * (rounds > 1)} of exploitation"
            reason = f"the next informative pair of {name}{idle}"
            pair = first, second
            return question_about(pair, policy, reason, request=number, duel=duel)
        among = near_pairs(allowed, first, second)
        pair = least_of(state.policy_pairs, among, generator(state, number))
        wanted = f"{state.arms[first]} against {state.arms[second]}"
        reason = f"in place of {wanted}, which may not be asked here"
        return question_about(pair, policy, reason, duel=duel)

    def accepted(self, state: StudyState) -> None:
        """Go on from the question that was asked."""
        if self._follower is not None:
            self._follower.has_asked(state)

    def snapshot(self, state: StudyState) -> Any:
        """Return where the policy is, if it has come far since the last snapshot."""
        if self._follower is None or not self._follower.is_of(state):
            return None
        policy = self._follower.snapshot()
        is_far = policy[1] - self._recalled >= snapshots.EVERY_TOLD
        return policy if is_far else None

    def recall(self, snapshot: Any) -> None:
        """Go on from a snapshot, where that is of the same beginning."""
        self._snapshot = snapshot
