"""Arguments and options that commands of ``bayesduel study`` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.cli.options import argument, option
from bayesduel.cli.output import Messages

if TYPE_CHECKING:
    from bayesduel.studies import Study

FORECAST = option("Simulate how many votes more; takes seconds.")
JUDGE = option("NAME: Who answers: what they skip is not repeated.")
TEXTS = option("DIR: Show the text of the file in it an arm names.")


@dataclass(frozen=True)
class StudyFile:
    """A study."""

    file: Path = argument("FILE: The study.")

    def open(self) -> Study:
        """Open the study."""
        from bayesduel.studies import Study

        return Study.open(self.file, by=getattr(self, "by", None))


@dataclass(frozen=True)
class EditedStudy(Messages, StudyFile):
    """A study that is changed, and who changes it."""

    by: str | None = option("NAME: Who does it: kept with the event.")

    def say_stored(self, is_new: bool) -> None:
        """Say whether something is new."""
        self.say("stored" if is_new else "this was stored before")
