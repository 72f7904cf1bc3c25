"""Files that arms name: texts and images to be shown to judges."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from bayesduel.errors import StudyError
from bayesduel.files.folders import as_path

__all__ = ["IMAGE_TYPES", "ArmFiles"]

IMAGE_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""What browsers show as an image, by suffix."""


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
        kept = Path(study)
        ends = "", "-wal", "-journal", "-links"
        self._kept = [kept.with_name(kept.name + end) for end in ends]

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
            if any(each.exists() and file.samefile(each) for each in self._kept):
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
