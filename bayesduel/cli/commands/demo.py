"""``bayesduel demo``: five policies on two real matrices, beside their theory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from bayesduel.cli import parse
from bayesduel.cli.errors import FAILED, ended_for_good
from bayesduel.cli.options import command, option
from bayesduel.cli.output import Messages, claim_folder, console, say_warning, version
from bayesduel.cli.tables import print_summary

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment

POLICIES = ("d-ts", "d-ts+", "ecw-rmed", "rmed1", "rucb")
_RARE_RUNS = ("ecw-rmed",)
CONDORCET = "mslr5-condorcet"
NON_CONDORCET = "mslr5-non-condorcet"

Scale = Literal["full", "small"]


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
    "full": _Size(100, 15, 60, 10**6, 10**12),
    "small": _Size(20, 20, 20, 10**4, 10**8),
}
_WHY_FEWER = (
    f"fewer runs on {NON_CONDORCET}: three arms tie for the first place, so that a "
    "run is up to 70 times the work; most of ECW-RMED, whose mean is made by a few runs"
)


@command("demo --out demo-results")
def demo(
    *,
    scale: Scale = option(
        "small: a look in seconds, with wide error bars.", default="full"
    ),
    runs: int | None = option(
        "R: Runs of each policy. Default: 100, 60 or 15 where arms tie."
    ),
    horizon: str | None = option("T: Rounds of the table. Default: 1e6."),
    far: str | None = option("T: Rounds of the slope figure. Default: 1e12."),
    seed: int = option("S: The same seed, the same result.", default=1, least=0),
    jobs: int | None = option("N: Worker processes."),
    out: Path = option(
        "DIR: Folder; replaced if it is there.", default=Path("demo-results")
    ),
    messages: Messages,
) -> None:
    """Measure five policies on two real matrices and put theory beside them.

    Far out, the measured slopes meet the constant of the lower bound; that of RUCB is
    about a third larger.
    """
    size = _SIZES[scale]
    if runs is not None:
        size = replace(size, runs=runs, tied=runs, rare=runs)
    if horizon is not None:
        size = replace(size, horizon=parse.rounds(horizon))
    if far is not None:
        size = replace(size, far=parse.rounds(far, "--far"))
    for option_, value in (("--horizon", size.horizon), ("--far", size.far)):
        if value < 1000:
            raise parse.option_error(option_, "must be at least 1000 here", value)
    if size.far < size.horizon:
        rule = f"must not be below the horizon {size.horizon}"
        raise parse.option_error("--far", rule, size.far)
    from bayesduel.errors import ArgumentError
    from bayesduel.experiments.arguments import worker_count

    workers = worker_count(jobs)
    try:
        beyond_, *tied_ = _experiments(size, seed)
    except ArgumentError as error:
        if error.argument != "horizon":
            raise
        # The larger of the two is out of range, whether the other one is or not.
        raise error.renamed("far") from error
    claim_folder(out, kind="demo", overwrite=True)
    is_full = size == _SIZES["full"]
    begun = time.perf_counter()
    try:
        if is_full:
            messages.say("this takes about half a minute; --scale small takes less")
        if is_full and not messages.quiet:
            # A small table before what takes long.
            small = _SIZES["small"]
            first, *_ = _experiments(replace(small, far=small.horizon), seed)
            _print(_run(first, jobs, messages))
        beyond = _run(beyond_, jobs, messages)
        if size.tied < size.runs:
            messages.say(_WHY_FEWER)
        if is_full:
            jobs = workers  # It takes long: nothing is tried in this process first.
        tied = [_run(experiment, jobs, messages) for experiment in tied_]
    except KeyboardInterrupt as error:
        advice = "the demonstration keeps nothing; run it again from the start"
        raise ended_for_good(error, advice) from error
    near = _merged([_until(beyond, size.horizon), *tied])
    _print(near)
    from bayesduel import plots, results
    from bayesduel.analysis import measurements

    results.save(near, out / results.FILE_NAME, overwrite=True)
    results.save(beyond, out / "slopes.nc", overwrite=True)
    far_out = f"five policies on {CONDORCET}, far out, with measured slopes"
    both = "regret on both matrices, with the lower bounds"
    for words, draw, tree in (
        (both, plots.regret, near),
        (far_out, plots.slopes, beyond),
    ):
        files = plots.save(draw(tree), out / draw.__name__, ("png", "svg"))
        messages.say(f"{' and '.join(map(str, files))}: {words}")
    seconds = time.perf_counter() - begun
    messages.say(f"bayesduel {version()}, {seconds:.0f} seconds")
    failed = [x for tree in (near, beyond) for x in measurements(tree) if x.error]
    for measured in failed:
        say_warning(
            f"{measured.policy} on {measured.instance} failed: {measured.error}"
        )
    if failed:  # The others were kept.
        raise typer.Exit(FAILED)


def _experiments(size: _Size, seed: int) -> list[Experiment]:
    """Return the Condorcet matrix far beyond the horizon, the other one up to it."""
    from bayesduel import Experiment

    # Five per decade from round 10 on: enough for a smooth curve, and for the slopes.
    near = parse.checkpoints("5", size.horizon) or ()
    far = sorted({*near, *(parse.checkpoints("5", size.far) or ())})
    usual = tuple(policy for policy in POLICIES if policy not in _RARE_RUNS)
    parts: list[tuple[str, tuple[str, ...], int, Sequence[int]]]
    parts = [(CONDORCET, POLICIES, size.runs, far)]
    if size.tied == size.rare:
        parts += [(NON_CONDORCET, POLICIES, size.tied, near)]
    else:
        parts += [(NON_CONDORCET, usual, size.tied, near)]
        parts += [(NON_CONDORCET, _RARE_RUNS, size.rare, near)]
    return [
        Experiment(instance, names, num_runs=runs, horizon=grid[-1], checkpoints=grid,
                   seed=seed)
        for instance, names, runs, grid in parts
    ]  # fmt: skip


def _run(experiment: Experiment, jobs: int | None, messages: Messages) -> xr.DataTree:
    what = f"{', '.join(experiment.names)} to T = {experiment.horizon:.3g}"
    count = (
        f"{experiment.num_runs} {'run' if experiment.num_runs == 1 else 'runs'} each"
    )
    messages.say(f"{what}: {', '.join(experiment.labels)}, {count}")
    return experiment.run(jobs=jobs, progress=not messages.quiet)


def _until(tree: xr.DataTree, horizon: int) -> xr.DataTree:
    """Return the checkpoints up to a horizon."""

    def cut(data: xr.Dataset) -> xr.Dataset:
        if "checkpoint" not in data.dims:
            return data
        early = data.sel(checkpoint=slice(None, horizon))
        return early.assign_attrs({**data.attrs, "horizon": horizon})

    return tree.map_over_datasets(cut)


def _merged(trees: Sequence[xr.DataTree]) -> xr.DataTree:
    """Return one tree with the nodes of all."""
    import xarray as xr

    nodes: dict[str, Any] = {}
    for tree in trees:
        for node in tree.subtree:
            nodes.setdefault(node.path, node.to_dataset(inherit=False))
    instances = list(dict.fromkeys(path.split("/")[1] for path in nodes))
    labels = list(next(iter(trees[0].children.values())).children)

    def position(path: str) -> tuple[int, int]:
        _, instance, label = (*path.split("/"), "")[:3]
        return instances.index(instance), ["", *labels].index(label)

    return xr.DataTree.from_dict(
        {path: nodes[path] for path in sorted(nodes, key=position)}
    )


def _print(near: xr.DataTree) -> None:
    from bayesduel.analysis import summary

    print_summary(console(), summary(near))
