"""``bayesduel compare``: simulate policies on instances, print, save, draw."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import FAILED, damage_warnings, ended
from bayesduel.cli.options import (
    flag,
    format_option,
    integer_option,
    json_flag,
    overwrite_flag,
    quiet_flag,
    resume_flag,
)
from bayesduel.cli.output import print_json, say, say_warning
from bayesduel.cli.sweeps.reporting import Report
from bayesduel.cli.sweeps.request import asks_for_experiment, read_request

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment

_DONE = "what was finished"


@asks_for_experiment
def compare(
    ctx: typer.Context,
    jobs: Annotated[
        int | None,
        integer_option(
            metavar="N",
            help="Worker processes; default: all cores, for what lasts more than "
            "seconds. Changes no result.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let the workers of a Dask scheduler do it, tcp://host:8786; or "
            "local, for --jobs workers here. Changes no result.",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Do part I of N, such as 3/10, in the folder of all of them; when "
            "they are done, bayesduel merge joins them.",
        ),
    ] = None,
    shared: Annotated[
        bool,
        flag("--shared", help="Workers of --dask see the folder, and write there."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for results and figures, new or empty."
        ),
    ] = None,
    format: Annotated[str, format_option] = "netcdf",
    resume: Annotated[bool, resume_flag] = False,
    overwrite: Annotated[bool, overwrite_flag] = False,
    ranking: Annotated[
        bool, flag("--ranking", help="Print the ranking with all its intervals.")
    ] = False,
    as_json: Annotated[bool, json_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Simulate policies on instances and compare their regret with theory.

    Instances are preference matrices, or worlds of subset choice such as camera.

    Prints final regret, the measured slope beside the constant of the lower bound,
    and the ranks, and which of them are certain.
    """
    request = read_request(ctx)
    asked = request.asked
    if not quiet:
        for text in request.doubts:
            say_warning(text)
    report = Report(asked)
    with _engine(dask, jobs) as executor:
        tree = _simulate(
            asked,
            out,
            tables=report.tables,
            jobs=jobs,
            executor=executor,
            part=part,
            shared=shared,
            format=format,
            progress=not quiet,
            resume=resume,
            overwrite=overwrite,
        )
    report.read(tree)
    if part is not None:
        then = f"bayesduel merge {out}"
        say(f"part {part} is in {out}; join all with: {then}", quiet=quiet)
    elif as_json:
        print_json(report.json_rows())
    else:
        report.print(intervals=ranking)
    if out is not None and part is None:
        report.save_rest(out, quiet=quiet)
    elif not as_json and part is None:
        say("nothing was saved; --out DIR saves results and figures", quiet=quiet)
    if failed := report.failures():
        for text in failed:
            say_warning(text)
        raise typer.Exit(FAILED)


def _engine(
    dask: str | None, jobs: int | None
) -> AbstractContextManager[Executor | None]:
    if dask is None:
        return nullcontext()
    from bayesduel.experiments.arguments import worker_count
    from bayesduel.experiments.execute import dask_executor

    return dask_executor(dask, worker_count(jobs))


def _simulate(
    asked: Experiment,
    out: Path | None,
    **options: Any,
) -> xr.DataTree:
    from bayesduel.experiments.execute import run_experiment

    try:
        with damage_warnings():
            return run_experiment(asked, out=out, **options)
    except KeyboardInterrupt as error:
        is_part = options["part"] is not None
        raise ended(error, out, _finished(error, is_part=is_part)) from error


def _finished(error: KeyboardInterrupt, *, is_part: bool) -> str:
    """Say what is in the folder. Nothing is put together for that: it may be much."""
    found = getattr(error, "finished", None)
    if found is None:
        return _DONE
    runs = sum(len(chunk.runs) for chunk in found)
    if runs:
        return f"{runs} finished runs"
    # What earlier processes have done of a part is not looked at.
    return _DONE if is_part else "nothing yet"
