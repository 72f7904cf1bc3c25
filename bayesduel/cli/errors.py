"""The one place where errors become messages and exit codes.

0: done. 1: done, but a policy failed, or a bound could not be certified. 2: wrong
input, said in one line before anything was computed. 130: interrupted. Anything
unexpected keeps its traceback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import typer
from typer.core import TyperGroup

from bayesduel.cli.output import say_error

__all__ = ["FAILED", "INTERRUPTED", "WRONG_INPUT", "FriendlyGroup", "friendly_errors"]

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130

_OURS = ("bayesduel", "theory")


class FriendlyGroup(TyperGroup):
    """A group of commands whose wrong input gives one line on standard error."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run the subcommand; see :func:`friendly_errors`."""
        with friendly_errors():
            return super().invoke(ctx)


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn errors that we raised for the user into one line and an exit code.

    A ``ValueError`` counts as ours when it was raised in a file of this project: its
    text then names the argument, the rule and the remedy. The same error from deep
    inside a library is a bug, and keeps its traceback. BAYESDUEL_TRACEBACK=1 keeps
    every traceback.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        say_error("interrupted")
        raise typer.Exit(INTERRUPTED) from error
    except (ValueError, OSError, RuntimeError) as error:
        code = _exit_code(error)
        if code is None or os.environ.get("BAYESDUEL_TRACEBACK"):
            raise
        say_error(_text(error))
        raise typer.Exit(code) from error


def _exit_code(error: Exception) -> int | None:
    """Return the exit code of an error of ours, None for any other error."""
    if isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
        return None
    if isinstance(error, OSError):
        return WRONG_INPUT
    from bayesduel.errors import BayesduelError, ProgramError

    ours = isinstance(error, BayesduelError | ProgramError)
    if isinstance(error, ValueError):
        return WRONG_INPUT if ours or _raised_here(error.__traceback__) else None
    return FAILED if ours else None


def _raised_here(trace: TracebackType | None) -> bool:
    """Whether the innermost frame belongs to this project."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.split(".")[0] in _OURS


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
