"""``bayesduel compare``: simulate policies on environments, print, save, draw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.errors import FAILED, INTERRUPTED
from bayesduel.cli.options import flag, json_flag, quiet_flag, repair_flag
from bayesduel.cli.output import console, go_on, print_json, say, say_warning

if TYPE_CHECKING:
    import xarray as xr

    from theory import PreferenceMatrix

__all__ = ["compare", "json_rows"]


def compare(
    environment: Annotated[
        list[str],
        typer.Option(
            "-e",
            "--environment",
            metavar="MATRIX",
            help="Matrix by name, family with parameters, or file (CSV, NPY, NPZ). "
            "Repeatable. See: bayesduel list",
        ),
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="Policy with parameters, such as d-ts or d-ts:alpha=0.6. Repeatable.",
        ),
    ],
    runs: Annotated[
        int, typer.Option(metavar="R", help="Independent runs of each policy.")
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
            help="Another notion of regret to record, beside copeland. Repeatable.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="S", min=0, help="The same seed, the same result.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Worker processes; default: all cores. Changes no result.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for results and figures, new or empty."
        ),
    ] = None,
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

    Prints final regret, the measured slope beside the constant of the lower bound, and
    a ranking that says which differences the runs can tell.
    """
    request = _Request(
        environment, policy, runs, horizon, checkpoints, tuple(regret or ()), seed,
        jobs, out, resume, overwrite, not no_shuffle, not no_look_ahead, repair, quiet,
    )  # fmt: skip
    plan = _plan(request)
    tree = _simulate(request, plan)
    if as_json:
        print_json(json_rows(tree, request.spelled(plan)))
    else:
        _report(tree, plan.notions)
    if out is not None:
        _save_rest(tree, plan.notions, out, quiet=quiet)
    elif not as_json:
        say("nothing was saved; --out DIR saves results and figures", quiet=quiet)
    if failures := _failures(tree):
        for text in failures:
            say_warning(text)
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class _Request:
    """What was typed."""

    environment: list[str]
    policy: list[str]
    runs: int
    horizon: str
    checkpoints: str | None
    regret: tuple[str, ...]
    seed: int
    jobs: int | None
    out: Path | None
    resume: bool
    overwrite: bool
    shuffle: bool
    look_ahead: bool
    repair: bool
    quiet: bool

    def spelled(self, plan: _Plan) -> dict[str, str]:
        """Return what was typed for every name of the result tree."""
        environments = zip(plan.environments, self.environment, strict=True)
        return dict(environments) | dict(zip(plan.policies, self.policy, strict=True))


@dataclass(frozen=True)
class _Plan:
    """What it means; everything that can be wrong was checked."""

    environments: dict[str, PreferenceMatrix]
    policies: dict[str, Any]
    horizon: int
    checkpoints: tuple[int, ...] | None
    notions: tuple[str, ...]


def _plan(request: _Request) -> _Plan:
    """Check everything that was typed, cheap checks first, before computing."""
    parse.at_least_one(request.runs, "--runs")
    parse.at_least_one(request.jobs, "--jobs")
    horizon = parse.rounds(request.horizon)
    checkpoints = parse.checkpoints(request.checkpoints, horizon)
    if request.out is None and (request.resume or request.overwrite):
        flag = "--resume" if request.resume else "--overwrite"
        raise ValueError(f"{flag}: needs a folder; give it with --out DIR")
    from theory import REGRET_NOTIONS

    notions = parse.notions(request.regret, REGRET_NOTIONS)
    from bayesduel.cli.choices import load_environments, parse_policies

    environments = load_environments(request.environment, repair=request.repair)
    for matrix in environments.values():
        for notion in notions:
            matrix.regret_per_pair(notion)
    policies = parse_policies(request.policy, look_ahead=request.look_ahead)
    for matrix in environments.values():
        for policy in policies.values():
            policy.check(matrix.num_arms, horizon)
    if request.out is not None:
        parse.check_folder(
            request.out, resume=request.resume, overwrite=request.overwrite
        )
    return _Plan(environments, policies, horizon, checkpoints, notions)


def _simulate(request: _Request, plan: _Plan) -> xr.DataTree:
    from bayesduel import experiments

    try:
        return experiments.compare(
            list(plan.environments.values()),
            list(plan.policies.values()),
            num_runs=request.runs,
            horizon=plan.horizon,
            checkpoints=plan.checkpoints,
            seed=request.seed,
            regret=plan.notions,
            shuffle=request.shuffle,
            jobs=request.jobs,
            progress=not request.quiet,
            out=request.out,
            resume=request.resume,
            overwrite=request.overwrite,
        )
    except KeyboardInterrupt as error:
        say(go_on(request.out, _finished(getattr(error, "partial", None))))
        raise typer.Exit(INTERRUPTED) from error


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
    """Return one object per environment and policy: final Copeland regret.

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

    rows = summary(tree).rows
    found = []
    for measured, row in zip(measurements(tree), rows, strict=True):
        attrs, final = measured.data.attrs, row.regret
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
                "run_seconds": _number(attrs.get("run_seconds")),
                "compile_seconds": _number(attrs.get("compile_seconds")),
            }
        )
    return found


def _whole(value: Any) -> int:  # noqa: ANN401
    return int(value)


def _number(value: Any) -> float | None:  # noqa: ANN401
    return None if value is None else float(value)


def _report(tree: xr.DataTree, notions: tuple[str, ...]) -> None:
    """Print a table and a ranking per notion of regret and environment."""
    from bayesduel.analysis import rankings, summary
    from bayesduel.cli.rankings import print_rankings
    from bayesduel.cli.tables import print_summary

    screen = console()
    for notion in notions:
        print_summary(screen, summary(tree, notion=notion))
        if not _all_failed(tree):
            print_rankings(screen, rankings(tree, notion=notion))


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


def _save_rest(
    tree: xr.DataTree, notions: tuple[str, ...], out: Path, *, quiet: bool
) -> None:
    """Save rankings and the figure beside the results."""
    from bayesduel import plots
    from bayesduel.analysis import rankings
    from bayesduel.cli.rankings import save_rankings

    say(f"saved the results in {out}", quiet=quiet)
    if _all_failed(tree):
        return
    found = [each for notion in notions for each in rankings(tree, notion=notion)]
    if found:
        save_rankings(found, out / "rankings.json")
        say(f"saved {out / 'rankings.json'}", quiet=quiet)
    for path in plots.save(plots.regret(tree), out / "regret", ("png", "svg")):
        say(f"saved {path}", quiet=quiet)
