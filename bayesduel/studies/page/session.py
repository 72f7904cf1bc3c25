"""A judge at a study: the question before them, and the files that arms name."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from bayesduel.errors import StudyError
from bayesduel.files.folders import as_path
from bayesduel.studies.study import Study, Ticket

IMAGE_TYPES = {
    ".avif": "image/avif", ".gif": "image/gif", ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
    ".webp": "image/webp",
}  # fmt: skip
"""Types of files that browsers show as an image, by suffix."""


class ArmFiles:
    """A folder with files of which arms are the names.

    No name leads out of the folder, by no link either, and none to the study itself.

    Parameters
    ----------
    folder : path
    study : path
        File of the study.
    argument : str
        What an error calls the folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "one.txt").write_text("Ask less.")
    ...     files = ArmFiles(folder, "slogans.study", "texts")
    ...     files.text("one.txt", 100), files.text("../one.txt", 100)
    ('Ask less.', None)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        study: str | os.PathLike[str],
        argument: str,
    ) -> None:
        path = as_path(argument, folder, StudyError)
        if not path.is_dir():
            raise StudyError(argument, "must be a folder", str(folder))
        self._folder, self._argument = path.resolve(), argument
        study_file = Path(study)
        ends = "", "-wal", "-journal", "-links"
        self._forbidden = [study_file.with_name(study_file.name + end) for end in ends]

    def path(self, arm: str) -> Path | None:
        """Return the file that an arm names, or None if it names none.

        Raises
        ------
        StudyError
            If the folder is gone: judges would see names in place of all files.
        """
        if not self._folder.is_dir():
            rule, remedy = "is no longer there", "put the folder back"
            raise StudyError(self._argument, rule, str(self._folder), remedy=remedy)
        name = PurePath(arm)
        if name.is_absolute() or ".." in name.parts:
            return None
        try:
            file = (self._folder / name).resolve(strict=True)
            if not file.is_relative_to(self._folder) or not file.is_file():
                return None
            if any(one.exists() and file.samefile(one) for one in self._forbidden):
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        return file

    def text(self, arm: str, most_bytes: int) -> str | None:
        """Return the text of the file that an arm names, cut with a word about it."""
        file = self.path(arm)
        if file is None:
            return None
        try:
            with file.open("rb") as stream:
                content = stream.read(most_bytes + 1)
        except OSError:
            return None
        if len(content) <= most_bytes:
            return content.decode("utf-8", "replace")
        shown = content[:most_bytes].decode("utf-8", "replace")
        return f"{shown}\n[cut after {most_bytes} bytes]"

    def image(self, arm: str) -> Path | None:
        """Return the image that an arm names, or None if it names none."""
        file = self.path(arm)
        known = file is not None and file.suffix.lower() in IMAGE_TYPES
        return file if known else None


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
        self._numbers: set[int] = set()
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
            self._numbers.update(ticket.number for ticket in waiting)
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
        self._numbers.add(number)
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
            if self._judge is not None or ticket.number in self._numbers
        ]
