"""What ``bayesduel compare`` prints of results, and saves beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.figures import save_figures
from bayesduel.cli.output import console, save_json, say

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment
    from bayesduel.analysis import Measurement, Ranking, Summary


class Report:
    """What is said of an experiment: measured, summed up and ranked once for all of it.

    Parameters
    ----------
    asked : Experiment
    """

    def __init__(self, asked: Experiment) -> None:
        self._asked = asked
        self._tree: xr.DataTree | None = None
        self._measured: list[Measurement] = []
        self._summaries: dict[tuple[str, ...], Summary] = {}

    def read(self, tree: xr.DataTree) -> None:
        """Take the results, unless they are there."""
        from bayesduel.analysis import measurements

        if tree is not self._tree:
            self._tree, self._measured = tree, measurements(tree)

    def tables(self, tree: xr.DataTree) -> Mapping[str, bytes]:
        """Return the tables that are saved with the results, by names of files."""
        from bayesduel.analysis.summary_files import summary_files

        self.read(tree)
        return summary_files(self._measured, self._summary)

    def _summary(self, part: list[Measurement], *, notion: str) -> Summary:
        from bayesduel.analysis import summary

        key = (notion, *dict.fromkeys(each.instance for each in part))
        if key not in self._summaries:
            self._summaries[key] = summary(part, notion=notion)
        return self._summaries[key]

    @cached_property
    def _parts(self) -> list[tuple[str, list[Measurement]]]:
        from bayesduel.analysis.summary_files import by_notion

        return by_notion(self._measured, self._asked.notions)

    @cached_property
    def _rankings(self) -> list[list[Ranking]]:
        """Of every notion."""
        from bayesduel.analysis import rankings

        return [rankings(part, notion=notion) for notion, part in self._parts]

    def json_rows(self) -> list[dict[str, Any]]:
        """Return what `summary.json` holds, and what the runs took."""
        from bayesduel.analysis.summary_files import summary_rows

        return summary_rows(self._measured, self._summary)

    def print(self, *, intervals: bool = False) -> None:
        """Print a table and ranks per notion of regret and instance.

        Parameters
        ----------
        intervals : bool
            The whole ranking, with an interval for every difference.
        """
        from bayesduel.cli.rankings import print_rankings, print_ranks
        from bayesduel.cli.tables import print_summary

        screen = console()
        for (notion, part), ranked in zip(self._parts, self._rankings, strict=True):
            print_summary(screen, self._summary(part, notion=notion))
            if not _all_failed(part):
                (print_rankings if intervals else print_ranks)(screen, ranked)
        if self._asked.record == "quantiles":
            screen.print(
                "no ranking: it pairs single runs, of which only quantiles are kept"
            )
        notion, part = self._parts[0]
        for row in self._summary(part, notion=notion).rows:
            if row.stopped_runs is not None:
                mean = row.stopped_at_mean
                after = "" if mean is None else f", after {mean:,.0f} rounds on average"
                screen.print(
                    f"{row.policy} on {row.instance}: {row.stopped_runs} of "
                    f"{row.num_runs} runs stopped{after}; {row.wrong_names} named an "
                    "arm that is no winner"
                )

    def failures(self) -> list[str]:
        """Return which policies failed, and why."""
        return [
            f"{each.policy} on {each.instance} failed: {each.error}"
            for each in self._measured
            if each.error
        ]

    def save_rest(self, out: Path, *, quiet: bool) -> None:
        """Save rankings, and a figure per reported notion of regret."""
        from bayesduel import plots
        from bayesduel.analysis.summary_files import by_notion

        say(f"saved the results in {out}", quiet=quiet)
        if _all_failed(self._measured):
            return
        if found := [each for ranked in self._rankings for each in ranked]:
            save_json(out / "rankings.json", [*map(asdict, found)], quiet=quiet)
        parts = by_notion(self._measured, self._asked.notions, main=True)
        for notion, part in parts:
            several = f"regret-{notion.replace('_', '-')}"
            stem = "regret" if len(parts) == 1 else several
            figure = plots.regret(part, notion=notion)
            save_figures({out / stem: figure}, quiet=quiet)


def _all_failed(measured: list[Measurement]) -> bool:
    return all(each.error for each in measured)
