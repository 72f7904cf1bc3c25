"""Ballots that rank arms: what Plackett-Luce is fitted to, and their readers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import number, read_text
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    check_array,
    check_different,
    check_each,
    check_names,
    composed,
    joined_labels,
    labels_of,
    refuse,
    rows_of,
    shortened,
    vote_counts,
    weights_of,
    whole_numbers,
)
from bayesduel.votes.comparisons import Comparisons, CountedVotes
from bayesduel.votes.tables import Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Rankings(CountedVotes):
    """Rankings of arms, possibly with ties and with arms left out.

    Attributes
    ----------
    arm_names : tuple of K str
        Names of the arms.
    places : int64 (R, K)
        Place of each arm on each different ballot: 1 is the best, equal places are a
        tie, 0 is not on the ballot.
    counts : float64 (R,)
        How many voters handed in that ballot.

    Examples
    --------
    >>> ballots = Rankings.from_orders([["tea", "milk", "coffee"], ["milk", "tea"]])
    >>> ballots
    Rankings(3 arms, 2 ballots, 2 of them different)
    >>> ballots.to_comparisons().wins.tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    arm_names: tuple[str, ...]
    places: NDArray[np.int64]
    counts: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check every field."""
        num_arms = check_names(self.arm_names, "from_places")
        check_array("places", self.places, (None, num_arms), "i", "from_places")
        check_array("counts", self.counts, (len(self.places),), "f", "from_places")
        check_different(
            "places", self.places, [*self.places.T], "ballot", "from_places"
        )
        vote_counts("counts", self.counts)
        check_each("places", self.places, self.places >= 0, "must not be negative")

    @classmethod
    def from_places(
        cls,
        places: ArrayLike,
        *,
        counts: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
    ) -> Rankings:
        """Take rankings as places.

        Parameters
        ----------
        places : int (R, K)
            Place of each arm: small is good, equal is a tie, 0 is not on the ballot.
        counts : float (R,), optional
            How many voters; 1 by default.
        arm_names : sequence of str, optional
            Names of the arms, by default "0", "1", ...

        Raises
        ------
        ComparisonDataError
            If a place is negative, or a count is.
        """
        table = np.atleast_2d(whole_numbers("places", places))
        if table.ndim != 2:
            refuse("places", "must have the shape (ballot, arm)", table.shape)
        check_each("places", table, table >= 0, "must not be negative")
        names = arm_names_of(arm_names, table.shape[1])
        number = weights_of("counts", counts, len(table), "ballots")
        # Places without gaps: 1, 2, ..., and 0 for an arm that is not there.
        dense = np.zeros_like(table)
        for row, ballot in enumerate(table):
            used = np.unique(ballot[ballot > 0])
            dense[row] = np.where(ballot > 0, np.searchsorted(used, ballot) + 1, 0)
        unique, index = np.unique(dense, axis=0, return_inverse=True)
        total = np.zeros(len(unique))
        np.add.at(total, index.reshape(-1), number)
        chosen = (total > 0) & (np.sum(unique > 0, axis=1) > 1)
        return cls(names, unique[chosen], total[chosen])

    @classmethod
    def from_orders(
        cls,
        orders: Sequence[Sequence[str | Sequence[str]]],
        *,
        counts: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
    ) -> Rankings:
        """Take rankings as lists of names, the best first.

        Parameters
        ----------
        orders : sequence of sequences
            Names of arms; a tuple, list or set in place of a name is a tie.
        counts : float (R,), optional
            How many voters; 1 by default.
        arm_names : sequence of str, optional
            All arms, in the wanted order. By default the names that occur, sorted.

        Raises
        ------
        ComparisonDataError
            Naming the ballot with an unknown arm, or with an arm twice.
        """
        groups = [
            [
                # A tuple, list or set of arms shares a place.
                labels_of(
                    f"orders: ballot {row}",
                    sorted(item, key=composed) if isinstance(item, _TIES) else [item],
                )
                for item in rows_of(f"orders: ballot {row}", order)
            ]
            for row, order in enumerate(rows_of("orders", orders))
        ]
        if arm_names is None:
            labels = [label for order in groups for group in order for label in group]
            arm_names = sorted(set(joined_labels(labels)[0]))
        names = arm_names_of(arm_names, None)
        places = np.zeros((len(groups), len(names)), dtype=np.int64)
        for ballot, order in enumerate(groups):
            for rank, group in enumerate(order, start=1):
                for arm in arm_positions(f"orders: ballot {ballot}", group, names):
                    if places[ballot, arm]:
                        rule = f"ranks {names[arm]!r} twice"
                        refuse("orders", rule, names[arm], index=ballot)
                    places[ballot, arm] = rank
        return cls.from_places(places, counts=counts, arm_names=names)

    def to_dataframe(self) -> pd.DataFrame:
        """Return a row per different ballot, with the place of each arm, and ``count``.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        table = pd.DataFrame(self.places, columns=list(self.arm_names))
        return table.assign(count=self.counts)

    def __repr__(self) -> str:
        return (
            f"Rankings({self.num_arms} arms, {self.num_votes:g} ballots, "
            f"{len(self.counts)} of them different)"
        )

    @property
    def row_names(self) -> list[str]:
        """A name for each different ballot: its first three arms, ties with ``=``."""
        names = []
        for row, places in enumerate(self.places):
            last = np.where(places > 0, places, self.num_arms + 1)
            best = [arm for arm in np.argsort(last, kind="stable")[:3] if places[arm]]
            words = [self.arm_names[arm] for arm in best[:1]]
            for before, arm in pairwise(best):
                sign = ">" if places[before] < places[arm] else "="
                words += [sign, self.arm_names[arm]]
            names.append(f"{row}: {' '.join(words)}")
        return names

    def parts(self) -> list[list[str]]:
        """Return the parts of the graph of arms that share a ballot."""
        return self.to_comparisons().parts()

    def strong_parts(self) -> list[list[str]]:
        """Return the parts within which every arm beat every other, through others.

        With more than one part no maximum-likelihood estimate exists (Hunter 2004,
        Assumption 1).
        """
        return self.to_comparisons().strong_parts()

    def with_others_last(self) -> Rankings:
        """Return the ballots with the arms that are not on them tied at the end.

        The reading of an incomplete ballot as "all the others are worse". Without it
        an arm that is not on a ballot was not judged.
        """
        last = self.places.max(axis=1, keepdims=True) + 1
        return Rankings.from_places(
            np.where(self.places > 0, self.places, last),
            counts=self.counts,
            arm_names=self.arm_names,
        )

    def to_comparisons(self) -> Comparisons:
        """Count, for every pair, the ballots that rank one above the other.

        Votes of one ballot are not independent: pairs from rankings overstate how much
        is known, and suit a question about the majority rather than about certainty.
        """
        wins = np.zeros((self.num_arms, self.num_arms))
        ties = np.zeros_like(wins)
        for places, count in zip(self.places, self.counts, strict=True):
            judged = (places > 0)[:, None] & (places > 0)[None, :]
            wins += count * (judged & (places[:, None] < places[None, :]))
            ties += count * (judged & (places[:, None] == places[None, :]))
        np.fill_diagonal(ties, 0.0)
        return Comparisons.from_wins(wins, ties=ties, arm_names=self.arm_names)

    def restricted_to(self, arm_names: Sequence[str]) -> Rankings:
        """Return the ballots without the other arms."""
        names = arm_names_of(arm_names, None)
        arms = arm_positions("arm_names", names, self.arm_names)
        return Rankings.from_places(
            self.places[:, arms], counts=self.counts, arm_names=names
        )


_TIES = (tuple, list, set, frozenset)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"
)  # fmt: skip
_RANK = "(?:rank|place|choice|preference)"
_PLACE = re.compile(
    rf"(?:{_RANK}[ _#.-]*)?"
    rf"(?:([0-9]{{1,6}})(?:st|nd|rd|th|[.,]0|\.)?|({'|'.join(_ORDINALS)}))"
    rf"(?:[ _]*{_RANK})?(?:\s*\([^()]*\))?",
    re.IGNORECASE,
)
"""Such as 1, 1st, first choice, Choice #1 or 1 (best)."""

_GRID_TITLE = re.compile(r"(.*)\[([^\[\]]+)\]\s*", re.DOTALL)


def read_rankings(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    order: Sequence[str] | None = None,
    places: Sequence[str] | None = None,
    count: str | None = None,
    where: str | Sequence[str] = (),
    missing: str = "refuse",
    arm_names: Sequence[str] | None = None,
) -> Rankings:
    r"""Read a table with a ballot in each row.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame.
    order : sequence of str, optional
        Columns with the names of arms, the best first. By default titles such as
        "1st choice", "2nd choice", or "rank 1", "rank 2", or those of a grid of Google
        Forms, "Your order [1st choice]". An empty cell leaves a place out; an arm that
        is not named was not judged.
    places : sequence of str, optional
        Columns that are arms, with the place of each: 1, or 1st, is the best, equal
        places are a tie, an empty cell was not judged. By default the columns of a grid
        of Google Forms, such as "Your order [tea]", "Your order [milk]", if no row
        holds a place twice or beyond the number of columns, as ratings do. The arm is
        what stands in brackets, or the title.
    count : str, optional
        Column with the number of voters who handed in that ballot, 1 by default.
    where : str or sequence of str
        Conditions on the columns, as in :func:`read_comparisons`.
    missing : {"refuse", "skip", "keep"}
        How to treat rows that name no arm: an error, or left out; with "keep" NA and
        the like are names.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.

    Returns
    -------
    Rankings

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing or could be others, or a row names an arm twice, or a
        place that is none; names the row, from 0.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"1st choice": ["tea", "ale"], "2nd choice": ["ale", "tea"]}
    ... )
    >>> read_rankings(frame.assign(voter=["ann", "bob"])).places.tolist()
    [[1, 2], [2, 1]]
    """
    arm_names = None if arm_names is None else arm_names_of(arm_names, None)
    table = Table(source, missing=missing, names=arm_names)
    table.keep_rows(where)
    if order is not None and places is not None:
        rule = "and order must not both be given"
        refuse("places", rule, remedy="name one of them")
    is_guess = order is None and places is None
    if is_guess:
        order, places = ranking_columns(table.titles)
        if not order and not places:
            rule = (
                "has no columns such as '1st choice' and '2nd choice', or 'Order [tea]'"
                f" and 'Order [milk]', only {shortened(table.titles, 12)}"
            )
            remedy = "name columns of arms ({order}), or of places ({places})"
            refuse(table.name, rule, remedy=remedy)
    role = "order" if order else "places"
    titles = [str(title) for title in labels_of(role, order or places)]
    read = {role: titles} | ({} if count is None else {"count": [count]})
    table.say_what_is_read(read)
    voters = np.ones(len(table.rows)) if count is None else table.numbers(count)
    if order:
        codes, names = table.same_labels(*titles)
        arms = arm_names_of(names if arm_names is None else arm_names, None)
        position = np.append(arm_positions(titles[0], names, arms), -1)
        ranked = np.zeros((len(table.rows), len(arms)), dtype=np.int64)
        for index, column in enumerate(codes):
            rows = np.flatnonzero(column >= 0)
            once = np.ones(len(table.rows), dtype=bool)
            once[rows] = ranked[rows, position[column[rows]]] == 0
            table.check(titles[index], once, "names an arm for the second time in "
                        "its row")  # fmt: skip
            ranked[rows, position[column[rows]]] = index + 1
    else:
        names = [
            grid[2] if (grid := _GRID_TITLE.fullmatch(title)) else title
            for title in titles
        ]
        arms = arm_names_of(names if arm_names is None else arm_names, None)
        ranked = np.zeros((len(table.rows), len(arms)), dtype=np.int64)
        positions = arm_positions("places", names, arms)
        for title, arm in zip(titles, positions, strict=True):
            codes, cells = table.labels(title)
            ranked[:, arm] = np.array([*map(_rank_in, cells), 0], dtype=np.int64)[codes]
            fits = (ranked[:, arm] > 0) | (codes < 0)
            table.check(title, fits, "is no place such as 1 or 1st")
        last = np.sort(ranked, axis=1)
        wrong = (ranked > len(arms)).any(axis=1)
        wrong |= ((last[:, 1:] == last[:, :-1]) & (last[:, 1:] > 0)).any(axis=1)
        if is_guess and wrong.any():
            rule = (
                f"row {table.rows[np.argmax(wrong)]} of {shortened(titles)} holds a "
                "place twice, or one beyond the number of columns: these may be ratings"
            )
            remedy = "if 1 is the best and equals are ties, say so: name them with "
            refuse(table.name, rule, remedy=remedy + "{places}")
    empty = ~ranked.any(axis=1)
    if empty.any() and missing != "skip":
        rule = f"row {table.rows[np.argmax(empty)]} ranks no arm"
        refuse(table.name, rule, remedy="leave such rows out ({missing='skip'})")
    return Rankings.from_places(ranked[~empty], counts=voters[~empty], arm_names=arms)


def ranking_columns(titles: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return columns called after places, best first, or else those of one grid."""
    order: dict[int, list[str]] = {}
    grids: dict[str, list[str]] = {}
    for title in titles:
        grid = _GRID_TITLE.fullmatch(title)
        name = grid[2] if grid else title
        if rank := 0 if name.isdigit() else _rank_in(name):
            order.setdefault(rank, []).append(title)
        elif grid:
            grids.setdefault(grid[1], []).append(title)
    one_each = all(len(columns) == 1 for columns in order.values())
    if one_each and len(order) > 1 and sorted(order) == [*range(1, len(order) + 1)]:
        return [order[rank][0] for rank in sorted(order)], []
    grids = {stem: columns for stem, columns in grids.items() if len(columns) > 1}
    return [], next(iter(grids.values())) if len(grids) == 1 else []


def _rank_in(text: str) -> int:
    """Return the place that a title or a cell names, 0 for none."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return 0
    return int(match[1]) if match[1] else _ORDINALS.index(match[2].lower()) + 1


# Orders: strict or with ties, complete or incomplete.
SUFFIXES = (".soc", ".soi", ".toc", ".toi")

_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+([0-9]{1,9})\s*:\s*(.*)")
_NUMBER = re.compile(r"#\s*NUMBER ALTERNATIVES\s*:\s*([0-9]+)\s*")
_TIE = r"\{\s*(?:[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)?\s*\}|[0-9]{1,9}"
_ORDER = re.compile(rf"[\s,]*(?:(?:{_TIE})(?:\s*,[\s,]*(?:{_TIE}))*)?[\s,]*")
_BALLOT = "'number of voters: 3,1,{2,4}'"


def read_preflib(path: str | os.PathLike[str]) -> Rankings:
    r"""Read ballots from a PrefLib file of orders.

    Lines that begin with # describe the data (``ALTERNATIVE NAME 1: tea``); all others
    are ``number of voters: 3,1,{2,4}``, the best first, a tie in braces. An arm that is
    missing from a line was not judged by those voters; if it was ranked below all the
    others, add ``.with_others_last()``. In files of type toc PrefLib has often done so
    already: then the tie at the end is no opinion.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends with .soc, .soi, .toc or .toi.

    Returns
    -------
    Rankings
        With the names of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If it is no such file; names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.toi")
    ...     _ = path.write_text(
    ...         "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: tea\n"
    ...         "# ALTERNATIVE NAME 2: milk\n# ALTERNATIVE NAME 3: coffee\n"
    ...         "5: 1,{2,3}\n2: 3,1\n"
    ...     )
    ...     read_preflib(path)
    Rankings(3 arms, 7 ballots, 2 of them different)
    """
    path = as_path("path", path, ComparisonDataError)
    if path.suffix.lower() not in SUFFIXES:
        rule = f"a PrefLib file of orders ends with {', '.join(SUFFIXES)}"
        refuse(path.name, rule, path)
    names: dict[int, str] = {}
    declared = ""
    ballots: list[tuple[int, list[list[int]]]] = []
    counts: list[float] = []
    text = read_text(path, error=ComparisonDataError)
    # Not splitlines(): names may hold other characters that it cuts at.
    for at, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        where = f"{path.name}, line {at}"
        if match := _NAME.match(line):
            if int(match[1]) in names:
                refuse(where, f"alternative {match[1]} is named twice", line)
            names[int(match[1])] = match[2].strip()
        elif match := _NUMBER.fullmatch(line):
            declared = match[1].lstrip("0")
        elif line.strip() and not line.startswith("#"):
            count, colon, order = line.partition(":")
            voters = number(count.strip())
            if not colon or voters is None or not _ORDER.fullmatch(order):
                refuse(f"{where}:", f"must be {_BALLOT}", line)
            if not 0 <= voters <= MOST_VOTES:
                rule = f"the number of voters is not between 0 and {MOST_VOTES:.0e}"
                refuse(where, rule, count.strip())
            counts.append(voters)
            groups = [re.findall("[0-9]+", tie) for tie in re.findall(_TIE, order)]
            ballots.append((at, [list(map(int, group)) for group in groups]))
    num_arms = len(names)
    # Compared as texts: a number of thousands of digits is no int.
    if declared not in ("", str(num_arms)) or set(names) != set(range(1, num_arms + 1)):
        there = shortened(list(map(str, sorted(names))), 20)
        rule = f"the {declared[:12] or num_arms} alternatives must be named by lines "
        rule += f"'# ALTERNATIVE NAME k: name', k from 1; found names for {there}"
        refuse(path.name, rule, there)
    if not ballots:
        refuse(path.name, f"holds no ballot such as {_BALLOT}", "")
    places = np.zeros((len(ballots), num_arms), dtype=np.int64)
    for row, (at, order) in enumerate(ballots):
        for rank, group in enumerate(order, start=1):
            for arm in group:
                if not 1 <= arm <= num_arms or places[row, arm - 1]:
                    what = "twice" if 1 <= arm <= num_arms else "but there is none"
                    rule = f"alternative {arm} is ranked {what}"
                    refuse(f"{path.name}, line {at}", rule, arm)
                places[row, arm - 1] = rank
    arm_names = [names[arm] for arm in range(1, num_arms + 1)]
    return Rankings.from_places(places, counts=counts, arm_names=arm_names)
