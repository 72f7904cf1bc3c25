"""The state of a study: a pure replay of its events, one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float64, Int64

from bayesduel.models.base import PreferenceModel
from bayesduel.simulation.steppers import coin
from bayesduel.studies import events
from bayesduel.studies.events import Event, VoteRow, broken, named_places, short
from bayesduel.studies.settings import Settings
from theory import pair_prices

MIRRORED = {"left": "right", "right": "left", "tie": "tie"}
"""The same answer with the two arms shown the other way round."""

_MISFITS = (LookupError, TypeError, ValueError, OverflowError)
"""Errors of a first event that no version has written."""


@dataclass(slots=True)
class Question:
    """A question that was asked, and its answer; of both orders the first has it."""

    number: int
    arms: tuple[int, ...]  # From the left to the right: a pair, or a set.
    judge: str | None
    context: Any
    rule: str
    reason: str
    asked_at: float
    lease: float
    request: int | None = None  # Event by which the policy asked for this vote.
    replaces: int | None = None
    replaced: bool = False
    since: float = 0.0  # Something happened to it then; its lease begins.
    gold: tuple[str, ...] | None = None
    twin: int | None = None  # The question with the same arms in the other order.
    twin_of: int | None = None  # The first question, if this is the other order.
    answer: str | None = None
    first_answer: str | None = None  # Perhaps undone.
    answered_by: str | None = None
    seconds: float | None = None  # That the answer took.
    cost: float | None = None  # Of the answer; paid even if undone.
    outcome: str | None = None  # Of one or both answers; "nothing" if they contradict.
    withdrawn: bool = False
    beyond: bool = False  # The budget was spent: its answer is no vote. Nor is it
    is_aside: bool = False  # where the judge is set aside,
    is_within: bool = False  # or its two arms were merged into one.

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
        """Whether the answer names the best of a gold question, or best and worst."""
        named = [self.arms[index] for index in named_places(str(self.answer))]
        return bool(named) and named == [0, len(self.arms) - 1][: len(named)]

    @property
    def voter(self) -> str | None:
        """Who answered, or was asked."""
        return self.answered_by if self.answered_by is not None else self.judge


@dataclass(slots=True)
class JudgeRecord:
    """The terms of a judge, and what they have done."""

    limit: int | None = None  # Answers at most, gold and both orders counted.
    arms: tuple[str, ...] | None = None  # None for all.
    price: float | None = None  # None for what the study pays.
    trusted: bool = False  # Whatever they say of gold questions.
    is_aside: bool = False
    num_asked: int = 0
    num_gold_asked: int = 0
    answered: int = 0
    gold_answered: int = 0
    gold_right: int = 0
    last: float = 0.0  # When they last answered.
    halves: dict[int, Question] = field(default_factory=dict)
    """First questions of which they are still to be asked the other order."""


class VotesFromElsewhere(NamedTuple):
    """Votes that were imported when so many questions had been asked."""

    num_asked: int
    rows: list[VoteRow]


@dataclass(slots=True)
class PolicyEvent:
    """A vote, or a question where ``duel`` is None, in the order that a policy sees."""

    number: int  # Number of the event that asked, later of the one that resolved it.
    duel: dict[str, Any] | None
    first: int = 0
    second: int = 0
    votes: int = 0
    wins: int = 0  # Wins of the first arm.
    program: str | None = None
    issued: int = 0  # Votes that judges were asked for.
    resolved: int = 0  # Those of which is known what became of them.


@cache
def _counts_of(
    answer: str, number: int
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    # The counts of an answer: the arms', of a pair also the tie's. Where the worst is
    # named, then by place what the best left, and the counts of that.
    best, *worst = named_places(answer) or (2,)
    places = range(number + (number == 2))
    left = tuple((card, int(card in worst)) for card in places if card != best)
    counts = tuple(int(card == best) for card in places)
    return counts, left if worst else ()


class StudyState:
    """All that is known after so many events, beginning without a vote.

    Attributes
    ----------
    questions : dict
        By number. Of these ``open`` have no answer and were not withdrawn or asked
        anew; ``waiting`` may still become a vote, both orders as one, by ``since``.
    wins, ties, out, shown : array
        ``wins[i, j]`` counts votes for i against j; ``ties`` and ``out`` (questions
        without an answer) are symmetric; ``shown[i, j]`` counts questions with i on the
        left.
    policy_wins, policy_pairs, policy_events : array, array, list
        What policies see: each tie is a vote for either arm by a coin; votes of each
        pair, with those that are out; and the votes in their order.
    requests, unissued : dict
        Of the policy, that wait for votes; and of which not every vote was asked for.
    epoch, epoch_wins : int, array
        How often the policy began anew from counts alone, and from which.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.last, self.digest = 0, ""
        # Seconds that have passed; a clock that is put back adds none.
        self.time = self.clock = 0.0
        self.arms = list(settings.arms)
        self.is_retired = [False] * len(self.arms)
        self.merged: dict[int, int] = {}  # Into which other arm.
        self.arm_prices = dict(settings.spending.arm_prices)
        # Shares of the questions that are about an arm that was added later.
        self.shares: dict[int, float] = {}
        self.questions: dict[int, Question] = {}
        self.open: dict[int, Question] = {}
        self.waiting: dict[int, Question] = {}
        self.golds: list[tuple[str, ...]] = []
        self.imports: dict[int, VotesFromElsewhere] = {}
        self.judges: defaultdict[str | None, JudgeRecord] = defaultdict(JudgeRecord)
        self.skipped: dict[str | None, set[tuple[int, int]]] = {}
        # Questions in each context of the pool, by pair, the lower arm first.
        self.drawn: dict[tuple[int, int], Counter[str]] = {}
        self.all_drawn: Counter[str] = Counter()
        self.requests: dict[int, PolicyEvent] = {}
        self.unissued: dict[int, PolicyEvent] = {}
        self.policy_events: list[PolicyEvent] = []
        self.epoch = self.idle_rounds = self.num_votes = 0
        self.num_nothing = 0  # Contradictions that are no votes.
        self.num_within = 0  # Answers about two arms that were merged into one.
        self.num_skipped = self.num_beyond = self.num_aside = 0
        # How often votes of a judge were set aside, or counted again.
        self.num_reselected = 0
        self.num_imported = self.spent = 0.0
        self.audit: dict[str, Any] | None = None
        count = len(self.arms)
        self.wins: Float64[np.ndarray, "K K"] = np.zeros((count, count))
        self.ties = self.wins.copy()
        self.out: Int64[np.ndarray, "K K"] = np.zeros((count, count), dtype=np.int64)
        self.shown = self.out.copy()
        self.policy_wins = self.out.copy()
        self.epoch_wins = self.out.copy()
        self.policy_pairs = self.out.copy()
        self.blocked = np.eye(count, dtype=bool)
        for names in settings.blocked:
            pair = self.arms.index(names[0]), self.arms.index(names[1])
            self.blocked[pair] = self.blocked[pair[::-1]] = True

    def __getstate__(self) -> dict[str, Any]:
        from scipy.sparse import coo_array

        # Tables of many arms are large, and nearly all entries are zero.
        return {
            name: coo_array(value) if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }

    def __setstate__(self, known: dict[str, Any]) -> None:
        from scipy.sparse import coo_array

        for name, value in known.items():
            is_table = isinstance(value, coo_array)
            setattr(self, name, value.toarray() if is_table else value)

    @classmethod
    def begin(cls, created: Event) -> Self:
        """Return the state after the first event."""
        if created.kind != "created":
            raise broken(1, f"its kind is {created.kind!r}, not 'created'")
        created = created.shown()
        try:
            state = cls(Settings.from_body(created.body))
        except _MISFITS as error:
            raise broken(1, f"no study is made of it ({error})") from error
        state.last, state.time = created.number, created.time
        state.digest = created.digest
        return state

    def apply(self, event: Event) -> None:
        """Take in the next event; after an error the state must not be used."""
        if event.number != self.last + 1:
            raise events.missing(self.last + 1)
        event = event.shown()
        record = events.record_of(event)
        # The number first: what follows may be interrupted, and is done anew then.
        self.last, self.digest = event.number, event.digest
        self.clock, self.time = self.clock_at(event.time), event.time
        # The handler of a kind has its name.
        what = getattr(self, f"_on_{event.kind.replace(' ', '_')}")(record)
        if what is not None:
            raise broken(event.number, what)

    # Arms, prices, budget and time

    @property
    def model(self) -> PreferenceModel:
        """The model of the study, of arms that are not retired."""
        model = self.settings.model
        table = getattr(model, "features", None)
        if table is None:
            return model
        return replace(model, features=[table[arm] for arm in self.active])  # pyright: ignore

    @property
    def active(self) -> list[int]:
        """Arms that are not retired."""
        return [arm for arm, gone in enumerate(self.is_retired) if not gone]

    @property
    def pair_prices(self) -> Float64[np.ndarray, "K K"]:
        """Prices of pairs of arms that are not retired, if the study pays the judge."""
        arms = [self.arm_prices.get(name, 0.0) for name in self.active_names]
        return pair_prices(arms, self.settings.spending.price)

    @property
    def active_names(self) -> tuple[str, ...]:
        """Names of the arms that are not retired."""
        return tuple(self.arms[arm] for arm in self.active)

    @property
    def is_of_sets(self) -> bool:
        """Whether judges choose out of more than two arms."""
        return self.settings.choose_from > 2

    @property
    def num_all(self) -> int:
        """Votes that count, imported ones included."""
        return int(self.num_votes + self.num_imported)

    @property
    def num_used(self) -> int:
        """The number of votes that count towards the budget."""
        return self.num_votes + self.num_nothing + self.num_within

    @property
    def is_spent(self) -> bool:
        """Whether there is a budget of votes, and all of them came."""
        budget = self.settings.budget
        return budget is not None and self.num_used >= budget

    def clock_at(self, time: float) -> float:
        """Return what the clock of the study shows at a time of day."""
        return self.clock + max(0.0, time - self.time)

    def record(self, judge: str | None) -> JudgeRecord:
        """Return what is known of a judge, to read it."""
        return self.judges.get(judge) or JudgeRecord()

    def may_ask(self, judge: str | None) -> Bool[np.ndarray, "K K"]:
        """Mark the pairs that may be put to a judge."""
        gone = np.array(self.is_retired)
        arms = self.record(judge).arms
        if arms is not None:
            gone |= ~np.isin(self.arms, arms)
        allowed = ~self.blocked
        allowed[gone] = allowed[:, gone] = False
        for pair in self.skipped.get(judge, ()):
            allowed[pair] = allowed[pair[::-1]] = False
        return allowed

    def unit_of(self, question: Question) -> Question:
        """Return the question that stands for both orders, itself where it is alone."""
        first = question.twin_of
        return question if first is None else self.questions[first]

    def orders_of(self, unit: Question) -> tuple[Question, ...]:
        """Return the questions that become one vote."""
        return (unit,) if unit.twin is None else (unit, self.questions[unit.twin])

    def is_vote(self, unit: Question) -> bool:
        """Say whether it counts as a vote."""
        stays_out = unit.is_aside or unit.beyond or unit.is_within
        return unit.outcome not in (None, "skip", "nothing") and not stays_out

    def rows_of(self, unit: Question) -> list[VoteRow]:
        """Return the vote of a question; the worst, where it is named, for itself."""
        counts, left = _counts_of(str(unit.outcome), len(unit.arms))
        rows = [VoteRow(unit.arms, counts)]
        if left:
            arms = tuple(unit.arms[card] for card, _ in left)
            rows.append(VoteRow(arms, tuple(count for _, count in left), worst=True))
        return rows

    def names_of(self, question: Question) -> tuple[str, ...]:
        """Return the names of what is shown, in this order."""
        names = self.arms if question.gold is None else question.gold
        return tuple(names[arm] for arm in question.arms)

    def price_of(self, judge: str | None, names: tuple[str, ...]) -> float:
        """Return what the answer of a judge to a question about such names costs."""
        price = self.record(judge).price
        if price is None:
            price = self.settings.spending.price
        return price + sum(self.arm_prices.get(name, 0.0) for name in names)

    def with_everyone(self) -> Self:
        """Return the state if the judges who are set aside were not."""
        everyone = deepcopy(self)
        for judge, record in everyone.judges.items():
            if record.is_aside:
                everyone._set_aside(judge, aside=False)
        return everyone

    # Questions. Each handler returns what is wrong with an event, None if nothing is.

    def _on_asked(self, event: events.Asked) -> str | None:
        arms, size = event.arms, self.settings.choose_from
        if event.question != len(self.questions) + 1:
            return f"question {event.question} does not follow on {len(self.questions)}"
        if len({*arms}) != size or len(arms) != size:
            return f"it asks about arms {[*arms]}, and not about {size} different ones"
        if not self._are_there(arms):
            return f"it asks about arms {[*arms]}"
        first = self.questions.get(event.twin_of or 0)
        if event.twin_of is not None and (
            first is None
            or not first.twin is first.twin_of is first.gold is None
            or first.arms != arms[::-1]
            or first.withdrawn
        ):
            return f"it is not the other order of question {event.twin_of}"
        if event.replaces is not None and event.replaces not in self.waiting:
            return f"question {event.replaces}, which it replaces, is not open"
        duel = event.duel
        named = ("champion", "first", "second")
        if duel and not self._are_there([duel[name] for name in named]):
            return f"its duel is of arms {duel['first']} and {duel['second']}"
        serves = event.request == self.last and duel is not None
        if event.request is not None and not (serves or event.request in self.requests):
            return f"nothing was asked for in event {event.request}"
        question = self._question(event, arms, event.rule, event.reason)
        question.request, question.replaces = event.request, event.replaces
        question.twin_of = event.twin_of
        self.shown[arms[:2]] += 1
        if first is not None:
            first.twin = question.number
            for record in self.judges.values():
                record.halves.pop(first.number, None)
            self._wait_for(first)
            return None
        if event.replaces is None and self.settings.contexts:
            if isinstance(context := question.context, str):
                for pair in combinations(sorted(arms), 2):
                    self.drawn.setdefault(pair, Counter())[context] += 1
                self.all_drawn[context] += 1
        if duel is not None:
            self.policy_events.append(
                PolicyEvent(self.last, None, program=duel.get("program"))
            )
            self.idle_rounds += duel["idle"]
            request = PolicyEvent(self.last, duel, duel["first"], duel["second"])
            if serves:
                self.requests[self.last] = self.unissued[self.last] = request
            else:  # It may not be put to this judge.
                self.policy_events.append(request)
        if event.request in self.requests:
            request = self.requests[event.request]
            request.issued += event.replaces is None
            if request.duel and request.issued == request.duel["votes"]:
                self.unissued.pop(request.number, None)
        if event.replaces is not None:
            old = self.questions[event.replaces]
            old.replaced, old.request = True, None
            self._leave(old)
        self._waits(question)
        return None

    def _on_gold_asked(self, event: events.GoldAsked) -> str | None:
        size = self.settings.choose_from
        if event.gold >= len(self.golds):
            return f"there is no gold question {event.gold}"
        said = event.swapped if size == 2 else event.order
        if said is None or sorted(event.places) != [*range(size)]:
            return f"it does not say in which order it shows its {size} arms"
        if event.question != len(self.questions) + 1:
            return f"question {event.question} does not follow on {len(self.questions)}"
        question = self._question(event, event.places, "gold", "the answer is known")
        question.gold = self.golds[event.gold]
        self.judges[question.judge].num_gold_asked += 1
        return None

    def _question(
        self, event: Any, arms: tuple[int, ...], rule: str, reason: str
    ) -> Question:
        number, judge = event.question, event.judge
        question = Question(
            number, arms, judge, event.context, rule, reason, self.clock, event.lease
        )
        self.questions[number] = self.open[number] = question
        self.judges[judge].num_asked += 1
        return question

    def _misfit(self, number: int, *, answered: bool | None = None) -> str | None:
        # Return the fault of an event about a question.
        question = self.questions.get(number)
        if question is None:
            return f"question {number} was not asked"
        if question.withdrawn:
            return f"question {number} was withdrawn"
        if answered is not None and (question.answer is not None) != answered:
            return f"question {number} has {'no' if answered else 'an'} answer"
        return None

    def _on_answered(self, event: events.Answered) -> str | None:
        if (what := self._misfit(event.question, answered=False)) is not None:
            return what
        question, answer = self.questions[event.question], event.answer
        worst = self.settings.worst
        if answer not in events.answers_to(len(question.arms), worst=worst):
            return f"its answer is {short(answer)}"
        question.answer, question.answered_by = answer, event.judge
        question.first_answer = question.first_answer or answer
        self.open.pop(question.number, None)
        record = self.judges[question.voter]
        record.answered += 1
        # A judge reads several questions one after the other.
        question.seconds = self.clock - max(question.asked_at, record.last)
        record.last = self.clock
        if question.cost is None:
            names = self.names_of(question)
            question.cost = self.price_of(question.voter, names)
            self.spent += question.cost
        if question.gold is not None:
            self._count_gold(question, +1)
            return None
        unit = self.unit_of(question)
        if unit.outcome is not None:  # The other order was skipped.
            return None
        unit.outcome = self._outcome_of(unit)
        if unit.outcome is None:  # The other order is missing.
            self._waits(unit)
            return None
        self._leave(unit)
        unit.is_aside = self.record(unit.voter).is_aside
        unit.beyond = unit.outcome != "skip" and not unit.is_aside and self.is_spent
        self._count(unit, +1)
        is_for_policy = self.is_vote(unit) and not unit.is_set
        self._resolve(unit, self._is_for_left(unit) if is_for_policy else None)
        return None

    def _outcome_of(self, unit: Question) -> str | None:
        # Return the outcome of one answer or two; None if one is still missing.
        how = self.settings.judging.both_orders
        if how is None:
            return unit.answer
        answers = [question.answer for question in self.orders_of(unit)]
        if "skip" in answers:
            return "skip"
        if len(answers) < 2 or None in answers:
            return None
        first, second = answers
        return first if first == MIRRORED[str(second)] else how

    def _on_withdrawn(self, event: events.Withdrawn) -> str | None:
        if (what := self._misfit(event.question)) is not None:
            return what
        unit = self.unit_of(self.questions[event.question])
        for question in self.orders_of(unit):
            question.withdrawn = True
            if unit.gold is None and not unit.is_within:
                self.shown[question.arms[:2]] -= 1
        if unit.outcome is not None:
            self._take_back(unit)
        else:
            self._leave(unit)
            if unit.gold is None:
                self._resolve(unit, None)
        for question in self.orders_of(unit):
            if question.answer is not None:
                self._forget(question)
        return None

    def _on_undone(self, event: events.Undone) -> str | None:
        if (what := self._misfit(event.question, answered=True)) is not None:
            return what
        question = self.questions[event.question]
        unit = self.unit_of(question)
        if unit.outcome is not None:
            self._take_back(unit)
        self._forget(question)
        question.answer, question.seconds = None, None
        unit.replaced, question.asked_at = False, self.clock
        self._waits(unit)
        return None

    def _take_back(self, unit: Question) -> None:
        stays_out = unit.beyond or unit.is_aside or unit.is_within
        was_counted = not stays_out or unit.outcome == "skip"
        self._count(unit, -1)
        unit.outcome, unit.beyond = None, False
        if was_counted:
            self._begin_anew()

    def _forget(self, question: Question) -> None:
        # Its answer is none of what its judge has said.
        self.judges[question.voter].answered -= 1
        if question.gold is not None:
            self._count_gold(question, -1)

    # Arms

    def _are_there(self, arms: Iterable[int]) -> bool:
        return all(arm < len(self.arms) and not self.is_retired[arm] for arm in arms)

    def _is_compared(self, name: str) -> bool:
        return name in self.arms and not self.is_retired[self.arms.index(name)]

    def _on_arm_added(self, added: events.ArmAdded) -> str | None:
        if added.name in self.arms:
            return f"arm {added.name!r} is there"
        self.arms.append(added.name)
        self.is_retired.append(False)
        for table in ("wins", "ties", "out", "shown", "policy_wins", "policy_pairs",
                      "blocked"):  # fmt: skip
            setattr(self, table, np.pad(getattr(self, table), (0, 1)))
        self.blocked[-1, -1] = True
        if added.share is not None:
            self.shares[len(self.arms) - 1] = added.share
        self._begin_anew()
        return None

    def _on_arm_retired(self, retired: events.ArmRetired) -> str | None:
        if not self._is_compared(retired.name):
            return f"there is no arm {short(retired.name)}"
        arm = self.arms.index(retired.name)
        self.is_retired[arm] = True
        # Open questions about it are not asked again, and free their budget.
        for unit in [*self.waiting.values()]:
            if arm in unit.arms:
                self._leave(unit)
        self._begin_anew()
        return None

    def _on_arm_restored(self, restored: events.ArmRestored) -> str | None:
        name = restored.name
        if name not in self.arms or self.arms.index(name) in self.merged:
            return f"there is no arm {short(name)}"
        if self._is_compared(name):
            return f"arm {name!r} is there"
        self.is_retired[self.arms.index(name)] = False
        self._begin_anew()
        return None

    def _on_arm_renamed(self, renamed: events.ArmRenamed) -> str | None:
        if renamed.name not in self.arms:
            return f"there is no arm {short(renamed.name)}"
        if renamed.to in self.arms:
            return f"arm {renamed.to!r} is there"
        self.arms[self.arms.index(renamed.name)] = renamed.to
        self._rename(renamed.name, renamed.to)
        return None

    def _on_arms_merged(self, merged: events.ArmsMerged) -> str | None:
        for name in (merged.name, merged.into):
            if not self._is_compared(name):
                return f"there is no arm {short(name)}"
        if merged.name == merged.into:
            return f"it merges {short(merged.name)} with itself"
        gone, stays = self.arms.index(merged.name), self.arms.index(merged.into)
        self.is_retired[gone], self.merged[gone] = True, stays
        self.shares.pop(gone, None)

        def moved(arms: Iterable[int]) -> tuple[int, ...]:
            return tuple(stays if arm == gone else arm for arm in arms)

        for unit in self.questions.values():
            if unit.gold is not None or gone not in unit.arms or unit.is_within:
                continue
            within = stays in unit.arms
            if within and unit.number in self.waiting:
                self._leave(unit)
            waits = unit.number in self.waiting
            self._count_all(unit, -1, waits=waits)
            if within:
                unit.is_within = True
            else:
                unit.arms = moved(unit.arms)
            self._count_all(unit, +1, waits=waits)
        drawn, self.drawn = self.drawn, {}
        for pair, counts in drawn.items():
            low, high = sorted(moved(pair))
            if low != high:
                self.drawn.setdefault((low, high), Counter()).update(counts)
        for votes in self.imports.values():
            self._count_imported(votes.rows, -1)
            votes.rows[:] = [row._replace(arms=moved(row.arms)) for row in votes.rows]
            self._count_imported(votes.rows, +1)
        self._rename(merged.name, merged.into)
        self._begin_anew()
        return None

    def _rename(self, name: str, to: str) -> None:
        # Let what was said of an arm be said of another name.
        def named(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(
                dict.fromkeys(to if known == name else known for known in names)
            )

        for record in self.judges.values():
            record.arms = None if record.arms is None else named(record.arms)
        if name in self.arm_prices:
            self.arm_prices.setdefault(to, self.arm_prices.pop(name))
        if self.audit is not None and to not in self.audit["arms"]:
            self.audit = {**self.audit, "arms": [*named(self.audit["arms"])]}

    # Votes from elsewhere, audits, gold questions, and the terms of judges

    def _on_imported(self, imported: events.Imported) -> str | None:
        rows = imported.rows
        for row in rows:
            arms, extra = row.arms, len(row.counts) - len(row.arms)
            differ = 1 < len({*arms}) == len(arms) and max(arms) < len(self.arms)
            if not differ or extra != (not self.is_of_sets):
                return f"it has votes between arms {[*arms]}"
        if imported.keys is not None and len(imported.keys) != len(rows):
            return f"it has {len(imported.keys)} keys of {len(rows)} rows"
        if not self.is_of_sets:
            for at, row in enumerate(rows):
                # Half of the ties each, and the last one of an odd number by a coin.
                (first, second), (half, odd) = row.arms, divmod(row.counts[2], 2)
                size = len(self.arms)
                toss = self.last * size**2 + first * size + second
                odd *= coin(self.settings.seed, -toss)
                rows[at] = row._replace(ties_for_first=half + odd)
        self.imports[self.last] = VotesFromElsewhere(len(self.questions), rows)
        self._count_imported(rows, +1)
        self._begin_anew()
        return None

    def _on_import_undone(self, undone: events.ImportUndone) -> str | None:
        if undone.event not in self.imports:
            return f"event {undone.event} has no imported votes"
        self._count_imported(self.imports.pop(undone.event).rows, -1)
        self._begin_anew()
        return None

    def _on_audited(self, audited: events.Audited) -> None:
        self.audit = audited._asdict()

    def _on_gold_added(self, gold: events.GoldAdded) -> str | None:
        names, size = gold.names, self.settings.choose_from
        if not len(names) == len({*names}) == size:
            return f"it is about {short(names)}, not {size} different ones"
        self.golds.append(names)
        return None

    def _on_judge_set(self, terms: events.JudgeSet) -> None:
        record = self.judges[terms.name]
        record.limit, record.price = terms.limit, terms.price
        record.arms = None if terms.arms is None else tuple(terms.arms)
        record.trusted = terms.trusted or False
        self._look_at(terms.name)

    # Judges

    def _count_gold(self, question: Question, change: int) -> None:
        if question.answer == "skip":
            return
        record = self.judges[question.voter]
        record.gold_answered += change
        record.gold_right += change * question.is_right
        self._look_at(question.voter)

    def _look_at(self, judge: str | None) -> None:
        # Set a judge aside, or count them again, by their gold questions.
        record, terms = self.judges[judge], self.settings.judging
        fails = record.gold_right < terms.gold_threshold * record.gold_answered
        enough = record.gold_answered >= terms.gold_least
        aside = fails and enough and not record.trusted
        if aside != record.is_aside:
            self._set_aside(judge, aside=aside)

    def _set_aside(self, judge: str | None, *, aside: bool) -> None:
        self.judges[judge].is_aside = aside
        before = self.num_votes
        for unit in self.questions.values():
            if unit.voter != judge or unit.twin_of is not None:
                continue
            if unit.outcome is None:
                self._leave(unit)
            else:
                self._count(unit, -1)
                unit.is_aside = aside
                self._count(unit, +1)
        self.num_reselected += self.num_votes != before
        self._begin_anew()

    # Open questions

    def _waits(self, unit: Question) -> None:
        # Let a question be out until it has its outcome, unless nobody asks it.
        if self.record(unit.judge).is_aside or unit.is_within:
            return
        if unit.gold is None and not self._are_there(unit.arms):
            return
        for question in self.orders_of(unit):
            if question.answer is None:
                self.open[question.number] = question
        if unit.gold is not None:
            return
        self._wait_for(unit)
        if self.settings.judging.both_orders is not None and unit.twin is None:
            # Whoever answered sees the other order, too.
            for record in self.judges.values():
                record.halves.pop(unit.number, None)
            self.judges[unit.voter].halves[unit.number] = unit

    def _wait_for(self, unit: Question) -> None:
        # Let a question be out, as the last one of them.
        if self.waiting.pop(unit.number, None) is None:
            self._count_out(unit, +1)
        unit.since = self.clock
        self.waiting[unit.number] = unit

    def _leave(self, unit: Question) -> None:
        # Wait for a question no more, and for its other order.
        if self.waiting.pop(unit.number, None) is not None:
            self._count_out(unit, -1)
        for question in self.orders_of(unit):
            self.open.pop(question.number, None)
        if self.settings.judging.both_orders is not None:
            for record in self.judges.values():
                record.halves.pop(unit.number, None)

    def _count_out(self, unit: Question, change: int) -> None:
        if len(unit.arms) == 2:
            for table in (self.out, self.policy_pairs):
                table[unit.arms] += change
                table[unit.arms[::-1]] += change

    # Counts; a change of -1 takes back what +1 counted.

    def _count_imported(self, rows: list[VoteRow], change: int) -> None:
        for row in rows:
            if self.is_of_sets:
                self.num_imported += change * row.num_votes
            elif len({*row.arms}) > 1:
                self._count_pair(row.arms, row.counts, row.ties_for_first, change)
                self.num_imported += change * row.num_votes

    def _count_pair(
        self,
        pair: tuple[int, ...],
        counts: tuple[int, ...],
        ties_for_first: int,
        change: int,
    ) -> None:
        # So many of the ties are told as votes for its first arm. Tables are touched
        # only where they change: that is most of the time of a replay.
        for_first, for_second, tied = counts
        total = change * (for_first + for_second + tied)
        for won, ties in (
            (for_first, ties_for_first),
            (for_second, tied - ties_for_first),
        ):
            self.policy_pairs[pair] += total
            if won:
                self.wins[pair] += change * won
            if tied:
                self.ties[pair] += change * tied
            if won or ties:
                self.policy_wins[pair] += change * (won + ties)
            pair = pair[::-1]

    def _count_all(self, unit: Question, change: int, *, waits: bool) -> None:
        # All that a question stands for.
        if waits:
            self._count_out(unit, change)
        if not (unit.withdrawn or unit.is_within):
            self.shown[unit.arms] += change
        if unit.outcome is not None:
            self._count(unit, change)

    def _count(self, unit: Question, change: int) -> None:
        if unit.outcome == "skip":
            self.num_skipped += change
            if not unit.is_set:
                pairs = self.skipped.setdefault(unit.judge, set())
                (pairs.add if change > 0 else pairs.discard)(unit.arms)  # pyright: ignore
        elif unit.is_within:
            self.num_within += change
        elif unit.is_aside:
            self.num_aside += change
        elif unit.beyond:
            self.num_beyond += change
        elif unit.outcome == "nothing":
            self.num_nothing += change
        else:
            self.num_votes += change
            if not unit.is_set:
                counts, _ = _counts_of(str(unit.outcome), 2)
                ties_for_first = counts[-1] * self._is_for_left(unit)
                self._count_pair(unit.arms, counts, ties_for_first, change)

    # The policy

    def _is_for_left(self, unit: Question) -> bool:
        # Whether the policy is told a vote for the left arm.
        if unit.outcome == "tie":
            return coin(self.settings.seed, unit.number)
        return unit.outcome == "left"

    def _begin_anew(self) -> None:
        # The history of the policy no longer holds: it begins from counts.
        self.epoch += 1
        self.epoch_wins = self.policy_wins.copy()
        self.policy_events, self.requests, self.unissued = [], {}, {}

    def _resolve(self, unit: Question, left: bool | None) -> None:
        # Tell the policy a vote, or that there will be none.
        request = self.requests.get(unit.request or -1)
        if request is None:
            # The policy does not know an arm that was retired meanwhile.
            if left is not None and self._are_there(unit.arms):
                values = self.last, {}, unit.left, unit.right, 1, int(left)
                self.policy_events.append(PolicyEvent(*values))
            return
        request.resolved += 1
        if left is not None:
            request.votes += 1
            request.wins += left == (unit.left == request.first)
        if request.duel and request.resolved == request.duel["votes"]:
            del self.requests[request.number]
            self.unissued.pop(request.number, None)
            request.number = self.last
            self.policy_events.append(request)
