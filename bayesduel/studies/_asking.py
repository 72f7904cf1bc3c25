"""The next question: the other order, anew, gold, for the floor, or by the rule."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Bool

from bayesduel.studies._rules import (
    Balanced,
    Body,
    Information,
    Nothing,
    PolicyRule,
    Rule,
    generator,
    least_of,
    places_of,
    question_about,
)
from bayesduel.studies._settings import Settings
from bayesduel.studies.judges.terms_kept import (
    aside_words,
    due_gold,
    half_of,
    limit_reached,
    num_orders,
    other_order,
    too_dear,
)
from bayesduel.studies.replay.state import StudyState

__all__ = ["MOST_OPEN", "next_question", "rule_of"]

MOST_OPEN = 1000
"""Questions of one judge without an answer."""


def rule_of(settings: Settings) -> Rule:
    """Return what asks, for pairs or for sets."""
    if settings.choose_from > 2:
        from bayesduel.studies._set_rules import SetRule

        return SetRule(settings)
    named = {"information": Information, "balanced": Balanced}
    kind = named.get(settings.policy)
    return PolicyRule(settings) if kind is None else kind()


def next_question(
    state: StudyState, rule: Rule, judge: str | None, context: Any, now: float
) -> Body | Nothing:
    """Return the body of the event of the next question, or why there is none."""
    if (aside := aside_words(state, judge)) is not None:
        return Nothing(aside)
    common = {"question": len(state.questions) + 1, "lease": state.settings.lease}
    given = {"judge": judge, "context": context}
    common |= {name: each for name, each in given.items() if each is not None}
    if (first := half_of(state, judge)) is not None:
        # It was paid for in advance, unless its first order was asked anew meanwhile.
        dear = too_dear(
            state, judge, state.names_of(first),
            times=1 + (first.answer is None), replaces=first.number,
        )  # fmt: skip
        if dear is not None:
            return Nothing(dear)
        return common | other_order(first)
    number = state.last + 1
    found = _proposal(state, rule, judge, number, state.clock_at(now))
    if isinstance(found, Nothing):
        return found
    again = found.get("replaces")
    if again is None:
        gold = due_gold(state, judge)
        if gold is not None:
            dear = too_dear(state, judge, state.golds[gold["gold"]])
            return Nothing(dear) if dear else common | gold
    arms = found["left"], found["right"], *found.get("also", ())
    names, times = tuple(state.arms[arm] for arm in arms), num_orders(state)
    dear = too_dear(state, judge, names, times=times, replaces=again)
    if dear is not None:
        return Nothing(dear)
    if context is None and state.settings.contexts:
        common["context"] = _context_of(state, arms, again, number)
    return found | places_of(_in_order(state, arms, number)) | common


def _in_order(state: StudyState, arms: tuple[int, ...], number: int) -> list[int]:
    """Return what is shown from the left to the right: of a pair either as often."""
    cards, rng = [*arms], generator(state, -number)
    if len(arms) > 2:
        rng.shuffle(cards)
        return cards
    counts = state.shown[arms], state.shown[arms[::-1]]
    swaps = counts[0] > counts[1]
    if counts[0] == counts[1]:
        swaps = rng.random() < 0.5
    return cards[::-1] if swaps else cards


def _proposal(
    state: StudyState, rule: Rule, judge: str | None, number: int, clock: float
) -> Body | Nothing:
    allowed = state.may_ask(judge)
    if not allowed.any():
        whose = "" if judge is None else f" to {judge}"
        own = "" if state.record(judge).arms is None else ", or are not theirs"
        why = f"all are blocked or were skipped{own}"
        return Nothing(f"no pair may be put{whose}: {why}")
    mine = sum(each.judge == judge for each in state.open.values())
    if (full := limit_reached(state, judge, mine)) is not None:
        return Nothing(full)
    if (again := _asked_anew(state, allowed, clock)) is not None:
        return again
    if judge is not None and mine >= MOST_OPEN:
        return Nothing(f"{judge} has {mine} open questions, and gets no more of them")
    budget = state.settings.budget
    if budget is not None and state.num_used + len(state.waiting) >= budget:
        # Whoever has nothing to do is not kept waiting for those who went away.
        if judge is not None and not mine and not state.is_spent:
            taken = _asked_anew(state, allowed, math.inf)
            if taken is not None:
                return taken
        return Nothing(f"the budget of {budget} votes is spent or out as questions")
    if (short := _below_floor(state, allowed, number)) is not None:
        return short
    if late := _newcomers(state, allowed):
        if generator(state, f"late/{number}").random() < state.shares[late[0]]:
            return _for_newcomer(state, allowed, late[0])
        others = allowed.copy()
        others[late] = others[:, late] = False
        allowed = others if others.any() else allowed
    for request in state.unissued.values():
        if request.duel and allowed[pair := (request.first, request.second)]:
            total = request.duel["votes"]
            reason = f"vote {request.issued + 1} of {total} that were asked for"
            policy = state.settings.policy
            return question_about(pair, policy, reason, request=request.number)
    return rule.propose(state, allowed, number)


def _asked_anew(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], clock: float
) -> Body | None:
    """Return the oldest question whose time is over, if it may be asked here."""
    for question in state.waiting.values():
        if clock - question.since < question.lease:
            break  # Those behind it were asked later, and have the same lease.
        may = allowed.any(axis=1)[[*question.arms]].all()
        if may and (question.is_set or allowed[question.arms]):
            reason = f"question {question.number} has no answer yet"
            own: Body = {"replaces": question.number}
            if question.request in state.requests:
                own["request"] = question.request
            return question_about(question.arms, question.rule, reason, **own)
    return None


def _context_of(
    state: StudyState, arms: tuple[int, ...], again: int | None, number: int
) -> str:
    """Return the context in which a pair was compared least often, then all were.

    Of a set all of its pairs together. A question that is asked anew keeps its own.
    """
    before = state.questions.get(again or 0)
    if before is not None and before.context is not None:
        return before.context
    mine: Counter[str] = Counter()
    for pair in combinations(sorted(arms), 2):
        mine.update(state.drawn.get(pair, {}))
    every = state.all_drawn
    counts = [(mine[each], every[each]) for each in state.settings.contexts]
    least = min(counts)
    pool = [each for each, count in zip(state.settings.contexts, counts, strict=True)
            if count == least]  # fmt: skip
    return generator(state, f"context/{number}").choice(pool)


def _newcomers(state: StudyState, allowed: Bool[np.ndarray, "K K"]) -> list[int]:
    """Return arms that came late and have too few votes, the one with fewest first."""
    if not state.shares:
        return []
    votes = state.told_pairs.sum(axis=1)
    usual = np.median([votes[arm] for arm in state.active if arm not in state.shares])
    late = [arm for arm in state.shares if allowed[arm].any() and votes[arm] < usual]
    return sorted(late, key=lambda arm: votes[arm])


def _for_newcomer(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], arm: int
) -> Body:
    """Return the pair that tells most about where an arm stands.

    Of the arms that it met least often, the one whose share of votes is nearest to its
    own; each share has two votes more, one of them won, so that it begins at 1/2.
    """
    won = state.told_wins.sum(axis=1) + 1.0
    lost = state.told_wins.sum(axis=0) + 1.0
    share = won / (won + lost)
    met = np.where(allowed[arm], state.told_pairs[arm], np.iinfo(np.int64).max)
    apart = np.where(met == met.min(), np.abs(share - share[arm]), np.inf)
    reason = f"{state.arms[arm]} came late: near it, and met least often"
    pair = arm, int(apart.argmin())
    return question_about(pair, state.settings.policy, reason)


def _below_floor(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
) -> Body | None:
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
    return question_about(pair, "floor", reason)
