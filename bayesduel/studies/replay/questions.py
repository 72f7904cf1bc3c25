"""The questions of a study: asked, open, and what judges and the policy wait for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Self

from bayesduel.studies._settings import Settings
from bayesduel.studies.stored.events import named_places

__all__ = [
    "Imported",
    "JudgeRecord",
    "PolicyEvent",
    "Question",
    "Questions",
    "VoteRow",
    "counts_of",
]

MIRRORED = {"left": "right", "right": "left", "tie": "tie"}
"""What an answer would be if the two arms were shown the other way round."""


@dataclass(slots=True)
class Question:
    """A question that was asked, and what became of it.

    Asked in both orders, the first question stands for both: it has the outcome. Of a
    gold question ``arms`` are places in ``gold``, whose first is the best and whose
    last the worst. Of a set the answer is the number of a card, from "1", or of two:
    the best and the worst.
    """

    number: int
    arms: tuple[int, ...]
    """All that is shown, from the left to the right: a pair, or a set."""

    judge: str | None
    context: Any
    rule: str
    reason: str
    asked: float
    """On the clock of the study."""

    lease: float
    request: int | None = None
    """Number of the event by which the policy asked for this vote."""

    replaces: int | None = None
    replaced: bool = False
    since: float = 0.0
    """When something happened to it last; its lease begins then."""

    gold: tuple[str, ...] | None = None
    twin: int | None = None
    """The question with the same arms in the other order."""

    twin_of: int | None = None
    """The question that came first, of which this is the other order."""

    answer: str | None = None
    first_answer: str | None = None
    """What was told first, and perhaps undone."""

    answered_by: str | None = None
    seconds: float | None = None
    """That the answer took, as far as the clock of the study knows."""

    cost: float | None = None
    """Of the answer; what is undone or withdrawn was paid."""

    outcome: str | None = None
    """The answer, or what two answers come to; "nothing" where they contradict."""

    withdrawn: bool = False
    beyond: bool = False
    """Whether the budget was spent when the answer came: it is kept, but no vote."""

    is_aside: bool = False
    """Whether the judge is set aside: the answer is kept, but no vote."""

    is_within: bool = False
    """Whether its two arms were merged into one: the answer is kept, but no vote."""

    @property
    def left(self) -> int:
        """The first arm."""
        return self.arms[0]

    @property
    def right(self) -> int:
        """The second arm."""
        return self.arms[1]

    @property
    def is_set(self) -> bool:
        """Whether more than two arms are shown."""
        return len(self.arms) > 2

    @property
    def is_right(self) -> bool:
        """Whether the answer to a gold question is what is known.

        Of a pair as of a set: it names the best one, or the best and the worst.
        """
        named = [self.arms[place] for place in named_places(str(self.answer))]
        return bool(named) and named == [0, len(self.arms) - 1][: len(named)]

    @property
    def voter(self) -> str | None:
        """Who answered, or was asked."""
        return self.answered_by if self.answered_by is not None else self.judge


@dataclass(slots=True)
class JudgeRecord:
    """What holds for a judge, and what they have done."""

    limit: int | None = None
    """Answers at most, gold questions and both orders counted."""

    arms: tuple[str, ...] | None = None
    """Of which they are asked; None for all."""

    price: float | None = None
    """Of an answer; None for what the study pays."""

    trusted: bool = False
    """Counts whatever they say of gold questions."""

    is_aside: bool = False
    asked: int = 0
    gold_asked: int = 0
    answered: int = 0
    gold_answered: int = 0
    gold_right: int = 0
    last: float = 0.0
    """When they last answered, on the clock of the study."""

    halves: dict[int, Question] = field(default_factory=dict)
    """First questions of which they are still to be asked the other order."""


class VoteRow(NamedTuple):
    """Votes between the same arms: choices of each of them; of a pair also ties."""

    arms: tuple[int, ...]
    """Both are the same once they were merged; then nothing counts."""

    counts: tuple[int, ...]
    told: int = 0
    """Ties that the policy is told as votes for the first arm."""

    key: str = ""
    """What it is known by in other studies."""

    worst: bool = False
    """Whether the worst was named, out of what the best left: no vote of its own."""

    @property
    def num_votes(self) -> int:
        """How many votes it holds."""
        return 0 if self.worst else sum(self.counts)

    def written(self, arms: Iterable[Any]) -> list[Any]:
        """Return what an event holds of it: five numbers of a pair, lists of a set.

        With other arms or their names in place of these.
        """
        if len(self.arms) < len(self.counts):
            return [*arms, *self.counts]
        return [[*arms], [*self.counts], *([True] if self.worst else [])]

    @classmethod
    def of_numbers(cls, row: list[Any]) -> Self:
        """Return what an event holds."""
        arms, counts, *worst = [row[:2], row[2:]] if len(row) == 5 else row
        return cls((*arms,), (*counts,), worst=bool(worst))


@cache
def counts_of(
    answer: str, number: int
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Return the counts of an answer: the arms', of a pair also the tie's.

    Where the worst is named, then by place what the best left, and the counts of that.
    """
    best, *worst = named_places(answer) or (2,)
    places = range(number + (number == 2))
    left = tuple((each, int(each in worst)) for each in places if each != best)
    counts = tuple(int(each == best) for each in places)
    return counts, left if worst else ()


class Imported(NamedTuple):
    """Votes that were collected elsewhere."""

    asked: int
    """Questions that had been asked before they came."""

    rows: list[VoteRow]


@dataclass(slots=True)
class PolicyEvent:
    """What the policy has to go through, in the order of what it is told.

    Votes of a pair: those of a duel that it asked for, once all of them are known; or,
    with ``duel`` empty, others. With ``duel`` None it is asked, as ``program`` did.
    """

    number: int
    """Of the event by which it asked; once it is told, of the one that resolved it."""

    duel: dict[str, Any] | None
    first: int = 0
    second: int = 0
    votes: int = 0
    wins: int = 0
    """Of the first arm."""

    program: str | None = None
    issued: int = 0
    """Votes that judges were asked for."""

    resolved: int = 0
    """Those of them of which is known what became of them."""

    @property
    def asked_for(self) -> bool:
        """Whether the policy asked for these votes."""
        return bool(self.duel)


@dataclass
class Questions:
    """What an event can refer to: arms, questions, and duels of the policy."""

    settings: Settings
    arms: list[str] = field(default_factory=list)
    is_retired: list[bool] = field(default_factory=list)
    questions: dict[int, Question] = field(default_factory=dict)
    open: dict[int, Question] = field(default_factory=dict)
    """Not answered, withdrawn or asked anew."""

    waiting: dict[int, Question] = field(default_factory=dict)
    """Those that may still become a vote, both orders as one, by their ``since``."""

    golds: list[tuple[str, ...]] = field(default_factory=list)
    """Pairs or sets of which the first is known to be best, and the last worst."""

    imports: dict[int, Imported] = field(default_factory=dict)
    """Votes from elsewhere that were not taken back, by the event that brought them."""

    merged: dict[int, int] = field(default_factory=dict)
    """Arms that became one with another arm."""

    judges: dict[str | None, JudgeRecord] = field(default_factory=dict)
    requests: dict[int, PolicyEvent] = field(default_factory=dict)
    """Of the policy, that wait for votes."""

    def record(self, judge: str | None) -> JudgeRecord:
        """Return what is known of a judge, to read it."""
        return self.judges.get(judge) or JudgeRecord()

    def unit_of(self, question: Question) -> Question:
        """Return the question that stands for both orders, itself where it is alone."""
        first = question.twin_of
        return question if first is None else self.questions[first]

    def orders_of(self, unit: Question) -> tuple[Question, ...]:
        """Return the questions that become one vote."""
        return (unit,) if unit.twin is None else (unit, self.questions[unit.twin])

    def outcome_of(self, unit: Question) -> str | None:
        """Return what one answer says, or two; None where one is still missing."""
        how = self.settings.judging.both_orders
        if how is None:
            return unit.answer
        answers = [each.answer for each in self.orders_of(unit)]
        if "skip" in answers:
            return "skip"
        if len(answers) < 2 or None in answers:
            return None
        first, second = answers
        return first if second is not None and first == MIRRORED[second] else how

    def is_vote(self, unit: Question) -> bool:
        """Say whether it counts as a vote."""
        kept = unit.is_aside or unit.beyond or unit.is_within
        return unit.outcome not in (None, "skip", "nothing") and not kept

    def rows_of(self, unit: Question) -> list[VoteRow]:
        """Return the vote of a question; the worst, where it is named, for itself."""
        counts, left = counts_of(str(unit.outcome), len(unit.arms))
        rows = [VoteRow(unit.arms, counts)]
        if left:
            arms = tuple(unit.arms[place] for place, _ in left)
            rows.append(VoteRow(arms, tuple(each for _, each in left), worst=True))
        return rows

    def is_sure(self, unit: Question) -> bool:
        """Say whether it was never withdrawn, nor answered in two ways."""
        return not unit.withdrawn and all(
            each.answer == each.first_answer for each in self.orders_of(unit)
        )

    def price_of(self, judge: str | None, names: tuple[str, ...]) -> float:
        """Return what the answer of a judge to a question about such names costs."""
        spending, own = self.settings.spending, self.record(judge).price
        arms = dict(spending.arm_prices)
        return (spending.price if own is None else own) + sum(
            arms.get(name, 0.0) for name in names
        )

    def names_of(self, question: Question) -> tuple[str, ...]:
        """Return the names of what is shown, in this order."""
        names = self.arms if question.gold is None else question.gold
        return tuple(names[arm] for arm in question.arms)
