"""Handing over a matrix that was typed, before computing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theory import PreferenceMatrix


def load_matrix(text: str, argument: str, *, repair: bool = False) -> PreferenceMatrix:
    """Return a matrix by name or from a file; an error says in which argument.

    Raises
    ------
    ValueError
        When the name is unknown (near ones are suggested) or the file is no matrix.
    OSError
        When there is no such file.
    """
    from bayesduel import instances
    from bayesduel.errors import errors_about

    with errors_about(argument, text):
        return instances.load(text, repair=repair)
