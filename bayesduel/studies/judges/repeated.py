"""What was judged more than once: by different judges, and by the same one."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from bayesduel.studies.judges.agreement import krippendorff_alpha
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.events import named_places

__all__ = [
    "Judged",
    "Said",
    "alike_by_judge",
    "alike_to_others",
    "alpha_of",
    "of_pairs",
    "of_the_same",
    "said_in_turn",
]

_TIE = -1


Judged = tuple[tuple[int, ...], str | None, int]
"""What a judge was asked: which of these arms is best, or worst.

The arms in ascending order, as how they were shown says nothing; the context; and 0
for the best, 1 for the worst. A plain tuple: a long study has a hundred thousand.
"""


class Said(NamedTuple):
    """What a judge said of it."""

    named: int
    """Place of an arm among those that were judged; a tie is a name of its own."""

    question: int


_Reading = Callable[[Question, str | None], list[tuple[Judged, int]]]


def of_the_same(question: Question, answer: str | None) -> list[tuple[Judged, int]]:
    """Return what an answer names of all arms that were shown; nothing of a skip."""
    arms, context = tuple(sorted(question.arms)), _context_of(question)
    if answer == "tie":
        return [((arms, context, 0), _TIE)]
    return [
        ((arms, context, turn), arms.index(arm))
        for turn, arm in enumerate(_arms_in(question, answer))
    ]


def of_pairs(question: Question, answer: str | None) -> list[tuple[Judged, int]]:
    """Return what an answer implies of pairs: sets are seldom shown twice, pairs often.

    The best arm was preferred to each other one, and each of the rest to the worst.
    """
    context, named = _context_of(question), _arms_in(question, answer)
    preferred = [(arm, other) for arm in named[:1] for other in question.arms]
    preferred += [(arm, worst) for worst in named[1:] for arm in question.arms
                  if arm not in named]  # fmt: skip
    return [
        (((min(pair), max(pair)), context, 0), int(pair[0] > pair[1]))
        for pair in preferred
        if pair[0] != pair[1]
    ]


def _context_of(question: Question) -> str | None:
    context = question.context
    return None if context is None else json.dumps(context, sort_keys=True)


def _arms_in(question: Question, answer: str | None) -> list[int]:
    """Return the arms that an answer names: the best, and then the worst."""
    if answer in (None, "tie", "skip", "nothing"):
        return []
    return [question.arms[place] for place in named_places(answer)]


def said_in_turn(
    state: StudyState, reading: _Reading = of_the_same
) -> list[dict[str, Said]]:
    """Return what judges with a name said of the same, both orders as one.

    By judge: of what was judged, for the first time, for the second time ...; where two
    or more did.
    """
    of_each: dict[Judged, list[tuple[str, int, int]]] = {}
    for unit in state.questions.values():
        if unit.gold is None and (voter := unit.voter) is not None:
            for judged, named in reading(unit, unit.outcome):
                of_each.setdefault(judged, []).append((voter, named, unit.number))
    found: list[dict[str, Said]] = []
    for answers in of_each.values():
        if len(answers) == 1:  # Of many arms most pairs are.
            continue
        turns: list[dict[str, Said]] = []
        times: Counter[str] = Counter()
        for voter, named, number in answers:
            if times[voter] == len(turns):
                turns.append({})
            turns[times[voter]][voter] = Said(named, number)
            times[voter] += 1
        found += [each for each in turns if len(each) > 1]
    return found


def alike_to_others(
    shared: Iterable[dict[str, Said]],
) -> dict[str, tuple[int, int]]:
    """Count by judge what others said of what they have judged: the same, and all."""
    alike: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for said in shared:
        names = Counter(each.named for each in said.values())
        for judge, each in said.items():
            alike[judge] += names[each.named] - 1
            number[judge] += len(said) - 1
    return {judge: (alike[judge], count) for judge, count in number.items()}


def alpha_of(shared: Iterable[dict[str, Said]], size: int) -> float:
    """Return Krippendorff's alpha of what was said of sets of so many arms, or pairs.

    Each of them counts once for each way to number its arms in turn: which arm comes
    first says nothing, and must not make one answer more usual than another. So 0 is
    what judges come to who name any arm of a set as often.
    """
    units = [[each.named for each in said.values()] for said in shared]
    return krippendorff_alpha(_renumbered(units, size))


def _renumbered(units: Iterable[Sequence[int]], size: int) -> Iterator[list[int]]:
    for unit in units:
        for first in range(size):
            yield [each if each == _TIE else (each + first) % size for each in unit]


def alike_by_judge(
    answered: Iterable[Question], reading: _Reading = of_the_same
) -> tuple[int, int]:
    """Count pairs of a judge's answers to the same that say the same, and all pairs."""
    said = [each for one in answered for each in reading(one, one.answer)]
    every = said, (judged for judged, _ in said)
    alike, pairs = (
        sum(math.comb(count, 2) for count in Counter(each).values() if count > 1)
        for each in every
    )
    return alike, pairs
