"""Which arms are asked about: by expected information, balanced, or by draws."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Num

from bayesduel.studies.events import Asked
from bayesduel.studies.fits import fit_votes
from bayesduel.studies.settings import Settings
from bayesduel.studies.state import StudyState

_INFORMATION = 8e5, 80, 1000
"""Draws for expected information, where it cannot do without: a learned scale."""


def question_about(arms: Sequence[int], rule: str, reason: str, **fields: Any) -> Asked:
    """Return a question that is yet to get its number, judge and lease."""
    return Asked(0, 0, 0, rule, reason, 0.0, **fields).about(arms)


def generator(state: StudyState, number: int | str) -> random.Random:
    """Return the source of what is random about an event."""
    return random.Random(f"{state.settings.seed}/{number}")


def least_of(
    values: Num[np.ndarray, "K K"], allowed: Bool[np.ndarray, "K K"], rng: random.Random
) -> tuple[int, int]:
    """Return the allowed pair with the smallest value; ties at random."""
    upper = np.triu(allowed, 1)
    is_real = values.dtype.kind == "f"
    largest = np.inf if is_real else np.iinfo(values.dtype).max
    least = values.min(where=upper, initial=largest)
    places = np.flatnonzero(upper & (values == least))
    first, second = divmod(int(places[rng.randrange(len(places))]), len(values))
    return first, second


class Rule:
    """Proposes questions from the state of a study."""

    def prepare(self, state: StudyState) -> None:
        """Do what takes long, before other writers have to wait."""

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Asked | str:
        """Return a question about arms that are allowed, or why there is none."""
        raise NotImplementedError

    def accepted(self, state: StudyState) -> None:
        """Take note that the last proposal has become an event."""

    def snapshot(self, state: StudyState) -> Any:
        """Return what it knows, None where it knows that soon again."""

    def recall(self, snapshot: Any) -> None:
        """Go on from what :meth:`snapshot` returned."""


class Balanced(Rule):
    """The pair with the fewest votes and open questions; ties at random."""

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Asked | str:
        """Return the pair."""
        pair = least_of(state.policy_pairs, allowed, generator(state, number))
        count = int(state.policy_pairs[pair])
        reason = f"no pair has fewer votes and open questions than {count}"
        return question_about(pair, "balanced", reason)


class Information(Rule):
    """The pair whose vote is expected to teach most, per open question about it."""

    _votes: Any = None

    def prepare(self, state: StudyState) -> None:
        """Fit the model where votes have come."""
        if self._votes == (state.epoch, state.num_votes):
            return
        # Not as xarray has it, which takes as long as the rest.
        from bayesduel.models.fit.information import information_of_votes

        # Quickly: what is compared are pairs, by the same draws.
        if state.settings.model.methods[0] == "exact":  # Draws are not used.
            posterior = fit_votes(state, 0, 4, 4)
        else:
            posterior = fit_votes(state, 0, 4, 4, resample=False)
            if not posterior.knows_information:
                posterior = fit_votes(state, *_INFORMATION, resample=False)
        table = np.zeros_like(state.wins)
        table[np.ix_(state.active, state.active)] = information_of_votes(posterior)
        self._table = np.maximum(table, table.T)
        self._votes = state.epoch, state.num_votes

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Asked | str:
        """Return the pair."""
        self.prepare(state)
        table = self._table
        pair = least_of(-table / (1 + state.out), allowed, generator(state, number))
        gain = float(table[pair])
        reason = f"the vote is expected to teach {gain:.3g} nats"
        return question_about(pair, "information", reason, information=gain)


class SetRule(Rule):
    """Sets by draws from the posterior of utilities, or balanced.

    ``d-ts``: the first card is the best arm of a draw, and each further one the best
    arm, of those that are not yet shown, of a draw of its own; of two cards that is the
    rule of D-TS without its confidence bounds. ``logit-ts``: the best arms of one draw.
    ``balanced``: those that were shown least. Ties at random.
    """

    def __init__(self, settings: Settings) -> None:
        self._name, self._size = settings.policy, settings.choose_from
        self._votes: Any = None
        self._posterior: Any = None

    def prepare(self, state: StudyState) -> None:
        """Fit the model where votes have come."""
        votes = state.epoch, state.num_votes
        if self._name != "balanced" and self._votes != votes:
            # Its draws are not used: each question takes its own.
            self._posterior = fit_votes(state, 0, 4, 4, resample=False)
            self._votes = votes

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Asked | str:
        """Return a set among the arms that may be asked about."""
        may = np.flatnonzero(allowed.any(axis=1))
        if len(may) < self._size:
            return f"sets of {self._size} arms, and {len(may)} may be shown"
        rng, size, count = generator(state, number), self._size, len(state.arms)
        if self._name == "balanced":
            shown = np.zeros(count)
            for question in state.questions.values():
                if not (question.withdrawn or question.replaced or question.gold):
                    shown[[*question.arms]] -= 1
            scores, reason = np.tile(shown, (size, 1)), "shown least"
        else:
            scores = np.full((size, count), -np.inf)
            draws = 1 if self._name == "logit-ts" else size
            self.prepare(state)
            utilities = self._posterior.sample_utilities(rng.getrandbits(32), draws)
            scores[:, state.active] = utilities
            reason = "the best arms of a draw"
            if draws > 1:
                reason = "each the best arm of a draw, of those not yet taken"
        cards: list[int] = []
        for row in scores:
            left = [arm for arm in may.tolist() if arm not in cards]
            best = max(row[arm] for arm in left)
            cards.append(rng.choice([arm for arm in left if row[arm] == best]))
        return question_about(cards, state.settings.policy, reason)
