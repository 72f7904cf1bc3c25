"""Options for votes of which two are one: the same question in both orders."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bayesduel.cli.errors import option_error


class Contradiction(StrEnum):
    """What two answers count as that contradict each other."""

    tie = "tie"
    nothing = "nothing"


Context = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of what was asked, such as a prompt."),
]
BothOrders = Annotated[
    Contradiction | None,
    typer.Option(
        help="Two votes on one pair in either order, of the same --context and --judge,"
        " are one vote; a contradiction is a tie, or nothing."
    ),
]


def check_both_orders(
    both_orders: Contradiction | None, *, order_effect: bool, discrimination: bool
) -> None:
    """Refuse what is about the order of votes that have none any more.

    Raises
    ------
    ValueError
        Naming the option.
    """
    refused = {"--order-effect": order_effect, "--discrimination": discrimination}
    for name, given in refused.items():
        if both_orders is not None and given:
            rule = "is for votes in one order, and --both-orders makes one of two"
            raise option_error(name, rule)
