"""``bayesduel demo``: five policies on two real matrices, beside their theory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.errors import FAILED, ended_for_good, option_error
from bayesduel.cli.options import integer_option, quiet_flag, seed_option
from bayesduel.cli.output import console, say, say_warning, version

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment

POLICIES = ("d-ts", "d-ts+", "ecw-rmed", "rmed1", "rucb")
_RARE_RUNS = ("ecw-rmed",)
CONDORCET = "mslr5-condorcet"
NON_CONDORCET = "mslr5-non-condorcet"


class Scale(StrEnum):
    """How long the demonstration takes."""

    full = "full"
    small = "small"


@dataclass(frozen=True)
class _Size:
    """How much is measured: ``runs`` where one arm wins, ``tied`` where several do.

    Between tied winners there is little to look ahead over: a run of 10^6 rounds takes
    10^5 to 10^6 events, and one of 10^12 rounds with one winner about 10^4. Fifteen
    runs show what the figure says there: that policies made for one winner lose several
    times as much. The mean of ``_RARE_RUNS`` is made by a few runs in a hundred: seed 1
    has 5,938 after 15 runs, 14,199 after 60 and 13,462 after 100. So they get ``rare``.
    """

    runs: int
    tied: int
    rare: int
    horizon: int
    far: int


_SIZES = {
    Scale.full: _Size(100, 15, 60, 10**6, 10**12),
    Scale.small: _Size(20, 20, 20, 10**4, 10**8),
}

_WHY_FEWER = (
    f"fewer runs on {NON_CONDORCET}: three arms tie for the first place, so that a "
    "run is up to 70 times the work; most of ECW-RMED, whose mean is made by a few runs"
)


def demo(
    scale: Annotated[
        Scale, typer.Option(help="small: a look in seconds, with wide error bars.")
    ] = Scale.full,
    runs: Annotated[
        int | None,
        integer_option(
            metavar="R",
            help="Runs of each policy. Default: 100, 60 or 15 where arms tie.",
        ),
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="T", help="Rounds of the table. Default: 1e6.")
    ] = None,
    far: Annotated[
        str | None,
        typer.Option(metavar="T", help="Rounds of the slope figure. Default: 1e12."),
    ] = None,
    seed: Annotated[int, seed_option] = 1,
    jobs: Annotated[
        int | None, integer_option(metavar="N", help="Worker processes.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder; replaced if it is there.")
    ] = Path("demo-results"),
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Measure five policies on two real matrices and put theory beside them.

    Far out, the measured slopes meet the constant of the lower bound; that of RUCB is
    about a third larger.
    """
    size = _SIZES[scale]
    size = _Size(
        size.runs if runs is None else runs,
        size.tied if runs is None else runs,
        size.rare if runs is None else runs,
        size.horizon if horizon is None else parse.rounds(horizon),
        size.far if far is None else parse.rounds(far, "--far"),
    )
    for option, value in (("--horizon", size.horizon), ("--far", size.far)):
        if value < 1000:
            raise option_error(option, "must be at least 1000 here", value)
    if size.far < size.horizon:
        raise option_error(
            "--far", f"must not be below the horizon {size.horizon}", size.far
        )
    from bayesduel.errors import ArgumentError
    from bayesduel.experiments.arguments import worker_count

    workers = worker_count(jobs)
    try:
        asked = _asked(size, seed)
    except ArgumentError as error:
        if error.argument != "horizon":
            raise
        # The larger of the two is out of range, whether the other one is or not.
        raise error.renamed("far") from error
    parse.claim_folder(out, kind="demo", overwrite=True)
    begun = time.perf_counter()
    try:
        if size == _SIZES[Scale.full]:
            _first_look(seed, jobs, quiet=quiet)
        beyond = _run(asked[0], jobs, quiet=quiet)
        if size.tied < size.runs:
            say(_WHY_FEWER, quiet=quiet)
        if size == _SIZES[Scale.full]:
            jobs = workers  # It takes long: nothing is tried in this process first.
        tied = [_run(each, jobs, quiet=quiet) for each in asked[1:]]
    except KeyboardInterrupt as error:
        advice = "the demonstration keeps nothing; run it again from the start"
        raise ended_for_good(error, advice) from error
    near = _merged([_until(beyond, size.horizon), *tied])
    _print(near)
    for meaning, files in _save(near, beyond, out).items():
        say(f"{' and '.join(map(str, files))}: {meaning}", quiet=quiet)
    seconds = time.perf_counter() - begun
    say(f"bayesduel {version()}, {seconds:.0f} seconds", quiet=quiet)
    _end(near, beyond)


def _asked(size: _Size, seed: int) -> list[Experiment]:
    """Return the Condorcet matrix far beyond the horizon, and the other one up to it.

    Nothing depends on rounds to come, so the first rounds of the far runs are the runs
    to the horizon.
    """
    from bayesduel import Experiment

    near = _grid(size.horizon)
    far = sorted({*near, *_grid(size.far)})
    usual = tuple(each for each in POLICIES if each not in _RARE_RUNS)
    parts: list[tuple[str, tuple[str, ...], int, Sequence[int]]]
    parts = [(CONDORCET, POLICIES, size.runs, far)]
    if size.tied == size.rare:
        parts += [(NON_CONDORCET, POLICIES, size.tied, near)]
    else:
        parts += [(NON_CONDORCET, usual, size.tied, near)]
        parts += [(NON_CONDORCET, _RARE_RUNS, size.rare, near)]
    return [
        Experiment(
            instance,
            names,
            num_runs=runs,
            horizon=grid[-1],
            checkpoints=grid,
            seed=seed,
        )
        for instance, names, runs, grid in parts
    ]


def _run(asked: Experiment, jobs: int | None, *, quiet: bool) -> xr.DataTree:
    what = f"{', '.join(asked.names)} to T = {asked.horizon:.3g}"
    count = f"{asked.num_runs} {'run' if asked.num_runs == 1 else 'runs'} each"
    say(f"{what}: {', '.join(asked.labels)}, {count}", quiet=quiet)
    return asked.run(jobs=jobs, progress=not quiet)


def _first_look(seed: int, jobs: int | None, *, quiet: bool) -> None:
    """Show a small table before what takes long, and say what does not."""
    text = "this takes about half a minute; --scale small takes less"
    say(text, quiet=quiet)
    if not quiet:
        small = _SIZES[Scale.small]
        asked, *_ = _asked(replace(small, far=small.horizon), seed)
        _print(_run(asked, jobs, quiet=quiet))


def _grid(horizon: int) -> Sequence[int]:
    # Five per decade from round 10 on: enough for a smooth curve, and for the slopes.
    return parse.checkpoints("5", horizon) or ()


def _until(tree: xr.DataTree, horizon: int) -> xr.DataTree:
    """Return the checkpoints up to a horizon."""

    def cut(data: xr.Dataset) -> xr.Dataset:
        if "checkpoint" not in data.dims:
            return data
        kept = data.sel(checkpoint=slice(None, horizon))
        return kept.assign_attrs({**data.attrs, "horizon": horizon})

    return tree.map_over_datasets(cut)


def _merged(trees: Sequence[xr.DataTree]) -> xr.DataTree:
    """Return one tree with the nodes of all; the first one names seed and version.

    And the policies, whose order it gives to all instances.
    """
    import xarray as xr

    nodes: dict[str, Any] = {}
    for tree in trees:
        for node in tree.subtree:
            nodes.setdefault(node.path, node.to_dataset(inherit=False))
    instances = list(dict.fromkeys(path.split("/")[1] for path in nodes))
    labels = list(next(iter(trees[0].children.values())).children)

    def place(path: str) -> tuple[int, int]:
        _, instance, label = (*path.split("/"), "")[:3]
        return instances.index(instance), ["", *labels].index(label)

    return xr.DataTree.from_dict(
        {path: nodes[path] for path in sorted(nodes, key=place)}
    )


def _print(near: xr.DataTree) -> None:
    from bayesduel.analysis import summary
    from bayesduel.cli.tables import print_summary

    print_summary(console(), summary(near))


def _save(near: xr.DataTree, beyond: xr.DataTree, out: Path) -> dict[str, list[Path]]:
    """Save both results and their figures; return the figures by what they show."""
    from bayesduel import plots, results

    results.save(near, out / results.FILE_NAME, overwrite=True)
    results.save(beyond, out / "slopes.nc", overwrite=True)
    formats = ("png", "svg")
    return {
        "regret on both matrices, with the lower bounds": plots.save(
            plots.regret(near), out / "regret", formats
        ),
        f"five policies on {CONDORCET}, far out, with measured slopes": plots.save(
            plots.slopes(beyond), out / "slopes", formats
        ),
    }


def _end(*trees: xr.DataTree) -> None:
    """Exit with 1 when a policy failed; the others were kept."""
    from bayesduel.analysis import measurements

    failed = [each for tree in trees for each in measurements(tree) if each.error]
    for each in failed:
        say_warning(f"{each.policy} on {each.instance} failed: {each.error}")
    if failed:
        raise typer.Exit(FAILED)
