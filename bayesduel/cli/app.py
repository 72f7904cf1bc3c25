"""The command itself: its subcommands and ``--version``."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from bayesduel.cli import (
    bounds,
    demo,
    listing,
    plot,
    reproduce,
    show,
)
from bayesduel.cli.errors import SIGNALLED, FriendlyGroup
from bayesduel.cli.examples import show_examples
from bayesduel.cli.options import flag
from bayesduel.cli.output import degrade_encodings, version
from bayesduel.cli.study.app import study
from bayesduel.cli.study.audit import audit_stopping
from bayesduel.cli.sweeps.compare import compare
from bayesduel.cli.sweeps.config import config
from bayesduel.cli.sweeps.deadline import left_in_time
from bayesduel.cli.sweeps.merge import merge
from bayesduel.cli.votes.calibrate import calibrate
from bayesduel.cli.votes.fit import fit
from bayesduel.cli.votes.fit_choices import fit_choices
from bayesduel.program_cache import own_process

__all__ = ["app", "main"]

app = typer.Typer(
    name="bayesduel",
    cls=FriendlyGroup,
    help="Simulate dueling bandits exactly and compare them with their theory.",
    epilog="Try: bayesduel compare -i mslr5-condorcet -p d-ts -p rucb --horizon 1e6",
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Unexpected errors keep Python's own traceback: it can be pasted into a report.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("compare")(compare)
app.command("config")(config)
app.command("merge")(merge)
app.command("bounds")(bounds.bounds)
app.command("plot")(plot.plot)
app.command("fit")(fit)
app.command("fit-choices")(fit_choices)
app.command("calibrate")(calibrate)
app.command("audit-stopping")(audit_stopping)
app.command("reproduce")(reproduce.reproduce)
app.command("list")(listing.list_)
app.command("show")(show.show)
app.command("demo")(demo.demo)
app.add_typer(study, name="study")
show_examples(app)


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


def main() -> None:
    """Run the command line; the entry point ``bayesduel``."""
    own_process()
    # What is imported stays: to look for garbage among it takes a tenth of a short
    # command, at the usual 2000 new objects.
    gc.set_threshold(100_000)
    degrade_encodings()
    with left_in_time(SIGNALLED):
        app(prog_name="bayesduel")
