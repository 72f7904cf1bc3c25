"""Tables for people, by Rich: what does not fit in a narrow terminal is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.table import Table

    from bayesduel.analysis import Slope, Summary, SummaryRow

__all__ = ["fitting_table", "new_table", "print_summary", "show"]

_HEADERS = ("T", "regret ± se", "median", "10-90 %", "slope ± se", "bound", "ratio")
# Left out in this order until the table fits.
_OPTIONAL = ("10-90 %", "median", "bound", "ratio", "T", "slope ± se")


def new_table() -> Table:
    """Return an empty table in the style of the command line."""
    from rich import box
    from rich.table import Table

    return Table(
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        collapse_padding=True,
    )


def show(console: Console, title: str, table: Table, *captions: str) -> None:
    """Print a table between its title and what its columns mean."""
    console.print(title, style="bold", markup=False)
    console.print(table)
    for caption in captions:
        console.print(caption, style="dim", markup=False)
    console.print()


def print_summary(console: Console, summary: Summary) -> None:
    """Print one table per environment, then why numbers are missing."""
    names = list(dict.fromkeys(row.environment for row in summary.rows))
    for name in names:
        rows = [row for row in summary.rows if row.environment == name]
        headers, table = _fitting_table(console, rows)
        show(console, _title(summary, rows), table, *_caption(summary, rows, headers))
    for note in summary.notes():
        console.print(
            note, style="yellow", markup=False, soft_wrap=not console.is_terminal
        )


def _title(summary: Summary, rows: list[SummaryRow]) -> str:
    runs = sorted({row.num_runs for row in rows if row.regret is not None})
    counts = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else "".join(map(str, runs))
    title = f"{rows[0].environment}: {summary.notion} regret"
    return f"{title}, {counts} run{'' if counts == '1' else 's'}" if counts else title


def _fitting_table(console: Console, rows: list[SummaryRow]) -> tuple[list[str], Table]:
    """Return the table with as many columns as the console has room for."""
    bounded = any(row.lower_bound is not None or row.note for row in rows)
    headers = [name for name in _HEADERS if bounded or name not in ("bound", "ratio")]
    return fitting_table(
        console, headers, _OPTIONAL, lambda kept: _environment_table(rows, kept)
    )


def fitting_table(
    console: Console,
    headers: Sequence[str],
    optional: Sequence[str],
    make: Callable[[list[str]], Table],
) -> tuple[list[str], Table]:
    """Return the headers that the console has room for, and ``make(headers)``.

    Those of ``optional`` are left out in that order until the table fits.
    """
    # Measured as if there were no limit: cells would be cut to fit any other.
    unlimited = console.options.update(max_width=1000)
    kept = list(headers)
    table = make(kept)
    for name in filter(headers.__contains__, optional):
        if console.measure(table, options=unlimited).maximum <= console.width:
            break
        kept.remove(name)
        table = make(kept)
    return kept, table


def _environment_table(rows: list[SummaryRow], headers: list[str]) -> Table:
    from rich.markup import escape

    table = new_table()
    table.add_column("policy", no_wrap=True)
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        cells = _cells(row)
        style = "red" if row.error else None
        table.add_row(
            escape(row.policy), *(cells[name] for name in headers), style=style
        )
    return table


def _cells(row: SummaryRow) -> dict[str, str]:
    from bayesduel.analysis.text import format_number, format_rounds, format_with_error

    missing = "-"
    bound = missing if row.lower_bound is None else f"{row.lower_bound:.1f}"
    if row.regret is None:
        return {
            "T": missing,
            "regret ± se": "failed",
            "median": missing,
            "10-90 %": missing,
            "slope ± se": missing,
            "bound": bound,
            "ratio": missing,
        }
    final = row.regret
    low, high = format_number(final.quantile_10), format_number(final.quantile_90)
    return {
        "T": format_rounds(row.horizon),
        "regret ± se": format_with_error(final.mean, final.standard_error),
        "median": format_number(final.median),
        "10-90 %": f"{low} to {high}",
        "slope ± se": _slope_cell(row.slope) if row.slope else missing,
        "bound": bound,
        "ratio": missing if row.ratio is None else f"{row.ratio:.2f}",
    }


def _slope_cell(slope: Slope) -> str:
    from bayesduel.analysis.text import format_with_error

    return format_with_error(slope.value, slope.standard_error)


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
    bounded = [row for row in rows if row.lower_bound is not None]
    if bounded:
        lines.append(
            f"bound: lower bound on the slope, {bounded[0].lower_bound:.1f} (winner "
            f"{bounded[0].lower_bound_winner}); ratio: slope / bound"
        )
    lines.append(f"seed {summary.seed}, bayesduel {summary.version}")
    return lines
