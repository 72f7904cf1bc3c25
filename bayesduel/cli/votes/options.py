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
    from bayesduel.votes.vote_rows import VoteRows

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


class Contradiction(StrEnum):
    """What two answers count as that contradict each other."""

    tie = "tie"
    nothing = "nothing"


Arms = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Columns of the two arms. Default: left,right; first,second;"
        " model_a,model_b; team_a,team_b; home_team,away_team; home,away; a,b; or"
        " winner,loser.",
    ),
]
Winner = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of the winner. Default: winner."),
]
Words = Annotated[
    str,
    typer.Option(
        metavar="A,B,TIE",
        help="What it says for the first arm, the second, a tie; several words as"
        " tie|'both bad', of several votes as A>>B*3. Names of arms are understood"
        " too.",
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
Where = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Rows to read, in the words of pandas: \"language == 'English'\".",
    ),
]
Missing = Annotated[
    WithoutAnswer,
    typer.Option(help="Rows without an arm or an answer: an error, or left out."),
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


class VoteColumns(NamedTuple):
    """Which columns of a file hold votes, as the options of a command say it."""

    arms: str | None
    winner: str | None
    words: str
    wins: str | None
    ties: str | None
    weight: str | None
    order_known: bool = False
    scores: str | None = None
    where: str | None = None
    missing: str = "refuse"
    judge: str | None = None
    neutral: str | None = None
    context: str | None = None
    group: str | None = None
    cluster: str | None = None
    contest_covariate: tuple[str, ...] = ()


def read_votes(votes: Path, columns: VoteColumns) -> Comparisons:
    """Read a file of votes by the columns that were named; see :func:`vote_rows`."""
    return vote_rows(votes, columns).comparisons()


def vote_rows(votes: Path, columns: VoteColumns) -> VoteRows:
    """Read a file of votes, row by row, by the columns that were named."""
    ties = columns.ties
    read: dict[str, Any] = {
        "arms": names_between("--arms", columns.arms, 2),
        "winner": columns.winner,
        "words": _words(columns.words),
        "wins": names_between("--wins", columns.wins, 2),
        "scores": names_between("--scores", columns.scores, 2),
        "ties": () if ties == "" else names_between("--tie-columns", ties, None),
        "weight": columns.weight,
        "where": columns.where,
        "missing": columns.missing,
        "order_known": columns.order_known or None,
        **{
            name: getattr(columns, name)
            for name in ("judge", "neutral", "context", "group", "cluster")
        },
        "contest_covariates": columns.contest_covariate,
    }
    require_file("VOTES", votes)
    from bayesduel.votes.vote_rows import VoteFormat, read_vote_rows

    return read_vote_rows(votes, VoteFormat(**read))


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
