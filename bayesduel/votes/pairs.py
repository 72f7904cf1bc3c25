"""Read votes on pairs from users' tables."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.files.user_files import number
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    composed,
    joined_labels,
    labels_of,
    shortened,
)
from bayesduel.votes.comparisons import (
    LABELS,
    NEUTRAL,
    Comparisons,
    Words,
    added_up,
    both_as_one,
    row_columns,
    verdict_counts,
    verdicts_of,
)
from bayesduel.votes.format import (
    NOT_WHOLE,
    TIE_WORDS,
    VoteColumns,
    VoteFormat,
    columns_of,
    soft_scale,
    tie_columns,
)
from bayesduel.votes.tables import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VoteRows", "parse_pairs", "read_comparisons", "read_covariates"]

_LOGGER = logging.getLogger(__name__)

SEVERAL = re.compile(r'\[\s*("+[^"]*"+\s*,\s*){2}')
"""A list of three names or more as JSON, perhaps with the quotes of a table doubled."""

_DIAGONAL = frozenset(
    ["-", "x", "X", "*", "#", "\\", "/", "\u2013", "\u2014", "\u00d7"]
)
_OF_WINS = "give numbers of wins; `bayesduel compare` reads probabilities"
_HALVES = {"1/2": "0.5", "=": "0.5"}


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
        shown first. Two columns are the answers in both orders, the arms in the order
        of ``arms`` and the other way round; in both a word stands for the same arm,
        wherever it was shown, so that left and right say nothing.
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
    asked = VoteFormat(
        arms=arms, winner=winner, wins=wins, ties=ties, scores=scores, soft=soft,
        weight=weight, words=words, where=where, missing=missing, decimal=decimal,
        mirrored=mirrored, both_orders=both_orders, order_known=order_known,
        judge=judge, context=context, neutral=neutral, columns=columns,
        contest_covariates=contest_covariates,
    )  # fmt: skip
    names = None if arm_names is None else arm_names_of(arm_names, None)
    return parse_pairs(source, asked, names).comparisons(names)


@dataclass(frozen=True, eq=False)
class VoteRows:
    """The votes of a table, row by row, as they were understood."""

    name: str  # Of the table.
    rows: NDArray[np.int64]  # The row of the table that each comes from, from 0.
    arm_names: list[str]
    first: Int64[np.ndarray, " n"]  # Places among the arms.
    second: Int64[np.ndarray, " n"]
    counts: Float64[np.ndarray, "n 3"]  # For the first arm, for the second, and ties.
    order_known: bool
    read: Mapping[str, tuple[str, ...]]  # Titles, by what they are read as.
    columns: Mapping[str, Any] | None = None
    contest_covariates: tuple[str, ...] = ()
    both_orders: str | None = None  # What is left to be done.

    @contextmanager
    def in_rows_of_table(self) -> Iterator[None]:
        """Let errors about a row that is left name its number in the table."""
        try:
            yield
        except ComparisonDataError as error:
            if not isinstance(error.index, int):
                raise
            row = int(self.rows[error.index])
            raise error.renamed(error.argument, row) from error

    def comparisons(self, arm_names: Sequence[str] | None = None) -> Comparisons:
        """Return the votes, counted per pair."""
        first, second = self.first, self.second
        names = arm_names_of(self.arm_names if arm_names is None else arm_names, None)
        if arm_names is not None:
            used = np.zeros(len(self.arm_names), dtype=bool)
            used[first] = used[second] = True
            place = np.zeros(len(self.arm_names), dtype=np.int64)
            labels = [name for name, is_used in zip(self.arm_names, used, strict=True)
                      if is_used]  # fmt: skip
            place[used] = arm_positions("arm_names", labels, names)
            first, second = place[first], place[second]
        with self.in_rows_of_table():
            data = Comparisons.from_rows(
                names,
                first,
                second,
                self.counts,
                order_known=self.order_known,
                columns=self.columns,
                contest_covariates=self.contest_covariates,
            )
        if self.both_orders is not None and data.num_votes:
            return data.with_both_orders_as_one(self.both_orders)
        return data


def parse_pairs(
    votes: Any, asked: VoteFormat, arm_names: Sequence[str] | None = None
) -> VoteRows:
    """Read votes row by row; those of a square table of wins, pair by pair."""
    table = Table(votes, missing=asked.missing, decimal=asked.decimal, names=arm_names)
    table.keep_rows(asked.where)
    if asked.names_no_column() and _is_square(table):
        return _from_square(table)
    if {"shown", "worst"} <= {*table.titles} and any(
        SEVERAL.match(name) for name in table.labels("shown")[1]
    ):
        rule = "holds sets of several arms, of which judges named the best"
        raise ComparisonDataError(table.name, rule, remedy="votes.read_sets reads it")
    columns = columns_of(table, asked)
    kept = asked.kept()
    needed = [title for titles in columns.titles().values() for title in titles]
    needed += [*kept.values(), *map(str, labels_of("ties", asked.ties or ()))]
    if asked.missing == "skip":
        table.skip_missing(needed)
    if columns.wins:
        columns = replace(columns, ties=tie_columns(table, columns, asked.ties))
    is_arm = bool(columns.winner) and columns.winner[0] in columns.arms
    table.check_values(columns.arms, () if is_arm else columns.winner)
    read = columns.titles() | {name: (title,) for name, title in kept.items()}
    table.say_what_is_read(read)
    rows = _rows_of(table, columns, asked, kept)
    _say_what_looks_alike(table.name, rows.arm_names)
    return _mirrored(replace(rows, read=read), asked)


def _rows_of(
    table: Table, columns: VoteColumns, asked: VoteFormat, kept: Mapping[str, str]
) -> VoteRows:
    """Return the votes of a table by its columns."""
    import pandas as pd

    (first, second), names = table.same_labels(*columns.arms)
    counts, both = _counts(table, columns, asked, first, second, names)
    if columns.weight:
        weights = table.numbers(columns.weight[0])[:, None]
        counts, both = counts * weights, None if both is None else both * weights
    contest = tuple(map(str, labels_of("contest_covariates", asked.contest_covariates)))
    carried: dict[str, Any] = {}
    for name, title in kept.items():
        if name == NEUTRAL:
            carried[name] = table.yes_or_no(title)
        elif name in contest or (name not in LABELS and table.has_numbers(title)):
            carried[name] = table.numbers(title, least=-MOST_VOTES)
        else:
            (codes,), labels = table.same_labels(title)
            carried[name] = pd.Categorical.from_codes(codes, labels)
    one_hot = bool(columns.wins) and _is_one_hot(table, columns)
    if one_hot and np.any(several := (counts > 0).sum(axis=1) > 1):
        title = columns.wins[0]
        words = "says who won, and so does another column of the row"
        remedy = "leave such rows out by conditions ({where})"
        table.refuse(title, int(np.argmax(several)), words, remedy)
    single = not columns.wins or one_hot
    order_known = single if asked.order_known is None else asked.order_known
    if columns.winner and columns.winner[0] in columns.arms:
        if asked.order_known:
            one, other = columns.arms
            raise ComparisonDataError(
                table.name,
                "order_known=True needs columns of the arm shown first and of the "
                f"other one, but {one!r} and {other!r} say who won",
                remedy="leave it out",
            )
        order_known = False
    rows, both_orders = table.rows, asked.both_orders
    if both is not None and both_orders is not None:
        counts = both_as_one(counts, both, both_orders)
        both_orders, order_known = None, False
    elif both is not None:
        rows = np.concatenate([rows, rows])
        counts = np.concatenate([counts, both[:, [1, 0, 2]]])
        first, second = (
            np.concatenate([first, second]),
            np.concatenate([second, first]),
        )
        for name, each in carried.items():
            if name in contest or isinstance(each, np.ndarray):
                again = -each if name in contest else each
                carried[name] = np.concatenate([each, again])
            else:
                codes = np.tile(each.codes, 2)
                carried[name] = pd.Categorical.from_codes(codes, each.categories)
    return VoteRows(
        table.name, rows, names, first, second, counts, order_known, {},
        columns=carried, contest_covariates=contest, both_orders=both_orders,
    )  # fmt: skip


def _is_one_hot(table: Table, columns: VoteColumns) -> bool:
    """Return whether each row is one vote, with a 1 or true in one of the columns."""
    if columns.titles()["wins"] == ("winner_model_a", "winner_model_b"):
        return True
    words = {"true", "false"}
    return all({n.lower() for n in table.labels(t)[1]} <= words for t in columns.wins)


def _counts(
    table: Table,
    columns: VoteColumns,
    asked: VoteFormat,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    names: Sequence[str],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the votes of every row for its two arms, and ties.

    Where a row holds the answers in both orders, also those of the second one.
    """
    counts = np.zeros((table.num_rows, 3))
    if columns.wins:
        for place, title in enumerate((*columns.wins, *columns.ties)):
            votes = table.whole_numbers(title, NOT_WHOLE, flags=True)
            counts[:, min(place, 2)] += votes
        return counts, None
    if columns.scores:
        one, other = (
            table.numbers(title, least=-np.inf, most=np.inf) for title in columns.scores
        )
        for outcome, met in enumerate((one > other, one < other, one == other)):
            counts[met, outcome] = 1.0
        return counts, None
    if columns.soft:
        low, high = soft_scale(asked.soft)
        values = table.numbers(columns.soft[0], least=-np.inf)
        share = (values - low) / (high - low)
        outside = (share < 0) | (share > 1)
        if outside.any():
            rule = f"is not between {low:g} and {high:g}"
            remedy = "say which values are sure votes ({soft})"
            table.refuse(columns.soft[0], int(np.argmax(outside)), rule, remedy)
        return np.stack([1.0 - share, share, 0.0 * share], axis=1), None
    if columns.winner[0] in columns.arms:
        counts[:, columns.arms.index(columns.winner[0])] = 1.0
        return counts, None
    if asked.words is None:
        usual = {"left": 0, "right": 1} if len(columns.winner) == 1 else {}
        usual |= dict.fromkeys(TIE_WORDS, 2)
        usual |= {composed(title): place for place, title in enumerate(columns.arms)}
        verdicts = {word: (outcome, 1.0) for word, outcome in usual.items()}
    else:
        verdicts = verdicts_of(asked.words)
    for word in [each for each in verdicts if each.lower() in ("true", "false")]:
        # pandas writes them otherwise than JSON and spreadsheets do.
        for same in (word.lower(), word.capitalize(), word.upper()):
            verdicts.setdefault(same, verdicts[word])
    found = []
    for title in columns.winner:
        codes, answers = table.labels(title)
        arms, answers, texts = joined_labels(names, answers, list(verdicts))
        by_text = dict(zip(texts, verdicts.values(), strict=True))
        votes = verdict_counts(first, second, codes, arms, answers, by_text, table.rows)
        found.append(votes)
    return found[0], found[1] if len(found) > 1 else None


def _mirrored(rows: VoteRows, asked: VoteFormat) -> VoteRows:
    """Look for a table that lists every match from both sides."""
    if asked.mirrored == "twice" or asked.both_orders:
        return rows
    if np.any(rows.first == rows.second):  # What counts these rows refuses them.
        return rows
    is_mirror = _is_own_mirror(rows, {})
    if is_mirror and rows.columns:
        columns = {name: each for name, each in rows.columns.items() if name != NEUTRAL}
        is_mirror = _is_own_mirror(rows, columns)
    if asked.mirrored is None:
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
        raise ComparisonDataError("mirrored", rule, asked.mirrored)
    return replace(rows, counts=rows.counts / 2.0, order_known=False)


def _is_own_mirror(rows: VoteRows, columns: Mapping[str, Any]) -> bool:
    """Return whether the same rows are left after both arms changed places in each."""
    number = len(rows.first)
    with rows.in_rows_of_table():
        contest = rows.contest_covariates if columns else ()
        extra = row_columns(columns, number, contest)
    turned = extra.turned(np.ones(number, dtype=bool))
    first, second, counts = rows.first, rows.second, rows.counts
    sides = ((first, second, counts, extra),
             (second, first, counts[:, [1, 0, 2]], turned))  # fmt: skip
    here, there = (
        added_up(len(rows.arm_names), *side[:3], order_known=True, extra=side[3])
        for side in sides
    )
    if not all(map(np.array_equal, here[:2], there[:2])):
        return False
    # 1 - 0.9 is not quite 0.1.
    return np.allclose(here[2], there[2], rtol=1e-9, atol=1e-9) and all(
        np.array_equal(here[3].columns[name], there[3].columns[name])
        for name in columns
    )


def _is_square(table: Table) -> bool:
    """Return whether a table has a row and a column for each arm, of the same names."""
    corner, *others = table.titles
    if not 1 < len(others) == table.num_rows or table.titles.count(corner) > 1:
        return False
    rows, titles = joined_labels(table.texts(corner).tolist(), others)
    if sorted(rows) != sorted(titles) or table.usual("winner") == corner:
        return False
    # Two votes may also be of the arms whose titles are the words of their winners.
    cells = table.frame.to_numpy().ravel().tolist()
    return any(
        number(_points(str(cell)).replace(",", ".")) is not None for cell in cells
    )


def _points(cell: str) -> str:
    """Return a cell of a square table with halves as decimals."""
    return _HALVES.get(cell, cell.replace("\u00bd", ".5"))


def _from_square(table: Table) -> VoteRows:
    """Return the votes of a square table, whose rows won against its columns.

    Two arms that have no cell of one another did not meet. Where draws are halves, a
    pair of which both arms have a whole point may have been drawn twice or won once by
    each: such a table is refused.
    """
    import pandas as pd

    corner, *others = table.titles
    names = table.texts(corner).tolist()
    position = {name: row for row, name in enumerate(joined_labels(names)[0])}
    wins = np.full((len(names), len(names)), np.nan)
    for title, name in zip(others, joined_labels(others)[0], strict=True):
        column = position[name]
        cells = list(map(_points, table.texts(title)))
        if cells[column] in _DIAGONAL or not cells[column]:
            cells[column] = "0"
        frame = pd.DataFrame({title: pd.Series(cells, dtype=object)})
        frame.attrs = table.frame.attrs
        part = Table(frame, table.name, decimal=table.decimal)
        wins[:, column] = part.numbers(title, gaps=True)
        if wins[column, column]:
            rule = f"gives {name!r} {wins[column, column]:g} votes against itself"
            raise ComparisonDataError(table.name, rule, name, index=column)
        broken = np.nan_to_num(wins[:, column]) * 2 % 1 != 0
        if broken.any():
            part.refuse(title, int(np.argmax(broken)), "is no whole number", _OF_WINS)
    lone = np.argwhere(np.isnan(wins) & ~np.isnan(wins.T))
    if len(lone):
        one, other = (names[each] for each in lone[0])
        rule = f"says how often {other!r} won against {one!r}, but not the other way"
        raise ComparisonDataError(table.name, rule, remedy="write 0 for never")
    wins = np.nan_to_num(wins)
    row, column = np.triu_indices(len(names), 1)
    votes = np.stack([wins[row, column], wins[column, row], np.zeros(len(row))], axis=1)
    halves = votes % 1 != 0
    if halves.any():
        uneven = halves[:, 0] != halves[:, 1]
        if uneven.any():
            at = int(np.argmax(uneven))
            pair = f"{names[row[at]]} and {names[column[at]]}"
            rule = f"gives half a vote to one of {pair} alone"
            remedy = "a draw is half a point for both"
            raise ComparisonDataError(table.name, rule, None, remedy=remedy)
        least = votes[:, :2].min(axis=1)
        unclear = least >= 1
        if unclear.any():
            at = int(np.argmax(unclear))
            pair = f"{names[row[at]]} and {names[column[at]]}"
            rule = (
                f"has draws as halves, and {votes[at, 0]:g} to {votes[at, 1]:g} for "
                f"{pair}, which may be wins or draws"
            )
            remedy = "give a row for each pair, with columns wins_a, wins_b and ties"
            raise ComparisonDataError(table.name, rule, None, remedy=remedy)
        votes[:, 2] = 2 * least
        votes[:, :2] -= least[:, None]
    order = np.argsort(names, kind="stable")
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return VoteRows(
        table.name, row, [names[each] for each in order], place[row], place[column],
        votes, False, {"arms": (corner or "first column",), "wins": tuple(others)},
    )  # fmt: skip


def _say_what_looks_alike(name: str, arms: Sequence[str]) -> None:
    """Tell of names that differ in capitals, spaces or kinds of dashes alone."""
    alike: dict[str, list[str]] = {}
    for arm in arms:
        plain = normalize("NFKC", arm).casefold()
        plain = re.sub(r"[\u2010-\u2015\u2212\u00ad_-]", "-", plain)
        plain = re.sub(r"[\u200b-\u200f\u2060\ufeff]", "", plain)
        alike.setdefault(" ".join(plain.split()), []).append(arm)
    for twins in alike.values():
        if len(twins) > 1:
            listed = " and ".join(map(ascii_repr, twins))
            plain = {" ".join(each.casefold().split()) for each in twins}
            what = "in capitals and spaces alone" if len(plain) == 1 else "hardly"
            _LOGGER.warning(
                "%s: %s differ %s, and are different arms", name, listed, what
            )


def ascii_repr(name: str) -> str:
    """Return a name in quotes, with a code for what looks like another character."""
    return "".join(
        ascii(each)[1:-1] if each in _LIKE_OTHERS else each for each in repr(name)
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
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("arm,price\ntea,1.5\nmilk,-0.5\n")
    ...     read_covariates(path, ["milk", "tea"])
    (array([[-0.5],
           [ 1.5]]), ('price',))
    """
    table = Table(source, missing="keep")
    wanted = arm_names_of(arm_names, None)
    arm = "arm" if "arm" in table else table.titles[0]
    titles = [title for title in table.titles if title != arm]
    if not titles:
        rule = f"needs a column of numbers beside {arm!r}, which names the arms"
        raise ComparisonDataError(table.name, rule, table.titles)
    names, wanted_names = joined_labels(table.texts(arm).tolist(), wanted)
    rows = {name: row for row, name in enumerate(names)}
    if len(rows) < table.num_rows:
        row = next(row for row, name in enumerate(names) if rows[name] != row)
        rule = f"row {row} of column {arm!r} is not the only one of {names[row]!r}"
        raise ComparisonDataError(table.name, rule, names[row])
    if lacking := [name for name in wanted_names if name not in rows]:
        rule = f"column {arm!r} lacks the arms {shortened(lacking)}"
        remedy = "add a row for each arm of the votes"
        raise ComparisonDataError(table.name, rule, names, remedy=remedy)
    if others := [name for name in rows if name not in wanted_names]:
        _LOGGER.warning(
            "%s: not read: rows of %s, in no vote", table.name, shortened(others)
        )
    numbers = [table.numbers(title, least=-MOST_VOTES) for title in titles]
    chosen = [rows[name] for name in wanted_names]
    return np.stack(numbers, axis=1)[chosen], tuple(titles)
