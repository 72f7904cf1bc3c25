"""Read votes and choices from users' tables."""

import logging
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesduel.errors import ComparisonDataError, checked_as
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    composed,
    different_labels,
    labels_of,
    shortened,
)
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import integer_from

_LOGGER = logging.getLogger(__name__)

_KNOWN_PAIRS = (
    ("left", "right"),
    ("first", "second"),
    ("model_a", "model_b"),
    ("team_a", "team_b"),
    ("a", "b"),
    ("winner", "loser"),
)
_KNOWN_WINS = (("wins_a", "wins_b"), ("wins_first", "wins_second"))
_KNOWN_TIES = ("ties", "draws", "tie")
_LIKE_TIES = re.compile(
    r"(?:(?:.*_)?(?:ties?|tied|draws?|drawn|both_?bad|neither)(?:_?both_?bad)?"
    r"|(?:n_|num_|number_of_|count_)?[td])"
    r"(?:_?ij|_?ab|_a_b|_count)?"
)
_NOT_WHOLE = "give what a vote counts as a weight instead"


def read_comparisons(
    path: str | os.PathLike[str],
    *,
    arms: tuple[str, str] | None = None,
    winner: str | None = None,
    wins: tuple[str, str] | None = None,
    ties: Sequence[str] | None = None,
    weight: str | None = None,
    words: tuple[str, str, str] = ("left", "right", "tie"),
    arm_names: Sequence[str] | None = None,
    order_known: bool | None = None,
) -> Comparisons:
    r"""Read votes from a table with a header, single or counted per pair.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file, possibly compressed (.gz).
    arms : (str, str), optional
        Columns with the names of the two arms; by default left and right, first and
        second, model_a and model_b, team_a and team_b, a and b, or winner and loser.
    winner : str, optional
        Column that names the winning arm or holds one of ``words``: a vote a row. By
        default "winner" if there is one. It may be one of ``arms``, as in a table of
        winners and losers: all its rows are decided, and none says who was shown first.
    wins : (str, str), optional
        Columns with the numbers of votes for either arm: a pair a row. By default
        wins_a and wins_b, or wins_first and wins_second.
    ties : sequence of str, optional
        Columns that count ties, added up; by default "ties", "draws" or "tie", the one
        that is there. Other columns that look like ties, by their titles or since they
        hold 1 in a row without a winner, are refused until they are named, or left out
        with an empty list. Only for counts per pair.
    weight : str, optional
        Column that says how many times a vote counts.
    words : (str, str, str)
        What stands in ``winner`` for the first arm, the second one, and a tie. A word
        that is also the name of the other arm of its row is refused.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.
    order_known : bool, optional
        Whether the first arm was shown first; by default yes for single votes, no for
        counts per pair and for winners and losers.

    Returns
    -------
    Comparisons
        All votes of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If the file is no text in UTF-8, damaged, too large or no regular file; columns
        are missing or could be several; or a row breaks a rule; names the row, from 0.

    Notes
    -----
    Columns that are not read, such as those of judges and times, are named by a log
    message of level WARNING.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("left,right,winner\ntea,milk,left\ntea,coffee,tie\n")
    ...     read_comparisons(path)
    Comparisons(3 arms, 2 of 3 pairs, 2 votes, 1 ties)
    """
    table = ColumnTable(path)
    weights = None if weight is None else table.numbers(weight)
    arms, wins = _two_columns("arms", arms), _two_columns("wins", wins)
    ties = None if ties is None else list(map(str, labels_of("ties", ties)))
    one, other = table.chosen("arms", arms, _KNOWN_PAIRS)
    first, second = table[one], table[other]
    winner = _winner_column(table, winner, wins)
    if winner is not None:
        if ties is not None:
            raise ComparisonDataError(
                f"{table.name}: ties are columns of counts, but {winner!r} says who won"
                " each single vote, and which were ties; leave ties (--tie-columns)"
                " out, or name columns of counts with wins (--wins)"
            )
        _say_unread(table, {one, other, winner, weight})
        if winner in (one, other):
            lost = other if winner == one else one
            return _decided(table, winner, lost, weights, arm_names, order_known)
        return Comparisons.from_votes(
            first,
            second,
            table[winner],
            weight=weights,
            arm_names=arm_names,
            words=words,
            order_known=True if order_known is None else order_known,
        )
    won, lost = table.chosen("wins", wins, _KNOWN_WINS)
    if ties is None:
        ties = _tie_columns(table, (one, other, weight), (won, lost))
    counted = [won, lost, *ties]
    _say_unread(table, {one, other, weight, *counted})
    for title in counted:
        if counted.count(title) > 1:
            raise ComparisonDataError(
                f"{table.name}: the column {title!r} is named twice among wins and ties"
            )
    counts = [table.whole_numbers(title, _NOT_WHOLE) for title in counted]
    tied = sum(counts[2:], np.zeros(table.num_rows))
    votes = np.stack([*counts[:2], tied], axis=1)
    if weights is not None:
        votes = votes * weights[:, None]
    # By position: a word for an outcome could be the name of an arm.
    if arm_names is None:
        arm_names = different_labels(first, second)
    names = arm_names_of(arm_names, None)
    return Comparisons.from_rows(
        names,
        arm_positions(one, first, names),
        arm_positions(other, second, names),
        votes,
        order_known=False if order_known is None else order_known,
    )


def _decided(
    table: ColumnTable,
    winner: str,
    loser: str,
    weights: np.ndarray | None,
    arm_names: Sequence[str] | None,
    order_known: bool | None,
) -> Comparisons:
    """Return the votes of a table of winners and losers."""
    if order_known:
        raise ComparisonDataError(
            f"{table.name}: order_known=True needs columns of the arm shown first and "
            f"of the other one, but {winner!r} and {loser!r} say who won; leave it out"
        )
    won, lost = table[winner], table[loser]
    if arm_names is None:
        arm_names = different_labels(won, lost)
    names = arm_names_of(arm_names, None)
    counts = np.zeros((table.num_rows, 3))
    counts[:, 0] = 1.0 if weights is None else weights
    positions = (arm_positions(winner, won, names), arm_positions(loser, lost, names))
    return Comparisons.from_rows(names, *positions, counts)


def _two_columns(argument: str, titles: Any) -> tuple[str, str] | None:
    if titles is None:
        return None
    found = tuple(map(str, labels_of(argument, titles)))
    if len(found) != 2:
        raise ComparisonDataError(
            f"{argument} must name two columns, got {len(found)}: {shortened(found)}"
        )
    return found


def _winner_column(
    table: ColumnTable, winner: str | None, wins: tuple[str, str] | None
) -> str | None:
    """Return the column of winners, None where votes are counted per pair."""
    if winner is not None and wins is not None:
        raise ComparisonDataError(
            f"{table.name}: winner ({winner!r}) is for a vote a row, wins "
            f"({' and '.join(wins)}) for a pair a row; not both"
        )
    if winner is not None or wins is not None or "winner" not in table:
        return winner
    if counts := table.usual(_KNOWN_WINS):
        raise ComparisonDataError(
            f"{table.name}: has both a column 'winner' and counts in "
            f"{' and '.join(counts[0])}; say which with winner or wins"
        )
    return "winner"


def _say_unread(table: ColumnTable, read: set[str | None]) -> None:
    read = {None if title is None else composed(title) for title in read}
    if unread := [title for title in table.titles if title not in read]:
        _LOGGER.warning(
            "%s: not read: %s %s",
            table.name,
            "column" if len(unread) == 1 else "columns",
            ", ".join(map(repr, unread)),
        )


def _tie_columns(
    table: ColumnTable, others: tuple[str | None, ...], wins: tuple[str, str]
) -> list[str]:
    """Return the usual column of ties; refuse to guess, and to lose any."""
    found = {}
    taken = {None if each is None else composed(each) for each in (*others, *wins)}
    for title in table.titles:
        if title in taken:
            continue
        words = re.sub(r"\W+", "_", title.lower()).strip("_")
        if title in _KNOWN_TIES or (
            table.has_numbers(title)
            and (_LIKE_TIES.fullmatch(words) or _fills_gaps(table, title, wins))
        ):
            found[title] = table.whole_numbers(title, _NOT_WHOLE).sum()
    lost = [title for title in found if title not in _KNOWN_TIES and found[title]]
    usual = [title for title in found if title in _KNOWN_TIES]
    if lost or len(usual) > 1:
        named = ", ".join(f"{title} ({found[title]:g})" for title in (*usual, *lost))
        raise ComparisonDataError(
            f"{table.name}: these columns look like numbers of ties: {named}; name "
            f"those to add up, ties={usual + lost} (--tie-columns "
            f"{','.join(usual + lost)}), or none, ties=[] (--tie-columns '')"
        )
    return usual


def _fills_gaps(table: ColumnTable, title: str, wins: tuple[str, str]) -> bool:
    """Return whether a 0/1 column says 1 only where neither arm has a vote."""
    if not set(table[title]) <= {"0", "1", "0.0", "1.0"}:
        return False
    undecided = table.numbers(wins[0]) + table.numbers(wins[1]) == 0
    said = table.numbers(title) == 1
    return bool(said.any() and np.all(undecided[said]))


def _index(argument: str, value: Any) -> int:
    """Return the number that stands for an arm, or for none of them, in a file."""
    most = int(MOST_VOTES)
    return checked_as(ComparisonDataError, integer_from, value, -most, argument, most)


def read_choices(
    path: str | os.PathLike[str],
    *,
    choice: str = "Choice",
    arm_names: Sequence[str] | None = None,
    first_index: int = 1,
    none: int | None = None,
) -> Choices:
    """Read choices from a table with a 0/1 column for each arm.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8 with a header, perhaps compressed with gzip.
    choice : str
        Column with the number of the chosen arm among the columns of arms.
    arm_names : sequence of str, optional
        The columns of arms, 1 where an arm was on offer; by default all but ``choice``.
    first_index : int
        The number of the first arm.
    none : int, optional
        The number that means that none was chosen. Without it there is no such option.

    Returns
    -------
    Choices
        Counted per subset.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or an arm was chosen that was not on offer.
    """
    table = ColumnTable(path)
    first_index = _index("first_index", first_index)
    none = None if none is None else _index("none", none)
    # A number such as -1 may stand for none.
    chosen = table.whole_numbers(choice, least=-MOST_VOTES).astype(np.int64)
    names = [each for each in table.titles if each != choice]
    names = list(arm_names_of(names if arm_names is None else arm_names, None))
    _say_unread(table, {choice, *names})
    offered = np.stack([table.whole_numbers(each) for each in names], axis=1)
    if np.any(offered > 1):
        row, arm = np.argwhere(offered > 1)[0]
        raise ComparisonDataError(
            f"{table.name}: row {row} of column {names[arm]!r} must be 1 where the arm "
            f"was on offer, else 0, but is {offered[row, arm]:g}"
        )
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    index = chosen - first_index
    bad = ~is_none & ((index < 0) | (index >= len(names)))
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ComparisonDataError(
            f"{table.name}: row {row} chooses {chosen[row]}, but the {len(names)} arms "
            f"are numbered from {first_index}"
        )
    counts = np.zeros(offered.shape)
    counts[np.flatnonzero(~is_none), index[~is_none]] = 1.0
    return Choices.from_counts(
        offered > 0, counts, None if none is None else is_none, arm_names=names
    )
