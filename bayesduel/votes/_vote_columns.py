"""Which columns of a user's table hold votes: those that were named, or usual ones."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import composed, labels_of, shortened

_KNOWN_PAIRS = (
    ("left", "right"),
    ("first", "second"),
    ("model_a", "model_b"),
    ("team_a", "team_b"),
    ("home_team", "away_team"),
    ("home", "away"),
    ("a", "b"),
    ("winner", "loser"),
)
_ONE_HOT = ("winner_model_a", "winner_model_b")
_KNOWN_WINS = (("wins_a", "wins_b"), ("wins_first", "wins_second"), _ONE_HOT)
_KNOWN_SCORES = (
    ("home_score", "away_score"),
    ("home_goals", "away_goals"),
    ("score_a", "score_b"),
)
_KNOWN_TIES = ("ties", "draws", "tie")
_ONE_HOT_TIE = "winner_tie"
_LIKE_TIES = re.compile(
    r"(?:(?:.*_)?(?:ties?|tied|draws?|drawn|both_?bad|neither)(?:_?both_?bad)?"
    r"|(?:n_|num_|number_of_|count_)?[td])"
    r"(?:_?ij|_?ab|_a_b|_count)?"
)
NOT_WHOLE = "give what a vote counts as a weight instead"


class VoteFormat(NamedTuple):
    """What a caller says of a table; see :func:`bayesduel.votes.read_comparisons`."""

    arms: Any = None
    winner: str | None = None
    wins: Any = None
    ties: Any = None
    scores: Any = None
    weight: str | None = None
    words: Any = ("left", "right", "tie")
    where: str | None = None
    missing: str = "refuse"
    order_known: bool | None = None
    judge: str | None = None
    context: str | None = None
    neutral: str | None = None
    columns: Any = ()
    group: str | None = None
    cluster: str | None = None
    contest_covariates: Any = ()

    def kept(self) -> dict[str, str]:
        """Return the columns that stay with each vote, by what they are called there.

        ``ComparisonDataError`` if one of them is no title, or two are called the same.
        """
        names = "judge", "context", "neutral", "group", "cluster"
        found = {name: getattr(self, name) for name in names}
        found = {name: title for name, title in found.items() if title is not None}
        for name, title in found.items():
            if not isinstance(title, str):
                raise ComparisonDataError(name, "must be the title of a column", title)
        for name in "columns", "contest_covariates":
            for title in map(str, labels_of(name, getattr(self, name))):
                if title in found:
                    rule = "must not be called as one that is read otherwise"
                    raise ComparisonDataError(name, rule, title)
                found[title] = title
        return found

    def names_no_column(self) -> bool:
        """Say whether all columns are left to be found."""
        named = (self.arms, self.winner, self.wins, self.ties, self.scores, self.weight)
        return all(each is None for each in named) and not self.kept()


class VoteColumns(NamedTuple):
    """The columns that hold the votes. Just one of winner, wins and scores is there."""

    arms: tuple[str, str]
    winner: str | None = None
    wins: tuple[str, str] | None = None
    ties: tuple[str, ...] = ()
    scores: tuple[str, str] | None = None
    weight: str | None = None
    kept: tuple[tuple[str, str], ...] = ()

    def read(self) -> dict[str, tuple[str, ...]]:
        """Return the titles that are read, by what they are read as."""
        found = {
            "arms": self.arms,
            "winner": (self.winner,),
            "wins": self.wins,
            "ties": self.ties,
            "scores": self.scores,
            "weight": (self.weight,),
            **{name: (title,) for name, title in self.kept},
        }
        titles = {
            role: tuple(composed(title) for title in each or () if title is not None)
            for role, each in found.items()
        }
        return {role: each for role, each in titles.items() if each}

    @property
    def is_one_hot(self) -> bool:
        """Whether each row is one vote, with a 1 in one of several columns."""
        return self.wins == _ONE_HOT


def is_square(table: ColumnTable) -> bool:
    """Say whether a table has a row and a column for each arm, of the same names."""
    names, *others = table.titles
    if not 1 < len(others) == table.num_rows:
        return False
    return sorted(table[names]) == sorted(others)


def columns_of(table: ColumnTable, asked: VoteFormat) -> VoteColumns:
    """Find the columns of votes but ties; refuse to guess where there are several."""
    arms, wins = two_columns("arms", asked.arms), two_columns("wins", asked.wins)
    scores = two_columns("scores", asked.scores)
    if asked.ties is not None:
        labels_of("ties", asked.ties)
    pair = table.chosen("arms", arms, _KNOWN_PAIRS)
    _check_one_way(table, asked.winner, wins, scores)
    winner = None if scores else _winner_column(table, asked.winner, wins)
    if winner is None and wins is None and not table.usual(_KNOWN_WINS):
        usual = table.usual(_KNOWN_SCORES)
        scores = usual[0] if scores is None and len(usual) == 1 else scores
    if winner is not None or scores is not None:
        if asked.ties is not None:
            said = f"{winner!r} says" if winner else f"{' and '.join(scores or ())} say"
            raise ComparisonDataError(
                table.name,
                f"ties are columns of counts, but {said} who won each single vote, "
                "and which were ties",
                remedy="leave ties (--tie-columns) out, or name columns of counts "
                "with wins (--wins)",
            )
        return VoteColumns(pair, winner, scores=scores, weight=asked.weight)
    counted = table.chosen("wins", wins, _KNOWN_WINS)
    return VoteColumns(pair, wins=counted, weight=asked.weight)


def with_ties(table: ColumnTable, columns: VoteColumns, asked: Any) -> VoteColumns:
    """Add the columns that count ties, of a table that counts votes per pair."""
    if columns.wins is None:
        return columns
    ties = None if asked is None else list(map(str, labels_of("ties", asked)))
    if ties is None:
        ties = _tie_columns(table, (*columns.arms, columns.weight), columns.wins)
    named = [*columns.wins, *ties]
    for title in named:
        if named.count(title) > 1:
            raise ComparisonDataError(
                table.name,
                f"the column {title!r} is named twice among wins and ties",
                title,
                remedy="leave one out",
            )
    return columns._replace(ties=tuple(ties))


def two_columns(argument: str, titles: Any) -> tuple[str, str] | None:
    """Return two titles, None where none are named."""
    if titles is None:
        return None
    found = tuple(map(str, labels_of(argument, titles)))
    if len(found) != 2:
        raise ComparisonDataError(argument, "must name two columns", shortened(found))
    return found


def _check_one_way(
    table: ColumnTable,
    winner: str | None,
    wins: Sequence[str] | None,
    scores: Sequence[str] | None,
) -> None:
    if scores is not None and (winner is not None or wins is not None):
        other = (
            f"winner ({winner!r})" if winner else f"wins ({' and '.join(wins or ())})"
        )
        raise ComparisonDataError(
            table.name,
            f"scores ({' and '.join(scores)}) say who won, and so does {other}",
            remedy="name one of them",
        )
    if winner is not None and wins is not None:
        raise ComparisonDataError(
            table.name,
            f"winner ({winner!r}) is for a vote a row, wins ({' and '.join(wins)}) "
            "for a pair a row",
            remedy="not both",
        )


def _winner_column(
    table: ColumnTable, winner: str | None, wins: tuple[str, str] | None
) -> str | None:
    """Return the column of winners, None where votes are counted per pair."""
    if winner is not None or wins is not None or "winner" not in table:
        return winner
    if counts := table.usual(_KNOWN_WINS):
        raise ComparisonDataError(
            table.name,
            f"has both a column 'winner' and counts in {' and '.join(counts[0])}",
            remedy="say which with winner or wins",
        )
    return "winner"


def _tie_columns(
    table: ColumnTable, others: tuple[str | None, ...], wins: tuple[str, str]
) -> list[str]:
    """Return the usual column of ties; refuse to guess, and to lose any."""
    known = (*_KNOWN_TIES, _ONE_HOT_TIE) if wins == _ONE_HOT else _KNOWN_TIES
    found = {}
    taken = {None if each is None else composed(each) for each in (*others, *wins)}
    for title in table.titles:
        if title in taken:
            continue
        words = re.sub(r"\W+", "_", title.lower()).strip("_")
        if title in known or (
            table.has_numbers(title)
            and (_LIKE_TIES.fullmatch(words) or _fills_gaps(table, title, wins))
        ):
            found[title] = table.whole_numbers(title, NOT_WHOLE).sum()
    lost = [title for title in found if title not in known and found[title]]
    usual = [title for title in found if title in known]
    if lost or len(usual) > 1:
        named = ", ".join(f"{title} ({found[title]:g})" for title in (*usual, *lost))
        raise ComparisonDataError(
            table.name,
            f"these columns look like numbers of ties: {named}",
            remedy=f"name those to add up, ties={usual + lost} (--tie-columns "
            f"{','.join(usual + lost)}), or none, ties=[] (--tie-columns '')",
        )
    return usual


def _fills_gaps(table: ColumnTable, title: str, wins: tuple[str, str]) -> bool:
    """Return whether a 0/1 column says 1 only where neither arm has a vote."""
    if not set(table[title]) <= {"0", "1", "0.0", "1.0"}:
        return False
    undecided = table.numbers(wins[0]) + table.numbers(wins[1]) == 0
    said = table.numbers(title) == 1
    return bool(said.any() and np.all(undecided[said]))
