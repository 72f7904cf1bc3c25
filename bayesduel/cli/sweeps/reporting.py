"""What ``bayesduel compare`` prints of results, and saves beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.figures import save_figures
from bayesduel.cli.output import console, say

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment
    from bayesduel.analysis import Measurement

__all__ = ["failures", "json_rows", "report", "save_rest"]


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


def report(tree: xr.DataTree, asked: Experiment) -> None:
    """Print a table and a ranking per notion of regret and environment."""
    from bayesduel.analysis import measurements, rankings, summary
    from bayesduel.analysis.summary_files import by_notion
    from bayesduel.cli.rankings import print_rankings
    from bayesduel.cli.tables import print_summary

    screen, parts = console(), by_notion(tree, asked.notions)
    for notion, part in parts:
        print_summary(screen, summary(part, notion=notion))
        if not _all_failed(part):
            print_rankings(screen, rankings(part, notion=notion))
    if asked.record == "quantiles":
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


def failures(tree: xr.DataTree) -> list[str]:
    """Return which policies failed, and why."""
    from bayesduel.analysis import measurements

    return [
        f"{each.policy} on {each.environment} failed: {each.error}"
        for each in measurements(tree)
        if each.error
    ]


def _all_failed(tree: xr.DataTree) -> bool:
    from bayesduel.analysis import measurements

    return all(each.error for each in measurements(tree))


def save_rest(tree: xr.DataTree, asked: Experiment, out: Path, *, quiet: bool) -> None:
    """Save rankings, and a figure per reported notion of regret."""
    from bayesduel import plots
    from bayesduel.analysis import rankings
    from bayesduel.analysis.summary_files import by_notion
    from bayesduel.cli.rankings import save_rankings

    say(f"saved the results in {out}", quiet=quiet)
    if _all_failed(tree):
        return
    found = [
        each
        for notion, part in by_notion(tree, asked.notions)
        for each in rankings(part, notion=notion)
    ]
    if found:
        save_rankings(found, out / "rankings.json")
        say(f"saved {out / 'rankings.json'}", quiet=quiet)
    parts = by_notion(tree, asked.notions, main=True)
    for notion, part in parts:
        stem = "regret" if len(parts) == 1 else f"regret-{notion.replace('_', '-')}"
        figure = plots.regret(part, notion=notion)
        for path in save_figures({out / stem: figure}, quiet=quiet):
            say(f"saved {path}", quiet=quiet)
