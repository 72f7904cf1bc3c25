"""What commands on votes have in common: columns, models, methods, and reading them."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import flag, integer_option, number_option
from bayesduel.cli.parse import names as names_of

if TYPE_CHECKING:
    from bayesduel.votes import Comparisons
    from bayesduel.votes.format import VoteFormat

_COUNTED = re.compile(r"(.+)\*([0-9]+(?:\.[0-9]+)?)")
"""A word, and how many votes it counts."""


class Model(StrEnum):
    """What is assumed of the pairs."""

    bradley_terry = "bradley-terry"
    thurstone = "thurstone"
    beta = "beta"


class Method(StrEnum):
    """How the posterior is computed."""

    auto = "auto"
    exact = "exact"
    laplace = "laplace"
    svi = "svi"
    nuts = "nuts"
    mode = "mode"


class WithoutAnswer(StrEnum):
    """What becomes of rows where something is missing."""

    refuse = "refuse"
    skip = "skip"
    keep = "keep"


class Mirrored(StrEnum):
    """How often a match counts that a table lists from both sides."""

    once = "once"
    twice = "twice"


class Decimal(StrEnum):
    """The decimal sign of numbers."""

    point = "."
    comma = ","


class Contradiction(StrEnum):
    """What two answers count as that contradict each other."""

    tie = "tie"
    nothing = "nothing"


Arms = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Columns of the two arms. Default: left,right; first,second; home,away;"
        " a,b; model_a,model_b, also with team, item, player ...; or winner,loser.",
    ),
]
Winner = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of the winner. Default: winner. It may be one of the two arms; two"
        " columns, g1,g2, hold the answers in both orders.",
    ),
]
Words = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,TIE",
        help="What it says for the first arm, the second, a tie; several words as"
        " tie|'both bad', of several votes as A>>B*3. Names of arms and of their"
        " columns are understood too. Default: left,right,tie.",
    ),
]
Wins = Annotated[
    str | None,
    typer.Option(
        metavar="A,B", help="Columns of counts instead. Default: wins_a,wins_b."
    ),
]
TieColumns = Annotated[
    str | None,
    typer.Option(
        metavar="C,...",
        help="Columns that count ties. Default: ties, draws, or tie.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column: how many times a row counts."),
]
Scores = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Columns of scores instead, the larger one wins. Default:"
        " home_score,away_score; home_goals,away_goals; or score_a,score_b.",
    ),
]
Soft = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN:A:B",
        help="Column of a preference between two values instead: A is a sure vote for"
        " the first arm, B for the second, as in preference:1:2.",
    ),
]
Worst = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Of sets: column of the worst arm. Default: worst, or least.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="C1,C2,...",
        help="A ballot a row: columns of the best arm, the second best ... Default:"
        " '1st choice','2nd choice' ...",
    ),
]
Places = Annotated[
    str | None,
    typer.Option(
        metavar="ARM,ARM,...",
        help="A ballot a row: columns of arms, with the place of each. Default: those"
        " of a grid, 'Order \\[tea]','Order \\[milk]' ...",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=VALUE",
        help="Rows to read; also with !=, <, <=, > and >=. Repeat for several"
        " conditions, all of which must hold.",
    ),
]
Missing = Annotated[
    WithoutAnswer,
    typer.Option(
        help="Rows without an arm or an answer (empty, NA, null ...): an error, left"
        " out, or, of all but empty cells, names."
    ),
]
DecimalSign = Annotated[
    Decimal | None,
    typer.Option(
        "--decimal",
        help="Decimal sign of numbers. Default: point, and in files separated by"
        " semicolons also comma.",
    ),
]
MirroredRows = Annotated[
    Mirrored | None,
    typer.Option(
        "--mirrored",
        help="How often a match counts in a table that lists each from both sides.",
    ),
]
DryRun = Annotated[
    bool, flag("--dry-run", help="Only print ten rows, as they were understood.")
]
ModelChoice = Annotated[
    Model,
    typer.Option(help="One scale of utilities (two links), or a Beta per pair."),
]
OrderEffect = Annotated[
    bool, flag("--order-effect", help="The arm shown first may have an advantage.")
]
Covariates = Annotated[
    Path | None,
    typer.Option(
        metavar="ARMS",
        help="CSV or TSV with a row per arm: its name, and numbers of about unit size."
        " Utilities are then a weighted sum of these.",
    ),
]
ContestCovariate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of what the first arm has more of in a contest, such as the length"
        " of its answer: taken as it is, 0 for equals. Repeat for several.",
    ),
]
ContestScale = Annotated[
    float | None,
    number_option(
        metavar="S",
        help="Standard deviation of the prior of what one unit of a"
        " --contest-covariate adds to utility, default 1.",
    ),
]
Residual = Annotated[
    bool,
    flag(
        "--residual",
        help="With --covariates: arms may differ in more than these, by a residual of"
        " a learned standard deviation.",
    ),
]
Discrimination = Annotated[
    bool,
    flag(
        "--discrimination",
        help="With --judge: each may also see differences more or less clearly.",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of who judged: each may favor the arm shown first in a way of"
        " their own.",
    ),
]
Long = Annotated[
    str | None,
    typer.Option(
        metavar="ID,ALTERNATIVE,CHOSEN",
        help="Columns of a table with a row for each alternative of each choice.",
    ),
]
Neutral = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that is true where neither arm was shown first, or at home.",
    ),
]
OrderKnown = Annotated[
    bool,
    flag(
        "--order-known",
        help="The first arm of each row of counts was shown first; for --order-effect.",
    ),
]

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

Interval = Annotated[
    float, number_option("--interval", metavar="P", help="Of intervals.")
]
Draws = Annotated[
    int, integer_option(metavar="N", least=10, help="Draws of each of 4 chains.")
]


class Scale(NamedTuple):
    """The unit of scores, and an arm with a score of its own."""

    name: str = "utility"
    anchor: tuple[str, float] | None = None


UTILITY = Scale()


def vote_format(
    *,
    arms: str | None = None,
    winner: str | None = None,
    words: str | None = None,
    wins: str | None = None,
    ties: str | None = None,
    scores: str | None = None,
    soft: str | None = None,
    where: list[str] | None = None,
    missing: str = "refuse",
    order_known: bool = False,
    **others: Any,
) -> VoteFormat:
    """Return what the options of a command say of a table; others are taken as given.

    Options that name no column leave the format as it is.
    """
    from bayesduel.votes.format import VoteFormat

    both = names_between("--winner", winner, None)
    return VoteFormat(
        arms=names_between("--arms", arms, None),
        winner=both[0] if both and len(both) == 1 else both,
        words=None if words is None else _words(words),
        wins=names_between("--wins", wins, 2),
        ties=() if ties == "" else names_between("--tie-columns", ties, None),
        scores=names_between("--scores", scores, 2),
        soft=None if soft is None else _soft(soft),
        where=tuple(where or ()),
        missing=missing,
        order_known=order_known or None,
        **others,
    )


def read_pairs(votes: Path, reading: VoteFormat) -> Comparisons:
    """Read votes on pairs from a file."""
    require_file("VOTES", votes)
    from bayesduel.votes.pairs import parse_pairs

    return parse_pairs(votes, reading).comparisons()


def with_covariates(data: Comparisons, path: Path | None) -> Comparisons:
    """Return the votes with what a file says of the arms, where there is one."""
    if path is None:
        return data
    require_file("--covariates", path)
    from bayesduel.votes import read_covariates

    return data.with_covariates(*read_covariates(path, data.arm_names))


def _words(text: str) -> tuple[dict[str, float], ...]:
    """Return what each word counts, of ``A>>B*3|A>B,B>A|B>>A*3,tie='both bad'``."""
    found: list[dict[str, float]] = []
    for entry in names_between("--words", text, 3) or ():
        words: dict[str, float] = {}
        for word in entry.removeprefix("tie=").split("|"):
            counted = _COUNTED.fullmatch(word.strip())
            name, votes = counted.groups() if counted else (word, "1")
            name = name.strip().strip("\"'")
            if name in words:
                raise option_error("--words", "must be different", name)
            words[name] = float(votes)
        found.append(words)
    return tuple(found)


def _soft(text: str) -> tuple[str, float, float]:
    """Return a column and two values, of ``preference:1:2``."""
    from bayesduel.files.user_files import number

    column, *values = text.rsplit(":", 2)
    numbers = [number(each.strip()) for each in values]
    if len(numbers) != 2 or None in numbers or not column.strip():
        rule = "must be a column, and the values of a sure vote for either arm"
        raise option_error("--soft", rule, text, remedy="such as preference:1:2")
    return column.strip(), numbers[0], numbers[1]  # pyright: ignore[reportReturnType]


def names_between(
    option: str, text: str | None, count: int | None
) -> tuple[str, ...] | None:
    """Return names between commas."""
    if text is None:
        return None
    names = tuple(names_of(text, option))
    if not all(names) or (count is not None and len(names) != count):
        wanted = f"{count} names" if count else "names"
        raise option_error(option, f"must be {wanted} between commas", text)
    return names


def require_file(option: str, path: Path) -> None:
    """Raise where a file is not there; names of its folder that are near are said."""
    if path.exists():
        return
    from bayesduel.errors import near_names

    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    near = near_names(path.name, [each.name for each in beside]).rstrip()
    raise option_error(option, f"{path} does not exist", path, remedy=near)
