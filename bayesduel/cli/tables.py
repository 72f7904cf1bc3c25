"""Tables for people, by Rich: a narrow terminal has fewer columns, and is told so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from bayesduel.analysis.text import format_number, format_rounds, regret_words
from bayesduel.arguments.control_characters import visible
from bayesduel.cli.output import print_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bayesduel.analysis import Difference, Ranking, Summary, SummaryRow

_BETWEEN = 2  # Characters between two columns.
_LONGEST_WORD = 16  # Longer ones may be broken in columns that wrap.


class FittingTable(Table):
    """A table that leaves out columns where there is no room, and says which."""

    def __init__(self, names: Sequence[str] = (), optional: Sequence[str] = ()) -> None:
        super().__init__(
            header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False,
            collapse_padding=True,
        )  # fmt: skip
        self.names, self.optional = tuple(names), tuple(optional)
        self.left_out: list[str] = []

    @property
    def headers(self) -> list[str]:
        """Headers of all columns."""
        return [str(column.header) for column in self.columns]

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row, as in any table of Rich."""
        names = self.names or self.headers[:1]
        shown = [
            visible(cell, lines=column.header not in names and not column.no_wrap)
            if isinstance(cell, str)
            else cell
            for cell, column in zip(cells, self.columns, strict=False)
        ]
        super().add_row(*shown, **options)

    def fitted(self, width: int) -> FittingTable:
        """Return a table with the columns that such a width has room for."""
        names = self.names or self.headers[:1]
        most = max(4, (width - _BETWEEN * len(names)) // (2 * len(names)))
        columns = list(zip(self.headers, self.columns, strict=True))
        longest = {
            header: _least(column, header in names) for header, column in columns
        }
        floors = longest | {name: min(longest[name], most) for name in names}
        others = [head for head in self.headers if head not in names]
        optional = [head for head in self.optional if head in others]
        last = [head for head in reversed(others) if head not in optional]
        shown = dict(floors)
        for header in [*optional, *last]:
            if sum(shown.values()) + _BETWEEN * (len(shown) - 1) <= width:
                break
            del shown[header]
        table = copy(self)
        table.left_out = [*self.left_out, *(x for x in self.headers if x not in shown)]
        table.columns = []
        for header, column in columns:
            if header not in shown:
                continue
            column = replace(column, _index=len(table.columns))
            if header in names:
                # Of no width it would be, where others do not wrap; and where it has
                # room, Rich is to take what is missing from the others.
                column.no_wrap = floors[header] == longest[header]
                column.overflow, column.min_width = "fold", floors[header]
            table.columns.append(column)
        return table

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Draw what there is room for, and say what was left out."""
        fitted = self.fitted(options.max_width)
        yield from Table.__rich_console__(fitted, console, options)
        if fitted.left_out:
            words = ", ".join(fitted.left_out)
            yield Text(f"no room in {options.max_width} columns for: {words}", "dim")


def _least(column: Column, is_name: bool) -> int:
    """Return how many characters a column needs."""
    cells = [
        Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)
    ]
    if is_name or column.no_wrap or column.justify == "right":
        return max(map(cell_len, cells))
    words = [len(word) for text in cells for word in text.split()]
    return min(max(words, default=1), _LONGEST_WORD)


def table_of(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Sequence[str] = (),
    names: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> FittingTable:
    """Return a table of numbers, but for the columns ``words``: usually the first."""
    table = FittingTable(names, optional)
    for head in heads:
        if head in (words or heads[:1]):
            table.add_column(escape(head), overflow="fold")
        else:
            table.add_column(escape(head), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def show(console: Console, title: str, table: Table, *captions: str) -> None:
    """Print a table between its title and what its columns mean."""
    console.print(title, style="bold", markup=False)
    console.print(table)
    for caption in captions:
        print_text(console, caption, style="dim")
    console.print()


_HEADERS = ("T", "regret ± se", "median", "10-90 %", "slope ± se", "bound", "ratio")
# Left out in this order until the table fits.
_OPTIONAL = ("10-90 %", "median", "bound", "ratio", "T", "slope ± se")


def print_summary(console: Console, summary: Summary) -> None:
    """Print one table per instance, then why numbers are missing."""
    from bayesduel.analysis.summaries import bound_text

    pairs = list(zip(summary.rows, summary.cells(), strict=True))
    for name in dict.fromkeys(row.instance for row in summary.rows):
        rows = [row for row in summary.rows if row.instance == name]
        bounded = any(row.lower_bound is not None or row.note for row in rows)
        heads = _HEADERS if bounded else _HEADERS[:-2]
        table = FittingTable(optional=_OPTIONAL)
        table.add_column("policy", no_wrap=True)
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for row, (_, policy, _, *cells) in pairs:
            if row.instance == name:
                # A policy that failed has a bound all the same.
                known = dict(zip(_HEADERS, cells, strict=True))
                known["bound"] = bound_text(row)
                style = "red" if row.error else None
                table.add_row(escape(policy), *map(known.get, heads), style=style)
        table = table.fitted(console.width)
        runs = sorted({row.num_runs for row in rows if row.regret is not None})
        counts = (
            f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else "".join(map(str, runs))
        )
        counts = counts and f", {counts} run{'' if counts == '1' else 's'}"
        title = f"{name}: {regret_words(summary.notion)}{counts}"
        show(console, title, table, *_captions(summary, rows, table.headers))
    for note in summary.notes():
        console.print(
            note, style="yellow", markup=False, soft_wrap=not console.is_terminal
        )


def _captions(
    summary: Summary, rows: list[SummaryRow], headers: list[str]
) -> list[str]:
    spans = dict.fromkeys(
        f"{format_rounds(row.slope.from_round)} to {format_rounds(row.slope.to_round)}"
        for row in rows
        if row.slope
    )
    lines = []
    if spans and "slope ± se" in headers:
        lines.append(f"slope: regret per unit of natural log t, {', '.join(spans)}")
    bounds: dict[tuple[float, int | None], list[str]] = {}
    for row in rows:
        if row.lower_bound is not None:
            key = (row.lower_bound, row.lower_bound_winner)
            bounds.setdefault(key, []).append(row.policy)
    for (value, winner), policies in bounds.items():
        # Policies over a model have the bound of those that know it.
        of = f" of {', '.join(policies)}" if len(bounds) > 1 else ""
        attained = "" if winner is None else f" (winner {winner})"
        lines.append(f"bound{of}: lower bound on the slope, {value:.1f}{attained}")
    if bounds:
        lines[-1] += "; ratio: slope / bound"
    lines.append(f"seed {summary.seed}, bayesduel {summary.version}")
    return lines


# --- Rankings that say which differences are real ----------------------------------

_RANK_HEADERS = (
    "rank", "seen", "policy", "above the first", "undone by", "better in", "mean",
    "median",
)  # fmt: skip
# Left out in this order until the table fits.
_RANK_OPTIONAL = ("median", "mean", "better in", "undone by", "seen")
# More pairs than that are counted and not named.
_NAMED_PAIRS = 4
# Where the worst twentieth of the runs makes more of the mean, the caption says so: an
# exponential distribution has 0.2.
_MUCH = 0.25


def print_rankings(screen: Console, rankings: list[Ranking]) -> None:
    """Print one table per instance."""
    for ranking in rankings:
        title = (
            f"{ranking.instance}: ranking at {format_rounds(ranking.round_)} by "
            f"{regret_words(ranking.notion)}"
        )
        show(screen, title, _ranking_table(ranking), *_ranking_captions(ranking))


def print_ranks(screen: Console, rankings: list[Ranking]) -> None:
    """Print two lines per instance: the ranks, and which of them are certain."""
    for ranking in rankings:
        seen = ", ".join(
            f"{_rank(ranked.best_seen, ranked.worst_seen)} {ranked.policy}"
            for ranked in ranking.policies
        )
        head = f"{ranking.instance} at {format_rounds(ranking.round_)}"
        print_text(screen, f"{head}, ranks in the runs seen: {seen}")
        notes = [ranking.note] if ranking.note else _undecided(ranking)
        text = f"{'; '.join(notes)}; --ranking prints the intervals"
        print_text(screen, text, style="dim")


def _ranking_table(ranking: Ranking) -> Table:
    rows, best = [], ranking.policies[0].policy
    for ranked in ranking.policies:
        above = undone = better = ""
        if ranked.policy != best:
            apart = ranking.difference(best, ranked.policy)
            above, better = _interval(apart), f"{1 - apart.share:.0%}"
            undone = format_number(apart.reversal) if apart.is_apart else ""
        rows.append(
            (_rank(ranked.best_rank, ranked.worst_rank),
             _rank(ranked.best_seen, ranked.worst_seen), ranked.policy, above, undone,
             better, *map(format_number, (ranked.mean, ranked.median)))
        )  # fmt: skip
    return table_of(
        _RANK_HEADERS, rows, words=_RANK_HEADERS[:3], names=("policy",),
        optional=_RANK_OPTIONAL,
    )  # fmt: skip


def _rank(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _interval(apart: Difference) -> str:
    if not math.isfinite(apart.low):
        return f"{format_number(apart.mean)} [?]"
    # Decimals as the shorter half of the interval has them.
    reach = min(apart.mean - apart.low, apart.high - apart.mean)
    decimals = 0 if reach >= 9.95 else max(1, 1 - math.floor(math.log10(reach or 1)))
    low, high = (f"{end:.{decimals}f}" for end in (apart.low, apart.high))
    return f"{apart.mean:.{decimals}f} [{low}, {high}]"


def _ranking_captions(ranking: Ranking) -> list[str]:
    """Say what the numbers mean, and which pairs differ clearly."""
    if ranking.note:
        return [ranking.note]
    pairs = len(ranking.differences)
    together = "" if pairs == 1 else f" for all {pairs} pairs at once"
    return [
        f"difference of means over {ranking.num_runs} paired runs with a "
        f"{ranking.confidence:.0%} bootstrap interval{together}; better in: share of "
        "runs with less regret than the first",
        f"seen: rank by these intervals, if other runs are like these "
        f"{ranking.num_runs}; rank: allows for a rare disaster in up to "
        f"{100 * ranking.unseen:.2g}% of all runs, which {ranking.num_runs} runs can "
        "miss; undone by: how much more than the policy the first would have to cost "
        "in such runs to lose its lead",
        *_undecided(ranking),
        *_skewed(ranking),
    ]


def _undecided(ranking: Ranking) -> list[str]:
    """Say which pairs differ clearly in these runs only, and which do not."""
    pairs = ranking.differences
    only_seen = [pair for pair in pairs if pair.is_apart and not pair.is_certain]
    left = [pair for pair in pairs if not pair.is_apart]
    if not only_seen and not left:
        return ["the order of every pair is certain"]
    lines = []
    if only_seen:
        needed = [pair.enough_runs for pair in only_seen]
        lines.append(f"clearly different in these runs: {_named(only_seen, pairs)}")
        if min(needed):
            lines[-1] += f"; about {max(needed):,} runs would rule out a rare disaster"
    if left:
        lines.append(f"not clearly different: {_named(left, pairs)}")
    return lines


def _named(some: Sequence[Difference], pairs: Sequence[Difference]) -> str:
    if len(some) == len(pairs) > 1:
        return "every pair"
    if len(some) > _NAMED_PAIRS:
        return f"{len(some)} of the {len(pairs)} pairs"
    return "; ".join(f"{pair.lower} and {pair.higher}" for pair in some)


def _skewed(ranking: Ranking) -> list[str]:
    """Tell where a mean rests on few runs, or medians say the opposite."""
    lines = [
        f"{line.policy}: the worst 5% of its runs make {line.worst_share:.0%} of its "
        "mean"
        for line in ranking.policies
        if line.worst_share > _MUCH
    ]
    turned = [line for line in ranking.differences if line.median < 0]
    if turned:
        lines.append(f"the opposite by medians: {_named(turned, ranking.differences)}")
    return lines
