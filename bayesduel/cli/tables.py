"""Tables for people, by Rich: a narrow terminal has fewer columns, and is told so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from bayesduel.arguments.control_characters import visible
from bayesduel.cli.output import print_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bayesduel.analysis import Summary, SummaryRow

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
    from bayesduel.analysis.text import regret_words

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
    from bayesduel.analysis.text import format_rounds

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
