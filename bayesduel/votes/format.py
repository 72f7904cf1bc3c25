"""Which columns of a table hold votes: those that were named, or usual ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import composed, flag, labels_of, refuse, shortened
from bayesduel.votes.tables import Table, plain
from theory.arguments import one_of

_STEMS = ("model", "team", "item", "option", "arm", "player", "system", "generator")
_ENDS = (("_a", "_b"), ("_1", "_2"))
_KNOWN_PAIRS = (
    ("left", "right"),
    ("first", "second"),
    ("home_team", "away_team"),
    ("home", "away"),
    ("a", "b"),
    *((stem + first, stem + second) for stem in _STEMS for first, second in _ENDS),
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
ONE_HOT = ("winner_model_a", "winner_model_b")
_KNOWN_WINS = (("wins_a", "wins_b"), ("wins_first", "wins_second"), ONE_HOT)
_KNOWN_SCORES = (
    ("home_score", "away_score"),
    ("home_goals", "away_goals"),
    ("score_a", "score_b"),
)
# Dates, universally unique identifiers, and texts that are compared themselves.
_NO_NAME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}.*"
    r"|[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|.{200,}",
    re.DOTALL,
)
_KNOWN_TIES = ("ties", "draws", "tie")
_LIKE_TIES = re.compile(
    r"(?:(?:.*_)?(?:ties?|tied|draws?|drawn|both_?bad|neither)(?:_?both_?bad)?"
    r"|(?:n_|num_|number_of_|count_)?[td])"
    r"(?:_?ij|_?ab|_a_b|_count)?"
)
_ZERO_OR_ONE = {"0", "1", "0.0", "1.0", "true", "false"}
_OF_WINS = {plain(title) for pair in _KNOWN_WINS for title in pair}
_OF_VOTES = {"winner", "preference"} | {
    plain(title) for pair in (*_KNOWN_PAIRS, *_KNOWN_SCORES) for title in pair
}

# Words that usually mean a tie, where nobody said which ones do.
TIE_WORDS = ("tie", "draw", "tie (bothbad)", "both_bad", "bothbad")

NOT_WHOLE = "give what a vote counts as a weight instead ({weight})"

type Columns = dict[str, tuple[str, ...]]
"""Titles by role: arms, weight, ties, and one of winner, wins, scores and soft."""


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
            flag(self.order_known, "order_known")

    def carried(self) -> dict[str, str]:
        """Return the columns that stay with each vote, by their names there."""
        names = "judge", "context", "neutral", "group", "cluster"
        carried = {name: getattr(self, name) for name in names}
        carried = {name: title for name, title in carried.items() if title is not None}
        for name, title in carried.items():
            if not isinstance(title, str):
                refuse(name, "must be the title of a column", title)
        for name in "columns", "contest_covariates":
            for title in map(str, labels_of(name, getattr(self, name))):
                if title in carried:
                    rule = "must not be called as one that is read otherwise"
                    refuse(name, rule, title)
                carried[title] = title
        return carried

    def names_no_column(self) -> bool:
        """Return whether all columns are left to be guessed."""
        named = (self.arms, self.winner, self.wins, self.ties, self.scores, self.soft,
                 self.weight)  # fmt: skip
        return all(title is None for title in named) and not self.carried()

    def needed(self, titles: Sequence[str]) -> Sequence[str]:
        """Return the titles that are read for sure; beside wins any may hold ties."""
        named = {*self.carried().values()}
        for given in (self.arms, self.winner, self.scores, self.soft, self.weight):
            named |= {*_listed(given)}
        named = {*map(composed, named)}
        conditions = [condition.lstrip() for condition in _listed(self.where)]
        counted = self.wins is not None or any(
            plain(title) in _OF_WINS for title in titles
        )
        read = [
            title
            for title in titles
            if title in named
            or plain(title) in _OF_VOTES
            or any(condition.startswith(title) for condition in conditions)
        ]
        return titles if counted or len(read) < 2 else read


def columns_of(table: Table, form: VoteFormat) -> Columns:
    """Return the columns of votes: those that were named, or the only usual ones."""
    arms = _titles("arms", form.arms) or _usual_arms(table)
    is_one = form.winner is None or isinstance(form.winner, str | int)
    ways: Columns = {
        "winner": _titles("winner", None if is_one else form.winner),
        "wins": _titles("wins", form.wins),
        "scores": _titles("scores", form.scores),
        "soft": () if form.soft is None else (soft_parts(form.soft)[0],),
    }
    if is_one and form.winner is not None:
        ways["winner"] = (str(form.winner),)
    ways = {way: titles for way, titles in ways.items() if titles}
    if len(ways) > 1:
        said = [f"{way} ({' and '.join(titles)})" for way, titles in ways.items()][::-1]
        rule = f"{said[0]} say who won, and so does {said[1]}"
        refuse(table.name, rule, remedy="name one of them, not both")
    ways = ways or dict([_usual_way(table, arms)])
    if form.ties is not None:
        labels_of("ties", form.ties)
        if "wins" not in ways:
            said = " and ".join(next(iter(ways.values())))
            rule = f"ties are columns of counts, but {said} says who won each single "
            rule += "vote, and which were ties"
            remedy = "leave ties ({ties}) out, or name columns of counts ({wins})"
            refuse(table.name, rule, remedy=remedy)
    weight = {} if form.weight is None else {"weight": (str(form.weight),)}
    ties = {"ties": ()} if "wins" in ways else {}  # As they are not known yet.
    columns = {"arms": arms} | ways | ties | weight
    return {role: tuple(map(composed, titles)) for role, titles in columns.items()}


def _listed(given: Any) -> list[str]:
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    return [str(title) for title in ([given] if is_one else given) if title is not None]


def _titles(argument: str, titles: Any) -> tuple[str, ...]:
    names = () if titles is None else tuple(map(str, labels_of(argument, titles)))
    if titles is not None and len(names) != 2:
        refuse(argument, "must name two columns", shortened(names))
    return names


def soft_parts(soft: Any) -> tuple[str, float, float]:
    """Return a column, and the values that are sure votes for either arm."""
    if soft is None:
        return "preference", 1.0, 2.0
    parts = soft if isinstance(soft, Sequence) and not isinstance(soft, str) else ()
    numbers = [part for part in parts[1:] if isinstance(part, int | float)]
    if len(parts) != 3 or len(numbers) != 2 or numbers[0] == numbers[1]:
        rule = "must be a column and the values for the first arm and for the second"
        refuse("soft", rule, soft, remedy='such as ("preference", 1, 2)')
    return str(parts[0]), float(numbers[0]), float(numbers[1])


def _usual(
    table: Table, known: Sequence[tuple[str, str]], remedy: str
) -> tuple[str, str] | None:
    """Return the one pair of titles that is usual, else that is much like one."""
    pairs = [pair for pair in known if {*pair} <= {*table.titles}]
    if not pairs:
        like = ((table.usual(left), table.usual(right)) for left, right in known)
        both = [(left, right) for left, right in like if left and right]
        pairs = [*dict.fromkeys(both)]
    if len(pairs) > 1:
        said = " or ".join(" and ".join(pair) for pair in pairs)
        refuse(table.name, f"the two columns could be {said}", pairs, remedy=remedy)
    return pairs[0] if pairs else None


def _usual_arms(table: Table) -> tuple[str, str]:
    usual = _usual(table, _KNOWN_PAIRS, "say which: arms ({arms})")
    if usual is None:
        known = "; ".join(" and ".join(pair) for pair in _KNOWN_PAIRS[:7])
        rule = f"none of the usual columns ({known}; ...) is there, only "
        rule += shortened(table.titles)
        remedy = "name the two with arms ({arms})"
        refuse(table.name, rule, table.titles, remedy=remedy)
    for title in usual:
        names = table.labels(title)[1]
        if len(names) > 1 and all(map(_NO_NAME.fullmatch, names)):
            rule = f"the column {title!r} holds dates, ids or texts such as "
            remedy = "name the columns of the two arms ({arms})"
            refuse(table.name, f"{rule}{names[0]!r}", remedy=remedy)
    return usual


def _usual_way(table: Table, arms: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the usual columns that say who won, and what they are."""
    winner = table.usual("winner")
    counts = _usual(table, _KNOWN_WINS, "say which: {wins}")
    if winner and counts:
        rule = f"has both a column {winner!r} and counts in {' and '.join(counts)}"
        remedy = "say which with winner ({winner}) or wins ({wins})"
        refuse(table.name, rule, remedy=remedy)
    if winner:
        return "winner", (winner,)
    if counts:
        return "wins", counts
    if scores := _usual(table, _KNOWN_SCORES, "say which: {scores}"):
        return "scores", scores
    won, lost = _WON.fullmatch(arms[0]), _LOST.fullmatch(arms[1])
    if won and lost and won[1].lower() == lost[1].lower():
        return "winner", (arms[0],)
    if not won and _WON.fullmatch(arms[1]) and _LOST.fullmatch(arms[0]):
        return "winner", (arms[1],)
    if arms[0].startswith("generator") and "preference" in table.titles:
        return "soft", ("preference",)
    rule = "no column says who won: none of the usual columns (winner; wins_a and "
    rule += f"wins_b; score_a and score_b) is there, only {shortened(table.titles)}"
    remedy = (
        "name a column of winners, which may be one of the arms ({winner}), or two of "
        "counts ({wins}), of scores ({scores}), or a soft preference ({soft})"
    )
    refuse(table.name, rule, arms, remedy=remedy)


def tie_columns(table: Table, columns: Columns, named: Any) -> tuple[str, ...]:
    """Return the columns that count ties, where votes are counted per pair."""
    ties = _usual_ties(table, columns) if named is None else labels_of("ties", named)
    ties = tuple(map(composed, ties))
    named = [*columns["wins"], *ties]
    for title in named:
        if named.count(title) > 1:
            rule = f"the column {title!r} is named twice among wins and ties"
            refuse(table.name, rule, title, remedy="leave one out")
    return ties


def _usual_ties(table: Table, columns: Columns) -> list[str]:
    wins = columns["wins"]
    known = (*_KNOWN_TIES, "winner_tie") if wins == ONE_HOT else _KNOWN_TIES
    sums = {}
    taken = {title for titles in columns.values() for title in titles}
    for title in table.titles:
        if title in taken:
            continue
        words = re.sub(r"\W+", "_", title.lower()).strip("_")
        like = _LIKE_TIES.fullmatch(words) and table.has_numbers(title)
        if title.lower() in known or like or _fills_gaps(table, title, wins):
            sums[title] = table.whole_numbers(title, NOT_WHOLE, flags=True).sum()
    usual = [title for title in sums if title.lower() in known]
    lost = [title for title in sums if title not in usual and sums[title]]
    if lost or len(usual) > 1:
        both = usual + lost
        named = ", ".join(f"{title} ({sums[title]:g})" for title in both)
        remedy = f"name those to add up, ties={both} (--tie-columns {','.join(both)}), "
        remedy += "or none, ties=[] (--tie-columns '')"
        rule = f"these columns look like numbers of ties: {named}"
        refuse(table.name, rule, remedy=remedy)
    return usual


def _fills_gaps(table: Table, title: str, wins: tuple[str, ...]) -> bool:
    """Return whether a column of 0 and 1 says 1 only where neither arm has a vote."""
    if table.titles.count(title) > 1:
        return False
    if not {name.lower() for name in table.labels(title)[1]} <= _ZERO_OR_ONE:
        return False
    votes = np.stack([table.numbers(title, flags=True) for title in wins])
    undecided = votes.sum(axis=0) == 0
    said = table.numbers(title, flags=True, gaps=True) == 1
    return bool(said.any() and np.all(undecided[said]))
