"""Which set of arms is shown next: the best ones of draws, or those shown least."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from bayesduel.studies._fits import fit_votes
from bayesduel.studies._rules import (
    Body,
    Nothing,
    RuleOfState,
    generator,
    question_about,
)
from bayesduel.studies._settings import Settings
from bayesduel.studies.replay.state import StudyState

__all__ = ["SetRule"]


class SetRule(RuleOfState):
    """Sets by draws from the posterior of utilities, or balanced.

    ``d-ts``: the first card is the best arm of a draw, and each further one the best
    arm, of those that are not yet shown, of a draw of its own; of two cards that is the
    rule of D-TS without its confidence bounds. ``logit-ts``: the best arms of one draw.
    ``balanced``: those that were shown least. Ties at random.
    """

    def __init__(self, settings: Settings) -> None:
        self._name, self._size = settings.policy, settings.choose_from
        self._known: tuple[Any, Any] | None = None

    def prepare(self, state: StudyState) -> None:
        """Fit the model."""
        if self._name != "balanced":
            self._fitted(state)

    def _fitted(self, state: StudyState) -> Any:
        votes = state.epoch, state.num_votes
        if self._known is None or self._known[0] != votes:
            # Its draws are not used: each question takes its own.
            self._known = votes, fit_votes(state, 0, 4, 4, resample=False)
        return self._known[1]

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Body | Nothing:
        """Return a set among the arms that may be asked about."""
        may = np.flatnonzero(allowed.any(axis=1))
        if len(may) < self._size:
            return Nothing(f"sets of {self._size} arms, and {len(may)} may be shown")
        rng = generator(state, number)
        if self._name == "balanced":
            scores, reason = _seldom_shown(state), "shown least"
        else:
            scores = np.full((self._size, len(state.arms)), -np.inf)
            draws = 1 if self._name == "logit-ts" else self._size
            found = self._fitted(state).sample_utilities(rng.getrandbits(32), draws)
            scores[:, state.active] = found
            reason = "the best arms of a draw"
            if draws > 1:
                reason = "each the best arm of a draw, of those not yet taken"
        set_: list[int] = []
        for own in scores:
            left = [arm for arm in may.tolist() if arm not in set_]
            best = max(own[arm] for arm in left)
            set_.append(rng.choice([arm for arm in left if own[arm] == best]))
        return question_about(set_, state.settings.policy, reason)


def _seldom_shown(state: StudyState) -> Float[np.ndarray, "card K"]:
    """Return minus how often each arm stands in a question, for each card."""
    shown = np.zeros(len(state.arms))
    for question in state.questions.values():
        if not (question.withdrawn or question.replaced or question.gold):
            shown[[*question.arms]] -= 1
    return np.tile(shown, (state.settings.choose_from, 1))
