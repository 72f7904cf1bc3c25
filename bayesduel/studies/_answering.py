"""A study that is told answers, and lets them be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bayesduel.arguments.control_characters import refuse_control_characters
from bayesduel.errors import StudyError, errors_as
from bayesduel.studies._settings import checked_arm
from bayesduel.studies._study_analysis import StudyAnalysis
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.events import answers_to
from bayesduel.studies.terms import checked_price
from bayesduel.studies.tickets import Ticket, check_own, checked_judge, question_of
from bayesduel.votes.checks import labels_of
from theory.arguments import integer_from, one_of, true_or_false

__all__ = ["Answering"]


class Answering(StudyAnalysis):
    """Answers to questions: by whom they may be given, undone and withdrawn."""

    @property
    def remark(self) -> str:
        """What there is to say of the last answer that was told, or ""."""
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
            Who answers, which is kept; must be the one who was asked, if one was.

        Returns
        -------
        bool
            Whether this is new: False where the same answer is stored already. An
            answer that comes when the budget is spent is kept, and no vote;
            :attr:`remark` says so.

        Raises
        ------
        StudyError
            If there is no such question, it was withdrawn, or has another answer.
        OutputWriteError
            If it cannot be stored; then it is not.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            self._remark = ""
            question = question_of(state, ticket)
            check_own(question, judge)
            answer = _checked_answer(answer, question, worst=state.settings.worst)
            if question.withdrawn:
                rule = "must not have been withdrawn"
                raise StudyError("ticket", rule, question.number)
            if question.answer == answer:
                self._remark = _remark_on(question, state)
                return False
            if question.answer is not None:
                rule = f"must be {question.answer!r}, as it was told before"
                remedy = "undo the first answer, if it was wrong"
                raise StudyError("answer", rule, answer, remedy=remedy)
            body = {"question": question.number, "answer": answer}
            self._append("answered", body | _named("judge", judge))
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
            Who does it, which is kept; must be the one who was asked, if one was.

        Returns
        -------
        bool
            Whether there was an answer.

        Raises
        ------
        StudyError
            If there is no such question, or it was withdrawn.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            question = question_of(state, ticket)
            if question.withdrawn:
                rule = "must not have been withdrawn"
                raise StudyError("ticket", rule, question.number)
            check_own(question, judge)
            if question.answer is None:
                return False
            body = {"question": question.number}
            self._append("undone", body | _named("by", judge))
        return True

    def withdraw(self, ticket: Ticket | int, *, judge: str | None = None) -> bool:
        """Take a question back for good, with its answer if it has one.

        Parameters
        ----------
        ticket : Ticket or int
        judge : str, optional
            Who does it, which is kept; must be the one who was asked, if one was.

        Returns
        -------
        bool
            Whether this is new.
        """
        judge = checked_judge(judge)
        with self._writing() as state:
            question = question_of(state, ticket)
            check_own(question, judge)
            if question.withdrawn:
                return False
            body = {"question": question.number}
            self._append("withdrawn", body | _named("judge", judge))
        return True

    def add_gold(self, better: str, worse: str | Sequence[str]) -> bool:
        """Ask judges now and then what is known: which of two is better, or best.

        Each judge gets such a question as often as ``Judging.gold_share`` says, at
        random places. The answers are no votes; whoever has too few of them right is
        set aside.

        Parameters
        ----------
        better : str
            What is right. No name here need be that of an arm: the page for judges
            shows what files they name.
        worse : str or sequence of str
            The other one. Of a set all others that are shown, as many as in any
            question; the worst of them last where judges name it, too.

        Returns
        -------
        bool
            Whether this is new.

        Raises
        ------
        StudyError
            If two are the same, there are too many or too few, or others are known to
            be the best or the worst of them.
        """
        names = _checked_gold(better, worse, self._settings.choose_from)
        first, *also, last = names
        with self._writing() as state:
            for known in state.golds:
                if {*known} == {*names}:
                    _check_same(known, names, worst=state.settings.worst)
                    return False
            body = {"better": first, "worse": last, **({"also": also} if also else {})}
            self._append("gold added", body)
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
        """Say what holds for a judge, in place of what held before.

        Parameters
        ----------
        name : str
        limit : int, optional
            Answers at most, those to gold questions and in both orders counted; with 0
            they are asked nothing.
        arms : iterable of str, optional
            Of which they are asked, at least two; by default of all.
        price : float, optional
            What an answer of theirs costs; by default ``Spending.price``.
        trusted : bool
            Count their votes whatever they say of gold questions.

        Raises
        ------
        StudyError
            If an argument does not fit.
        """
        checked_judge(name)
        if name is None:
            raise StudyError("name", "must be that of a judge", name)
        body: dict[str, Any] = {"name": name}
        if limit is not None:
            body["limit"] = integer_from(limit, 0, "limit", kind=StudyError)
        if price is not None:
            body["price"] = checked_price(price, "price")
        if true_or_false(trusted, "trusted", kind=StudyError):
            body["trusted"] = True
        own = None if arms is None else [arms] if isinstance(arms, str) else [*arms]
        with self._writing() as state:
            if own is not None:
                for each in own:
                    checked_arm(each, state.arms, "arms")
                if len(set(own)) < 2:
                    raise StudyError("arms", "must be at least two", own)
                body["arms"] = own
            self._append("judge set", body)


def _checked_gold(better: Any, worse: Any, size: int) -> tuple[str, ...]:
    """Return what a gold question shows, the best one first and the worst last."""
    others = (worse,) if isinstance(worse, str) else worse
    if not isinstance(others, tuple | list) or len(others) != size - 1:
        rule = "must be a name"
        if size > 2:
            rule = f"must be the other {size - 1} of the {size} that are shown"
        raise StudyError("worse", rule, worse)
    for name, each in (("better", better), *(("worse", each) for each in others)):
        if not isinstance(each, str) or not each:
            raise StudyError(name, "must be a name", each)
        refuse_control_characters(each, name, StudyError)
        with errors_as(StudyError):
            labels_of(name, [each])
    if len({better, *others}) != size:
        rule = "must be another one than better"
        if size > 2:
            rule = "must be others than better, each once"
        raise StudyError("worse", rule, worse)
    return (better, *others)


def _check_same(known: tuple[str, ...], names: tuple[str, ...], *, worst: bool) -> None:
    """Refuse what contradicts a gold question about the same names."""
    if known[0] != names[0]:
        rule = f"must not be better, as it is known to be worse than {known[0]!r}"
        raise StudyError("better", rule, names[0])
    if worst and known[-1] != names[-1]:
        rule = f"must not end with it, as {known[-1]!r} is known to be the worst"
        raise StudyError("worse", rule, names[-1])


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


def _named(field: str, judge: str | None) -> dict[str, str]:
    """Return what an event holds of who did it."""
    return {} if judge is None else {field: judge}


def _remark_on(question: Question, state: StudyState) -> str:
    """Return what there is to say of an answer."""
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
