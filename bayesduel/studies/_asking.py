"""The next question: asked anew, for the floor, or by the rule of the study."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Bool

from bayesduel.studies._rules import (
    Nothing,
    Proposal,
    Rule,
    generator,
    least_of,
)
from bayesduel.studies._state import StudyState

__all__ = ["MOST_OPEN", "next_question"]

MOST_OPEN = 1000
"""Questions of one judge without an answer."""


def next_question(
    state: StudyState, rule: Rule, judge: str | None, context: Any, now: float
) -> dict[str, Any] | str:
    """Return the event of the next question, or why there is none."""
    number = state.last + 1
    found = _proposal(state, rule, judge, number, state.clock_at(now))
    if isinstance(found, Nothing):
        return found.reason
    left, right = found.first, found.second
    counts = state.shown[left, right], state.shown[right, left]
    swaps = counts[0] > counts[1]
    if counts[0] == counts[1]:
        swaps = generator(state, -number).random() < 0.5
    if swaps:
        left, right = right, left
    body = {
        "question": len(state.questions) + 1,
        "left": left,
        "right": right,
        "rule": found.rule,
        "reason": found.reason,
        "lease": state.settings.lease,
        **found.body,
    }
    given = {"judge": judge, "context": context}
    return body | {name: each for name, each in given.items() if each is not None}


def _proposal(
    state: StudyState, rule: Rule, judge: str | None, number: int, clock: float
) -> Proposal | Nothing:
    allowed = state.may_ask(judge)
    if not allowed.any():
        whose = "" if judge is None else f" to {judge}"
        return Nothing(f"no pair may be put{whose}: all are blocked or were skipped")
    if (again := _asked_anew(state, allowed, clock)) is not None:
        return again
    mine = sum(each.judge == judge for each in state.open.values())
    if judge is not None and mine >= MOST_OPEN:
        return Nothing(f"{judge} has {mine} open questions, and gets no more of them")
    budget = state.settings.budget
    if budget is not None and state.num_votes + len(state.open) >= budget:
        # Whoever has nothing to do is not kept waiting for those who went away.
        if judge is not None and not mine and state.num_votes < budget:
            taken = _asked_anew(state, allowed, math.inf)
            if taken is not None:
                return taken
        return Nothing(f"the budget of {budget} votes is spent or out as questions")
    if (short := _below_floor(state, allowed, number)) is not None:
        return short
    for request in state.unissued.values():
        pair = request.first, request.second
        if allowed[pair]:
            total = request.duel["votes"]
            reason = f"vote {request.issued + 1} of {total} that were asked for"
            body = {"request": request.number}
            return Proposal(*pair, state.settings.policy, reason, body)
    return rule.propose(state, allowed, number)


def _asked_anew(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], clock: float
) -> Proposal | None:
    """Return the oldest question whose time is over, if it may be asked here."""
    for question in state.open.values():
        if clock - question.asked < question.lease:
            break  # Those behind it were asked later, and have the same lease.
        pair = question.left, question.right
        if allowed[pair]:
            reason = f"question {question.number} has no answer yet"
            body: dict[str, Any] = {"replaces": question.number}
            if question.request in state.requests:
                body["request"] = question.request
            return Proposal(*pair, question.rule, reason, body)
    return None


def _below_floor(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
) -> Proposal | None:
    """Return the pair with the fewest votes, if it has too few."""
    floor = state.settings.floor
    if not floor:
        return None
    counts = state.told_pairs
    short = allowed & (counts < floor)
    if not short.any():
        return None
    pair = least_of(counts, short, generator(state, number))
    reason = f"{int(counts[pair])} of the {floor} votes that every pair shall have"
    return Proposal(*pair, "floor", reason, {})
