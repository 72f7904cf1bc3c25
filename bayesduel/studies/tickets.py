"""A question as a judge gets it, and what belongs to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bayesduel.arguments.control_characters import refuse_control_characters
from bayesduel.errors import StudyError, errors_as
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.events import answers_to
from bayesduel.votes.checks import labels_of
from theory.arguments import whole_number

__all__ = ["LEASE", "ForeignQuestionError", "Ticket", "check_own", "checked_context",
           "checked_judge", "question_of", "ticket_of"]  # fmt: skip

LEASE = 3600.0
"""Seconds."""

_LONGEST_CONTEXT = 10**5
"""Characters of JSON; whole texts fit, films do not."""


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
        """What names each arm that is shown: left, right, or the number of a card."""
        words = answers_to(len(self.shown))
        return dict(zip(words, self.shown, strict=False))


def ticket_of(state: StudyState, question: Question) -> Ticket:
    """Return a question with the names of its arms."""
    shown = state.names_of(question)
    return Ticket(
        number=question.number,
        left=shown[0],
        right=shown[1],
        rule=question.rule,
        reason=question.reason,
        judge=question.judge,
        context=question.context,
        lease=question.lease,
        shown=shown,
        worst=state.settings.worst,
    )


def question_of(state: StudyState, ticket: Ticket | int) -> Question:
    """Return the question that a ticket, or a number, is about."""
    given = ticket.number if isinstance(ticket, Ticket) else ticket
    most = len(state.questions)
    if not most:
        raise StudyError(
            "ticket",
            "must be of a question, but nothing was asked yet",
            None,
            remedy="ask first",
        )
    number = whole_number(given)
    if number is None or not 1 <= number <= most:
        rule = f"must be the number of a question that was asked, 1 to {most}"
        raise StudyError("ticket", rule, given)
    return state.questions[number]


def check_own(question: Question, judge: str | None) -> None:
    """Raise ``ForeignQuestionError`` if it was put to another judge than this one."""
    if judge is not None and question.judge not in (None, judge):
        rule = f"must be the one to whom question {question.number} was put"
        raise ForeignQuestionError("judge", rule, judge)


def checked_judge(judge: Any, argument: str = "judge") -> str | None:
    """Return the name of a judge, or None."""
    if judge is not None and (not isinstance(judge, str) or not judge):
        raise StudyError(argument, "must be a name, or None", judge)
    if judge is not None:
        refuse_control_characters(judge, argument, StudyError)
        with errors_as(StudyError):
            labels_of(argument, [judge])
    return judge


def checked_context(context: Any) -> Any:
    """Return a context as it comes back from the file."""
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
