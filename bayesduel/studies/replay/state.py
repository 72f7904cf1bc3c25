"""What the events of a study add up to: a pure replay, event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from jaxtyping import Bool

from bayesduel.studies._settings import Settings
from bayesduel.studies.replay.counts import Counts
from bayesduel.studies.replay.questions import (
    JudgeRecord,
    PolicyEvent,
    Question,
    VoteRow,
)
from bayesduel.studies.stored.event_checks import broken, check_event, missing
from bayesduel.studies.stored.events import Event, gold_names, gold_order

__all__ = ["StudyState"]

_MISFITS = (LookupError, TypeError, ValueError, OverflowError)
"""What a first event raises that nobody could have written."""


@dataclass
class StudyState(Counts):
    """All that is known after so many events."""

    last: int = 0
    digest: str = ""
    """Of the last event; see :class:`bayesduel.studies.stored.events.Event`."""

    time: float = 0.0
    clock: float = 0.0
    """Seconds that have passed; a clock that is put back adds none."""

    audit: dict[str, Any] | None = None
    """The last one that was made of the rules for stopping."""

    @classmethod
    def begin(cls, created: Event) -> StudyState:
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
        """Take in the next event."""
        if event.number != self.last + 1:
            raise missing(self.last + 1)
        event = event.shown()
        check_event(self, event)
        # The number first: what follows may be interrupted, and is done anew then.
        self.last, self.digest = event.number, event.digest
        self.clock, self.time = self.clock_at(event.time), event.time
        _HANDLERS[event.kind](self, event.number, event.body)

    def clock_at(self, time: float) -> float:
        """Return what the clock of the study shows at a time of day."""
        return self.clock + max(0.0, time - self.time)

    def may_ask(self, judge: str | None) -> Bool[np.ndarray, "K K"]:
        """Mark the pairs that may be put to a judge."""
        gone = np.array(self.is_retired)
        own = self.record(judge).arms
        if own is not None:
            gone |= ~np.isin(self.arms, own)
        allowed = ~self.blocked
        allowed[gone] = allowed[:, gone] = False
        for one, other in self.skipped.get(judge, ()):
            allowed[one, other] = allowed[other, one] = False
        return allowed

    def with_everyone(self) -> Self:
        """Return the state if the judges who are set aside were not."""
        other = deepcopy(self)
        for judge, record in other.judges.items():
            if record.is_aside:
                other._set_aside(judge, aside=False)
        return other

    # Events

    def _asked(self, number: int, body: dict[str, Any]) -> None:
        question = self._question(
            body,
            arms=(body["left"], body["right"], *body.get("also", ())),
            rule=body["rule"],
            reason=body["reason"],
            request=body.get("request"),
            replaces=body.get("replaces"),
            twin_of=body.get("twin_of"),
        )
        self.shown[question.left, question.right] += 1
        if question.twin_of is not None:
            first = self.questions[question.twin_of]
            first.twin = question.number
            for record in self.judges.values():
                record.halves.pop(first.number, None)
            self.wait_for(first, self.clock)
            return
        if question.replaces is None:
            self.note_context(question)
        duel = body.get("duel")
        if duel is not None:
            self._policy_asks(number, duel, serves=question.request == number)
        if question.request in self.requests:
            request = self.requests[question.request]
            request.issued += question.replaces is None
            if request.duel and request.issued == request.duel["votes"]:
                self.unissued.pop(request.number, None)
        if question.replaces is not None:
            old = self.questions[question.replaces]
            old.replaced, old.request = True, None
            self.leave(old)
        self._waits(question)

    def _question(self, body: dict[str, Any], **known: Any) -> Question:
        """Return a new question, which is open."""
        question = Question(
            number=body["question"],
            judge=body.get("judge"),
            context=body.get("context"),
            asked=self.clock,
            lease=body["lease"],
            **known,
        )
        self.questions[question.number] = self.open[question.number] = question
        self._keep(question.judge).asked += 1
        return question

    def _policy_asks(self, number: int, duel: dict[str, Any], *, serves: bool) -> None:
        self.told.append(PolicyEvent(number, None, program=duel.get("program")))
        self.idle_rounds += duel["idle"]
        request = PolicyEvent(number, duel, duel["first"], duel["second"])
        if serves:
            self.requests[number] = self.unissued[number] = request
        else:  # It may not be put to this judge.
            self.told.append(request)

    def _gold_asked(self, number: int, body: dict[str, Any]) -> None:
        question = self._question(
            body,
            arms=gold_order(body),
            rule="gold",
            reason="the answer is known",
        )
        question.gold = self.golds[body["gold"]]
        self._keep(question.judge).gold_asked += 1

    def _answered(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        answer = question.answer = body["answer"]
        question.first_answer = question.first_answer or answer
        question.answered_by = body.get("judge")
        self.open.pop(question.number, None)
        self._note(question)
        if question.gold is not None:
            self._count_gold(question, +1)
            return
        unit = self.unit_of(question)
        if unit.outcome is not None:  # The other order was skipped.
            return
        unit.outcome = self.outcome_of(unit)
        if unit.outcome is None:  # The other order is missing.
            self._waits(unit)
            return
        self.leave(unit)
        unit.is_aside = self.record(unit.voter).is_aside
        unit.beyond = unit.outcome != "skip" and not unit.is_aside and self.is_spent
        self.count(unit, +1)
        is_told = self.is_vote(unit) and not unit.is_set
        told = self.told_left(unit) if is_told else None
        self.resolve(number, unit, told)

    def _note(self, question: Question) -> None:
        """Keep how long an answer took, and what it cost."""
        record = self._keep(question.voter)
        record.answered += 1
        # Of several questions at once a judge reads one after the other.
        question.seconds = self.clock - max(question.asked, record.last)
        record.last = self.clock
        if question.cost is None:
            names = self.names_of(question)
            question.cost = self.price_of(question.voter, names)
            self.spent += question.cost

    def _withdrawn(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        unit = self.unit_of(question)
        for each in self.orders_of(unit):
            each.withdrawn = True
            if unit.gold is None and not unit.is_within:
                self.shown[each.left, each.right] -= 1
        if unit.outcome is not None:
            self._take_back(unit)
        else:
            self.leave(unit)
            if unit.gold is None:
                self.resolve(number, unit, None)
        for each in self.orders_of(unit):
            if each.answer is not None:
                self._forget(each)

    def _undone(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        unit = self.unit_of(question)
        if unit.outcome is not None:
            self._take_back(unit)
        self._forget(question)
        question.answer, question.seconds = None, None
        unit.replaced, question.asked = False, self.clock
        self._waits(unit)

    def _take_back(self, unit: Question) -> None:
        kept = unit.beyond or unit.is_aside or unit.is_within
        was_counted = not kept or unit.outcome == "skip"
        self.count(unit, -1)
        unit.outcome, unit.beyond = None, False
        if was_counted:
            self.begin_anew()

    def _forget(self, question: Question) -> None:
        """Let an answer be none of what its judge has said."""
        self._keep(question.voter).answered -= 1
        if question.gold is not None:
            self._count_gold(question, -1)

    def _arm_added(self, number: int, body: dict[str, Any]) -> None:
        self.add_arm(body["name"])
        if "share" in body:
            self.shares[len(self.arms) - 1] = body["share"]
        self.begin_anew()

    def _arm_restored(self, number: int, body: dict[str, Any]) -> None:
        self.is_retired[self.arms.index(body["name"])] = False
        self.begin_anew()

    def _arm_renamed(self, number: int, body: dict[str, Any]) -> None:
        self.arms[self.arms.index(body["name"])] = body["to"]
        self._rename(body["name"], body["to"])

    def _arms_merged(self, number: int, body: dict[str, Any]) -> None:
        names = body["name"], body["into"]
        self.merge_arms(*(self.arms.index(name) for name in names))
        self._rename(*names)
        self.begin_anew()

    def _rename(self, name: str, to: str) -> None:
        """Let what was said of an arm be said of another name."""

        def named(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(to if each == name else each for each in names))

        for record in self.judges.values():
            record.arms = None if record.arms is None else named(record.arms)
        prices = dict(self.settings.spending.arm_prices)
        if name in prices:
            prices.setdefault(to, prices[name])
            del prices[name]
            spending = replace(self.settings.spending, arm_prices=prices)
            self.settings = replace(self.settings, spending=spending)
        if self.audit is not None and to not in self.audit["arms"]:
            self.audit = {**self.audit, "arms": [*named(self.audit["arms"])]}

    def _arm_retired(self, number: int, body: dict[str, Any]) -> None:
        arm = self.arms.index(body["name"])
        self.is_retired[arm] = True
        # What is out about it is asked no more, and holds up no budget.
        for unit in [*self.waiting.values()]:
            if arm in unit.arms:
                self.leave(unit)
        self.begin_anew()

    def _imported(self, number: int, body: dict[str, Any]) -> None:
        rows = [VoteRow.of_numbers(row) for row in body["counts"]]
        self.add_imported(number, rows)
        self.begin_anew()

    def _import_undone(self, number: int, body: dict[str, Any]) -> None:
        self.count_imported(self.imports.pop(body["event"]).rows, -1)
        self.begin_anew()

    def _audited(self, number: int, body: dict[str, Any]) -> None:
        self.audit = body

    def _gold_added(self, number: int, body: dict[str, Any]) -> None:
        self.golds.append(gold_names(body))

    def _judge_set(self, number: int, body: dict[str, Any]) -> None:
        record = self._keep(body["name"])
        record.limit, record.price = body.get("limit"), body.get("price")
        arms = body.get("arms")
        record.arms = None if arms is None else tuple(arms)
        record.trusted = body.get("trusted", False)
        self._look_at(body["name"])

    # Judges

    def _keep(self, judge: str | None) -> JudgeRecord:
        if judge not in self.judges:
            self.judges[judge] = JudgeRecord()
        return self.judges[judge]

    def _is_asked(self, unit: Question) -> bool:
        if self.record(unit.judge).is_aside:
            return False
        if unit.is_within:
            return False
        arms = () if unit.gold is not None else unit.arms
        return not any(self.is_retired[arm] for arm in arms)

    def _waits(self, unit: Question) -> None:
        """Let a question be out until it has its outcome, unless nobody asks it."""
        if not self._is_asked(unit):
            return
        for each in self.orders_of(unit):
            if each.answer is None:
                self.open[each.number] = each
        if unit.gold is not None:
            return
        self.wait_for(unit, self.clock)
        if self.settings.judging.both_orders is not None and unit.twin is None:
            # Whoever answered sees the other order, too.
            for record in self.judges.values():
                record.halves.pop(unit.number, None)
            self._keep(unit.voter).halves[unit.number] = unit

    def _count_gold(self, question: Question, change: int) -> None:
        if question.answer == "skip":
            return
        record = self._keep(question.voter)
        record.gold_answered += change
        record.gold_right += change * question.is_right
        self._look_at(question.voter)

    def _look_at(self, judge: str | None) -> None:
        """Set a judge aside, or count them again, by their gold questions."""
        record, terms = self._keep(judge), self.settings.judging
        fails = record.gold_right < terms.gold_threshold * record.gold_answered
        enough = record.gold_answered >= terms.gold_least
        aside = fails and enough and not record.trusted
        if aside != record.is_aside:
            self._set_aside(judge, aside=aside)

    def _set_aside(self, judge: str | None, *, aside: bool) -> None:
        self._keep(judge).is_aside = aside
        before = self.num_votes
        for unit in self.questions.values():
            if unit.voter != judge or unit.twin_of is not None:
                continue
            if unit.outcome is None:
                self.leave(unit)
            else:
                self.count(unit, -1)
                unit.is_aside = aside
                self.count(unit, +1)
        self.num_reselected += self.num_votes != before
        self.begin_anew()


_HANDLERS: dict[str, Callable[[StudyState, int, dict[str, Any]], None]] = {
    "asked": StudyState._asked,
    "gold asked": StudyState._gold_asked,
    "answered": StudyState._answered,
    "withdrawn": StudyState._withdrawn,
    "undone": StudyState._undone,
    "arm added": StudyState._arm_added,
    "arm retired": StudyState._arm_retired,
    "arm restored": StudyState._arm_restored,
    "arm renamed": StudyState._arm_renamed,
    "arms merged": StudyState._arms_merged,
    "import undone": StudyState._import_undone,
    "imported": StudyState._imported,
    "audited": StudyState._audited,
    "gold added": StudyState._gold_added,
    "judge set": StudyState._judge_set,
}
