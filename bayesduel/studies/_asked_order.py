"""Votes in the order in which they were asked for, as the anytime rule counts them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from bayesduel.stopping.rules import AnytimeEvidence, StoppingState
from bayesduel.studies.replay.questions import MIRRORED, Imported, VoteRow
from bayesduel.studies.replay.state import StudyState

__all__ = ["InOrder", "evidence_in_order"]


class InOrder(NamedTuple):
    """What the anytime rule says, and of what."""

    found: StoppingState
    held_back: int
    """Votes that wait for an earlier question, and do not count yet."""

    waits_for: int
    """Number of that question, 0 where there is none."""

    against: int
    """Questions that count against whichever arm would be named."""

    against_skips: StoppingState | None
    """What it would say if skipped questions counted against, too; None without."""


class _Counts(NamedTuple):
    wins: Float64[np.ndarray, "K K"]
    unknown: Float64[np.ndarray, "K K"]

    def copied(self) -> _Counts:
        return _Counts(self.wins.copy(), self.unknown.copy())


def evidence_in_order(state: StudyState, rule: AnytimeEvidence) -> InOrder:
    """Return what a rule says of the votes in the order of asking.

    A question without an answer holds back what was asked or imported after it, until
    it is asked anew; or counts against, with all others that are out, where that leaves
    more evidence. Against count also questions that were asked anew, withdrawn, or
    answered differently after the first answer was undone. Ties and skips are no votes.
    """
    before, at_end, waits_for = _counted(state, skips=False)
    found, held, counts = _said(state, rule, before), 0, before
    if waits_for:
        held = int(at_end.wins.sum() - before.wins.sum())
        other = _said(state, rule, at_end)
        if other.evidence > found.evidence:
            found, held, counts = other, 0, at_end
    strict = None
    if state.num_skipped:
        cautious, to_end, _ = _counted(state, skips=True)
        sides = [_said(state, rule, cautious)]
        if waits_for:
            sides.append(_said(state, rule, to_end))
        strict = max(sides, key=lambda each: each.evidence)
    active = np.ix_(state.active, state.active)
    against = int(counts.unknown[active].sum()) // 2
    return InOrder(found, held, waits_for if held else 0, against, strict)


def _said(state: StudyState, rule: AnytimeEvidence, counts: _Counts) -> StoppingState:
    both = np.ix_(state.active, state.active)
    return rule.evaluate(counts.wins[both], counts.unknown[both])


def _counted(state: StudyState, *, skips: bool) -> tuple[_Counts, _Counts, int]:
    """Return the counts before the first open question, all of them, and its number."""
    size = (len(state.arms), len(state.arms))
    counts, before, waits_for = _Counts(np.zeros(size), np.zeros(size)), None, 0
    imports = iter([*state.imports.values(), Imported(len(state.questions), [])])
    place, rows = next(imports)
    for number, question in state.questions.items():
        while place < number:
            _add(counts, rows)
            place, rows = next(imports)
        if before is None and number in state.waiting:
            before, waits_for = counts.copied(), number
        # Both orders are one vote; who is set aside is so by gold questions alone.
        is_one = question.twin_of or question.gold or question.is_within
        if is_one or state.record(question.voter).is_aside:
            continue
        answer, sure = question.outcome, state.is_sure(question)
        counts_against = answer is None or question.beyond or not sure
        if counts_against or (skips and answer == "skip"):
            counts.unknown[question.left, question.right] += 1
            counts.unknown[question.right, question.left] += 1
        elif answer in MIRRORED:
            _add(counts, state.rows_of(question))
    for _, left in ((place, rows), *imports):
        _add(counts, left)
    return counts if before is None else before, counts, waits_for


def _add(counts: _Counts, rows: list[VoteRow]) -> None:
    for row in rows:
        first, second = row.arms
        if first != second:  # They were not merged.
            counts.wins[first, second] += row.counts[0]
            counts.wins[second, first] += row.counts[1]
