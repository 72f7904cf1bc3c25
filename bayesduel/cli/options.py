"""Options that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from bayesduel.cli import parse


def flag(*names: str, help: str, **options: Any) -> Any:
    """Return an option that takes no value; the help shows no type for it."""
    return typer.Option(*names, help=help, metavar=" ", **options)


def integer_option(*names: str, least: int | None = None, **options: Any) -> Any:
    """Return an option for a whole number; see :func:`bayesduel.cli.parse.integer`."""
    parser = _parser(parse.integer, least=least)
    return typer.Option(*names, parser=parser, **options)


def number_option(*names: str, **options: Any) -> Any:
    """Return an option for a number; see :func:`bayesduel.cli.parse.number`."""
    return typer.Option(*names, parser=_parser(parse.number), **options)


def _parser(reader: Callable[..., Any], **rule: Any) -> Callable[[Any], Any]:
    """Return what reads what was typed; a default is no text, and stays as it is.

    A function and no partial, because Typer 0.18 asks for its name.
    """

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return reader(value, **rule)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error

    return read


seed_option = integer_option(
    metavar="S", least=0, help="The same seed, the same result."
)
format_option = typer.Option(
    metavar="NAME", help="Of the results: netcdf, or zarr (results.zarr.zip)."
)
json_flag = flag("--json", help="Print JSON, and nothing else, to standard output.")
quiet_flag = flag("-q", "--quiet", help="No progress and no messages.")
resume_flag = flag("--resume", help="Go on from what is in the folder.")
overwrite_flag = flag("--overwrite", help="Replace what is in the folder.")
jobs_option = integer_option(metavar="N", help="Worker processes; default: all cores.")
repair_flag = flag("--repair", help="Accept files where P + P^T is off 1 by rounding.")
