"""Read votes on pairs from users' tables."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import numpy as np
from jaxtyping import Float64
from numpy.typing import NDArray

from bayesduel.files.user_files import number
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    composed,
    joined_labels,
    labels_of,
    refuse,
    shortened,
)
from bayesduel.votes.comparisons import (
    LABELS,
    NEUTRAL,
    Comparisons,
    VoteRows,
    Words,
    both_as_one,
    check_column_name,
    refuse_empty,
    verdict_counts,
    verdicts_of,
)
from bayesduel.votes.format import (
    NOT_WHOLE,
    ONE_HOT,
    TIE_WORDS,
    Columns,
    VoteFormat,
    columns_of,
    soft_parts,
    tie_columns,
)
from bayesduel.votes.tables import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GivenVotes",
    "VoteRows",
    "given_votes",
    "is_own_mirror",
    "parse_pairs",
    "read_comparisons",
    "read_covariates",
]

_LOGGER = logging.getLogger(__name__)

# A list of three names or more as JSON, perhaps with the quotes of a table doubled.
SEVERAL = re.compile(r'\[\s*("+[^"]*"+\s*,\s*){2}')

_TRUTH = re.compile("true|false", re.IGNORECASE)
_DIAGONAL = frozenset("-xX*#\\/\u2013\u2014\u00d7")
_AS_ROWS = "give a row for each pair, with columns wins_a, wins_b and ties"
_OF_WINS = "give numbers of wins; `bayesduel compare` reads probabilities"


def read_comparisons(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    arms: tuple[str, str] | None = None,
    winner: str | tuple[str, str] | None = None,
    wins: tuple[str, str] | None = None,
    ties: Sequence[str] | None = None,
    scores: tuple[str, str] | None = None,
    soft: tuple[str, float, float] | None = None,
    weight: str | None = None,
    words: Words | None = None,
    where: str | Sequence[str] = (),
    missing: str = "refuse",
    decimal: str | None = None,
    mirrored: str | None = None,
    both_orders: str | None = None,
    arm_names: Sequence[str] | None = None,
    order_known: bool | None = None,
    judge: str | None = None,
    context: str | None = None,
    neutral: str | None = None,
    columns: Sequence[str] = (),
    contest_covariates: Sequence[str] = (),
) -> Comparisons:
    r"""Read votes from a table with a header, single or counted per pair.

    A column is read if it is named, or has one of the usual titles below.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A file, as :func:`read_table` reads it, or a data frame. A square table of wins,
        with a row and a column for each arm, is read without any option: its rows won
        against its columns, 1/2 or 0.5 is a draw.
    arms : (str, str), optional
        Columns with the names of the two arms. Usual titles: left and right; first and
        second; home and away, perhaps with _team; a and b; model_a and model_b, or
        model_1 and model_2, also with team, item, option, arm, player, system or
        generator in place of model; winner and loser, perhaps with _name, _id or
        _model; chosen_model and rejected_model.
    winner : str or (str, str), optional
        Column that names the winning arm, or the title of its column, or one of
        ``words``: a vote a row. By default "winner". It may be one of ``arms``, as in a
        table of winners and losers: all its rows are decided, and none says who was
        shown first. Give two columns if each pair was judged in both orders: first
        in the order of ``arms``, then reversed. A word means the same arm in both
        columns, so "left" and "right" are not allowed.
    wins : (str, str), optional
        Columns with the numbers of votes for either arm: a pair a row. By default
        wins_a and wins_b, wins_first and wins_second, or winner_model_a and
        winner_model_b, which hold a 1 in one of several columns for each single vote;
        there may be true and false in place of numbers.
    ties : sequence of str, optional
        Columns that count ties, added up; by default "ties", "draws" or "tie", the one
        that is there, and winner_tie beside winner_model_a. Other columns that look
        like ties, by their titles or since they hold 1 in a row without a winner, are
        refused until they are named, or left out with an empty list. Only for counts
        per pair.
    scores : (str, str), optional
        Columns with the scores of either arm: the larger one wins, equal ones tie. By
        default home_score and away_score, home_goals and away_goals, or score_a and
        score_b, where nothing else says who won.
    soft : (str, float, float), optional
        Column with a preference between two values, the first of which is a sure vote
        for the first arm, and the second for the second one; a value between them is
        divided. By default ("preference", 1, 2) beside generator_1 and generator_2.
    weight : str, optional
        Column that says how many times a vote counts.
    words : tuple of three
        The words in ``winner`` for the first arm, the second one, and a tie: for each
        a word, several in a list, or a mapping from words to how many votes they count,
        as in ``({"A>B": 1, "A>>B": 3}, {"B>A": 1, "B>>A": 3}, "A=B")``. By default left
        and right; and tie, draw, both_bad or tie (bothbad). A word that is also the
        name of the other arm of its row is refused.
    where : str or sequence of str
        Conditions such as ``"language=English"`` or ``"turn>1"``: rows that do not meet
        all of them are left out; see :func:`keep_rows`.
    missing : {"refuse", "skip", "keep"}
        How to treat a row where one of the columns that are read is empty, NA, nan,
        null or None: an error, or left out and counted in a log message. With "keep"
        these words are names, and only an empty cell is refused.
    decimal : {".", ","}, optional
        The decimal sign of numbers; by default a point, and in files separated by
        semicolons a comma as well.
    mirrored : {"once", "twice"}, optional
        How to count a table that lists every match from both sides, so that the
        mirror image of each row is there, too: each match counts once, or twice.
        Without it such a table is read as it is, and a log message tells of it.
    both_orders : {"tie", "nothing"}, optional
        Count two votes on one question in both orders as one; see
        :meth:`Comparisons.with_both_orders_as_one`.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error. NA and the like are
        names if they are among these.
    order_known : bool, optional
        Whether the first arm was shown first; by default yes for single votes, no for
        counts per pair and for winners and losers.
    judge, context : str, optional
        Columns that say who judged, and of what (a prompt, a topic): labels that stay
        with every vote, for models that read them.
    neutral : str, optional
        Column that is true where neither arm was shown first, as on neutral ground.
    columns : sequence of str
        Further columns that stay with every vote, under their titles: numbers where all
        cells are some, else labels.
    contest_covariates : sequence of str
        Further columns of numbers that stay with every vote: what the first arm has
        more of than the second in this contest, such as the length of its answer.

    Returns
    -------
    Comparisons
        All votes of the table. Labels are text: 7, 7.0 and "7" are one arm, and "007"
        is another one.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If the file is no table, damaged or too large; columns are missing or could be
        several; or a row breaks a rule; names the row, from 0.

    Notes
    -----
    Columns that are not read are named by a log message of level WARNING, and so are
    names that look alike: they differ only in capitals, spaces or kinds of dashes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"left": ["tea", "tea"], "right": ["milk", "coffee"]})
    >>> read_comparisons(frame.assign(winner=["left", "tie"]))
    Comparisons(3 arms, 2 of 3 pairs, 2 votes, 1 ties)
    """
    form = VoteFormat(
        arms=arms, winner=winner, wins=wins, ties=ties, scores=scores, soft=soft,
        weight=weight, words=words, where=where, missing=missing, decimal=decimal,
        mirrored=mirrored, both_orders=both_orders, order_known=order_known,
        judge=judge, context=context, neutral=neutral, columns=columns,
        contest_covariates=contest_covariates,
    )  # fmt: skip
    names = None if arm_names is None else arm_names_of(arm_names, None)
    return parse_pairs(source, form, names).comparisons(names)


class GivenVotes(NamedTuple):
    """Votes of any kind as a table, and whether their arms have names."""

    table: Comparisons
    has_names: bool


def given_votes(
    votes: Any, *, with_judges: bool = False, level: int = logging.WARNING
) -> GivenVotes:
    """Return votes as a table, in whatever form a user holds them."""
    # A Comparisons, file, data frame, square table of wins, or list of votes: tuples
    # (winner, loser) or (first, second, won[, judge]), or dictionaries by title.
    form = VoteFormat(judge="judge" if with_judges else None)
    if isinstance(votes, GivenVotes):
        return votes

    def read(source: Any) -> GivenVotes:
        comparisons = parse_pairs(source, form, level=level).comparisons()
        return GivenVotes(comparisons, has_names=True)

    if isinstance(votes, Comparisons):
        return GivenVotes(votes, has_names=True)
    if isinstance(votes, str | os.PathLike):
        return read(votes)
    if isinstance(votes, list | tuple) and _are_rows(votes):
        return read(_frame_of_rows(votes))
    columns, index = getattr(votes, "columns", None), getattr(votes, "index", None)
    if columns is None or index is None or callable(index):
        return GivenVotes(Comparisons.from_wins(votes), has_names=False)
    if {*map(str, columns)} != {*map(str, index)}:
        return read(votes)
    is_numbered = [*columns] == [*range(len(columns))]
    return GivenVotes(Comparisons.from_wins(votes), has_names=not is_numbered)


_TITLES = {
    2: ("winner", "loser"),
    3: ("first", "second", "winner"),
    4: ("first", "second", "winner", "judge"),
}
"""Columns of votes that are given as tuples, by their length."""


def _are_rows(votes: Sequence[Any]) -> bool:
    """Say whether a list holds a vote in each entry, and not counts of wins."""
    first = votes[0] if votes else None
    if isinstance(first, list | tuple):
        return any(isinstance(entry, str) for entry in first)
    return isinstance(first, Mapping)


def _frame_of_rows(votes: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd

    is_map, size = isinstance(votes[0], Mapping), len(votes[0])
    kind: Any = Mapping if is_map else (list, tuple)
    for index, vote in enumerate(votes):
        if not isinstance(vote, kind) or not (is_map or len(vote) == size):
            words = "a dictionary" if is_map else f"a tuple of {size} entries"
            refuse("votes", f"must be {words}, as the first one is", vote, index=index)
    if is_map:
        return pd.DataFrame(votes)
    if size not in _TITLES:
        rule = "must be (winner, loser), (first, second, won), or that and the judge"
        refuse("votes", rule, votes[0], index=0)
    columns: list[Any] = [*zip(*votes, strict=True)]
    if size > 2:
        # Who won may be said by True, False or None, or by name.
        columns[2] = [
            (first if won else second) if isinstance(won, bool | np.bool_)
            else "tie" if won is None
            else won
            for first, second, won in zip(*columns[:3], strict=True)
        ]  # fmt: skip
    return pd.DataFrame(dict(zip(_TITLES[size], columns, strict=True)))


def parse_pairs(
    votes: Any,
    form: VoteFormat,
    arm_names: Sequence[str] | None = None,
    *,
    level: int = logging.WARNING,
) -> VoteRows:
    """Read votes row by row; those of a square table of wins, pair by pair."""
    table = Table(
        votes, missing=form.missing, decimal=form.decimal, names=arm_names,
        needed=form.needed,
    )  # fmt: skip
    table.keep_rows(form.where)
    if form.names_no_column() and _is_square(table):
        return _from_square(table)
    if {"shown", "worst"} <= {*table.titles} and any(
        SEVERAL.match(name) for name in table.labels("shown")[1]
    ):
        rule = "holds sets of several arms, of which judges named the best"
        refuse(table.name, rule, remedy="votes.read_sets reads it")
    columns, carried = columns_of(table, form), form.carried()
    if form.missing == "skip":
        needed = [title for titles in columns.values() for title in titles]
        ties = map(str, labels_of("ties", form.ties or ()))
        table.skip_missing([*needed, *carried.values(), *ties])
    if "wins" in columns:
        columns["ties"] = tie_columns(table, columns, form.ties)
    winner = columns.get("winner", ())
    is_arm = bool(winner) and winner[0] in columns["arms"]
    table.check_values(columns["arms"], () if is_arm else winner)
    read = columns | {name: (composed(title),) for name, title in carried.items()}
    read = {role: titles for role, titles in read.items() if titles}
    table.say_what_is_read(read, level)

    (first, second), names = table.same_labels(*columns["arms"])
    counts = _counts(table, columns, form, first, second, names)
    if "weight" in columns:
        weights = table.numbers(columns["weight"][0])[:, None]
        counts = [votes * weights for votes in counts]
    wins, marks = columns.get("wins", ()), None
    cells = {name.lower() for title in wins for name in table.labels(title)[1]}
    if wins and (wins == ONE_HOT or cells <= {"true", "false"}):
        # Each row is one vote, with a 1 or true in one of the columns.
        marks = counts[0] > 0
        words = "says who won, and so does another column of the row"
        remedy = "leave such rows out by conditions ({where})"
        table.check(columns["wins"][0], marks.sum(axis=1) <= 1, words, remedy)
    if is_arm and form.order_known:
        won, lost = columns["arms"]
        rule = "order_known=True needs columns of the arm shown first and of the other "
        rule += f"one, but {won!r} and {lost!r} say who won"
        refuse(table.name, rule, remedy="leave it out")
    known = ("wins" not in columns or marks is not None) and not is_arm
    rows = VoteRows(
        names, first, second, counts[0],
        known if form.order_known is None else form.order_known,
        *_carried_columns(table, carried, form), name=table.name, rows=table.rows,
        read=read, both_orders=form.both_orders,
    )  # fmt: skip
    if len(counts) == 2 and form.both_orders is not None:
        joined = both_as_one(counts[0], counts[1], form.both_orders)
        rows = replace(rows, counts=joined, order_known=False, both_orders=None)
    elif len(counts) == 2:
        twice = np.tile(np.arange(len(first)), 2)
        counted = np.concatenate(counts)
        both = rows.chosen(twice, counts=counted, rows=table.rows[twice])
        rows = both.turned(np.arange(len(twice)) >= len(first))
    _say_what_looks_alike(table.name, names)
    return _mirrored(rows, form)


def _carried_columns(
    table: Table, carried: Mapping[str, str], form: VoteFormat
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return columns that stay with votes, their labels, and covariates of contests."""
    columns, labels = {}, {}
    contest = tuple(map(str, labels_of("contest_covariates", form.contest_covariates)))
    for name, title in carried.items():
        check_column_name(name)
        if name == NEUTRAL:
            columns[name] = table.yes_or_no(title).astype(np.float64)
        elif name in contest or (name not in LABELS and table.has_numbers(title)):
            columns[name] = table.numbers(title, least=-MOST_VOTES)
        else:
            (columns[name],), names = table.same_labels(title)
            labels[name] = tuple(names)
            if np.any(columns[name] < 0):
                refuse_empty(name, int(table.rows[np.argmax(columns[name] < 0)]))
    return columns, labels, contest


def _counts(
    table: Table,
    columns: Columns,
    form: VoteFormat,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    names: Sequence[str],
) -> list[NDArray[np.float64]]:
    """Return the votes of every row for its two arms, and ties."""
    counts, winner = np.zeros((len(table.rows), 3)), columns.get("winner", ())
    if "wins" in columns:
        for index, title in enumerate((*columns["wins"], *columns["ties"])):
            votes = table.whole_numbers(title, NOT_WHOLE, flags=True)
            counts[:, min(index, 2)] += votes
    elif "scores" in columns:
        left, right = (
            table.numbers(title, least=-np.inf, most=np.inf)
            for title in columns["scores"]
        )
        counts[:] = np.stack([left > right, left < right, left == right], axis=1)
    elif "soft" in columns:
        title, low, high = soft_parts(form.soft)
        share = (table.numbers(title, least=-np.inf) - low) / (high - low)
        rule = f"is not between {low:g} and {high:g}"
        remedy = "say which values are sure votes ({soft})"
        table.check(title, (share >= 0) & (share <= 1), rule, remedy)
        counts[:, 0], counts[:, 1] = 1.0 - share, share
    elif winner[0] in columns["arms"]:
        counts[:, columns["arms"].index(winner[0])] = 1.0
    else:
        if form.words is None:
            usual = {"left": 0, "right": 1} if len(winner) == 1 else {}
            usual |= dict.fromkeys(TIE_WORDS, 2)
            usual |= {title: outcome for outcome, title in enumerate(columns["arms"])}
            verdicts = {word: (outcome, 1.0) for word, outcome in usual.items()}
        else:
            verdicts = verdicts_of(form.words)
        for word in filter(_TRUTH.fullmatch, [*verdicts]):
            # pandas writes them otherwise than JSON and spreadsheets do.
            for same in (word.lower(), word.capitalize(), word.upper()):
                verdicts.setdefault(same, verdicts[word])
        said = []
        for title in winner:
            codes, answers = table.labels(title)
            arms, answers, texts = joined_labels(names, answers, list(verdicts))
            known = dict(zip(texts, verdicts.values(), strict=True))
            said.append(
                verdict_counts(first, second, codes, arms, answers, known, table.rows)
            )
        return said
    return [counts]


def _mirrored(rows: VoteRows, form: VoteFormat) -> VoteRows:
    """Look for a table that lists every match from both sides."""
    first, second, names = rows.first, rows.second, rows.arm_names
    # Rows of an arm against itself are refused elsewhere.
    if form.mirrored == "twice" or form.both_orders or np.any(first == second):
        return rows
    left, right = (np.bincount(arms, minlength=len(names)) for arms in (first, second))
    is_mirror = np.array_equal(left, right)  # Or else there is no need to count pairs.
    columns = {name: column for name, column in rows.columns.items() if name != NEUTRAL}
    for carried in ({}, columns) if columns else ({},):
        is_mirror = is_mirror and is_own_mirror(rows, carried)
    if form.mirrored is None:
        if is_mirror and rows.counts.any():
            _LOGGER.warning(
                "%s: each row has its mirror image. If the table lists every match "
                "from both sides, each counts twice: read it with mirrored='once' "
                "(--mirrored once), or say that these are different votes with "
                "mirrored='twice' (--mirrored twice)",
                rows.name,
            )
        return rows
    if not is_mirror:
        rule = "is 'once', but some rows of the table have no mirror image"
        refuse("mirrored", rule, form.mirrored)
    return replace(rows, counts=rows.counts / 2.0, order_known=False)


def is_own_mirror(rows: VoteRows, columns: Mapping[str, Any]) -> bool:
    """Return whether the same rows are left after both arms changed places in each."""
    contest = rows.contest_covariates if columns else ()
    rows = replace(rows, order_known=True, columns=columns, contest_covariates=contest)
    here = rows.added_up()
    there = rows.turned(np.ones(len(rows.first), dtype=bool)).added_up()
    same = [(here.first, there.first), (here.second, there.second)]
    same += [(here.columns[name], there.columns[name]) for name in columns]
    return (
        all(np.array_equal(a, b) for a, b in same)
        # 1 - 0.9 is not quite 0.1.
        and np.allclose(here.counts, there.counts, rtol=1e-9, atol=1e-9)
    )


def _is_square(table: Table) -> bool:
    """Return whether a table has a row and a column for each arm, of the same names."""
    corner, *others = table.titles
    if not 1 < len(others) == len(table.rows) or table.titles.count(corner) > 1:
        return False
    rows, titles = joined_labels(table.texts(corner).tolist(), others)
    if sorted(rows) != sorted(titles) or table.usual("winner") == corner:
        return False
    # Two votes may also be of the arms whose titles are the words of their winners.
    return any(
        number(_points(cell).replace(",", ".")) is not None
        for title in table.titles
        for cell in table.labels(title)[1]
    )


def _points(cell: str) -> str:
    """Return a cell of a square table with halves as decimals."""
    return {"1/2": "0.5", "=": "0.5"}.get(cell, cell.replace("\u00bd", ".5"))


def _from_square(table: Table) -> VoteRows:
    """Return the votes of a square table, whose rows won against its columns."""
    # Where draws are halves, whole points of both arms may be wins or draws: refused.
    import pandas as pd

    corner, *others = table.titles
    names = table.texts(corner).tolist()
    rows, titles = joined_labels(names, others)
    others = [others[titles.index(row)] for row in rows]
    cells = np.array(
        [[*map(_points, table.texts(title))] for title in others], object
    ).T
    for at, cell in enumerate(np.diagonal(cells)):
        if cell in _DIAGONAL or not cell:
            cells[at, at] = "0"
    frame = pd.DataFrame(cells, columns=others, dtype=object)
    frame.attrs = table.frame.attrs
    part = Table(frame, table.name, decimal=table.decimal)
    wins = np.stack([part.numbers(title, gaps=True) for title in others], axis=1)
    for at, (name, title) in enumerate(zip(names, others, strict=True)):
        if wins[at, at]:
            rule = f"gives {name!r} {wins[at, at]:g} votes against itself"
            refuse(table.name, rule, name, index=at)
        whole = np.nan_to_num(wins[:, at]) * 2 % 1 == 0
        part.check(title, whole, "is no whole number", _OF_WINS)
    lone = np.argwhere(np.isnan(wins) & ~np.isnan(wins.T))
    if len(lone):
        loser, winner = (names[arm] for arm in lone[0])
        rule = f"says how often {winner!r} won against {loser!r}, but not the other way"
        refuse(table.name, rule, remedy="write 0 for never")
    wins = np.nan_to_num(wins)
    row, column = np.triu_indices(len(names), 1)
    votes = np.stack([wins[row, column], wins[column, row], np.zeros(len(row))], axis=1)
    halves = votes % 1 != 0
    if halves.any():
        least = votes[:, :2].min(axis=1)
        uneven = halves[:, 0] != halves[:, 1]
        for wrong, rule, remedy in (
            (uneven, "gives half a vote to one of {2} and {3} alone",
             "a draw is half a point for both"),
            (least >= 1, "has draws as halves, and {0:g} to {1:g} for {2} and {3}, "
             "which may be wins or draws", _AS_ROWS),
        ):  # fmt: skip
            if wrong.any():
                at = int(np.argmax(wrong))
                said = *votes[at, :2], names[row[at]], names[column[at]]
                refuse(table.name, rule.format(*said), remedy=remedy)
        votes[:, 2] = 2 * least
        votes[:, :2] -= least[:, None]
    position = np.argsort(np.argsort(names, kind="stable"))
    read = {"arms": (corner or "first column",), "wins": tuple(table.titles[1:])}
    return VoteRows(
        sorted(names), position[row], position[column], votes, False, {}, {},
        name=table.name, rows=row, read=read,
    )  # fmt: skip


def _say_what_looks_alike(name: str, arms: Sequence[str]) -> None:
    """Tell of names that differ in capitals, spaces or kinds of dashes alone."""
    alike: dict[str, list[str]] = {}
    for arm in arms:
        folded = normalize("NFKC", arm).casefold()
        folded = re.sub(r"[\u2010-\u2015\u2212\u00ad_-]", "-", folded)
        folded = re.sub(r"[\u200b-\u200f\u2060\ufeff]", "", folded)
        alike.setdefault(" ".join(folded.split()), []).append(arm)
    for twins in alike.values():
        if len(twins) > 1:
            listed = " and ".join(
                # A code for what looks like another character.
                "".join(ascii(c)[1:-1] if c in _LIKE_OTHERS else c for c in repr(arm))
                for arm in twins
            )
            folded = {" ".join(twin.casefold().split()) for twin in twins}
            what = "in capitals and spaces alone" if len(folded) == 1 else "hardly"
            _LOGGER.warning(
                "%s: %s differ %s, and are different arms", name, listed, what
            )


_LIKE_OTHERS = frozenset(map(chr, [*range(0x2010, 0x2016), 0x2212, 0xAD, 0xA0]))


def read_covariates(
    source: str | os.PathLike[str] | pd.DataFrame, arm_names: Sequence[str]
) -> tuple[Float64[np.ndarray, "K covariate"], tuple[str, ...]]:
    r"""Read what is known about each arm, for ``Comparisons.with_covariates``.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, an arm a row. The column "arm", else the
        first one, names the arms; all others are numbers.
    arm_names : sequence of K str
        The arms whose rows are wanted, in that order. Rows of other arms are left out,
        and named by a log message of level WARNING.

    Returns
    -------
    float64 (K, covariate), tuple of str
        The covariates, in their own units, and the titles of their columns.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If an arm has no row or several, a cell is no number, or there is no column of
        numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"arm": ["tea", "milk"], "price": [1.5, -0.5]})
    >>> read_covariates(frame, ["milk", "tea"])
    (array([[-0.5],
           [ 1.5]]), ('price',))
    """
    table = Table(source, missing="keep")
    wanted = arm_names_of(arm_names, None)
    arm = "arm" if "arm" in table.titles else table.titles[0]
    titles = [title for title in table.titles if title != arm]
    if not titles:
        rule = f"needs a column of numbers beside {arm!r}, which names the arms"
        refuse(table.name, rule, table.titles)
    names, wanted_names = joined_labels(table.texts(arm).tolist(), wanted)
    rows = {name: row for row, name in enumerate(names)}
    if len(rows) < len(table.rows):
        row = next(row for row, name in enumerate(names) if rows[name] != row)
        rule = f"row {row} of column {arm!r} is not the only one of {names[row]!r}"
        refuse(table.name, rule, names[row])
    if lacking := [name for name in wanted_names if name not in rows]:
        rule = f"column {arm!r} lacks the arms {shortened(lacking)}"
        remedy = "add a row for each arm of the votes"
        refuse(table.name, rule, names, remedy=remedy)
    if others := [name for name in rows if name not in wanted_names]:
        _LOGGER.warning(
            "%s: not read: rows of %s, in no vote", table.name, shortened(others)
        )
    numbers = [table.numbers(title, least=-MOST_VOTES) for title in titles]
    chosen = [rows[name] for name in wanted_names]
    return np.stack(numbers, axis=1)[chosen], tuple(titles)
