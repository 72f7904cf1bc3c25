"""The command itself: its subcommands and ``--version``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from bayesduel.arguments.own_modules import FOLDERS
from bayesduel.cli.errors import FriendlyGroup
from bayesduel.cli.lazy_commands import LazyCommands
from bayesduel.cli.options import flag
from bayesduel.cli.output import degrade_encodings, version
from bayesduel.program_cache import own_process
from bayesduel.signals import SIGNALLED

_COMMANDS = {
    "compare": "sweeps.compare:compare",
    "config": "sweeps.config:config",
    "merge": "sweeps.merge:merge",
    "bounds": "bounds:bounds",
    "plot": "plot:plot",
    "fit": "votes.fit:fit",
    "fit-choices": "votes.fit_choices:fit_choices",
    "next": "votes.next_pairs:next_pairs",
    "calibrate": "votes.calibrate:calibrate",
    "audit-stopping": "study.audit:audit_stopping",
    "reproduce": "reproduce:reproduce",
    "list": "listing:list_",
    "show": "show:show",
    "demo": "demo:demo",
    "study": "study.app:study",
}


class _Group(FriendlyGroup):
    lazy_commands = LazyCommands(_COMMANDS)


app = typer.Typer(
    name="bayesduel",
    cls=_Group,
    help="Simulate dueling bandits exactly and compare them with their theory.",
    epilog="Try: bayesduel compare -i mslr5-condorcet -p d-ts -p rucb --horizon 1e6",
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Unexpected errors keep Python's own traceback: it can be pasted into a report.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bayesduel {version()}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        flag(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Simulate dueling bandits exactly and compare them with their theory."""
    # An installed command does not look for modules where it is called.
    with suppress(OSError):  # That folder may be gone.
        FOLDERS[:] = [os.getcwd()]


def _show_dropped(dropped: Any) -> None:
    """Say what Python drops, but not what signals to end raise: they were heard."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def run() -> None:
    """Run the command line in a process of its own."""
    own_process()
    # What is imported stays: to look for garbage among it takes a tenth of a short
    # command, at the usual 2000 new objects.
    gc.set_threshold(100_000)
    degrade_encodings()
    sys.unraisablehook = _show_dropped
    try:
        app(prog_name="bayesduel")
    except SystemExit as error:
        if not isinstance(error.code, int) or error.code < SIGNALLED:
            raise
        # After a signal Python would take seconds to free what compilers have left.
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(error.code)
