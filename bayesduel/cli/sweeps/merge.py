"""``bayesduel merge``: join the parts of a sweep, or name those that are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.errors import damage_warnings, ended
from bayesduel.cli.options import format_option, quiet_flag
from bayesduel.cli.output import console, say


def merge(
    out: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="What all parts were written to.")
    ],
    format: Annotated[str, format_option] = "netcdf",
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Join the parts of a comparison that several processes wrote with --part.

    Nothing is simulated. Says which parts are missing, and what does them.
    """
    import bayesduel
    from bayesduel.analysis import measurements, summary
    from bayesduel.cli.tables import print_summary

    try:
        with damage_warnings():
            tree = bayesduel.merge(out, format=format)
    except KeyboardInterrupt as error:
        raise ended(error, out, "all parts") from error
    for notion in dict.fromkeys(measurements(tree)[0].notions):
        print_summary(console(), summary(tree, notion=notion))
    say(f"saved the results in {out}", quiet=quiet)
