"""Tables for people, by Rich: a narrow terminal has fewer columns, and is told so."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bayesduel.arguments.control_characters import visible
from bayesduel.cli.output import print_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from bayesduel.analysis import Summary, SummaryRow
    from theory import PreferenceMatrix, RegretBound

_CONSTANTS = ("Copeland lower bound", "ECW-RMED")
"""Theorems that are printed elsewhere, one row per winner."""

_HEADERS = ("T", "regret ± se", "median", "10-90 %", "slope ± se", "bound", "ratio")
# Left out in this order until the table fits.
_OPTIONAL = ("10-90 %", "median", "bound", "ratio", "T", "slope ± se")
_BETWEEN = 2
"""Characters between two columns."""
_LONGEST_WORD = 16
"""Longer ones may be broken in columns that wrap."""


class FittingTable(Table):
    """A table that leaves out columns where there is no room, and says which.

    First those of ``optional`` go, in that order, then the others from the right;
    ``names`` never: they are folded at last.
    """

    def __init__(self, names: Sequence[str], optional: Sequence[str]) -> None:
        super().__init__(
            header_style="bold",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
            collapse_padding=True,
        )
        self.names, self.optional = tuple(names), tuple(optional)
        self.left_out: tuple[str, ...] = ()
        self._made: list[dict[str, Any]] = []
        self._filled: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    @property
    def headers(self) -> list[str]:
        """Headers of all columns."""
        return [each["header"] for each in self._made]

    def add_column(self, header: Any = "", *args: Any, **options: Any) -> None:
        """Add a column, as in any table of Rich."""
        self._made.append({"header": header, **options})
        super().add_column(header, *args, **options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row, as in any table of Rich.

        Control characters are written out; names and what does not wrap have one line.
        """
        names = self.names or tuple(self.headers[:1])
        cells = tuple(
            visible(cell, lines=not (made["header"] in names or made.get("no_wrap")))
            if isinstance(cell, str)
            else cell
            for cell, made in zip(cells, self._made, strict=False)
        )
        self._filled.append((cells, options))
        super().add_row(*cells, **options)

    def fitted(self, width: int) -> FittingTable:
        """Return a table with the columns that such a width has room for."""
        names = self.names or tuple(self.headers[:1])
        floors, unfolded = (
            dict(zip(self.headers, self._floors(names, each), strict=True))
            for each in (width, sys.maxsize)
        )
        others = [each for each in self.headers if each not in names]
        last = [each for each in reversed(others) if each not in self.optional]
        kept = dict(floors)
        for header in [*(each for each in self.optional if each in others), *last]:
            if sum(kept.values()) + _BETWEEN * (len(kept) - 1) <= width:
                break
            del kept[header]
        places = [at for at, each in enumerate(self.headers) if each in kept]
        table = FittingTable(self.names, self.optional)
        table.left_out = (*self.left_out, *(x for x in self.headers if x not in kept))
        for options in (self._made[at] for at in places):
            if options["header"] in names:
                # Of no width it would be, where others do not wrap; and where it has
                # room, Rich is to take what is missing from the others.
                least = floors[options["header"]]
                folds = least < unfolded[options["header"]]
                folded = {"no_wrap": not folds, "overflow": "fold", "min_width": least}
                options = options | folded
            table.add_column(**options)
        for cells, options in self._filled:
            table.add_row(*(cells[at] for at in places), **options)
        return table

    def _floors(self, names: Sequence[str], width: int) -> list[int]:
        """Return how many characters each column needs."""
        most = max(4, (width - _BETWEEN * len(names)) // (2 * len(names)))
        floors = []
        for at, options in enumerate(self._made):
            cells = [options["header"], *(cells[at] for cells, _ in self._filled)]
            texts = [Text.from_markup(str(cell)).plain for cell in cells]
            longest = max(map(cell_len, texts))
            if options["header"] in names:
                floors.append(min(longest, most))
            elif options.get("no_wrap") or options.get("justify") == "right":
                floors.append(longest)
            else:
                words = [len(word) for text in texts for word in text.split()]
                floors.append(min(max(words, default=1), _LONGEST_WORD))
        return floors

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Draw what there is room for, and say what was left out."""
        fitted = self.fitted(options.max_width)
        yield from Table.__rich_console__(fitted, console, options)
        if fitted.left_out:
            words = ", ".join(fitted.left_out)
            yield Text(f"no room in {options.max_width} columns for: {words}", "dim")


def new_table(names: Sequence[str] = (), optional: Sequence[str] = ()) -> FittingTable:
    """Return an empty table; the first column holds the names unless told."""
    return FittingTable(names, optional)


def table_of(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Sequence[str] = (),
    names: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> FittingTable:
    """Return a table of texts; columns but those of ``words``, the first, are numbers.

    Words go on below where they do not fit, numbers stand at the right in one piece.
    """
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


def print_summary(console: Console, summary: Summary) -> None:
    """Print one table per instance, then why numbers are missing."""
    told = list(zip(summary.rows, summary.cells(), strict=True))
    for name in dict.fromkeys(row.instance for row in summary.rows):
        rows = [row for row in summary.rows if row.instance == name]
        cells = [cells for row, cells in told if row.instance == name]
        table = _environment_table(rows, cells).fitted(console.width)
        captions = _caption(summary, rows, table.headers)
        show(console, _title(summary, rows), table, *captions)
    for note in summary.notes():
        console.print(
            note, style="yellow", markup=False, soft_wrap=not console.is_terminal
        )


def print_theorems(
    screen: Console, preference: PreferenceMatrix, num_batches: int
) -> None:
    """Print what theorems say of a matrix, and in words why one does not apply."""
    rows, missing = _other_bounds(preference, num_batches)
    letters: dict[str, str] = {}
    table = new_table()
    for header in ("bound", "growth", "kind"):
        table.add_column(header)
    for header in ("regret", "if"):
        table.add_column(header, no_wrap=True)
    for bound in rows:
        needs = [
            letters.setdefault(text, chr(ord("a") + len(letters)))
            for text in (bound.condition, *bound.assumptions)
            if text
        ]
        table.add_row(
            bound.name,
            bound.formula_to(6),
            bound.kind,
            bound.regret,
            "".join(sorted(needs)),
        )
    notes = [f"{letter}: {text}" for text, letter in letters.items()]
    notes.append("D-TS with epsilon = 0.1, beta = 2.5")
    notes.append("asymptotic: of the growth, not of the level at a finite horizon")
    if rows:
        show(
            screen,
            "Other bounds: the terms that grow, with natural logarithms",
            table,
            *notes,
        )
    for text in missing:
        screen.print(text, style="yellow", markup=False)
    if missing:
        screen.print()


def _other_bounds(
    preference: PreferenceMatrix, num_batches: int
) -> tuple[list[RegretBound], list[str]]:
    """Return the bounds that are defined, and why the others are not."""
    from theory import all_bounds

    rows: list[RegretBound] = []
    missing: dict[str, list[str]] = {}
    for applied in all_bounds(preference, parameters={"num_batches": num_batches}):
        if applied.theorem.name in _CONSTANTS or applied.theorem.knows:
            continue  # In tables of their own; --model has the latter.
        rows.extend(applied.bounds)
        if applied.reason:
            missing.setdefault(applied.reason, []).append(applied.theorem.name)
    return rows, [f"{'; '.join(n)}: not defined ({why})" for why, n in missing.items()]


def _title(summary: Summary, rows: list[SummaryRow]) -> str:
    from bayesduel.analysis.text import regret_words

    runs = sorted({row.num_runs for row in rows if row.regret is not None})
    counts = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else "".join(map(str, runs))
    title = f"{rows[0].instance}: {regret_words(summary.notion)}"
    return f"{title}, {counts} run{'' if counts == '1' else 's'}" if counts else title


def _environment_table(
    rows: list[SummaryRow], cells: list[tuple[str, ...]]
) -> FittingTable:
    from bayesduel.analysis.summaries import bound_text

    bounded = any(row.lower_bound is not None or row.note for row in rows)
    left_out = () if bounded else ("bound", "ratio")
    table = new_table(optional=_OPTIONAL)
    table.add_column("policy", no_wrap=True)
    for header in _HEADERS:
        if header not in left_out:
            table.add_column(header, justify="right", no_wrap=True)
    for row, (_, policy, _, *own) in zip(rows, cells, strict=True):
        # A policy that failed has a bound all the same.
        known = dict(zip(_HEADERS, own, strict=True)) | {"bound": bound_text(row)}
        shown = (text for header, text in known.items() if header not in left_out)
        table.add_row(escape(policy), *shown, style="red" if row.error else None)
    return table


def _caption(summary: Summary, rows: list[SummaryRow], headers: list[str]) -> list[str]:
    """Say what the columns mean, with seed and version."""
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
            own = bounds.setdefault((row.lower_bound, row.lower_bound_winner), [])
            own.append(row.policy)
    for (value, winner), policies in bounds.items():
        # Policies over a model have the bound of those that know it.
        of = f" of {', '.join(policies)}" if len(bounds) > 1 else ""
        attained = "" if winner is None else f" (winner {winner})"
        lines.append(f"bound{of}: lower bound on the slope, {value:.1f}{attained}")
    if bounds:
        lines[-1] += "; ratio: slope / bound"
    lines.append(f"seed {summary.seed}, bayesduel {summary.version}")
    return lines
