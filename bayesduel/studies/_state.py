"""What the events of a study add up to: a pure replay, event by event."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64

from bayesduel.errors import StudyError
from bayesduel.models.base import PreferenceModel
from bayesduel.studies._settings import Settings
from bayesduel.studies.stored.event_checks import broken, check_event
from bayesduel.studies.stored.events import ANSWERS, Event

__all__ = ["ANSWERS", "Request", "StudyState", "PolicyEvent", "Question", "coin"]


_MISFITS = (LookupError, TypeError, ValueError, OverflowError)
"""What events raise that nobody could have written."""


@dataclass(slots=True)
class Question:
    """A question that was asked, and what became of it."""

    number: int
    left: int
    right: int
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
    answer: str | None = None
    first_answer: str | None = None
    """What was told first, and perhaps undone."""

    withdrawn: bool = False
    beyond: bool = False
    """Whether the budget was spent when the answer came: it is kept, but no vote."""

    answered_by: str | None = None


@dataclass(slots=True)
class Request:
    """A duel that the policy asked for, of one vote or more."""

    number: int
    duel: dict[str, Any]
    first: int
    second: int
    issued: int = 0
    resolved: int = 0
    votes: int = 0
    wins: int = 0
    """Of ``first``."""


class PolicyEvent(NamedTuple):
    """What the policy has to go through, in this order.

    With ``duel`` None it is asked, as ``program`` asked it.
    """

    number: int
    duel: dict[str, Any] | None
    first: int = 0
    second: int = 0
    votes: int = 0
    wins: int = 0
    asked_for: bool = True
    program: str | None = None


def coin(seed: int, number: int) -> bool:
    """Return one fair bit per question, the same in every replay."""
    return bool(zlib.crc32(f"{seed}/{number}".encode()) & 1)


@dataclass
class StudyState:
    """All that is known after so many events.

    ``wins[i, j]`` counts votes for i against j, ``ties`` and ``out`` (questions without
    an answer yet) are symmetric, ``shown[i, j]`` counts questions with i on the left.
    Policies see ``told_wins``, in which each tie is a vote for either arm by a coin.
    """

    settings: Settings
    arms: list[str] = field(default_factory=list)
    is_retired: list[bool] = field(default_factory=list)
    last: int = 0
    digest: str = ""
    """Of the last event; see :class:`bayesduel.studies.stored.events.Event`."""

    time: float = 0.0
    clock: float = 0.0
    """Seconds that have passed; a clock that is put back adds none."""

    questions: dict[int, Question] = field(default_factory=dict)
    open: dict[int, Question] = field(default_factory=dict)
    """Not answered, withdrawn or asked anew."""

    requests: dict[int, Request] = field(default_factory=dict)
    """Of the policy, that wait for votes."""

    unissued: dict[int, Request] = field(default_factory=dict)
    """Those of them of which not every vote was asked for."""

    told: list[PolicyEvent] = field(default_factory=list)
    epoch: int = 0
    """How often the policy began anew from counts alone."""

    epoch_wins: Int64[np.ndarray, "K K"] = field(init=False)
    idle_rounds: int = 0
    num_votes: int = 0
    num_imported: float = 0.0
    imports: list[tuple[int, list[list[int]]]] = field(default_factory=list)
    """How many questions had been asked before, and rows of votes."""

    num_skipped: int = 0
    num_beyond: int = 0
    skipped: dict[str | None, set[tuple[int, int]]] = field(default_factory=dict)
    audit: dict[str, Any] | None = None
    """The last one that was made of the rules for stopping."""

    def __post_init__(self) -> None:
        """Begin without a vote."""
        self.arms = list(self.settings.arms)
        count = len(self.arms)
        self.is_retired = [False] * count
        self.wins: Float64[np.ndarray, "K K"] = np.zeros((count, count))
        self.ties: Float64[np.ndarray, "K K"] = np.zeros((count, count))
        self.out: Int64[np.ndarray, "K K"] = np.zeros((count, count), dtype=np.int64)
        self.shown = self.out.copy()
        self.told_wins = self.out.copy()
        self.epoch_wins = self.out.copy()
        self.told_pairs = self.out.copy()
        """Votes of every pair, those that are out among them."""
        self.blocked = np.eye(count, dtype=bool)
        for one, other in self.settings.blocked:
            pair = self.arms.index(one), self.arms.index(other)
            self.blocked[pair] = self.blocked[pair[::-1]] = True

    @classmethod
    def begin(cls, created: Event) -> StudyState:
        """Return the state after the first event."""
        if created.kind != "created":
            raise broken(1, f"its kind is {created.kind!r}, not 'created'")
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
            raise StudyError(
                f"event {self.last + 1} of the study is missing; restore a copy"
            )
        check_event(self, event)
        self.clock = self.clock_at(event.time)
        self.last, self.time, self.digest = event.number, event.time, event.digest
        try:
            _HANDLERS[event.kind](self, event.number, event.body)
        except _MISFITS as error:
            raise broken(event.number, f"it does not fit ({error!r})") from error

    def clock_at(self, time: float) -> float:
        """Return what the clock of the study shows at a time of day."""
        return self.clock + max(0.0, time - self.time)

    @property
    def model(self) -> PreferenceModel:
        """The model of the study, of arms that are not retired."""
        own = self.settings.model
        table = getattr(own, "features", None)
        if table is None:
            return own
        return replace(own, features=[table[arm] for arm in self.active])  # pyright: ignore

    @property
    def active(self) -> list[int]:
        """Arms that are not retired."""
        return [arm for arm, gone in enumerate(self.is_retired) if not gone]

    def may_ask(self, judge: str | None) -> Bool[np.ndarray, "K K"]:
        """Mark the pairs that may be put to a judge."""
        active = ~np.array(self.is_retired)
        allowed = active[:, None] & active[None, :] & ~self.blocked
        for one, other in self.skipped.get(judge, ()):
            allowed[one, other] = allowed[other, one] = False
        return allowed

    # Events

    def _asked(self, number: int, body: dict[str, Any]) -> None:
        question = Question(
            number=body["question"],
            left=body["left"],
            right=body["right"],
            judge=body.get("judge"),
            context=body.get("context"),
            rule=body["rule"],
            reason=body["reason"],
            asked=self.clock,
            lease=body["lease"],
            request=body.get("request"),
            replaces=body.get("replaces"),
        )
        duel = body.get("duel")
        if duel is not None:
            self._policy_asks(number, duel, serves=question.request == number)
        if question.request in self.requests:
            request = self.requests[question.request]
            request.issued += question.replaces is None
            if request.issued == request.duel["votes"]:
                self.unissued.pop(request.number, None)
        if question.replaces is not None:
            old = self.questions[question.replaces]
            old.replaced, old.request = True, None
            del self.open[old.number]
            self._count_out(old, -1)
        self.questions[question.number] = question
        self.open[question.number] = question
        self.shown[question.left, question.right] += 1
        self._count_out(question, +1)

    def _policy_asks(self, number: int, duel: dict[str, Any], *, serves: bool) -> None:
        self.told.append(PolicyEvent(number, None, program=duel.get("program")))
        self.idle_rounds += duel["idle"]
        pair = duel["first"], duel["second"]
        if serves:
            request = self.requests[number] = Request(number, duel, *pair)
            self.unissued[number] = request
        else:  # It may not be put to this judge.
            self.told.append(PolicyEvent(number, duel, *pair))

    def _answered(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        answer = question.answer = body["answer"]
        question.first_answer = question.first_answer or answer
        question.answered_by = body.get("judge")
        self._leaves(question)
        if answer == "skip":
            self.num_skipped += 1
            pair = question.left, question.right
            self.skipped.setdefault(question.judge, set()).add(pair)
            self._resolve(number, question, None)
            return
        budget = self.settings.budget
        if budget is not None and self.num_votes >= budget:
            question.beyond = True
            self.num_beyond += 1
            self._resolve(number, question, None)
            return
        self.num_votes += 1
        self._count_vote(question, +1)
        self._resolve(number, question, self._told_left(question))

    def _told_left(self, question: Question) -> bool:
        """Whether the policy is told a vote for the left arm."""
        if question.answer == "tie":
            return coin(self.settings.seed, question.number)
        return question.answer == "left"

    def _resolve(self, number: int, question: Question, left: bool | None) -> None:
        """Tell the policy a vote, or that there will be none."""
        request = self.requests.get(question.request or -1)
        if request is None:
            if left is not None:
                pair = question.left, question.right
                self.told.append(
                    PolicyEvent(number, {}, *pair, 1, int(left), asked_for=False)
                )
            return
        request.resolved += 1
        if left is not None:
            request.votes += 1
            request.wins += left == (question.left == request.first)
        if request.resolved == request.duel["votes"]:
            del self.requests[request.number]
            self.unissued.pop(request.number, None)
            self.told.append(
                PolicyEvent(
                    number,
                    request.duel,
                    request.first,
                    request.second,
                    request.votes,
                    request.wins,
                )
            )

    def _withdrawn(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        question.withdrawn = True
        if question.answer is None:
            self._leaves(question)
            self._resolve(number, question, None)
        else:
            self._take_back(question)
        self.shown[question.left, question.right] -= 1

    def _undone(self, number: int, body: dict[str, Any]) -> None:
        question = self.questions[body["question"]]
        self._take_back(question)
        question.answer, question.replaced, question.asked = None, False, self.clock
        if not (self.is_retired[question.left] or self.is_retired[question.right]):
            self.open[question.number] = question
            self._count_out(question, +1)

    def _take_back(self, question: Question) -> None:
        if question.answer == "skip":
            self.num_skipped -= 1
            pair = question.left, question.right
            self.skipped.get(question.judge, set()).discard(pair)
        elif question.beyond:
            question.beyond = False
            self.num_beyond -= 1
            return
        else:
            self.num_votes -= 1
            self._count_vote(question, -1)
        self._begin_anew()

    def _arm_added(self, number: int, body: dict[str, Any]) -> None:
        self.arms.append(body["name"])
        self.is_retired.append(False)
        for name in ("wins", "ties", "out", "shown", "told_wins", "told_pairs"):
            setattr(self, name, np.pad(getattr(self, name), (0, 1)))
        self.blocked = np.pad(self.blocked, (0, 1))
        self.blocked[-1, -1] = True
        self._begin_anew()

    def _arm_retired(self, number: int, body: dict[str, Any]) -> None:
        arm = self.arms.index(body["name"])
        self.is_retired[arm] = True
        # What is out about it is asked no more, and holds up no budget.
        for question in [*self.open.values()]:
            if arm in (question.left, question.right):
                self._leaves(question)
        self._begin_anew()

    def _imported(self, number: int, body: dict[str, Any]) -> None:
        self.imports.append((len(self.questions), body["counts"]))
        for first, second, *counts in body["counts"]:
            for_first, for_second, tied = counts
            self.wins[first, second] += for_first
            self.wins[second, first] += for_second
            self.ties[first, second] += tied
            self.ties[second, first] += tied
            self.told_pairs[first, second] += sum(counts)
            self.told_pairs[second, first] += sum(counts)
            # Half of the ties each, and the last one of an odd number by a coin.
            half, odd = divmod(tied, 2)
            place = number * len(self.arms) ** 2 + first * len(self.arms) + second
            extra = odd * coin(self.settings.seed, -place)
            self.told_wins[first, second] += for_first + half + extra
            self.told_wins[second, first] += for_second + half + odd - extra
            self.num_imported += sum(counts)
        self._begin_anew()

    def _audited(self, number: int, body: dict[str, Any]) -> None:
        self.audit = body

    def _begin_anew(self) -> None:
        """Let the policy begin from counts: what it went through no longer holds."""
        self.epoch += 1
        self.epoch_wins = self.told_wins.copy()
        self.told = []
        self.requests = {}
        self.unissued = {}

    def _leaves(self, question: Question) -> None:
        if self.open.pop(question.number, None) is not None:
            self._count_out(question, -1)

    def _count_out(self, question: Question, change: int) -> None:
        pair = question.left, question.right
        for table in (self.out, self.told_pairs):
            table[pair] += change
            table[pair[::-1]] += change

    def _count_vote(self, question: Question, change: int) -> None:
        left, right = question.left, question.right
        told = (left, right) if self._told_left(question) else (right, left)
        self.told_wins[told] += change
        self.told_pairs[told] += change
        self.told_pairs[told[::-1]] += change
        if question.answer == "tie":
            self.ties[left, right] += change
            self.ties[right, left] += change
        else:
            self.wins[told] += change


_HANDLERS: dict[str, Callable[[StudyState, int, dict[str, Any]], None]] = {
    "asked": StudyState._asked,
    "answered": StudyState._answered,
    "withdrawn": StudyState._withdrawn,
    "undone": StudyState._undone,
    "arm added": StudyState._arm_added,
    "arm retired": StudyState._arm_retired,
    "imported": StudyState._imported,
    "audited": StudyState._audited,
}
