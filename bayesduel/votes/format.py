"""Which columns of a table hold votes: those that were named, or usual ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import composed, labels_of, shortened
from bayesduel.votes.tables import Table
from theory.arguments import one_of, true_or_false

_STEMS = ("model", "team", "item", "option", "arm", "player", "system", "generator")
_ENDS = (("_a", "_b"), ("_1", "_2"))
_KNOWN_PAIRS = (
    ("left", "right"),
    ("first", "second"),
    ("home_team", "away_team"),
    ("home", "away"),
    ("a", "b"),
    *((stem + one, stem + other) for stem in _STEMS for one, other in _ENDS),
    ("winner", "loser"),
    ("winner_name", "loser_name"),
    ("winner_id", "loser_id"),
    ("winner_model", "loser_model"),
    ("chosen_model", "rejected_model"),
)
_WON = re.compile(r"(?:winner|winning|won|chosen|preferred|better)(.*)", re.IGNORECASE)
_LOST = re.compile(
    r"(?:loser|losing|lost|rejected|dispreferred|worse)(.*)", re.IGNORECASE
)
_ONE_HOT = ("winner_model_a", "winner_model_b")
_KNOWN_WINS = (("wins_a", "wins_b"), ("wins_first", "wins_second"), _ONE_HOT)
_KNOWN_SCORES = (
    ("home_score", "away_score"),
    ("home_goals", "away_goals"),
    ("score_a", "score_b"),
)
_NO_NAME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}.*"
    r"|[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|.{200,}",
    re.DOTALL,
)
"""Dates, universally unique identifiers, and texts that are compared themselves."""

_KNOWN_TIES = ("ties", "draws", "tie")
_ONE_HOT_TIE = "winner_tie"
_LIKE_TIES = re.compile(
    r"(?:(?:.*_)?(?:ties?|tied|draws?|drawn|both_?bad|neither)(?:_?both_?bad)?"
    r"|(?:n_|num_|number_of_|count_)?[td])"
    r"(?:_?ij|_?ab|_a_b|_count)?"
)
TIE_WORDS = ("tie", "draw", "tie (bothbad)", "both_bad", "bothbad")
"""What usually stands for a tie where nobody said what does."""

NOT_WHOLE = "give what a vote counts as a weight instead ({weight})"


@dataclass(frozen=True)
class VoteFormat:
    """How a table holds votes on pairs, as in `bayesduel.votes.read_comparisons`."""

    arms: Any = None
    winner: Any = None
    wins: Any = None
    ties: Any = None
    scores: Any = None
    soft: Any = None
    weight: str | None = None
    words: Any = None
    where: Any = ()
    missing: str = "refuse"
    decimal: str | None = None
    mirrored: str | None = None
    both_orders: str | None = None
    order_known: bool | None = None
    judge: str | None = None
    context: str | None = None
    neutral: str | None = None
    group: str | None = None
    cluster: str | None = None
    columns: Any = ()
    contest_covariates: Any = ()

    def __post_init__(self) -> None:
        """Refuse what no table can be read by, before one is opened."""
        for name, known in (("mirrored", ("once", "twice")),
                            ("both_orders", ("tie", "nothing"))):  # fmt: skip
            if getattr(self, name) is not None:
                one_of(getattr(self, name), known, name, kind=ComparisonDataError)
        if self.order_known is not None:
            true_or_false(self.order_known, "order_known", kind=ComparisonDataError)

    def kept(self) -> dict[str, str]:
        """Return the columns that stay with each vote, by what they are called there.

        ``ComparisonDataError`` if one of them is no title, or two are called the same.
        """
        names = "judge", "context", "neutral", "group", "cluster"
        kept = {name: getattr(self, name) for name in names}
        kept = {name: title for name, title in kept.items() if title is not None}
        for name, title in kept.items():
            if not isinstance(title, str):
                raise ComparisonDataError(name, "must be the title of a column", title)
        for name in "columns", "contest_covariates":
            for title in map(str, labels_of(name, getattr(self, name))):
                if title in kept:
                    rule = "must not be called as one that is read otherwise"
                    raise ComparisonDataError(name, rule, title)
                kept[title] = title
        return kept

    def names_no_column(self) -> bool:
        """Return whether all columns are left to be guessed."""
        named = (self.arms, self.winner, self.wins, self.ties, self.scores, self.soft,
                 self.weight)  # fmt: skip
        return all(each is None for each in named) and not self.kept()


@dataclass(frozen=True)
class VoteColumns:
    """The columns that hold votes. Just one of winner, wins, scores, soft is there."""

    arms: tuple[str, ...]
    winner: tuple[str, ...] = ()  # One column, or one for each order.
    wins: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()

    def titles(self) -> dict[str, tuple[str, ...]]:
        """Return the titles that are read, by what they are read as."""
        return {
            role: tuple(map(composed, titles))
            for role, titles in vars(self).items()
            if titles
        }


def columns_of(table: Table, asked: VoteFormat) -> VoteColumns:
    """Return the columns of votes: those that were named, or the only usual ones.

    ``ComparisonDataError`` where several could be meant, or a guess cannot be right.
    """
    arms = _titles("arms", asked.arms, 2) or _usual_arms(table)
    weight = () if asked.weight is None else (str(asked.weight),)
    ways = {
        "winner": _winners(asked.winner),
        "wins": _titles("wins", asked.wins, 2),
        "scores": _titles("scores", asked.scores, 2),
        "soft": () if asked.soft is None else (str(_soft_parts(asked.soft)[0]),),
    }
    named = [name for name, titles in ways.items() if titles]
    if len(named) > 1:
        said = [f"{name} ({' and '.join(ways[name])})" for name in reversed(named)]
        raise ComparisonDataError(
            table.name,
            f"{said[0]} say who won, and so does {said[1]}",
            remedy="name one of them, not both",
        )
    if not named:
        way, titles = _usual_way(table, arms)
        ways[way] = titles
    one_way = {name: titles for name, titles in ways.items() if titles}
    if asked.ties is not None:
        labels_of("ties", asked.ties)
        if not ways["wins"]:
            said = " and ".join(next(iter(one_way.values())))
            raise ComparisonDataError(
                table.name,
                f"ties are columns of counts, but {said} says who won each single vote,"
                " and which were ties",
                remedy="leave ties ({ties}) out, or name columns of counts ({wins})",
            )
    return VoteColumns(arms, weight=weight, **one_way)


def _titles(argument: str, titles: Any, count: int) -> tuple[str, ...]:
    if titles is None:
        return ()
    names = tuple(map(str, labels_of(argument, titles)))
    if len(names) != count:
        raise ComparisonDataError(argument, "must name two columns", shortened(names))
    return names


def _winners(winner: Any) -> tuple[str, ...]:
    """Return one column, or two: asked in the order of the arms, and the other way."""
    if winner is None or isinstance(winner, str | int):
        return () if winner is None else (str(winner),)
    return _titles("winner", winner, 2)


def _soft_parts(soft: Any) -> tuple[str, float, float]:
    """Return a column, and the values that are sure votes for either arm."""
    parts = soft if isinstance(soft, Sequence) and not isinstance(soft, str) else ()
    numbers = [each for each in parts[1:] if isinstance(each, int | float)]
    if len(parts) != 3 or len(numbers) != 2 or numbers[0] == numbers[1]:
        rule = "must be a column and the values for the first arm and for the second"
        remedy = 'such as ("preference", 1, 2)'
        raise ComparisonDataError("soft", rule, soft, remedy=remedy)
    return str(parts[0]), float(numbers[0]), float(numbers[1])


def soft_scale(soft: Any) -> tuple[float, float]:
    """Return the values of a soft preference that are sure votes for either arm."""
    return (1.0, 2.0) if soft is None else _soft_parts(soft)[1:]


def _usual(table: Table, known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of titles that are usual, else those that are much like them."""
    if exact := [pair for pair in known if pair[0] in table and pair[1] in table]:
        return exact
    like = ((table.usual(one), table.usual(other)) for one, other in known)
    return [*dict.fromkeys((one, other) for one, other in like if one and other)]


def _usual_arms(table: Table) -> tuple[str, str]:
    usual = _usual(table, _KNOWN_PAIRS)
    if len(usual) > 1:
        both = " or ".join(" and ".join(pair) for pair in usual)
        rule, remedy = f"the two columns could be {both}", "say which: arms ({arms})"
        raise ComparisonDataError(table.name, rule, usual, remedy=remedy)
    if not usual:
        known = "; ".join(" and ".join(pair) for pair in _KNOWN_PAIRS[:7])
        rule = (
            f"none of the usual columns ({known}; ...) is there, only "
            f"{shortened(table.titles)}"
        )
        remedy = "name the two with arms ({arms})"
        raise ComparisonDataError(table.name, rule, table.titles, remedy=remedy)
    for title in usual[0]:
        names = table.labels(title)[1]
        if len(names) > 1 and all(map(_NO_NAME.fullmatch, names)):
            rule = (
                f"the column {title!r} holds dates, ids or texts such as {names[0]!r}"
            )
            remedy = "name the columns of the two arms ({arms})"
            raise ComparisonDataError(table.name, rule, None, remedy=remedy)
    return usual[0]


def _usual_way(table: Table, arms: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the usual columns that say who won, and what they are."""
    counts, scores = _usual(table, _KNOWN_WINS), _usual(table, _KNOWN_SCORES)
    if winner := table.usual("winner"):
        if counts:
            raise ComparisonDataError(
                table.name,
                f"has both a column {winner!r} and counts in {' and '.join(counts[0])}",
                remedy="say which with winner ({winner}) or wins ({wins})",
            )
        return "winner", (winner,)
    for way, known in (("wins", counts), ("scores", scores)):
        if len(known) == 1:
            return way, known[0]
        if known:
            both = " or ".join(" and ".join(pair) for pair in known)
            rule, remedy = f"the two columns could be {both}", f"say which: {{{way}}}"
            raise ComparisonDataError(table.name, rule, known, remedy=remedy)
    won, lost = _WON.fullmatch(arms[0]), _LOST.fullmatch(arms[1])
    if won and lost and won[1].lower() == lost[1].lower():
        return "winner", (arms[0],)
    if won is None and (won := _WON.fullmatch(arms[1])) and _LOST.fullmatch(arms[0]):
        return "winner", (arms[1],)
    if arms[0].startswith("generator") and "preference" in table:
        return "soft", ("preference",)
    _refuse_without_winner(table, arms)


def _refuse_without_winner(table: Table, arms: tuple[str, ...]) -> NoReturn:
    rule = (
        f"no column says who won: none of the usual columns (winner; wins_a and "
        f"wins_b; score_a and score_b) is there, only {shortened(table.titles)}"
    )
    remedy = (
        "name a column of winners, which may be one of the arms ({winner}), or two of "
        "counts ({wins}), of scores ({scores}), or a soft preference ({soft})"
    )
    raise ComparisonDataError(table.name, rule, arms, remedy=remedy)


def tie_columns(table: Table, columns: VoteColumns, asked: Any) -> tuple[str, ...]:
    """Return the columns that count ties, where votes are counted per pair.

    ``ComparisonDataError`` where columns look like ties that nobody named.
    """
    if asked is not None:
        ties = [str(title) for title in labels_of("ties", asked)]
    else:
        ties = _usual_ties(table, columns)
    named = [*columns.wins, *ties]
    for title in named:
        if named.count(title) > 1:
            raise ComparisonDataError(
                table.name,
                f"the column {title!r} is named twice among wins and ties",
                title,
                remedy="leave one out",
            )
    return tuple(ties)


def _usual_ties(table: Table, columns: VoteColumns) -> list[str]:
    wins = columns.wins
    known = (*_KNOWN_TIES, _ONE_HOT_TIE) if wins == _ONE_HOT else _KNOWN_TIES
    sums = {}
    taken = {composed(each) for each in (*columns.arms, *columns.weight, *wins)}
    for title in table.titles:
        if title in taken:
            continue
        words = re.sub(r"\W+", "_", title.lower()).strip("_")
        like = _LIKE_TIES.fullmatch(words) and table.has_numbers(title)
        if title.lower() in known or like or _fills_gaps(table, title, wins):
            sums[title] = table.whole_numbers(title, NOT_WHOLE, flags=True).sum()
    lost = [title for title in sums if title.lower() not in known and sums[title]]
    usual = [title for title in sums if title.lower() in known]
    if lost or len(usual) > 1:
        named = ", ".join(f"{title} ({sums[title]:g})" for title in (*usual, *lost))
        raise ComparisonDataError(
            table.name,
            f"these columns look like numbers of ties: {named}",
            remedy=f"name those to add up, ties={usual + lost} (--tie-columns "
            f"{','.join(usual + lost)}), or none, ties=[] (--tie-columns '')",
        )
    return usual


def _fills_gaps(table: Table, title: str, wins: tuple[str, ...]) -> bool:
    """Return whether a column of 0 and 1 says 1 only where neither arm has a vote."""
    if table.titles.count(title) > 1:
        return False
    if not {name.lower() for name in table.labels(title)[1]} <= _ZERO_OR_ONE:
        return False
    votes = np.stack([table.numbers(each, flags=True) for each in wins])
    undecided = votes.sum(axis=0) == 0
    said = table.numbers(title, flags=True, gaps=True) == 1
    return bool(said.any() and np.all(undecided[said]))


_ZERO_OR_ONE = {"0", "1", "0.0", "1.0", "true", "false"}
