"""What was understood of a file of votes: some of its rows, and what they add up to."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from bayesduel.cli.output import console
from bayesduel.cli.tables import show, table_of

if TYPE_CHECKING:
    from bayesduel.votes import Choices, Rankings
    from bayesduel.votes.pairs import VoteRows

_SAMPLE = 10
_FEW = 5
"""Of choices, which have a row for each alternative."""


def print_preview(rows: VoteRows) -> None:
    """Print ten rows and their votes, which columns were read, and all that is left."""
    names = rows.arm_names
    sample = zip(rows.rows, rows.first, rows.second, rows.counts, strict=True)
    cells = [
        (str(row), names[one], names[other], *(f"{votes:g}" for votes in counts))
        for row, one, other, counts in islice(sample, _SAMPLE)
    ]
    words = ("row", "first arm", "second arm")
    table = table_of((*words, "for first", "for second", "ties"), cells, words=words)
    screen, data = console(), rows.comparisons()
    read = "; ".join(f"{role}: {', '.join(each)}" for role, each in rows.read.items())
    order = "first arm shown first" if rows.order_known else "order shown: not known"
    show(screen, f"{rows.name}: {data}", table, read, order)


def print_whole_preview(name: str, data: Choices | Rankings) -> None:
    """Print ten different rankings, or the choices of ten sets, and all there are."""
    from bayesduel.votes import Rankings

    if isinstance(data, Rankings):
        ballots = zip(data.places, data.counts, strict=True)
        rows = [
            (*(f"{place or ''}" for place in places), f"{voters:g}")
            for places, voters in islice(ballots, _SAMPLE)
        ]
        show(console(), f"{name}: {data}", table_of((*data.arm_names, "voters"), rows))
        return
    rows = [
        (shown, data.arm_names[arm], f"{counts[arm]:g}")
        for shown, counts in [*zip(data.row_names, data.counts, strict=True)][:_SAMPLE]
        for arm in counts.nonzero()[0].tolist()
    ]
    words = ("shown", "chosen")
    table = table_of((*words, "votes"), rows, words=words)
    show(console(), f"{name}: {data}", table)


def print_choice_preview(name: str, data: Choices) -> None:
    """Print the first choices: what was offered with which attributes, and chosen."""
    assert data.attributes is not None
    rows = [
        (
            label,
            data.arm_names[arm],
            f"{data.counts[row, arm]:g}",
            *(f"{value:g}" for value in data.attributes[row, arm].tolist()),
        )
        for row, label in enumerate(data.row_names[:_FEW])
        for arm in data.offered[row].nonzero()[0].tolist()
    ]
    words = ("choice", "alternative")
    table = table_of((*words, "chosen", *data.attribute_names), rows, words=words)
    show(console(), f"{name}: {data}", table)
