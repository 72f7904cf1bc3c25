"""The one place where errors become messages and exit codes.

0: done. 1: done, but a policy failed, or a bound could not be certified, or results
could not be written. 2: wrong input, said in one line before anything was computed.
130: interrupted; 143 and 129: ended by SIGTERM or SIGHUP, after the same clean-up.
Anything unexpected keeps its traceback.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from bayesduel.cli.lazy_commands import LazyCommands, with_plain_types
from bayesduel.cli.output import ending, go_on, say, say_error, say_warning
from bayesduel.signals import SIGNALLED, heard, interrupt, signals_raise

FAILED = 1
WRONG_INPUT = 2
_BROKEN_PIPE = SIGNALLED + getattr(signal, "SIGPIPE", 13)

_OURS = ("bayesduel", "theory")

_PARAMETERS = {
    "blocked": "block",
    "instances": "instance",
    "n": "number",
    "name": "figure",
    "num_runs": "runs",
    "num_warmup": "warmup",
    "panels": "panel",
    "path": "file",
    "policies": "policy",
    "prior": "prior_scale",
    "rng_key": "seed",
    "shuffle": "no_shuffle",
    "ticket": "number",
}
"""Parameters of subcommands that are not called as the argument that they become."""

_UsageError: Any = typer.BadParameter.__mro__[1]
"""What the reader of options raises; public only as the base of this one."""


def ended(error: KeyboardInterrupt, out: Path | None, kept: str) -> typer.Exit:
    """Say what an interrupted command has kept; return what to raise."""
    return _said(error, go_on(out, kept, error))


def ended_for_good(error: KeyboardInterrupt, advice: str) -> typer.Exit:
    """Say that an interrupted command keeps nothing; return what to raise."""
    return _said(error, f"{ending(error)}: {advice}")


def _said(error: KeyboardInterrupt, text: str) -> typer.Exit:
    heard.clear()
    with suppress(OSError):  # The terminal may be gone.
        say(text)
    return typer.Exit(SIGNALLED + getattr(error, "number", signal.SIGINT))


def option_error(
    option: str,
    rule: str,
    value: Any = None,
    *,
    remedy: str = "",
) -> ValueError:
    """Return an error about an option; library code is imported only for one."""
    from bayesduel.errors import ArgumentError

    return ArgumentError(option, rule, value, remedy=remedy)


def refuse_given(given: Mapping[str, Any], rule: str, remedy: str = "") -> None:
    """Raise an error about the first of some options that was given."""
    for name, value in given.items():
        if value:
            raise option_error(name, rule, value, remedy=remedy)


class FriendlyGroup(TyperGroup):
    """A group of commands whose wrong input gives one line on standard error."""

    lazy_commands: ClassVar[LazyCommands]
    """They are made when they are asked for."""

    def __init__(self, **attrs: Any) -> None:
        attrs["commands"] = self.lazy_commands
        super().__init__(**attrs)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names."""
        return list(self.commands)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, whose help shows no types of Python."""
        return with_plain_types(super().get_params(ctx), ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the subcommand."""
        # Without any argument the help is shown, which is no error.
        with _quiet_pipes(), friendly_errors() if args else nullcontext():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; see :func:`friendly_errors`."""
        friendly = friendly_errors(partial(self._called, ctx))
        with _quiet_pipes(), friendly, signals_raise():
            return super().invoke(ctx)

    def _called(self, ctx: Any, argument: str) -> str:
        """Return what an argument of the library is called here; "" if nothing is."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        known = {each.name: each for each in command.params} if command else {}
        for name in (argument, _PARAMETERS.get(argument, "")):
            if name in known:
                parameter = known[name]
                # What stands alone is called as the help shows it.
                alone = parameter.param_type_name == "argument"
                options = [parameter.metavar or name] if alone else parameter.opts
                return max(options, key=len)
        return ""


@contextmanager
def damage_warnings() -> Iterator[None]:
    """Let warnings about damaged parts be said as the command says warnings.

    And those about features that a prior hardly lets matter.
    """
    from bayesduel.errors import DamagedPartWarning, NarrowPriorWarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, DamagedPartWarning | NarrowPriorWarning):
            say_warning(str(message))
        else:
            plain(message, category, *rest)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DamagedPartWarning)
        plain, warnings.showwarning = warnings.showwarning, show
        yield


@contextmanager
def _quiet_pipes() -> Iterator[None]:
    """End without a word where whoever reads our output has gone, as in ``| head``.

    The exit code is that of a program which the signal of a broken pipe ends, 128 +
    SIGPIPE: not all was written, and what comes after it, such as figures, is missing.
    The signal itself stays ignored: it would end a server whose client has gone, too.
    """
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
        # What is still in the buffers is thrown away as the program ends.
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
def friendly_errors(called: Callable[[str], str] = lambda _: "") -> Iterator[None]:
    """Turn errors that we raised for the user into one line and an exit code.

    ``called`` gives the option for an argument of the library, and "" for what is none.

    A ``ValueError`` counts as ours when it was raised in a file of this project: its
    text then names the argument, the rule and the remedy. The same error from deep
    inside a library is a bug, and keeps its traceback. BAYESDUEL_TRACEBACK=1 keeps
    every traceback. After a signal to end, any error counts as what came of it.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise _said(error, ending(error)) from error
    except _UsageError as error:
        path = error.ctx.command_path if error.ctx else "bayesduel"
        text = error.format_message().rstrip(".").replace("Value error, ", "")
        say_error(f"{text}; see {path} --help")
        raise typer.Exit(WRONG_INPUT) from error
    except Exception as error:
        if heard and not isinstance(error, typer.Exit):
            raised = interrupt(heard[0])
            raise _said(raised, ending(raised)) from error
        code = _exit_code(error)
        if code is None or os.environ.get("BAYESDUEL_TRACEBACK"):
            raise
        say_error(_text(error, called))
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


def _text(error: Exception, called: Callable[[str], str]) -> str:
    from bayesduel.errors import ArgumentError
    from theory.errors import short_repr

    if isinstance(error, ArgumentError) and error.rule:
        argument = error.argument
        named = argument.startswith("--") or argument.isupper()
        option = argument if named else called(argument)
        if option and error.index is not None:  # One of several that were typed.
            typed = getattr(error.value, "label", error.value)
            if isinstance(typed, str) and typed not in str(error):
                option = f"{option} {short_repr(typed)}"
        where = f"{option}:" if option else None
        return error.sentence(where, lambda name: called(name) or name)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
