"""A study that is told answers, and lets them be taken back."""

from __future__ import annotations

from bayesduel.errors import StudyError, reraise_as
from bayesduel.studies._questions import Question
from bayesduel.studies._state import StudyState
from bayesduel.studies._study_analysis import StudyAnalysis
from bayesduel.studies.stored.events import ANSWERS
from bayesduel.studies.tickets import Ticket, check_own, checked_judge, question_of
from theory.arguments import one_of

__all__ = ["Answering"]


class Answering(StudyAnalysis):
    """Answers to questions: by whom they may be given, undone and withdrawn."""

    @property
    def remark(self) -> str:
        """What there is to say of the last answer that was told, or ""."""
        return self._remark

    def tell(
        self, ticket: Ticket | int, answer: str, *, judge: str | None = None
    ) -> bool:
        """Store the answer to a question.

        Parameters
        ----------
        ticket : Ticket or int
            The question, or its number. One whose lease is over counts as well.
        answer : {"left", "right", "tie", "skip"}
            Who is preferred; "skip" is no vote.
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
        answer = reraise_as(StudyError, one_of, answer, ANSWERS, "answer")
        judge = checked_judge(judge)
        with self._writing() as state:
            self._remark = ""
            question = question_of(state, ticket)
            check_own(question, judge)
            if question.withdrawn:
                rule = "must not have been withdrawn"
                raise StudyError.of("ticket", rule, question.number)
            if question.answer == answer:
                self._remark = _remark_on(question, state)
                return False
            if question.answer is not None:
                rule = f"must be {question.answer!r}, as it was told before"
                remedy = "undo the first answer, if it was wrong"
                raise StudyError.of("answer", rule, answer, remedy=remedy)
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
                raise StudyError.of("ticket", rule, question.number)
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


def _named(field: str, judge: str | None) -> dict[str, str]:
    """Return what an event holds of who did it."""
    return {} if judge is None else {field: judge}


def _remark_on(question: Question, state: StudyState) -> str:
    """Return what there is to say of an answer."""
    if not question.beyond:
        return ""
    budget = state.settings.budget
    return f"kept, but the budget of {budget} votes was spent: it does not count"
