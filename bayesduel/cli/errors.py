"""The one place where errors become messages and exit codes.

0: done. 1: done, but a policy failed, or a bound could not be certified, or results
could not be written. 2: wrong input, said in one line before anything was computed.
130: interrupted; 143 and 129: ended by SIGTERM or SIGHUP, after the same clean-up.
Anything unexpected keeps its traceback.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import typer

from bayesduel.cli.output import ending, say, say_error
from bayesduel.signals import SIGNALLED, heard, interrupt

FAILED = 1
WRONG_INPUT = 2
_BROKEN_PIPE = SIGNALLED + getattr(signal, "SIGPIPE", 13)

_OURS = ("bayesduel", "theory")

_UsageError: Any = typer.BadParameter.__mro__[1]
"""The error of the option parser; public only as the base of this one."""


def ended(error: KeyboardInterrupt, out: Path | None, finished: str) -> typer.Exit:
    """Say what an interrupted command has kept; return what to raise."""
    if out is None:
        advice = "nothing was kept; with --out DIR, --resume can go on"
        return _exit_after(error, f"{ending(error)}: {advice}")
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
    again = shlex.join(["bayesduel", *words, "--resume"])
    text = f"{ending(error)}: kept {finished} in {out}; go on with\n  {again}"
    return _exit_after(error, text)


def ended_for_good(error: KeyboardInterrupt, advice: str) -> typer.Exit:
    """Say that an interrupted command keeps nothing; return what to raise."""
    return _exit_after(error, f"{ending(error)}: {advice}")


def _exit_after(error: KeyboardInterrupt, text: str) -> typer.Exit:
    heard.clear()
    with suppress(OSError):  # The terminal may be gone.
        say(text)
    return typer.Exit(SIGNALLED + getattr(error, "number", signal.SIGINT))


def refuse_given(given: Mapping[str, Any], rule: str, remedy: str = "") -> None:
    """Raise an error about the first of some options that was given."""
    from bayesduel.cli.parse import option_error

    for name, value in given.items():
        if value:
            raise option_error(name, rule, value, remedy=remedy)


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """End without a word where whoever reads our output has gone, as in ``| head``."""
    # The signal itself stays ignored: it would end a server whose client has gone, too.
    try:
        yield
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except SystemExit as error:
        # Rich has met the broken pipe, and exits with 1.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        raise SystemExit(_BROKEN_PIPE) from error
    except BrokenPipeError as error:
        if not any(map(_has_no_reader, (1, 2))):
            raise
        # The contents of the buffers are discarded when the program ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in filter(_has_no_reader, (1, 2)):
            os.dup2(nowhere, descriptor)
        raise SystemExit(_BROKEN_PIPE) from error


def _has_no_reader(descriptor: int) -> bool:
    if not hasattr(select, "poll"):  # On Windows; nothing else is known to break.
        return True
    poll = select.poll()
    poll.register(descriptor, 0)
    gone = select.POLLERR | select.POLLHUP
    return any(event & gone for _, event in poll.poll(0))


@contextmanager
def friendly_errors(flag_of: Callable[[str], str] = lambda _: "") -> Iterator[None]:
    """Turn errors that we raised for the user into one line and an exit code."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise _exit_after(error, ending(error)) from error
    except _UsageError as error:
        path = error.ctx.command_path if error.ctx else "bayesduel"
        text = error.format_message().rstrip(".").replace("Value error, ", "")
        say_error(f"{text}; see {path} --help")
        raise typer.Exit(WRONG_INPUT) from error
    except Exception as error:
        if heard and not isinstance(error, typer.Exit):
            raised = interrupt(heard[0])
            raise _exit_after(raised, ending(raised)) from error
        code = _exit_code(error)
        if code is None or os.environ.get("BAYESDUEL_TRACEBACK"):
            raise
        say_error(_text(error, flag_of))
        raise typer.Exit(code) from error


def _exit_code(error: Exception) -> int | None:
    """Return the exit code of an error of ours, None for any other error."""
    if isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
        return None
    if isinstance(error, OSError):
        return WRONG_INPUT
    if isinstance(error, ImportError):  # Ours name an extra; a missing module is a bug.
        return WRONG_INPUT if type(error) is ImportError else None
    from bayesduel.errors import ArgumentError, BayesduelError, ProgramError

    ours = isinstance(error, ArgumentError | BayesduelError | ProgramError)
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


def _text(error: Exception, flag_of: Callable[[str], str]) -> str:
    from bayesduel.errors import ArgumentError
    from theory.errors import short_repr

    if isinstance(error, ArgumentError) and error.rule:
        argument = error.argument
        is_flag = argument.startswith("--") or argument.isupper()
        option = argument if is_flag else flag_of(argument)
        if option and error.index is not None:  # One of several that were typed.
            typed = getattr(error.value, "label", error.value)
            if isinstance(typed, str) and typed not in str(error):
                option = f"{option} {short_repr(typed)}"
        where = f"{option}:" if option else None
        return error.sentence(where, lambda name: flag_of(name) or name)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
