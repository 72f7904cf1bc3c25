"""Errors of the package.

Every text names the argument, the rule, the offending value with its index, and a
remedy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self


class ArgumentError(ValueError):
    """An argument breaks a rule: its name, the rule, the value, index and remedy.

    Parameters
    ----------
    argument : str
        Its name; empty where the error is about none. Without a rule it is the text.
    rule : str
        What is asked of it, from "must" on, or what is wrong with it.
    value : object
        What was given.
    index : int or tuple of int, optional
        Which one of several, or which entry of a table.
    remedy : str
        What to do; it names other arguments as ``{name}``, ``{name=True}`` or
        ``{name='word'}``.

    Attributes
    ----------
    argument, rule, value, index, remedy
        As given; empty where the error was made of a text alone.

    Examples
    --------
    >>> error = ArgumentError("size", "must be at least 2", 1, remedy="add arms")
    >>> str(error)
    'size must be at least 2, got 1; add arms'
    >>> error.sentence("--size:")
    '--size: must be at least 2, got 1; add arms'
    """

    def __init__(
        self,
        argument: str = "",
        rule: str = "",
        value: object = None,
        *,
        index: int | tuple[int, ...] | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(argument)
        self.argument, self.rule, self.value = argument if rule else "", rule, value
        self.index, self._remedy = index, remedy
        if rule:
            self.args = (self.sentence(),)

    @property
    def remedy(self) -> str:
        """A remedy, in words."""
        return _with_names(self._remedy, str)

    def sentence(
        self, where: str | None = None, called: Callable[[str], str] = str
    ) -> str:
        """Return the text with other words for the arguments.

        Parameters
        ----------
        where : str, optional
            What stands before the rule; by default the argument and its index.
        called : callable
            Gives the word for another argument that the remedy names.
        """
        if where is None:
            index = self.index if isinstance(self.index, tuple) else (self.index,)
            entry = (
                "" if self.index in (None, ()) else f"[{', '.join(map(str, index))}]"
            )
            sentence = self.rule.partition(" ")[0] in _VERBS or not self.argument
            colon = "" if sentence else ":"
            where = f"{self.argument}{entry}{colon}"
        got = (
            # A rule that says what must be is followed by what was given.
            f", got {short_repr(self.value)}" if self.rule.startswith("must ") else ""
        )
        remedy = _with_names(self._remedy, called)
        end = f"; {remedy}" if remedy else ""
        return f"{where} {self.rule or str(self)}{got}{end}".lstrip()

    def renamed(
        self, argument: str, index: int | tuple[int, ...] | None = None
    ) -> Self:
        """Return the same error of an argument that has another name here."""
        return type(self)(
            argument, self.rule, self.value, index=index, remedy=self._remedy
        )

    def as_kind[E: ArgumentError](self, kind: type[E]) -> E:
        """Return the same error of another kind."""
        if not self.rule:
            return kind(str(self))
        parts = self.argument, self.rule, self.value
        return kind(*parts, index=self.index, remedy=self._remedy)


@contextmanager
def errors_about(
    argument: str, value: object, index: int | None = None
) -> Iterator[None]:
    """Attach the name of an argument to the errors that are raised in a block.

    Whatever is raised while ``value`` is read becomes an `ArgumentError`, of the same
    type if it is one of this kind. An error about that value itself gets the name that
    it has here; one about a part of it keeps its own name behind that.
    """
    try:
        yield
    except ValueError as error:
        raise _found_in(error, argument, value, index) from error


def _found_in(
    error: ValueError, argument: str, value: object, index: int | None
) -> ArgumentError:
    if not isinstance(error, ArgumentError):
        return ArgumentError(argument, str(error), value, index=index)
    if not error.rule:
        return type(error)(argument, str(error), value, index=index)
    # A text may be a copy.
    received = error.value
    same = received is value or (
        type(received) is type(value) is str and received == value
    )
    if same or error.argument in ("", argument):
        return error.renamed(argument, error.index if index is None else index)
    rule = error.sentence()
    if error.remedy:
        rule = rule.removesuffix(f"; {error.remedy}")
    return type(error)(argument, rule, value, index=index, remedy=error._remedy)


@contextmanager
def errors_as(kind: type[ArgumentError]) -> Iterator[None]:
    """Raise the errors of a block as another kind of error."""
    try:
        yield
    except ArgumentError as error:
        raise error.as_kind(kind) from error
    except ValueError as error:
        raise kind(str(error)) from error


def short_repr(value: Any) -> str:
    """Write a value into an error text, cut where it is long."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()
    try:
        text = repr(os.fspath(value) if isinstance(value, os.PathLike) else value)
    except Exception:  # An integer of 10^4 digits, or a foreign object.
        text = f"a {type(value).__name__} that cannot be printed"
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:97]}..."


# With a rule that begins so the argument makes a sentence
_VERBS = {"cannot", "does", "has", "holds", "is", "lacks", "must", "needs", "was"}


def _with_names(remedy: str, called: Callable[[str], str]) -> str:
    def word(match: re.Match[str]) -> str:
        name, value = match[1], match[2] or ""
        here = called(name)
        if here == name:
            return f"{name}={value}" if value else name
        # An option of the command line: a flag is True by being there.
        plain = value.strip("'")
        return here if plain in ("", "True") else f"{here} {plain}"

    return re.sub(r"\{(\w+)(?:=(\w+|'[^'{}]*'))?\}", word, remedy)


class InvalidPreferenceError(ArgumentError):
    """A preference matrix, or a question about it, breaks a rule."""


class ArgumentTypeError(InvalidPreferenceError, TypeError):
    """An argument is of a type that cannot be read."""


class TieError(InvalidPreferenceError):
    """A pair is tied where the theory assumes that there are no ties."""


class ProgramError(RuntimeError):
    """A linear program was not solved, or its certificate does not hold."""
