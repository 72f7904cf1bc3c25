"""A study: who is compared, who asks, what was answered; one file of events."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, Self

from bayesduel.errors import OutputWriteError, StudyError
from bayesduel.models.base import PreferenceModel
from bayesduel.studies._asking import next_question, rule_of
from bayesduel.studies._fits import judged_votes, votes_of
from bayesduel.studies._rules import Nothing, Rule, check_policy_text
from bayesduel.studies._settings import RULES, Settings
from bayesduel.studies.contents.arms import Contents
from bayesduel.studies.stored import snapshots
from bayesduel.studies.stored.event_log import FORMAT, EventLog
from bayesduel.studies.terms import Judging, Spending
from bayesduel.studies.tickets import (
    LEASE,
    Ticket,
    checked_context,
    checked_judge,
    ticket_of,
)
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import integer_from

__all__ = ["Study"]

_AT_ONCE = 100
"""Questions that are stored together: others need not wait for long."""


class Study(Contents):
    """Comparisons by real judges, asked for by a policy.

    One SQLite file holds everything, as events that are appended and never changed;
    what is known is a replay of them. Several objects, threads and processes may ask
    and answer at once. What a method has returned is on the disk.

    Made by :meth:`create` and :meth:`open`; a context manager, which closes the file.

    Notes
    -----
    Questions without an answer are feedback on its way: the policy goes on, and is told
    each outcome when it arrives, with the round in which it was asked for. What it
    would play without asking anybody (an arm against itself) is counted as
    ``status().idle_rounds``. It is told a tie as a vote by a fair coin. When an arm
    comes or goes, votes are imported or a vote is taken back, it begins anew from the
    votes that count; a policy that plans whole batches begins without them.

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
            Of a file that does not exist, on a disk of this machine.
        arms : sequence of K str
            What is compared, at least two, at most 4096.
        policy : str, optional
            Who asks: a policy with parameters, as in ``policies.parse_policy``;
            "information", the pair whose vote is expected to teach most; or "balanced",
            the pair with the fewest votes. By default "d-ts+".
        model : {"beta", "bradley-terry", "thurstone"} or PreferenceModel, optional
            What standings and expected information assume of the votes; ties are added
            to it when there are any. With ``LinearUtilities(features)`` a policy such
            as ``"d-ts:posterior=linear"`` knows these features, too.
        delta : float
            Error that is accepted when an arm is named, in (0, 1).
        width : float
            Pairs within it of 1/2 count either way, from 0 to below 1/2: what differs
            by less need not be told apart.
        budget : int, optional
            Votes that may be asked for; policies that plan for a horizon need it.
        seed : int
            Of everything random: the same answers in the same order, the same
            questions.
        floor : int
            Votes that every pair shall have before the rule decides.
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
            stopped: the two that are certain, and "judges", where the same arm leads
            without the votes of any one judge.
        contexts : sequence of str
            A pool, such as prompts, of which each question draws one: that in which its
            pair was compared least often, then the one with the fewest questions, else
            at random.
        choose_from : int
            Arms that are shown at once, from 2 to 9; of more than two a judge names the
            best. The model is a multinomial logit then, and the policy one of "d-ts"
            (the default: each card the best arm of a posterior draw of its own, of
            those not yet taken), "logit-ts" (the best arms of one draw) and "balanced"
            (those that were shown least).
        worst : bool
            Of a set judges name the best and then the worst: one vote that says more.
        by : str, optional
            Who makes it, and later changes what it is about; see :meth:`open`.

        Raises
        ------
        StudyError, PolicyParameterError, UnknownNameError
            If an argument does not fit.
        OutputWriteError
            If the file cannot be written.
        """
        settings = Settings.checked(
            arms, policy, model, delta, width, budget, seed, floor, lease, blocked,
            judging, spending, stop_when, contexts, choose_from, worst, is_new=True,
        )  # fmt: skip
        if settings.choose_from == 2 and settings.policy not in RULES:
            check_policy_text(settings)
        by = checked_judge(by, "by")
        body = {"format": FORMAT, **settings.as_body(), **({"by": by} if by else {})}
        return cls(EventLog.create(path, time.time(), body), by)

    @property
    def resting(self) -> str:
        """Why the last :meth:`ask` gave fewer tickets than it was asked for, or ""."""
        return self._resting

    def ask(
        self, n: int = 1, *, judge: str | None = None, context: Any = None
    ) -> list[Ticket]:
        """Return the next questions.

        A question whose lease is over comes first; then pairs below the floor; then
        what the rule of the study asks for.

        Parameters
        ----------
        n : int
            How many, from 1 to 10,000.
        judge : str, optional
            Who is asked: a pair that the same judge has skipped is not asked again.
        context : JSON value, optional
            Kept with the question; in place of one of the pool, where there is one.

        Returns
        -------
        list of Ticket
            Fewer than ``n``, or none, where the budget is spent, the policy waits for
            answers or would only exploit; :attr:`resting` says why. They are stored 100
            at a time, and others may write in between; those before a full disk are
            returned.

        Raises
        ------
        OutputWriteError
            If none can be stored.
        """
        count = integer_from(n, 1, "n", 10**4, kind=StudyError)
        judge = checked_judge(judge)
        context = checked_context(context)
        with self._turn:
            if self._rule is None:
                self._rule = rule_of(self._settings)
                self._recall_rule(self._rule)
            try:
                return self._tickets(self._rule, count, judge, context)
            except BaseException:
                # It may have been stopped halfway through what it was told.
                self._rule = None
                raise

    def _tickets(
        self, rule: Rule, count: int, judge: str | None, context: Any
    ) -> list[Ticket]:
        """Store the next questions, some at a time."""
        tickets: list[Ticket] = []
        self._resting = ""
        while len(tickets) < count and not self._resting:
            if self._settings.stop_when:
                from bayesduel.studies.stopping_lines import why_stopped

                self._resting = why_stopped(self._current())
                if self._resting:
                    break
            # Others wait for the write lock; a compiler takes seconds.
            rule.prepare(self._current())
            some = min(_AT_ONCE, count - len(tickets))
            try:
                tickets += self._asked(some, rule, judge, context)
            except OutputWriteError as error:
                if not tickets:
                    raise
                self._resting = str(error)
        return tickets

    def _recall_rule(self, rule: Rule) -> None:
        """Let a policy go on from where it was in an earlier session."""
        state = self._current()
        if len(state.told) < snapshots.EVERY_TOLD:
            return
        found = snapshots.kept(self.path, "policy")
        # The chain of the file is known to be sound.
        if found is not None and self._log.digest_of(found.number) == found.prefix:
            rule.recall(found.payload)

    def _asked(
        self, count: int, rule: Rule, judge: str | None, context: Any
    ) -> list[Ticket]:
        """Store the next questions, all or none."""
        tickets = []
        with self._writing() as state:
            for _ in range(count):
                found = next_question(state, rule, judge, context, self._clock())
                if isinstance(found, Nothing):
                    self._resting = found.reason
                    break
                self._append("gold asked" if "gold" in found else "asked", found)
                if "duel" in found:
                    rule.accepted(state)
                tickets.append(ticket_of(state, state.questions[found["question"]]))
        return tickets

    def open_tickets(self, judge: str | None = None) -> list[Ticket]:
        """Return questions without an answer that were not asked anew, oldest first.

        Those of one judge, or with None all of them.
        """
        with self._turn:
            state = self._current()
            return [
                ticket_of(state, question)
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

    def comparisons(self, *, judged: bool = False) -> Comparisons:
        """Return all votes between arms that are not retired, imported ones too.

        Parameters
        ----------
        judged : bool
            Return those alone that were asked for, with the order in which arms were
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

        Raises
        ------
        StudyError
            If the study is of pairs.
        """
        with self._turn:
            state = self._current()
            if not state.is_of_sets:
                rule, remedy = "for studies of sets", "this one has comparisons()"
                raise StudyError("choices", rule, remedy=remedy)
            return votes_of(state)  # pyright: ignore[reportReturnType]
