"""A study: who is compared, who asks, what was answered; one file of events."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bayesduel.arguments.control_characters import refuse_control_characters, visible
from bayesduel.errors import OutputWriteError, StudyError, StudyFileError, errors_as
from bayesduel.files.folders import as_path
from bayesduel.models.base import PreferenceModel
from bayesduel.studies import events, exchange, snapshots
from bayesduel.studies.disk import FORMAT, EventLog, closed_block, reading, write_new
from bayesduel.studies.events import BEGINNING, Event, Record, answers_to
from bayesduel.studies.fits import judged_votes, num_votes_in, votes_of
from bayesduel.studies.questions import check_policy, next_question, rule_of
from bayesduel.studies.rules import Rule
from bayesduel.studies.settings import (
    LEASE,
    MOST_ARMS,
    RULES,
    Judging,
    Settings,
    Spending,
    checked_arm,
    checked_name,
    checked_price,
)
from bayesduel.studies.state import Question, StudyState
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import (
    integer_from,
    number_that,
    one_of,
    share_of,
    true_or_false,
    whole_number,
)

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.analysis import StoppingAudit
    from bayesduel.studies.contexts import ContextTable
    from bayesduel.studies.forecast import Forecast
    from bayesduel.studies.status import StudyStatus


_AT_ONCE = 100  # Questions that are stored together: others need not wait for long.
_LONGEST_CONTEXT = 10**5  # Characters of JSON; whole texts fit, films do not.

_USUAL_SHARE = 0.5
_MOST_VOTES, _MOST_RUNS = 10**9, 10**6


class ForeignQuestionError(StudyError):
    """A judge touches a question that was put to another one."""


@dataclass(frozen=True)
class Ticket:
    """A question to a judge.

    Attributes
    ----------
    number : int
        What :meth:`Study.tell` calls it.
    left, right : str
        The two arms, in the order in which they are to be shown; the first two of a
        set.
    rule : str
        Who asks: the policy, "floor", "gold", or the name of the rule.
    reason : str
        Why this pair.
    judge : str or None
        Who is asked.
    context : Any
        What was given to :meth:`Study.ask`.
    lease : float
        Seconds after which the pair may be asked anew. The answer counts even then.
    shown : tuple of str
        All arms, in the order in which they are to be shown: two, or a set.
    worst : bool
        Whether the worst is to be named, too.
    """

    number: int
    left: str
    right: str
    rule: str
    reason: str
    judge: str | None = None
    context: Any = None
    lease: float = LEASE
    shown: tuple[str, ...] = ()
    worst: bool = False

    @property
    def answers(self) -> dict[str, str]:
        """The answer that names each arm: left, right, or the number of a card."""
        words = answers_to(len(self.shown))
        return dict(zip(words, self.shown, strict=False))


def checked_judge(judge: Any, argument: str = "judge") -> str | None:
    """Return the name of a judge, or None."""
    if judge is not None and (not isinstance(judge, str) or not judge):
        raise StudyError(argument, "must be a name, or None", judge)
    refuse_control_characters(judge, argument, StudyError)
    return judge


class Study:
    """A study: real judges compare items in pairs, and a policy chooses the questions.

    One SQLite file holds everything, as events that are appended and never changed;
    the state is a replay of them. Several objects, threads and processes may ask and
    answer at once. What a method has returned is on the disk. Use :meth:`create` or
    :meth:`open`; a study is a context manager, which closes the file.

    Methods raise ``StudyError`` if an argument does not fit the study, such as an arm
    that it does not have. They raise ``OutputWriteError`` if something cannot be
    stored; in that case nothing of it is stored. Existing files are never overwritten.

    Notes
    -----
    Questions without an answer are delayed feedback: the policy goes on, and is told
    each outcome when it arrives, with the round in which it was asked for. Rounds in
    which an arm would meet itself need no judge; status().idle_rounds counts them. A
    tie is told to the policy as a vote that a fair coin decides. When an arm is added
    or retired, votes are imported, or a vote is taken back, the policy begins anew from
    the votes that count. A policy that plans whole batches begins anew without them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "drinks.study")
    >>> with Study.create(path, ["tea", "coffee"], policy="balanced") as study:
    ...     (ticket,) = study.ask(judge="Ada")
    ...     study.tell(ticket, "left")
    ...     study.comparisons().num_votes
    True
    1.0
    >>> folder.cleanup()
    """

    def __init__(self, log: EventLog, by: str | None = None) -> None:
        self._log, self._by = log, by
        self._turn = threading.RLock()
        self._clock = time.time
        self._state: StudyState | None = None
        self._rule: Rule | None = None
        self._resting = self._remark = ""
        self._saved = 0
        self._stored = 0, BEGINNING
        try:
            # Begin with what is known of a long study, if it is of the same events.
            snapshot = snapshots.load(self.path, "state")
            if (
                snapshot is not None
                and self._log.prefix(snapshot.number) == snapshot.prefix
            ):
                self._state, self._saved = snapshot.payload, snapshot.number
            state = self._current()
            self._settings = state.settings
            self._stored = state.last, state.digest
        except BaseException:
            log.close()
            raise

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        arms: Sequence[str],
        policy: str | None = None,
        *,
        model: str | PreferenceModel | None = None,
        delta: float = 0.05,
        width: float = 0.0,
        budget: int | None = None,
        seed: int = 0,
        floor: int = 0,
        lease: float = LEASE,
        blocked: Iterable[tuple[str, str]] = (),
        judging: Judging | None = None,
        spending: Spending | None = None,
        stop_when: Sequence[str] = (),
        contexts: Sequence[str] = (),
        choose_from: int = 2,
        worst: bool = False,
        by: str | None = None,
    ) -> Self:
        """Make the file of a new study.

        Parameters
        ----------
        path : path
            A file that does not exist, on a disk of this machine.
        arms : sequence of K str
            What is compared, from 2 to 4096.
        policy : str, optional
            How pairs are chosen: a policy with parameters, as for
            ``policies.parse_policy``; "information", which asks the pair whose vote is
            expected to teach most; or "balanced", which asks the pair with the fewest
            votes. The default is "d-ts+".
        model : {"beta", "bradley-terry", "thurstone"} or PreferenceModel, optional
            The model of the votes, which standings and the expected information use. If
            there are ties, the model is extended by them. With
            ``LinearUtilities(features)`` a policy such as ``"d-ts:posterior=linear"``
            knows these features, too.
        delta : float
            Accepted probability of naming a wrong arm, in (0, 1).
        width : float
            Indifference: pairs whose probability is within this width of 1/2 count as
            decided either way. From 0 to below 1/2.
        budget : int, optional
            Planned number of votes. Policies that need a horizon require it.
        seed : int
            Seed of all random choices: with the same seed, the same answers in the same
            order lead to the same questions.
        floor : int
            Number of votes that every pair gets before the policy chooses pairs.
        lease : float
            Seconds after which a question without an answer is asked again.
        blocked : pairs of str
            Pairs that are never asked.
        judging : Judging, optional
            How judges are asked and checked: gold questions, both orders.
        spending : Spending, optional
            What answers cost, and how much may be spent.
        stop_when : sequence of {"anytime", "posterior", "judges"}
            Nothing more is asked once all of these rules of :meth:`status` have
            stopped. "judges" stops where the same arm leads without the votes of any
            one judge.
        contexts : sequence of str
            A pool of contexts, such as prompts. Each question gets one of them: the
            context in which its pair was compared least often. Ties go to the context
            with the fewest questions, and then are broken at random.
        choose_from : int
            Number of arms that are shown at once, from 2 to 9. If there are more than
            two, a judge names the best of them. The model is then a multinomial logit,
            and the policy is one of three. "d-ts", the default: each card shows the
            best arm of its own posterior draw, among the arms not yet taken.
            "logit-ts": the best arms of one draw. "balanced": the arms that were shown
            least.
        worst : bool
            Judges of a set name the best and then the worst: one vote that says more.
        by : str, optional
            Who makes it, and later changes what it is about; see :meth:`open`.
        """
        given: Any = (
            arms, policy, model, delta, width, budget, seed, floor, lease, blocked,
            judging, spending, stop_when, contexts, choose_from, worst,
        )  # fmt: skip
        settings = Settings(*given, is_new=True)
        if settings.choose_from == 2 and settings.policy not in RULES:
            check_policy(settings)
        by = checked_judge(by, "by")
        body = {"format": FORMAT, **settings.as_body(), **({"by": by} if by else {})}
        return cls(EventLog.create(path, time.time(), body), by)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, by: str | None = None) -> Self:
        """Open the file of a study.

        Parameters
        ----------
        path : path
        by : str, optional
            Who changes what the study is about: stored with each such event, while
            answers are stored with their judges.
        """
        by = checked_judge(by, "by")
        return cls(EventLog.open(path), by)

    # The file

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._log.path

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms that are not retired."""
        with self._turn:
            return self._current().active_names

    @property
    def policy(self) -> str:
        """Who asks."""
        return self._settings.policy

    @property
    def choose_from(self) -> int:
        """How many arms a question shows."""
        return self._settings.choose_from

    def events(self) -> list[Event]:
        """Return the history of the study."""
        return self._log.read(0)

    def export(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the history as JSON lines, one event a line; write it to a new file.

        Arms are numbered from 0, in the order in which they came.
        """
        text = "".join(f"{event.as_json()}\n" for event in self._log.read(0))
        if path is not None:
            write_new(as_path("path", path, StudyError), text)
        return text

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Copy the study to a new file, while others may go on writing."""
        self._log.copy(path)

    def wait_at_most(self, seconds: float) -> None:
        """Wait so long for other programs that hold the file; by default two minutes.

        Whatever takes longer raises ``OutputWriteError`` or ``StudyFileError``.
        """
        self._log.wait_at_most(seconds)

    def follow(self, *, anew: bool = False) -> None:
        """Go on with the file that is at the path now, if another one was opened.

        A file that was moved away and back, or restored from a copy that holds all that
        was stored, takes answers again. Anything else raises ``StudyFileError``.

        Parameters
        ----------
        anew : bool
            Open it in any case, as after a ``StudyFileError``: what is known of a file
            that was overwritten in its place may be wrong.
        """
        with self._turn:
            if not (anew or self._log.is_moved):
                return
            path = self.path
            if not path.is_file():
                rule = "was moved or deleted while it was open"
                raise StudyFileError(str(path), rule, remedy="put it back")
            with errors_as(StudyFileError):
                log = EventLog.open(path, wait=self._log.wait)
            try:
                self._check_continued(log.read(0))
            except BaseException:
                log.close()
                raise
            self._log.close()
            self._log = log

    def close(self) -> None:
        """Close the file; keep what a long study, or a policy, has come to."""
        state, path = self._state, self.path
        # The snapshot is lost if the study is closed already, or gone.
        with self._turn, closing(self._log), suppress(StudyError):
            if state is not None:
                number, digest = state.last, state.digest
                policy = None if self._rule is None else self._rule.snapshot(state)
                if policy is not None and self._log.digest_of(number) == digest:
                    snapshot = snapshots.Snapshot(number, digest, policy)
                    snapshots.save(path, "policy", snapshot)
                if number >= self._saved + snapshots.EVERY:
                    prefix = self._log.prefix(number)
                    snapshot = snapshots.Snapshot(number, prefix, state)
                    snapshots.save(path, "state", snapshot)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._current()
        return (
            f"{type(self).__name__}({self.path.name}: {len(state.active)} arms, "
            f"{state.settings.policy}, {state.num_votes} votes, {len(state.open)} out)"
        )

    def _check_continued(self, events: list[Event]) -> None:
        # Refuse a file that lacks what was stored, or holds another study.
        number, digest = self._stored
        if number and (len(events) < number or events[number - 1].digest != digest):
            rule = "was replaced by a file that lacks answers of this study"
            remedy = "put the right one back, or open this one anew"
            raise StudyFileError(str(self.path), rule, remedy=remedy)

    def _current(self) -> StudyState:
        # The state after all that is stored.
        after = 0 if self._state is None else self._state.last
        digest = BEGINNING if self._state is None else self._state.digest
        events = self._log.read(after, digest)
        if self._state is None:
            self._check_continued(events)
        try:
            if events:
                with reading(self.path), snapshots.without_collector():
                    for event in events:
                        if self._state is None:
                            self._state = StudyState.begin(event)
                        else:
                            self._state.apply(event)
        except BaseException:
            # As by Ctrl-C, in the middle of an event.
            self._state = self._rule = None
            raise
        if self._state is None:
            raise StudyError(str(self.path), "has no events", remedy="make it anew")
        return self._state

    @closed_block
    def _writing(self) -> Generator[StudyState]:
        # Let nobody else write; forget what could not be stored.
        with self._turn:
            last = None
            try:
                with self._log.writing():
                    state = self._current()
                    last = state.last
                    yield state
            except BaseException:
                # Also what a block within this one has stored is taken back.
                state = self._state
                if last is not None and state is not None and state.last != last:
                    self._state = self._rule = None
                raise
            if self._state is not None and not self._log.is_writing:
                self._stored = self._state.last, self._state.digest

    def at_once(self) -> AbstractContextManager[Any]:
        """Store what is told and asked within it together: one wait for the disk.

        All of it, or nothing where the block ends in an error; so what is returned
        within it is on the disk only at its end. Nobody else writes meanwhile.
        """
        return self._writing()

    def _append(self, record: Record) -> None:
        # Within _writing nobody else has changed it.
        state = self._state or self._current()
        fields = record._fields
        if self._by is not None and "by" in fields and "question" not in fields:
            record = record._replace(by=self._by)
        values = record._asdict().items()
        body = {name: value for name, value in values if value is not None}
        event = Event(state.last + 1, self._clock(), events.NAMES[type(record)], body)
        state.apply(self._log.append(event, state.digest))

    # Questions

    @property
    def resting(self) -> str:
        """Why the last :meth:`ask` gave fewer tickets than it was asked for, or ""."""
        return self._resting

    @property
    def progress(self) -> tuple[int, int | None]:
        """Votes that count towards the budget, and the budget; None without one."""
        state = self._current()
        return int(state.num_used), state.settings.budget

    def ask(
        self, n: int = 1, *, judge: str | None = None, context: Any = None
    ) -> list[Ticket]:
        """Return the next questions.

        Questions whose lease has expired come first. Then come pairs with fewer votes
        than the floor, and then the pairs that the policy chooses.

        Parameters
        ----------
        n : int
            Number of questions, from 1 to 10,000.
        judge : str, optional
            Who is asked: a pair that the same judge has skipped is not asked again.
        context : JSON value, optional
            Stored with the question; in place of one of the pool, where there is one.

        Returns
        -------
        list of Ticket
            Fewer than ``n``, or none, if the budget is spent, the policy waits for
            answers, or it would only compare an arm with itself; the property
            :attr:`resting` says why. Tickets are stored 100 at a time, and other
            programs may write in between. If the disk becomes full, the tickets stored
            so far are returned.
        """
        count = integer_from(n, 1, "n", 10**4, kind=StudyError)
        judge = checked_judge(judge)
        if context is not None:
            context = _checked_context(context)
        tickets: list[Ticket] = []
        with self._turn:
            if self._rule is None:
                self._rule = rule_of(self._settings)
                if len(self._current().policy_events) >= snapshots.EVERY_TOLD:
                    # Go on from where it was in an earlier session.
                    known = snapshots.load(self.path, "policy")
                    if known and self._log.digest_of(known.number) == known.prefix:
                        self._rule.recall(known.payload)
            self._resting = ""
            try:
                while len(tickets) < count and not self._resting:
                    some = min(_AT_ONCE, count - len(tickets))
                    tickets += self._next_tickets(some, self._rule, judge, context)
            except OutputWriteError as error:
                self._rule = None
                if not tickets:
                    raise
                self._resting = str(error)
            except BaseException:
                # It may have been stopped halfway through what it was told.
                self._rule = None
                raise
        return tickets

    def _next_tickets(
        self, count: int, rule: Rule, judge: str | None, context: Any
    ) -> list[Ticket]:
        # Store the next questions, all or none.
        if self._settings.stop_when:
            from bayesduel.studies.stopping import why_stopped

            self._resting = why_stopped(self._current())
            if self._resting:
                return []
        # Others wait for the write lock; a compiler takes seconds.
        rule.prepare(self._current())
        tickets = []
        with self._writing() as state:
            for _ in range(count):
                question = next_question(state, rule, judge, context, self._clock())
                if isinstance(question, str):
                    self._resting = question
                    break
                self._append(question)
                if isinstance(question, events.Asked) and question.duel is not None:
                    rule.accepted(state)
                tickets.append(_ticket_of(state, state.questions[question.question]))
        return tickets

    def open_tickets(self, judge: str | None = None) -> list[Ticket]:
        """Return questions without an answer that were not asked anew, oldest first.

        Those of one judge, or with None all of them.
        """
        with self._turn:
            state = self._current()
            return [
                _ticket_of(state, question)
                for question in state.open.values()
                if judge in (None, question.judge)
            ]

    def answers_of(self, judge: str) -> list[int]:
        """Return the numbers of the questions that a judge has answered, in order."""
        with self._turn:
            return [
                question.number
                for question in self._current().questions.values()
                if question.answer is not None
                and question.voter == judge
                and not question.withdrawn
            ]

    # Answers

    @property
    def remark(self) -> str:
        """A remark on the last answer that was told, or ""."""
        return self._remark

    def tell(
        self,
        ticket: Ticket | int,
        answer: str | int | Sequence[int],
        *,
        judge: str | None = None,
    ) -> bool:
        """Store the answer to a question.

        Parameters
        ----------
        ticket : Ticket or int
            The question, or its number. One whose lease is over counts as well.
        answer : {"left", "right", "tie", "skip"}, int or pair of int
            Who is preferred; "skip" is no vote. Of a set the number of the best card,
            from 1, or "skip"; where the worst is asked for, too, those of both, as
            (1, 3) or "1,3".
        judge : str, optional
            Who answers: the one who was asked, if one was.

        Returns
        -------
        bool
            Whether the answer is new. It is False if the same answer was stored before;
            a different answer is refused. An answer that arrives when the budget is
            spent is stored but does not count as a vote, and the property
            :attr:`remark` says so.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            self._remark = ""
            question = _question_of(state, ticket, judge)
            answer = _checked_answer(answer, question, worst=state.settings.worst)
            _refuse_withdrawn(question)
            if question.answer == answer:
                self._remark = _remark_on(question, state)
                return False
            if question.answer is not None:
                rule = f"must be {question.answer!r}, as it was told before"
                remedy = "undo the first answer, if it was wrong"
                raise StudyError("answer", rule, answer, remedy=remedy)
            self._append(events.Answered(question.number, answer, judge))
            self._remark = _remark_on(question, state)
        return True

    def skip(self, ticket: Ticket | int, *, judge: str | None = None) -> bool:
        """Say that a judge gives no answer; as ``tell(ticket, "skip")``."""
        return self.tell(ticket, "skip", judge=judge)

    def undo(self, ticket: Ticket | int, *, judge: str | None = None) -> bool:
        """Take an answer back: the question is open again.

        Parameters
        ----------
        ticket : Ticket or int
        judge : str, optional
            Who does it: the one who was asked, if one was.

        Returns
        -------
        bool
            Whether there was an answer.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            question = _question_of(state, ticket, judge)
            _refuse_withdrawn(question)
            if question.answer is None:
                return False
            self._append(events.Undone(question.number, by=judge))
        return True

    def withdraw(self, ticket: Ticket | int, *, judge: str | None = None) -> bool:
        """Take a question back for good, with its answer if it has one.

        Parameters
        ----------
        ticket : Ticket or int
        judge : str, optional
            Who does it: the one who was asked, if one was.

        Returns
        -------
        bool
            Whether this is new.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            question = _question_of(state, ticket, judge)
            if question.withdrawn:
                return False
            self._append(events.Withdrawn(question.number, judge))
        return True

    def comparisons(self, *, judged: bool = False) -> Comparisons:
        """Return all votes between arms that are not retired, imported ones too.

        Parameters
        ----------
        judged : bool
            Return only those that were asked for, with the order in which arms were
            shown, and the columns ``judge`` and, where there was any, ``context``.
        """
        with self._turn:
            self._settings.check_of_pairs("comparisons")
            return (judged_votes if judged else votes_of)(self._current())  # pyright: ignore[reportReturnType]

    def choices(self) -> Choices:
        """Return all votes of a study of sets, imported ones too.

        Between arms that are not retired: a choice of another one is left out, and one
        out of a set with others is a choice among the rest, as the multinomial logit
        has it.
        """
        with self._turn:
            state = self._current()
            if not state.is_of_sets:
                rule, remedy = "for studies of sets", "this one has comparisons()"
                raise StudyError("choices", rule, remedy=remedy)
            return votes_of(state)  # pyright: ignore[reportReturnType]

    # Judges

    def add_gold(self, better: str, worse: str | Sequence[str]) -> bool:
        """Add a gold question, whose right answer (better of two, or best) is known.

        Each judge gets gold questions at random places, as often as
        ``Judging.gold_share`` says. Their answers do not count as votes. A judge with
        too few right answers is set aside.

        Parameters
        ----------
        better : str
            The right answer. No name here need be that of an arm: the page for judges
            shows what files they name.
        worse : str or sequence of str
            The other one. Of a set all others that are shown, as many as in any
            question; the worst of them last where judges name it, too.

        Returns
        -------
        bool
            Whether this is new.
        """
        names = _checked_gold(better, worse, self._settings.choose_from)
        first, *also, last = names
        with self._writing() as state:
            for known in state.golds:
                if {*known} != {*names}:
                    continue
                if known[0] != first:
                    rule = "must not be better, as it is known to be worse than "
                    raise StudyError("better", f"{rule}{known[0]!r}", first)
                if state.settings.worst and known[-1] != last:
                    rule = f"must not end with it, as {known[-1]!r} is known to be the "
                    raise StudyError("worse", f"{rule}worst", last)
                return False
            self._append(events.GoldAdded(first, last, also or None))
        return True

    def set_judge(
        self,
        name: str,
        *,
        limit: int | None = None,
        arms: Iterable[str] | None = None,
        price: float | None = None,
        trusted: bool = False,
    ) -> None:
        """Set the terms of a judge, in place of those before.

        Parameters
        ----------
        name : str
        limit : int, optional
            Most answers, those to gold questions and in both orders counted; with 0
            they are asked nothing.
        arms : iterable of str, optional
            Arms that they are asked about, at least two; by default all.
        price : float, optional
            Price of an answer; by default ``Spending.price``.
        trusted : bool
            Count their votes whatever they say of gold questions.
        """
        checked_judge(name)
        if name is None:
            raise StudyError("name", "must be that of a judge", name)
        if limit is not None:
            limit = integer_from(limit, 0, "limit", kind=StudyError)
        if price is not None:
            price = checked_price(price, "price")
        trusts = true_or_false(trusted, "trusted", kind=StudyError) or None
        names = None if arms is None else [arms] if isinstance(arms, str) else [*arms]
        with self._writing() as state:
            if names is not None:
                for arm in names:
                    checked_arm(arm, state.arms, "arms")
                if len(set(names)) < 2:
                    raise StudyError("arms", "must be at least two", names)
            self._append(events.JudgeSet(name, limit, names, price, trusts))

    # Arms

    def add_arm(self, name: str, *, share: float | None = None) -> None:
        """Compare one more arm from now on.

        A model with features of the arms takes no other one.

        Parameters
        ----------
        name : str
            A name that no arm has or had.
        share : float, optional
            Share of the questions that are about it, in (0, 1), until it has had as
            many votes as the median of the other arms; by default 1/2. It first meets
            the arms in the middle, then those that are nearest to what it has shown.
            For "information" and "balanced" alone: a policy finds its place by itself.
        """
        with self._writing() as state:
            name = checked_name(name, state.arms)
            if len(state.arms) == MOST_ARMS:
                rule = f"must be one of at most {MOST_ARMS} arms"
                raise StudyError("name", rule, name)
            if getattr(state.settings.model, "features", None) is not None:
                rule = "must have features, as all arms of a study with LinearUtilities"
                remedy = "make a new study with the features of all arms"
                raise StudyError("name", rule, name, remedy=remedy)
            if state.settings.policy in RULES and not state.is_of_sets:
                share = number_that(
                    _USUAL_SHARE if share is None else share, "share", "in (0, 1)",
                    lambda value: 0.0 < value < 1.0, kind=StudyError,
                )  # fmt: skip
            elif share is not None:
                rule = f"must be left out where {state.settings.policy} asks"
                remedy = "it finds the place of a new arm by itself"
                raise StudyError("share", rule, share, remedy=remedy)
            self._check_policy(len(state.active) + 1)
            self._append(events.ArmAdded(name, share))

    def retire_arm(self, name: str) -> None:
        """Ask about an arm no more; its votes are kept, but count no longer."""
        with self._writing() as state:
            if not state.is_retired[checked_arm(name, state.arms)]:
                self._check_one_fewer(state)
                self._append(events.ArmRetired(name))

    def restore_arm(self, name: str) -> None:
        """Ask about an arm again that was retired and not merged; its votes count."""
        with self._writing() as state:
            arm = checked_arm(name, state.arms)
            if arm in state.merged:
                rule = f"was merged into {state.arms[state.merged[arm]]!r}"
                raise StudyError("name", rule, name, remedy="add it by another name")
            if state.is_retired[arm]:
                self._check_policy(len(state.active) + 1)
                self._append(events.ArmRestored(name))

    def rename_arm(self, name: str, to: str) -> None:
        """Call an arm by another name from now on, votes and prices unchanged."""
        with self._writing() as state:
            checked_arm(name, state.arms)
            to = checked_name(to, state.arms, "to")
            self._append(events.ArmRenamed(name, to))

    def merge_arms(self, name: str, into: str) -> None:
        """Merge two arms: votes for either of them count for the second.

        Votes between the two are kept and count for neither, though the budget was
        used for them; open questions between them are asked no more. Open questions of
        the first against others go on as those of the second. The policy begins anew
        from the votes that count. There is no way back.

        Parameters
        ----------
        name, into : str
            Two arms that are not retired. The first is asked no more; nothing else
            gets its name.

        Notes
        -----
        The anytime rule takes the votes of a pair to have one probability: of two arms
        that differ, it judges a mixture.
        """
        with self._writing() as state:
            state.settings.check_of_pairs("merge_arms")
            for argument, arm in (("name", name), ("into", into)):
                if state.is_retired[checked_arm(arm, state.arms, argument)]:
                    rule = "must not be retired"
                    raise StudyError(argument, rule, arm, remedy="restore it first")
            if name == into:
                raise StudyError("into", "must be another arm than name", into)
            self._check_one_fewer(state)
            self._append(events.ArmsMerged(name, into))

    def _check_one_fewer(self, state: StudyState) -> None:
        least = state.settings.choose_from
        if len(state.active) == least:
            number = "two" if least == 2 else least
            rule = f"must leave {number} arms to be compared"
            remedy = "add another first"
            raise StudyError("name", rule, state.active, remedy=remedy)
        self._check_policy(len(state.active) - 1)

    def _check_policy(self, num_arms: int) -> None:
        if self._settings.policy not in RULES and self._settings.choose_from == 2:
            check_policy(self._settings, num_arms)

    # Votes from elsewhere

    def import_votes(
        self,
        votes: str | os.PathLike[str] | Comparisons | Choices,
        *,
        source: str = "",
        again: bool = False,
        **columns: Any,
    ) -> int:
        """Count votes that were collected elsewhere.

        Parameters
        ----------
        votes : path, Comparisons or Choices
            A table as :func:`bayesduel.votes.read_comparisons` reads it, or for a study
            of sets :func:`bayesduel.votes.read_sets`, of whole votes between arms of
            the study. A study of sets takes votes between two arms as choices out of
            these, if there are no ties.
        source : str, optional
            Where they are from, for the history; by default the path.
        again : bool
            Count votes that were imported before once more; they are refused otherwise,
            whatever the file was called.
        **columns
            As for that function.

        Returns
        -------
        int
            Number of votes; the best and the worst of a set are one.
        """
        from bayesduel.votes import read_comparisons, read_sets

        refuse_control_characters(source, "source", StudyError)
        of_sets = self._settings.choose_from > 2
        if isinstance(votes, Comparisons | Choices):
            data, named = votes, source
        else:
            data = (read_sets if of_sets else read_comparisons)(votes, **columns)
            named = source or visible(str(votes))
        given_rows = exchange.rows_of(data)
        with self._writing() as state:
            rows = exchange.fitting_rows(state, given_rows, data.arm_names, "votes")
            counts = [row.written() for row in rows]
            for event in () if again else self.events():
                known = event.number in state.imports
                if known and sorted(event.body["counts"]) == sorted(counts):
                    rule = f"were imported before, by event {event.number} from "
                    raise StudyError(
                        "votes",
                        rule + (event.body["source"] or "a table"),
                        f"{sum(row.num_votes for row in rows)} votes",
                        remedy="nothing needs to be done; {again=True} counts them "
                        "twice",
                    )
            self._append(events.Imported(named, counts))
        return num_votes_in(data)

    def import_study(
        self, other: str | os.PathLike[str], *, source: str = ""
    ) -> tuple[int, int]:
        """Count the votes of another study, each of them once.

        A vote is known by its content: the checksum of its answer, which the copies and
        exports of a study share. So a study that has grown brings what is new, and a
        copy of this study only what was answered in the copy. Votes that the other one
        imported come along.

        Parameters
        ----------
        other : path
            The file of a study, or its history as ``Study.export`` writes it. Every
            arm that votes are about must be one of this study.
        source : str, optional
            Where they are from, for the history; by default the path.

        Returns
        -------
        new, known : int
            Votes that count from now on, and those that did before.
        """
        refuse_control_characters(source, "source", StudyError)
        arms, theirs = exchange.votes_of_study(other)
        with self._writing() as state:
            rows = exchange.new_rows(theirs, self.events(), state)
            rows = exchange.fitting_rows(state, rows, arms, "other")
            if rows:
                counts = [row.written() for row in rows]
                source, keys = source or visible(str(other)), [row.key for row in rows]
                self._append(events.Imported(source, counts, keys))
        new = sum(row.num_votes for row in rows)
        return new, sum(row.num_votes for row in theirs) - new

    def undo_import(self, event: int) -> bool:
        """Take imported votes back: they count no more.

        Parameters
        ----------
        event : int
            Number of the event that brought them, in the history.

        Returns
        -------
        bool
            Whether this is new.
        """
        number = integer_from(event, 1, "event", kind=StudyError)
        with self._writing() as state:
            if number not in state.imports:
                history = self.events()
                known = [one.number for one in history if one.kind == "imported"]
                if number not in known:
                    rule = f"must be one that imported votes, among {known}"
                    raise StudyError("event", rule, number)
                return False
            self._append(events.ImportUndone(number))
        return True

    # Where it stands

    def status(
        self, probability: float = 0.9, *, forecast: bool = False, full: bool = False
    ) -> StudyStatus:
        """Return the current standings, and whether the rules allow stopping.

        Parameters
        ----------
        probability : float
            Of the intervals of the standings.
        forecast : bool
            Simulate how many votes are still needed, too; see :meth:`forecast`.
        full : bool
            Of more than 200 arms, too, say whether one may stop, and draw what needs
            draws of all pairs: ranks and the probabilities of being the best under
            ``PairwiseBeta``. Of 1,000 arms that takes ten seconds.
        """
        from bayesduel.studies.status import status_of

        full = true_or_false(full, "full", kind=StudyError)
        forecast = true_or_false(forecast, "forecast", kind=StudyError)
        foreseen = self.forecast() if forecast else None
        # The collector of garbage would look at every question.
        with self._turn, snapshots.without_collector():
            status_now = status_of(
                self._current(), probability, self._clock(), full=full
            )
        return replace(status_now, forecast=foreseen)

    def report(self, probability: float = 0.9, *, forecast: bool = False) -> str:
        """Return one HTML page that needs no other file.

        Standings with their intervals, who met whom, the probability of being the best
        and the evidence over the votes, and what the rules for stopping say.

        Parameters
        ----------
        probability, forecast
            As for :meth:`status`.
        """
        from bayesduel.studies.report import report_html

        foreseen = self.forecast() if forecast else None
        now = self._clock()
        return report_html(self.events(), self.path, probability, now, foreseen)

    def export_judges(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return what is known of judges as JSON lines, one judge a line.

        Fields are those of ``status().judges.lines``; written to a new file, too, where
        one is named.
        """
        from bayesduel.studies.judges import judge_table

        with self._turn:
            text = judge_table(self._current(), leave_out=False).as_lines()
        if path is not None:
            write_new(as_path("path", path, StudyError), text)
        return text

    def by_context(self) -> ContextTable:
        """Return which arm wins in each context of the pool, and over all contexts.

        Each context is fitted by itself, with the votes that were asked for in it; over
        contexts each of them has the same weight, however many votes it has. Empty
        where the study has no pool.
        """
        from bayesduel.studies.contexts import context_table

        with self._turn:
            return context_table(self._current())

    def to_dataframe(self) -> pd.DataFrame:
        """Return all answers to questions of this study, one a row.

        Imported votes are not among them: nobody knows who gave them, or when;
        :meth:`Study.comparisons` counts them.

        Returns
        -------
        pandas.DataFrame
            ``question``, ``left``, ``right``, ``answer``; ``winner``, an arm, "tie", or
            missing; ``counts``, whether it is a vote, or one half of it;
            ``gold``; ``other_order_of``, the first question of both orders; ``judge``,
            ``context`` (as JSON where it is no text), ``rule``; ``seconds`` and
            ``cost`` of the answer; ``asked`` and ``answered``, times in UTC; ``shown``,
            all arms that were shown, as JSON; ``worst``, where it was named.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesduel.studies import Study
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "drinks.study")
        ...     with Study.create(path, ["tea", "milk"], "balanced") as study:
        ...         _ = study.tell(study.ask()[0], "left", judge="Ada")
        ...         table = study.to_dataframe()
        >>> table[["question", "answer", "judge"]].to_dict("records")
        [{'question': 1, 'answer': 'left', 'judge': 'Ada'}]
        """
        with self._turn:
            state = self._current()
            return exchange.answers_frame(self.events()[: state.last], state)

    def export_votes(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_dataframe` to a new file: Parquet for ``.parquet``, else CSV.

        Parquet needs pyarrow.
        """
        exchange.write_frame(self.to_dataframe(), as_path("path", path, StudyError))

    # Simulations

    def forecast(
        self, probability: float = 0.8, *, most_votes: int = 10_000, num_runs: int = 400
    ) -> Forecast:
        """Say how many votes are still needed until the rules of the study decide.

        Simulated studies go on from the votes there are: each draws its preference
        matrix from the posterior of this study's model, and its policy asks until a
        rule names an arm, whichever that is. So the intervals hold if the model does.

        Parameters
        ----------
        probability : float
            Of the intervals.
        most_votes : int
            Votes that a simulated study is played on at most.
        num_runs : int
            Simulated studies.

        Returns
        -------
        Forecast
            Of "anytime", and of "posterior" where the model is a Beta distribution per
            pair. Its remarks say what was simulated differently: a policy without a
            kernel is replaced by D-TS+, and ties come in proportion.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesduel.studies import Study
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "drinks.study")
        >>> with Study.create(path, ["tea", "milk"], "balanced") as study:
        ...     for ticket in study.ask(12):
        ...         better = "left" if ticket.left == "tea" else "right"
        ...         _ = study.tell(ticket, better)
        ...     forecast = study.forecast()
        >>> print(forecast.words(forecast.lines[1]))
        none: it names an arm now
        >>> folder.cleanup()
        """
        from bayesduel.studies.forecast import forecast_of

        error = StudyError
        self._settings.check_of_pairs("forecast")
        level = share_of(probability, "probability", kind=error)
        most = integer_from(most_votes, 1, "most_votes", _MOST_VOTES, kind=error)
        runs = integer_from(num_runs, 1, "num_runs", _MOST_RUNS, kind=error)
        with self._turn:
            return forecast_of(self._current(), level, most, runs)

    def audit_stopping(
        self,
        *,
        budget: int | None = None,
        look_every: int = 1,
        num_runs: int = 1000,
        seed: int = 0,
        keep: bool = True,
        on_progress: Callable[[float], None] | None = None,
    ) -> StoppingAudit:
        """Measure how often rules would stop wrongly in studies like this one.

        Each of them begins without a vote, with this policy, delta and width; its truth
        is drawn from the posterior of this study's model, given the votes there are. A
        policy without a kernel raises ``SimulationArgumentError``.

        Parameters
        ----------
        budget : int, optional
            Largest number of votes; by default the budget of the study, or 2000.
        look_every, num_runs, seed, on_progress
            As for :func:`bayesduel.analysis.audit_stopping`.
        keep : bool
            Store the result with the study, as an event: :meth:`status` and
            :meth:`report` show it from then on.

        Returns
        -------
        StoppingAudit
            Of the two rules of :meth:`Study.status` and of the usual heuristics. Where
            the model is no Beta distribution per pair, the posterior rule stands there
            as "posterior by pair": it is that of such a distribution. Remarks say what
            was simulated differently.
        """
        from bayesduel.studies.audits import audit_of, record_of_audit

        self._settings.check_of_pairs("audit_stopping")
        with self._turn:
            # A copy: votes and arms may come meanwhile, and the event says of what.
            state = deepcopy(self._current())
        keep = true_or_false(keep, "keep", kind=StudyError)
        audit = audit_of(
            state, budget, look_every=look_every, num_runs=num_runs, seed=seed,
            on_progress=on_progress,
        )  # fmt: skip
        if keep:
            with self._writing():
                self._append(record_of_audit(state, audit))
        return audit


def _ticket_of(state: StudyState, question: Question) -> Ticket:
    shown, worst = state.names_of(question), state.settings.worst
    return Ticket(
        question.number, shown[0], shown[1], question.rule, question.reason,
        question.judge, question.context, question.lease, shown, worst,
    )  # fmt: skip


def _question_of(
    state: StudyState, ticket: Ticket | int, judge: str | None
) -> Question:
    # The question that a ticket, or a number, is about: the judge's own.
    given = ticket.number if isinstance(ticket, Ticket) else ticket
    most = len(state.questions)
    if not most:
        rule = "must be of a question, but nothing was asked yet"
        raise StudyError("ticket", rule, None, remedy="ask first")
    number = whole_number(given)
    if number is None or not 1 <= number <= most:
        rule = f"must be the number of a question that was asked, 1 to {most}"
        raise StudyError("ticket", rule, given)
    question = state.questions[number]
    if judge is not None and question.judge not in (None, judge):
        rule = f"must be the one to whom question {number} was put"
        raise ForeignQuestionError("judge", rule, judge)
    return question


def _refuse_withdrawn(question: Question) -> None:
    if question.withdrawn:
        rule = "must not have been withdrawn"
        raise StudyError("ticket", rule, question.number)


def _checked_answer(given: Any, question: Question, *, worst: bool) -> str:
    words, answer = answers_to(len(question.arms), worst=worst), given
    if question.is_set:
        cards = given if isinstance(given, tuple | list) else [given]
        if all(type(card) is int for card in cards):
            answer = ",".join(map(str, cards))
        if worst and answer not in words:
            most = len(question.arms)
            rule = f"must be the best card and the worst, two of 1 to {most}, or 'skip'"
            raise StudyError("answer", rule, given, remedy="such as '1,3'")
    return one_of(answer, words, "answer", kind=StudyError)


def _remark_on(question: Question, state: StudyState) -> str:
    # Return the remark on an answer.
    if question.gold is not None:
        return ""
    if state.record(question.voter).is_aside:
        return "kept, but its judge is set aside: it does not count"
    unit = state.unit_of(question)
    if unit.outcome == "nothing":
        return "kept, but it contradicts the other order: neither counts"
    if not unit.beyond:
        return ""
    budget = state.settings.budget
    return f"kept, but the budget of {budget} votes was spent: it does not count"


def _checked_context(context: Any) -> Any:
    # A context as it comes back from the file.
    try:
        text = json.dumps(context, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StudyError("context", "must be a value of JSON", context) from error
    if len(text) > _LONGEST_CONTEXT:
        rule = f"must be at most {_LONGEST_CONTEXT} characters of JSON"
        raise StudyError("context", rule, len(text))
    parts = [context]
    while parts:
        part = parts.pop()
        refuse_control_characters(part, "context", StudyError, lines=True)
        if isinstance(part, dict):
            parts += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            parts += part
    return json.loads(text)


def _checked_gold(better: Any, worse: Any, size: int) -> tuple[str, ...]:
    # Return the arms of a gold question, the best one first, the worst last.
    others = (worse,) if isinstance(worse, str) else worse
    if not isinstance(others, tuple | list) or len(others) != size - 1:
        rule = "must be a name"
        if size > 2:
            rule = f"must be the other {size - 1} of the {size} that are shown"
        raise StudyError("worse", rule, worse)
    for argument, name in (("better", better), *(("worse", name) for name in others)):
        if not isinstance(name, str) or not name:
            raise StudyError(argument, "must be a name", name)
        refuse_control_characters(name, argument, StudyError)
    if len({better, *others}) != size:
        rule = "must be another one than better"
        if size > 2:
            rule = "must be others than better, each once"
        raise StudyError("worse", rule, worse)
    return (better, *others)
