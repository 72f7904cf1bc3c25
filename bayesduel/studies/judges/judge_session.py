"""A judge at a study: the question before them, and what they have answered."""

from __future__ import annotations

from bayesduel.studies.study import Study
from bayesduel.studies.tickets import Ticket

__all__ = ["JudgeSession"]


class JudgeSession:
    """Asks a judge one question after the other.

    A judge with a name gets back what was left open, also by another such object, and
    may take back what they answered to it; one without only what this one has asked.

    Parameters
    ----------
    study : Study
    judge : str or None

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "drinks.study")
    >>> with Study.create(path, ["tea", "milk"], "balanced") as study:
    ...     session = JudgeSession(study, "Ada")
    ...     session.answer(session.next().number, "left")
    ...     session.undo(session.last)
    ...     session.next().number, session.num_answered
    True
    True
    (1, 0)
    >>> folder.cleanup()
    """

    def __init__(self, study: Study, judge: str | None) -> None:
        self._study, self._judge = study, judge
        self._asked: set[int] = set()
        self._answered: list[int] = []
        self._before = [] if judge is None else study.answers_of(judge)

    @property
    def num_answered(self) -> int:
        """Answers that were stored here and not taken back."""
        return len(self._answered)

    @property
    def last(self) -> int | None:
        """Number of the question whose answer is to be taken back first."""
        known = self._answered or self._before
        return known[-1] if known else None

    def next(self) -> Ticket | None:
        """Return the oldest open question of the judge, or a new one.

        None where there is nothing to ask; ``study.resting`` says why.
        """
        waiting = self._waiting()
        if not waiting:
            waiting = self._study.ask(judge=self._judge)
            self._asked.update(ticket.number for ticket in waiting)
        return min(waiting, key=lambda ticket: ticket.number, default=None)

    def answer(self, number: int, word: str) -> bool:
        """Store an answer as ``Study.tell``, and raise what that raises."""
        is_new = self._study.tell(number, word, judge=self._judge)
        self._count_answer(number)
        return is_new

    def answer_and_next(self, number: int, word: str) -> Ticket | None:
        """Store an answer and the next question together: one wait for the disk."""
        with self._study.at_once():
            self._study.tell(number, word, judge=self._judge)
            ticket = self.next()
        # Only here both are on the disk.
        self._count_answer(number)
        return ticket

    def undo(self, number: int) -> bool:
        """Take an answer back as ``Study.undo``: its question is asked again."""
        is_new = self._study.undo(number, judge=self._judge)
        for known in (self._answered, self._before):
            if number in known:
                known.remove(number)
        self._asked.add(number)
        return is_new

    def _count_answer(self, number: int) -> None:
        if number not in self._answered:
            self._answered.append(number)
        if number in self._before:
            self._before.remove(number)

    def leave(self) -> None:
        """Take back questions that nobody can come back to: who has no name."""
        for ticket in self._waiting() if self._judge is None else ():
            self._study.withdraw(ticket)

    def _waiting(self) -> list[Ticket]:
        return [
            ticket
            for ticket in self._study.open_tickets(self._judge)
            if self._judge is not None or ticket.number in self._asked
        ]
