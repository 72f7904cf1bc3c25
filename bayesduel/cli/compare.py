"""``bayesduel compare``: simulate policies on environments, print, save, draw."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.choices import read_experiment
from bayesduel.cli.errors import FAILED, damage_said, ended
from bayesduel.cli.options import (
    flag,
    format_option,
    integer_option,
    json_flag,
    quiet_flag,
    repair_flag,
    seed_option,
)
from bayesduel.cli.output import console, print_json, say, say_warning

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment
    from bayesduel.analysis import Measurement
    from bayesduel.stopping import StoppingRule

__all__ = ["compare", "json_rows"]


def compare(
    environment: Annotated[
        list[str],
        typer.Option(
            "-e",
            "--environment",
            metavar="NAME|FILE",
            help="Matrix or world of subset choice by name, with parameters, or a "
            "matrix from a file (CSV, NPY, NPZ). Repeatable. See: bayesduel list",
        ),
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="Policy with parameters, such as d-ts or d-ts:alpha=0.6; of several "
            "values d-ts:alpha=0.51..2/10 or alpha=0.6|1; one of your own as "
            "module:Class. Repeatable.",
        ),
    ],
    runs: Annotated[
        int, integer_option(metavar="R", help="Independent runs of each policy.")
    ] = 100,
    horizon: Annotated[
        str, typer.Option(metavar="T", help="Rounds of each run: 1000000, 1e6, 10^6.")
    ] = "1e5",
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="N|LIST",
            help="Rounds to record: a number per decade or a list, 100,1e3,1e4.",
        ),
    ] = None,
    regret: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NOTION",
            help="Another notion of regret to record, beside copeland; of a world of "
            "subset choice beside its own. Repeatable.",
        ),
    ] = None,
    stopping: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="End a run when a rule names an arm: anytime:delta=0.05, "
            "posterior:delta=0.05, budget:duels=1000, or several joined by |.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Keep of each run its plays and regret, or regret alone (the default "
            "beyond 10000 runs); or quantiles: mean, spread and quantiles of all runs "
            "together, for millions of them.",
        ),
    ] = None,
    seed: Annotated[int, seed_option] = 0,
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
    format: Annotated[str, format_option] = "netcdf",  # noqa: A002
    resume: Annotated[
        bool, flag("--resume", help="Go on from what is in the folder.")
    ] = False,
    overwrite: Annotated[
        bool, flag("--overwrite", help="Replace what is in the folder.")
    ] = False,
    no_shuffle: Annotated[
        bool,
        flag("--no-shuffle", help="Keep the order of the arms."),
    ] = False,
    no_look_ahead: Annotated[
        bool,
        flag("--no-look-ahead", help="Step round by round (slow, same law)."),
    ] = False,
    repair: Annotated[
        bool,
        repair_flag,
    ] = False,
    as_json: Annotated[bool, json_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Simulate policies on environments and compare their regret with theory.

    Environments are preference matrices, or worlds of subset choice such as camera.

    Prints final regret, the measured slope beside the constant of the lower bound, and
    a ranking that says which differences are certain.
    """
    rounds = parse.rounds(horizon)
    asked, doubts = read_experiment(
        environment,
        policy,
        num_runs=runs,
        horizon=rounds,
        checkpoints=parse.checkpoints(checkpoints, rounds),
        seed=seed,
        regret=regret or (),
        shuffle=not no_shuffle,
        record=record,
        look_ahead=not no_look_ahead,
        repair=repair,
        stopping=_stopping(stopping),
    )
    if not quiet:
        for text in doubts:
            say_warning(text)
    with _engine(dask, jobs) as executor:
        tree = _simulate(
            asked,
            out,
            jobs=jobs,
            executor=executor,
            part=part,
            shared=shared,
            format=format,
            progress=not quiet,
            resume=resume,
            overwrite=overwrite,
        )
    if part is not None:
        then = f"bayesduel merge {out}"
        say(f"part {part} is in {out}; join all with: {then}", quiet=quiet)
    elif as_json:
        from bayesduel.experiments.parameter_grids import expand

        words = [text for each in (*environment, *policy) for text in expand(each)]
        typed = zip((*asked.names, *asked.labels), words, strict=True)
        print_json(json_rows(tree, dict(typed)))
    else:
        _report(_parts(tree, asked), asked.record)
    if out is not None and part is None:
        _save_rest(tree, asked, out, quiet=quiet)
    elif not as_json and part is None:
        say("nothing was saved; --out DIR saves results and figures", quiet=quiet)
    if failures := _failures(tree):
        for text in failures:
            say_warning(text)
        raise typer.Exit(FAILED)


def _engine(
    dask: str | None, jobs: int | None
) -> AbstractContextManager[Executor | None]:
    if dask is None:
        return nullcontext()
    from bayesduel.experiments.checks import worker_count
    from bayesduel.experiments.dask_executor import dask_executor

    return dask_executor(dask, worker_count(jobs))


def _stopping(text: str | None) -> StoppingRule | None:
    from bayesduel.stopping import parse

    return None if text is None else parse(text)


def _parts(
    tree: xr.DataTree, asked: Experiment, *, main: bool = False
) -> list[tuple[str, xr.DataTree]]:
    """Return every notion, or the reported ones, with what records it."""
    import xarray as xr

    recorded = {name: own[:1] if main else own for name, own in asked.notions.items()}
    found = []
    for notion in dict.fromkeys(each for own in recorded.values() for each in own):
        names = [name for name, own in recorded.items() if notion in own]
        children = {name: tree.children[name] for name in names}
        found.append((notion, xr.DataTree(tree.to_dataset(), children=children)))
    return found


def _simulate(
    asked: Experiment,
    out: Path | None,
    **options: Any,  # noqa: ANN401
) -> xr.DataTree:
    try:
        with damage_said():
            return asked.run(out=out, **options)
    except KeyboardInterrupt as error:
        kept = _finished(getattr(error, "partial", None))
        raise ended(error, out, kept) from error


def _finished(partial: xr.DataTree | None) -> str:
    from bayesduel.analysis import measurements

    if partial is None:
        return "what was finished"
    try:
        runs = sum(each.data.sizes.get("run", 0) for each in measurements(partial))
    except ValueError:
        return "nothing yet"
    return f"{runs} finished runs"


def json_rows(tree: xr.DataTree, spelled: dict[str, str]) -> list[dict[str, object]]:
    """Return one object per environment and policy: final regret, in the first notion.

    Parameters
    ----------
    tree : xarray.DataTree
        Result of ``bayesduel.compare``.
    spelled : dict
        For names of the tree, the words to use instead (those that were typed).

    Returns
    -------
    list of dict
        With None where a number is not defined: the spread of a single run, everything
        measured of a policy that failed.
    """
    from bayesduel.analysis import measurements, summary

    found = []
    for measured in measurements(tree):
        attrs = measured.data.attrs
        (row,) = summary(measured.data, notion=(*measured.notions, "")[0]).rows
        final = row.regret
        found.append(
            {
                "environment": spelled.get(row.environment, row.environment),
                "policy": spelled.get(row.policy, row.policy),
                "horizon": _whole(attrs.get("horizon", row.horizon)),
                "runs": _whole(attrs.get("num_runs", row.num_runs)),
                "look_ahead": bool(attrs["look_ahead"])
                if "look_ahead" in attrs
                else None,
                "regret_mean": final.mean if final else None,
                "regret_se": final.standard_error if final else None,
                "regret_std": final.std if final else None,
                "regret_median": final.median if final else None,
                **_stops(measured),
                "run_seconds": _number(attrs.get("run_seconds")),
                "compile_seconds": _number(attrs.get("compile_seconds")),
            }
        )
    return found


def _stops(measured: Measurement) -> dict[str, object]:
    """Return how many runs a rule ended, after how many rounds, and how many wrongly.

    Wrong is an arm that is no Copeland winner; empty without a rule.
    """
    import numpy as np

    from theory import PreferenceMatrix

    if "stopped_at" not in measured.data or measured.preference is None:
        return {}
    ended = measured.data["stopped_at"].to_numpy()
    named = measured.data["answer"].to_numpy()
    stopped, winners = ended > 0, PreferenceMatrix(measured.preference).copeland_winners
    wrong = (named >= 0) & ~np.isin(named, winners)
    return {
        "stopped_runs": int(stopped.sum()),
        "stopped_at_mean": float(ended[stopped].mean()) if stopped.any() else None,
        "wrong_names": int(wrong.sum()),
    }


def _whole(value: Any) -> int:  # noqa: ANN401
    return int(value)


def _number(value: Any) -> float | None:  # noqa: ANN401
    return None if value is None else float(value)


def _report(parts: list[tuple[str, xr.DataTree]], record: str) -> None:
    """Print a table and a ranking per notion of regret and environment."""
    from bayesduel.analysis import measurements, rankings, summary
    from bayesduel.cli.rankings import print_rankings
    from bayesduel.cli.tables import print_summary

    screen = console()
    for notion, tree in parts:
        print_summary(screen, summary(tree, notion=notion))
        if not _all_failed(tree):
            print_rankings(screen, rankings(tree, notion=notion))
    if record == "quantiles":
        screen.print(
            "no ranking: it pairs single runs, of which only quantiles are kept"
        )
    for measured in measurements(parts[0][1]):
        if found := _stops(measured):
            mean = found["stopped_at_mean"]
            after = "" if mean is None else f", after {mean:,.0f} rounds on average"
            screen.print(
                f"{measured.policy} on {measured.environment}: {found['stopped_runs']} "
                f"of {measured.data.sizes['run']} runs stopped{after}; "
                f"{found['wrong_names']} named an arm that is no winner"
            )


def _failures(tree: xr.DataTree) -> list[str]:
    from bayesduel.analysis import measurements

    return [
        f"{each.policy} on {each.environment} failed: {each.error}"
        for each in measurements(tree)
        if each.error
    ]


def _all_failed(tree: xr.DataTree) -> bool:
    from bayesduel.analysis import measurements

    return all(each.error for each in measurements(tree))


def _save_rest(tree: xr.DataTree, asked: Experiment, out: Path, *, quiet: bool) -> None:
    """Save tables beside the results, and a figure per reported notion of regret."""
    from bayesduel import plots
    from bayesduel.analysis import rankings
    from bayesduel.cli.rankings import save_rankings
    from bayesduel.cli.tables import save_summaries

    say(f"saved the results in {out}", quiet=quiet)
    for path in save_summaries(_parts(tree, asked), out):
        say(f"saved {path}", quiet=quiet)
    if _all_failed(tree):
        return
    found = [
        each
        for notion, part in _parts(tree, asked)
        for each in rankings(part, notion=notion)
    ]
    if found:
        save_rankings(found, out / "rankings.json")
        say(f"saved {out / 'rankings.json'}", quiet=quiet)
    parts = _parts(tree, asked, main=True)
    for notion, part in parts:
        stem = "regret" if len(parts) == 1 else f"regret-{notion.replace('_', '-')}"
        figure = plots.regret(part, notion=notion)
        for path in plots.save(figure, out / stem, ("png", "svg")):
            say(f"saved {path}", quiet=quiet)
