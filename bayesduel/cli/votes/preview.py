"""What was understood of a file of votes: some of its rows, and what they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesduel.cli.output import console
from bayesduel.cli.tables import new_table, show

if TYPE_CHECKING:
    from bayesduel.votes import Choices
    from bayesduel.votes.vote_rows import VoteRows

_SAMPLE = 10


def print_preview(rows: VoteRows) -> None:
    """Print ten rows and their votes, which columns were read, and all that is left."""
    table = new_table()
    for header in ("row", "first arm", "second arm"):
        table.add_column(header, overflow="fold")
    for header in ("for first", "for second", "ties"):
        table.add_column(header, justify="right")
    for row, (first, second) in enumerate(zip(rows.first, rows.second, strict=True)):
        if row == _SAMPLE:
            break
        counts = [f"{votes:g}" for votes in rows.counts[row]]
        table.add_row(str(rows.numbers[row]), first, second, *counts)
    screen, data = console(), rows.comparisons()
    read = "; ".join(f"{role}: {', '.join(each)}" for role, each in rows.read.items())
    order = "first arm shown first" if rows.order_known else "order shown: not known"
    show(screen, f"{rows.table.name}: {data}", table, read, order)


def print_set_preview(name: str, data: Choices) -> None:
    """Print choices of ten sets, and what they add up to."""
    from rich.markup import escape

    table = new_table()
    for header in ("shown", "chosen"):
        table.add_column(header, overflow="fold")
    table.add_column("votes", justify="right")
    for shown, counts in [*zip(data.row_names, data.counts, strict=True)][:_SAMPLE]:
        for arm in counts.nonzero()[0].tolist():
            cells = escape(shown), escape(data.arm_names[arm]), f"{counts[arm]:g}"
            table.add_row(*cells)
    show(console(), f"{name}: {data}", table)
