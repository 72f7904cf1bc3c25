"""What was judged more than once: by different judges, and by the same one."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bayesduel.studies.judges.agreement import krippendorff_alpha
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.events import named_places

__all__ = ["Judged", "alike_by_judge", "alpha_of", "said_in_turn"]

_TIE = -1


class Judged(NamedTuple):
    """What a judge was asked: which of these arms is best, or worst."""

    arms: tuple[int, ...]
    """In ascending order: how they were shown says nothing."""

    context: str | None
    turn: int
    """0 for the best, 1 for the worst."""


def _named(question: Question, answer: str | None) -> Iterator[tuple[Judged, int]]:
    """Yield what an answer names: the place of the arm among all of them, in order.

    Nothing of a skip; a tie is a name of its own.
    """
    arms, context = tuple(sorted(question.arms)), question.context
    if context is not None:
        context = json.dumps(context, sort_keys=True)
    if answer == "tie":
        yield Judged(arms, context, 0), _TIE
    elif answer not in (None, "skip", "nothing"):
        for turn, place in enumerate(named_places(answer)):
            yield Judged(arms, context, turn), arms.index(question.arms[place])


def said_in_turn(state: StudyState) -> list[dict[str, int]]:
    """Return what judges with a name said of the same, both orders as one.

    By judge: of what was judged, for the first time, for the second time ...; where two
    or more did.
    """
    times: Counter[tuple[Judged, str]] = Counter()
    found: dict[tuple[Judged, int], dict[str, int]] = {}
    for unit in state.questions.values():
        if unit.gold is None and unit.voter is not None:
            for judged, named in _named(unit, unit.outcome):
                turn = judged, times[judged, unit.voter]
                times[judged, unit.voter] += 1
                found.setdefault(turn, {})[unit.voter] = named
    return [said for said in found.values() if len(said) > 1]


def alpha_of(shared: Iterable[dict[str, int]], size: int) -> float:
    """Return Krippendorff's alpha of what was said of sets of so many arms, or pairs.

    Each of them counts once for each way to number its arms in turn: which arm comes
    first says nothing, and must not make one answer more usual than another. So 0 is
    what judges come to who name any arm of a set as often.
    """
    units = [list(said.values()) for said in shared]
    return krippendorff_alpha(_renumbered(units, size))


def _renumbered(units: Iterable[Sequence[int]], size: int) -> Iterator[list[int]]:
    for unit in units:
        for first in range(size):
            yield [each if each == _TIE else (each + first) % size for each in unit]


def alike_by_judge(answered: Iterable[Question]) -> tuple[int, int]:
    """Count pairs of a judge's answers to the same that say the same, and all pairs."""
    said = Counter(each for one in answered for each in _named(one, one.answer))
    number: Counter[Judged] = Counter()
    for (judged, _), count in said.items():
        number[judged] += count
    alike, pairs = (
        sum(math.comb(count, 2) for count in each.values()) for each in (said, number)
    )
    return alike, pairs
