"""What a judge is asked by the terms of a study: gold, both orders, within limits."""

from __future__ import annotations

import random
from typing import Any

from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState

__all__ = [
    "aside_words",
    "cheapest",
    "due_gold",
    "half_of",
    "limit_reached",
    "num_orders",
    "other_order",
    "too_dear",
]

_ROUNDING = 1e-9
"""Of sums of prices, relative to the cost that is allowed."""


def aside_words(state: StudyState, judge: str | None) -> str | None:
    """Return why a judge is asked nothing more, None where that is not so."""
    record = state.record(judge)
    if not record.is_aside:
        return None
    needs = state.settings.judging.gold_threshold
    return (
        f"{judge or 'whoever gave no name'} is set aside: {record.gold_right} of "
        f"{record.gold_answered} gold questions right, below {needs:.0%}"
    )


def half_of(state: StudyState, judge: str | None) -> Question | None:
    """Return the oldest question of which a judge has yet to see the other order."""
    return next(iter(state.record(judge).halves.values()), None)


def other_order(first: Question) -> dict[str, Any]:
    """Return what the event of the other order of a question holds."""
    found = {
        "left": first.right,
        "right": first.left,
        "rule": first.rule,
        "reason": f"the other order of question {first.number}",
        "twin_of": first.number,
    }
    return found if first.context is None else found | {"context": first.context}


def limit_reached(state: StudyState, judge: str | None, mine: int) -> str | None:
    """Say that a judge gets no more questions; None while they do.

    ``mine`` are those that they have not answered.
    """
    record = state.record(judge)
    if (
        record.limit is None
        or record.answered + mine + num_orders(state) <= record.limit
    ):
        return None
    return f"{judge} has had the {record.limit} questions that they are to have"


def due_gold(state: StudyState, judge: str | None) -> dict[str, Any] | None:
    """Return a question whose answer is known, where it is the judge's turn for one.

    One comes in each run of 1 / share questions, at a random place; of all gold
    questions one that this judge had least often, in random order.
    """
    share, record = state.settings.judging.gold_share, state.record(judge)
    if not state.golds or not share:
        return None
    rng = random.Random(f"{state.settings.seed}/gold/{state.last + 1}")
    # What is due by now, and 1 where the run ends here.
    due = share * (record.asked + 1) - record.gold_asked
    if due <= 0 or (due < 1 and rng.random() >= share / (1 - due + share)):
        return None
    had = [0] * len(state.golds)
    places = {names: place for place, names in enumerate(state.golds)}
    for question in state.questions.values():
        if question.gold is not None and question.judge == judge:
            had[places[question.gold]] += 1
    least = [place for place, count in enumerate(had) if count == min(had)]
    found: dict[str, Any] = {"gold": rng.choice(least)}
    if state.is_of_sets:
        size = state.settings.choose_from
        return found | {"order": rng.sample(range(size), size)}
    return found | {"swapped": rng.random() < 0.5}


def too_dear(
    state: StudyState,
    judge: str | None,
    names: tuple[str, ...],
    *,
    times: int = 1,
    replaces: int | None = None,
) -> str | None:
    """Say that so many answers would cost more than is left; None while they do not.

    What is left are the cost without answers and questions that are out, but for the
    one that is asked anew.
    """
    cost = state.settings.spending.cost
    if cost is None:
        return None
    out = [*state.open.values()]
    out += [each for known in state.judges.values() for each in known.halves.values()]
    due = sum(
        state.price_of(each.voter, state.names_of(each))
        for each in out
        if replaces is None or state.unit_of(each).number != replaces
    )
    more = times * state.price_of(judge, names)
    left = cost - state.spent - due
    if more <= left + _ROUNDING * cost:
        return None
    return (
        f"the next question costs {more:g}, and {max(left, 0.0):g} of {cost:g} is left "
        f"({state.spent:g} paid, {due:g} for questions that are out)"
    )


def num_orders(state: StudyState) -> int:
    """Return how many questions become one vote."""
    return 1 if state.settings.judging.both_orders is None else 2


def cheapest(state: StudyState) -> float:
    """Return what the cheapest vote costs that may still be asked for."""
    spending = state.settings.spending
    own = [each.price for each in state.judges.values() if not each.is_aside]
    judge = min([spending.price, *(each for each in own if each is not None)])
    prices = dict(spending.arm_prices)
    arms = sorted(prices.get(state.arms[arm], 0.0) for arm in state.active)
    return num_orders(state) * (judge + sum(arms[: state.settings.choose_from]))
