"""Options that several subcommands share."""

from __future__ import annotations

from typing import Any

import typer

__all__ = [
    "flag",
    "jobs_option",
    "json_flag",
    "overwrite_flag",
    "quiet_flag",
    "repair_flag",
    "resume_flag",
]


def flag(*names: str, help: str, **options: Any) -> Any:  # noqa: A002, ANN401
    """Return an option that takes no value; the help shows no type for it."""
    return typer.Option(*names, help=help, metavar=" ", **options)


json_flag = flag("--json", help="Print JSON, and nothing else, to standard output.")
quiet_flag = flag("-q", "--quiet", help="No progress and no messages.")
resume_flag = flag("--resume", help="Go on from what is in the folder.")
overwrite_flag = flag("--overwrite", help="Replace what is in the folder.")
jobs_option = typer.Option(metavar="N", help="Worker processes; default: all cores.")
repair_flag = flag("--repair", help="Accept files where P + P^T is off 1 by rounding.")
