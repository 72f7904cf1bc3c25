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
    "alpha_of",
    "of_pairs",
    "of_the_same",
    "said_in_turn",
]

_TIE = -1


class Judged(NamedTuple):
    """What a judge was asked: which of these arms is best, or worst."""

    arms: tuple[int, ...]
    """In ascending order: how they were shown says nothing."""

    context: str | None
    turn: int
    """0 for the best, 1 for the worst."""


class Said(NamedTuple):
    """What a judge said of it."""

    named: int
    """Place of an arm among those that were judged; a tie is a name of its own."""

    question: int


_Reading = Callable[[Question, str | None], Iterator[tuple[Judged, int]]]


def of_the_same(question: Question, answer: str | None) -> Iterator[tuple[Judged, int]]:
    """Yield what an answer names of all arms that were shown; nothing of a skip."""
    arms, context = tuple(sorted(question.arms)), _context_of(question)
    if answer == "tie":
        yield Judged(arms, context, 0), _TIE
    for turn, arm in enumerate(_arms_in(question, answer)):
        yield Judged(arms, context, turn), arms.index(arm)


def of_pairs(question: Question, answer: str | None) -> Iterator[tuple[Judged, int]]:
    """Yield what an answer implies of pairs: sets are seldom shown twice, pairs often.

    The best arm was preferred to each other one, and each of the rest to the worst.
    """
    context, named = _context_of(question), _arms_in(question, answer)
    preferred = [(arm, other) for arm in named[:1] for other in question.arms]
    preferred += [(arm, worst) for worst in named[1:] for arm in question.arms
                  if arm not in named]  # fmt: skip
    for pair in preferred:
        arms = tuple(sorted(pair))
        if len({*pair}) == 2:
            yield Judged(arms, context, 0), arms.index(pair[0])


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
    times: Counter[tuple[Judged, str]] = Counter()
    found: dict[tuple[Judged, int], dict[str, Said]] = {}
    for unit in state.questions.values():
        if unit.gold is None and unit.voter is not None:
            for judged, named in reading(unit, unit.outcome):
                turn = judged, times[judged, unit.voter]
                times[judged, unit.voter] += 1
                said = Said(named, unit.number)
                found.setdefault(turn, {})[unit.voter] = said
    return [said for said in found.values() if len(said) > 1]


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
    said = Counter(each for one in answered for each in reading(one, one.answer))
    number: Counter[Judged] = Counter()
    for (judged, _), count in said.items():
        number[judged] += count
    alike, pairs = (
        sum(math.comb(count, 2) for count in each.values()) for each in (said, number)
    )
    return alike, pairs
