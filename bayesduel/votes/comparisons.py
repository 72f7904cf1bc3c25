"""Votes between two arms, counted per pair: what the pairwise models are fitted to."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError, errors_as
from bayesduel.votes.checks import (
    arm_names_of,
    arm_positions,
    check_array,
    check_different,
    check_each,
    check_lengths,
    check_names,
    codes_of,
    components,
    composed,
    flag,
    groups_of,
    joined_labels,
    labels_of,
    numbers_of,
    refuse,
    shortened,
    vote_counts,
    weights_of,
    whole_numbers,
)
from theory.arguments import items_of, one_of
from theory.validation import aligned_table

if TYPE_CHECKING:
    import pandas as pd

_LOGGER = logging.getLogger(__name__)

# Outcomes of a vote: the first arm of the row wins, the second one, or neither.
OUTCOMES = ("first", "second", "tie")
# Columns of labels, even where these are numbers.
LABELS = ("judge", "context", "group", "cluster")
# The column that says where neither arm was shown first, or was at home.
NEUTRAL = "neutral"

# Names that stand for something else in what is made of votes.
_TAKEN = ("first", "second", "counts", "covariates", "num_arms", "arm", "pair", "vote",
          "outcome", "total", "chain", "draw", "row", "comparison")  # fmt: skip
_ALL_PAIRS = 4096  # Pairs that are kept whether they have votes or not.
_ONE_QUESTION = (
    "name what was asked (context) and who judged (judge), so that each of them has "
    "one vote in either order"
)

type Words = tuple[Any, Any, Any]
"""For the first arm, the second one, and a tie: a word, several, or how many votes each
of several counts."""


class CountedVotes:
    """Votes on named arms, counted row by row."""

    arm_names: tuple[str, ...]
    counts: NDArray[np.float64]

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.arm_names)

    @property
    def num_votes(self) -> float:
        """Sum of all counts: votes, or ballots."""
        return float(self.counts.sum())

    @property
    def is_whole(self) -> bool:
        """Whether all counts are whole numbers, that is, numbers of votes."""
        return bool(np.all(self.counts == np.round(self.counts)))


@dataclass(frozen=True, eq=False)
class VoteRows:
    """Votes row by row as they were understood; several may belong to one pair."""

    arm_names: list[str] | tuple[str, ...]
    first: Int64[np.ndarray, " n"]  # Positions of arms.
    second: Int64[np.ndarray, " n"]
    counts: Float64[np.ndarray, "n 3"]  # For the first arm, for the second, and ties.
    order_known: bool
    columns: Mapping[str, NDArray[Any]]  # Numbers, or places among the labels.
    labels: Mapping[str, tuple[str, ...]]
    contest_covariates: tuple[str, ...] = ()
    name: str = ""  # The table that the rows come from,
    rows: Any = None  # the number of each there, from 0, int64 (n,),
    read: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # and titles.
    both_orders: str | None = None  # The remaining step.

    def chosen(self, places: Any, **changes: Any) -> VoteRows:
        """Return the rows at some places."""
        columns = {name: column[places] for name, column in self.columns.items()}
        if "counts" not in changes:
            changes["counts"] = self.counts[places]
        first, second = self.first[places], self.second[places]
        return replace(self, first=first, second=second, columns=columns, **changes)

    def turned(self, swap: Bool[np.ndarray, " n"]) -> VoteRows:
        """Return the same votes with the two arms of some rows in the other order."""
        if not swap.any():
            return self
        # Adding 0 makes 0 of -0, which is printed otherwise.
        sign = np.where(swap, -1.0, 1.0)
        contest = {
            name: sign * self.columns[name] + 0.0 for name in self.contest_covariates
        }
        return replace(
            self,
            first=np.where(swap, self.second, self.first),
            second=np.where(swap, self.first, self.second),
            counts=np.where(swap[:, None], self.counts[:, [1, 0, 2]], self.counts),
            columns={**self.columns, **contest},
        )

    def added_up(self) -> VoteRows:
        """Add up the rows of the same pair, with the same entries of columns."""
        # Where nobody is known to be first, the arm of the lower position is.
        rows, free = self, np.ones(len(self.first), dtype=bool)
        if self.order_known:
            free = self.columns.get(NEUTRAL, np.zeros(len(free))) != 0
        elif NEUTRAL in self.columns:
            columns = {**self.columns}
            del columns[NEUTRAL]
            rows = replace(self, columns=columns)
        rows = rows.turned(free & (self.first > self.second))
        groups, index = groups_of([rows.first, rows.second, *rows.columns.values()])
        sums = [np.bincount(index, outcome, len(groups)) for outcome in rows.counts.T]
        # Without votes bincount returns integers.
        counts = np.stack(sums, axis=1).astype(np.float64)
        voted = counts.any(axis=1)
        if not voted.all():
            groups, counts = groups[voted], counts[voted]
        return rows.chosen(groups, counts=counts)

    def comparisons(self, arm_names: Sequence[str] | None = None) -> Comparisons:
        """Return the votes, counted per pair; the arms in another order, or more."""
        first, second = self.first, self.second
        names = arm_names_of(self.arm_names if arm_names is None else arm_names, None)
        if arm_names is not None:
            used = np.union1d(first, second)
            position = np.zeros(len(self.arm_names), dtype=np.int64)
            position[used] = arm_positions(
                "arm_names", [self.arm_names[arm] for arm in used], names
            )
            first, second = position[first], position[second]
        check_opponents(first, second, names, self.rows)
        rows = replace(self, first=first, second=second).added_up()
        data = Comparisons(
            names, rows.first, rows.second, rows.counts, self.order_known,
            columns={**rows.columns}, labels={**self.labels},
            contest_covariates=self.contest_covariates,
        )  # fmt: skip
        if self.both_orders is not None and data.num_votes:
            return data.with_both_orders_as_one(self.both_orders)
        return data


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(CountedVotes):
    """Votes between pairs of arms.

    A row is a pair in the order in which it was shown; a pair may have a row in either
    order, and a row may be without votes. Without ``order_known`` every pair has one
    row at most, the arm with the lower position first. Where votes carry columns, such
    as who judged them, a row is a pair with one entry in each of these.

    Attributes
    ----------
    arm_names : tuple of K str
        Names of the arms.
    first, second : int64 (R,)
        Positions of the two arms of each row, never equal.
    counts : float64 (R, 3)
        Votes for the first arm, for the second, and ties. Whole numbers, unless votes
        carry weights or ties were split.
    order_known : bool
        Whether the first arm of a row is the one that was shown first.
    covariates : float64 (K, D)
        What is known about each arm; D may be 0.
    covariate_names : tuple of D str
        Their names.
    columns : dict of arrays (R,)
        What each row carries, by name: float64, or int64 places among ``labels``.
        ``judge`` and ``context`` are labels; ``neutral`` is 1 where ``order_known``
        means nothing in that row, since neither arm was shown first or was at home.
    labels : dict of tuples of str
        Of those columns that are not numbers.
    contest_covariates : tuple of str
        Names of columns of numbers that say what the first arm of a row has more of
        than the second in this contest, such as the length of its answer; the sign
        changes where the two change places.

    Examples
    --------
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["tea", "coffee"])
    >>> votes
    Comparisons(2 arms, 1 of 1 pairs, 10 votes)
    >>> votes.wins.tolist()
    [[0.0, 7.0], [3.0, 0.0]]
    """

    arm_names: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    counts: NDArray[np.float64]
    order_known: bool = False
    covariates: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    covariate_names: tuple[str, ...] = ()
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    contest_covariates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every field."""
        num_arms, make = check_names(self.arm_names, "from_rows"), "from_rows"
        first, second = self.first, self.second
        rows = len(first) if isinstance(first, np.ndarray) and first.ndim == 1 else None
        check_array("first", first, (rows,), "i", make)
        check_array("second", second, (rows,), "i", make)
        check_array("counts", self.counts, (rows, 3), "f", make)
        check_opponents(first, second, self.arm_names)
        vote_counts("counts", self.counts)
        columns, labels, contest = self.columns, self.labels, self.contest_covariates
        fits = isinstance(columns, dict) and isinstance(labels, dict)
        if not fits or not set(labels) <= set(columns):
            rule = "must be dictionaries, with labels of columns that are there"
            refuse("columns and labels", rule, columns, remedy=f"use {make}()")
        for name, column in columns.items():
            check_array(name, column, (rows,), "i" if name in labels else "f", make)
            if name in labels:
                most = len(labels[name]) - 1
                rule = f"must be the place of a label, from 0 to {most}"
                check_each(name, column, (column >= 0) & (column <= most), rule)
            else:
                check_each(name, column, np.isfinite(column), "must be finite")
        known = [
            column for column in columns if column not in (*labels, *LABELS, NEUTRAL)
        ]
        fits = isinstance(contest, tuple) and len(set(contest)) == len(contest)
        if not fits or not set(contest) <= set(known):
            rule = "must be different columns of numbers that the votes carry, "
            rule += shortened(known) or "none"
            refuse("contest_covariates", rule, contest)
        ordered = flag(self.order_known, "order_known")
        if NEUTRAL in columns and not ordered:
            rule = "needs order_known=True: it says where the known order means nothing"
            refuse(NEUTRAL, rule, ordered, remedy=f"use {make}()")
        if not ordered and np.any(first > second):
            row = int(np.argmax(first > second))
            rule = "must be the lower position of the two, since the order is not known"
            remedy = f"use {make}(), which adds up the rows of a pair"
            refuse("first", rule, int(first[row]), index=row, remedy=remedy)
        keys = [first, second, *columns.values()]
        check_different("row", np.stack([first, second], axis=1), keys, "pair", make)
        names, table = self.covariate_names, self.covariates
        if not isinstance(names, tuple):
            remedy = "use with_covariates()"
            refuse("covariate_names", "must be a tuple", names, remedy=remedy)
        shape = num_arms if names else None, len(names)
        check_array("covariates", table, shape, "f", "with_covariates")
        check_each("covariates", table, np.isfinite(table), "must be finite")

    @classmethod
    def from_wins(
        cls,
        wins: ArrayLike,
        *,
        ties: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
        ignore_self: bool = False,
    ) -> Comparisons:
        """Count votes in a square table.

        Parameters
        ----------
        wins : float (K, K)
            ``wins[i, j]``: votes for i against j. The columns of a data frame are
            brought into the order of its rows by their labels.
        ties : float (K, K), optional
            Ties of each pair: symmetric, each pair's number in both places. A data
            frame is brought into the order of a data frame of wins.
        arm_names : sequence of str, optional
            Names of the arms, by default the labels of a data frame of wins, or "0",
            "1", ...
        ignore_self : bool
            Drop votes between an arm and itself instead of refusing them.

        Returns
        -------
        Comparisons
            One row per pair, the order in which arms were shown unknown. Pairs without
            a vote are kept, all of up to 4096 and of more as many as fill up a power of
            two, so that programs compiled for a fit serve the next one as well.

        Raises
        ------
        ComparisonDataError
            If a number is negative or not finite, the tables are not square or of one
            size, ties are not symmetric, or an arm meets itself.
        """
        won, labels = _labelled_counts("wins", wins)
        if won.ndim != 2 or won.shape[0] != won.shape[1]:
            refuse("wins", "must have a square shape", won.shape)
        names = arm_names_of(labels if arm_names is None else arm_names, len(won))
        tied = np.zeros_like(won)
        if ties is not None:
            tied, _ = _labelled_counts("ties", ties, labels)
        if tied.shape != won.shape or not np.array_equal(tied, tied.T):
            rule = f"must be a symmetric table of the shape {won.shape}"
            remedy = "give each pair's number in both places"
            refuse("ties", rule, tied.shape, remedy=remedy)
        of_itself = np.diagonal(won) + np.diagonal(tied)
        if not flag(ignore_self, "ignore_self") and np.any(of_itself > 0):
            arm = int(np.argmax(of_itself > 0))
            rule = f"gives {names[arm]!r} {of_itself[arm]:g} votes against itself"
            remedy = "they say nothing: drop them with ignore_self=True"
            refuse("wins", rule, wins, remedy=remedy)
        # The number of rows hardly depends on the votes: a program is compiled for a
        # number of rows, and the first vote on another pair would make it anew.
        row, column = np.triu_indices(len(won), 1)
        chosen = (won + won.T + tied > 0)[row, column]
        seen = int(chosen.sum())
        wanted = max(_ALL_PAIRS, 1 << max(seen - 1, 0).bit_length())
        chosen[np.flatnonzero(~chosen)[: wanted - seen]] = True
        row, column = row[chosen], column[chosen]
        counts = [won[row, column], won[column, row], tied[row, column]]
        return cls(names, row, column, np.stack(counts, axis=1))

    @classmethod
    def from_votes(
        cls,
        first: Sequence[Any],
        second: Sequence[Any],
        winner: Sequence[Any],
        *,
        weight: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
        words: Words = ("left", "right", "tie"),
        order_known: bool = True,
        columns: Mapping[str, Any] | None = None,
        contest_covariates: Sequence[str] = (),
    ) -> Comparisons:
        """Count single votes, one per entry of the columns.

        Parameters
        ----------
        first, second : sequences of n str
            The two arms, in the order in which they were shown.
        winner : sequence of n str
            The name of the winning arm, or one of ``words``.
        weight : float (n,), optional
            How many times each vote counts, 1 by default; not negative.
        arm_names : sequence of str, optional
            All arms, in the wanted order; any other name is an error. By default the
            names that occur, sorted.
        words : tuple of three
            The words in ``winner`` for the first arm, the second arm, and a tie: for
            each a word, several in a list, or a mapping from words to how many votes
            they count, as in ``({"A>B": 1, "A>>B": 3}, {"B>A": 1, "B>>A": 3}, "A=B")``.
        order_known : bool
            Keep the order in which the arms were shown.
        columns : mapping of names to sequences of n entries, optional
            What else is kept of each vote, as in :meth:`from_rows`.
        contest_covariates : sequence of str
            Those of the columns that are covariates of the contest, as there.

        Returns
        -------
        Comparisons
            One row per pair and order with votes, and per entries of ``columns``.

        Raises
        ------
        ComparisonDataError
            Naming the row of an unknown arm, of an arm against itself, of a winner
            that is neither or could be either (a word that is the other arm's name),
            or of a bad weight.
        """
        given = {"first": first, "second": second, "winner": winner}
        given = {name: labels_of(name, labels) for name, labels in given.items()}
        check_lengths(**given)
        verdicts = verdicts_of(words)
        names = [] if arm_names is None else list(arm_names_of(arm_names, None))
        lefts, rights, said, names, texts = joined_labels(
            *given.values(), names, list(verdicts)
        )
        arms = arm_names_of(names or sorted({*lefts, *rights}), None)
        left = arm_positions("first", lefts, arms)
        right = arm_positions("second", rights, arms)
        weights = weights_of("weight", weight, len(lefts), "votes")
        check_opponents(left, right, arms)
        codes, answers = codes_of(said)
        verdicts = dict(zip(texts, verdicts.values(), strict=True))
        counts = verdict_counts(left, right, codes, arms, answers, verdicts)
        return cls.from_rows(
            arms, left, right, counts * weights[:, None], order_known=order_known,
            columns=columns, contest_covariates=contest_covariates,
        )  # fmt: skip

    @classmethod
    def from_rows(
        cls,
        arm_names: Sequence[str],
        first: ArrayLike,
        second: ArrayLike,
        counts: ArrayLike,
        *,
        order_known: bool = False,
        columns: Mapping[str, Any] | None = None,
        contest_covariates: Sequence[str] = (),
    ) -> Comparisons:
        """Add up counts per row, several of which may belong to one pair.

        Parameters
        ----------
        arm_names : sequence of K str
            Names of the arms.
        first, second : int (n,)
            Positions of the two arms.
        counts : float (n, 3)
            Votes for the first arm, for the second, and ties.
        order_known : bool
            Keep the order in which the arms were shown.
        columns : mapping of names to sequences of n entries, optional
            What else is kept of each row, for models that read it: ``judge`` and
            ``context`` (labels), ``neutral`` (true where neither arm was shown first),
            or any other name, such as that of a time: numbers where all entries are,
            else labels. Rows that differ in an entry are not added up.
        contest_covariates : sequence of str
            Those of the columns that are differences, the first arm's number minus the
            second's in this contest, for models with ``contest_covariates=True``.

        Returns
        -------
        Comparisons
            Sorted by pair, without rows that have no vote.

        Raises
        ------
        ComparisonDataError
            For a position that is no arm, an arm against itself, a bad count, or a
            column that does not have one entry for each row.

        Examples
        --------
        >>> counts = [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
        >>> judge = ["ann", "ann", "bob"]
        >>> votes = Comparisons.from_rows(
        ...     ["tea", "milk"], [0] * 3, [1] * 3, counts, columns={"judge": judge}
        ... )
        >>> votes.row_names
        ['tea vs milk (judge ann)', 'tea vs milk (judge bob)']
        >>> votes.counts[:, 0].tolist(), votes.without_columns().counts.tolist()
        ([2.0, 0.0], [[2.0, 1.0, 0.0]])
        """
        names = arm_names_of(arm_names, None)
        votes = vote_counts("counts", counts)
        if votes.size % 3 or (votes.ndim == 2 and votes.shape[1] != 3):
            refuse("counts", "must have 3 columns, the shape (n, 3)", votes.shape)
        votes = votes.reshape(-1, 3)
        left = whole_numbers("first", first).reshape(-1)
        right = whole_numbers("second", second).reshape(-1)
        check_lengths(first=left, second=right, counts=votes)
        known = flag(order_known, "order_known")
        extra = _row_columns(columns, len(left))
        contest = tuple(map(str, labels_of("contest_covariates", contest_covariates)))
        return VoteRows(names, left, right, votes, known, *extra, contest).comparisons()

    def with_covariates(
        self, values: ArrayLike, names: Sequence[str] | None = None
    ) -> Comparisons:
        """Return the same votes with what is known about each arm.

        Parameters
        ----------
        values : float (K, D)
            One row per arm, in the order of ``arm_names``, or a data frame whose rows
            name the arms in any order; scale them to about unit size, because
            coefficients have a common prior.
        names : sequence of D str, optional
            Names of the columns, by default those of a data frame.

        Raises
        ------
        ComparisonDataError
            If the table does not have K rows of finite numbers, or a data frame names
            other arms.
        """
        table: Any = values
        columns = None
        if hasattr(table, "iloc"):
            if table.ndim == 2:
                columns = [composed(label) for label in table.columns]
                columns = None if _is_counted(columns) else columns
            rows, arms = joined_labels(list(table.index), self.arm_names)
            if sorted(rows) == sorted(arms):
                table = table.iloc[[rows.index(arm) for arm in arms]]
            elif not _is_counted(rows):  # 0, 1, ... are no names.
                listed = shortened(self.arm_names)
                rule = f"must have one row for each of the arms {listed}"
                refuse("covariates", rule, rows)
        titles = columns if names is None else labels_of("names", names)
        table = numbers_of("covariates", table)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != self.num_arms:
            rule = f"must have one row for each of the {self.num_arms} arms"
            refuse("covariates", f"{rule} in its shape", table.shape)
        titles = titles or [f"covariate {index}" for index in range(table.shape[1])]
        if len(titles) != table.shape[1]:
            refuse("names", f"must name each of the {table.shape[1]} columns", titles)
        names = tuple(map(str, titles))
        return replace(self, covariates=table, covariate_names=names)

    def without_empty_pairs(self) -> Comparisons:
        """Return the same votes without rows that have none."""
        return self._with_rows()

    def without_order(self) -> Comparisons:
        """Return the votes per pair, whichever arm was shown first."""
        return self._with_rows(order_known=False)

    def without_ties(self) -> Comparisons:
        """Return the votes that are no ties."""
        return self._with_rows(counts=self.counts * [1.0, 1.0, 0.0])

    def with_split_ties(self) -> Comparisons:
        """Return the votes with each tie as half a vote for either arm.

        Such counts need not be whole: no replicated votes can be drawn from them.
        """
        half = self.counts[:, 2:] / 2.0
        counts = np.concatenate([self.counts[:, :2] + half, 0.0 * half], axis=1)
        return self._with_rows(counts=counts)

    def without_columns(self, but: Iterable[str] = ()) -> Comparisons:
        """Return the votes per pair, whoever judged them and whatever else they carry.

        Covariates of the arms stay.

        Parameters
        ----------
        but : iterable of str
            Names of columns that stay, too, where the votes carry them.

        Raises
        ------
        ArgumentTypeError
            If ``but`` is one name, or no collection at all.
        """
        stay = set(map(str, items_of(but, "but")))
        if not {*self.columns} - stay:
            return self
        return self._with_rows(
            columns={name: c for name, c in self.columns.items() if name in stay},
            labels={name: c for name, c in self.labels.items() if name in stay},
            contest_covariates=tuple(
                name for name in self.contest_covariates if name in stay
            ),
        )

    def _with_rows(self, **changes: Any) -> Comparisons:
        known = {"covariates": self.covariates, "covariate_names": self.covariate_names}
        return replace(replace(self.rows, **changes).comparisons(), **known)

    @property
    def rows(self) -> VoteRows:
        """The same votes, row by row."""
        return VoteRows(
            self.arm_names, self.first, self.second, self.counts, self.order_known,
            self.columns, self.labels, self.contest_covariates,
        )  # fmt: skip

    def __repr__(self) -> str:
        pairs = self.num_arms * (self.num_arms - 1) // 2
        voted = self.counts.sum(axis=1) > 0
        arms = np.sort([self.first[voted], self.second[voted]], axis=0)
        seen = np.unique(arms, axis=1).shape[1]
        ties = f", {self.counts[:, 2].sum():g} ties" if self.has_ties else ""
        carried = [
            f"{len(self.labels[name])} {name}s" if name in self.labels else name
            for name in self.columns
        ]
        more = f", with {', '.join(carried)}" if carried else ""
        return (
            f"Comparisons({self.num_arms} arms, {seen} of {pairs} pairs, "
            f"{self.num_votes:g} votes{ties}{more})"
        )

    @property
    def has_ties(self) -> bool:
        """Whether some vote is a tie."""
        return bool(self.counts[:, 2].sum() > 0)

    @cached_property
    def wins(self) -> Float64[np.ndarray, "K K"]:
        """``wins[i, j]``: votes for i against j, float64 (K, K)."""
        return self._table(self.counts[:, 0], self.counts[:, 1])

    @cached_property
    def ties(self) -> Float64[np.ndarray, "K K"]:
        """Ties of each pair, symmetric, float64 (K, K)."""
        return self._table(self.counts[:, 2], self.counts[:, 2])

    def _table(self, forward: NDArray, backward: NDArray) -> NDArray[np.float64]:
        table = np.zeros((self.num_arms, self.num_arms))
        np.add.at(table, (self.first, self.second), forward)
        np.add.at(table, (self.second, self.first), backward)
        return table

    @property
    def row_names(self) -> list[str]:
        """A name for each row, such as "tea vs coffee (judge 58, turn 2)"."""
        carried = [
            [f"{name} {self.labels[name][entry]}" for entry in column]
            if name in self.labels
            else [f"{name} {entry:g}" for entry in column]
            for name, column in self.columns.items()
        ]
        more = [f" ({', '.join(row)})" for row in zip(*carried, strict=True)]
        return [
            f"{self.arm_names[left]} vs {self.arm_names[right]}{end}"
            for left, right, end in zip(
                self.first, self.second, more or [""] * len(self.first), strict=True
            )
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return the votes as a table for pandas.

        Returns
        -------
        pandas.DataFrame
            A row per pair in the order shown: ``first``, ``second``, ``wins_first``,
            ``wins_second``, ``ties``, and what else the rows carry.

        Examples
        --------
        >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["tea", "milk"])
        >>> votes.to_dataframe()
          first second  wins_first  wins_second  ties
        0   tea   milk         7.0          3.0   0.0
        """
        import pandas as pd

        names = np.array(self.arm_names, dtype=object)
        table = pd.DataFrame({"first": names[self.first], "second": names[self.second]})
        table[["wins_first", "wins_second", "ties"]] = self.counts
        for name, values in self.columns.items():
            labels = self.labels.get(name)
            table[name] = values if labels is None else np.array(labels)[values]
        return table

    def with_both_orders_as_one(self, contradiction: str = "tie") -> Comparisons:
        """Return one vote for each question that was asked in both orders.

        Language models prefer a side so often that each pair is best shown either way
        round. Two votes on the same pair, with the same entries in all columns (what
        was asked, who judged), are one question. Where both are for the same arm, or
        both ties, that is the vote; else they contradict each other.

        Parameters
        ----------
        contradiction : {"tie", "nothing"}
            The vote that a contradiction counts as.

        Returns
        -------
        Comparisons
            Without an order, with the same columns. Each vote counts as much as the
            mean of the two. Votes without one in the other order are left out, and
            counted in a log message of level WARNING.

        Raises
        ------
        ComparisonDataError
            If the order is not known, no vote has another one in the other order, or
            several votes that differ are in one order of one question; names the row.

        Examples
        --------
        >>> votes = Comparisons.from_votes(
        ...     ["tea", "milk", "tea", "milk"],
        ...     ["milk", "tea", "milk", "tea"],
        ...     ["tea", "tea", "left", "left"],
        ...     columns={"context": ["dawn", "dawn", "night", "night"]},
        ... )
        >>> votes.with_both_orders_as_one("tie").without_columns()
        Comparisons(2 arms, 1 of 1 pairs, 2 votes, 1 ties)
        >>> votes.with_both_orders_as_one("nothing")
        Comparisons(2 arms, 1 of 1 pairs, 1 votes, with 2 contexts)
        """
        known = "tie", "nothing"
        one_of(contradiction, known, "contradiction", kind=ComparisonDataError)
        if not self.order_known or NEUTRAL in self.columns:
            rule = "must be True for all votes (no column 'neutral'), for two orders "
            refuse("order_known", f"{rule}to meet", self.order_known)
        voted = np.flatnonzero(self.counts.sum(axis=1) > 0)
        rows = self.rows.chosen(voted)
        backward = rows.first > rows.second
        turned = rows.turned(backward)
        keys = [turned.first, turned.second, *turned.columns.values()]
        groups, question = groups_of(keys)
        # The row of each question in either order, -1 where there is none.
        row_of = np.full((len(groups), 2), -1)
        row_of[question, backward.astype(np.int64)] = voted
        complete = np.all(row_of >= 0, axis=1)
        alone, pairs = row_of[~complete], row_of[complete]
        if not len(pairs):
            rule = "holds no question that was answered in both orders"
            refuse("data", rule, len(voted), remedy=_ONE_QUESTION)
        if len(alone):
            words = "%d of %d rows of votes left out without one in the other order, "
            name = self.row_names[int(alone.max(axis=1)[0])]
            _LOGGER.warning(words + "as %s", len(alone), len(voted), name)
        several = (self.counts[pairs] > 0).sum(axis=2) > 1
        if several.any():
            row = int(pairs.T[several.T][0])
            rule = f"holds votes that differ, of {self.row_names[row]} in one order"
            refuse("counts", rule, self.counts[row].tolist(), index=row,
                   remedy=_ONE_QUESTION)  # fmt: skip
        there, back = self.counts[pairs[:, 0]], self.counts[pairs[:, 1]][:, [1, 0, 2]]
        counts = both_as_one(there, back, contradiction)
        rows = self.rows.chosen(pairs[:, 0], counts=counts, order_known=False)
        known = {"covariates": self.covariates, "covariate_names": self.covariate_names}
        return replace(rows.comparisons(), **known)

    def parts(self) -> list[list[str]]:
        """Return the parts of the graph whose edges are pairs with votes.

        Returns
        -------
        list of lists of str
            Names of the arms, the largest part first. One part: every arm is compared
            with every other one, at least through others.
        """
        voted = self.counts.sum(axis=1) > 0
        return components((self.first[voted], self.second[voted]), self.arm_names)

    def strong_parts(self) -> list[list[str]]:
        """Return the parts within which every arm beat every other, through others.

        Ties count as a win of both. With more than one part no maximum-likelihood
        estimate of Bradley-Terry utilities exists (Ford 1957): some arm, or group,
        never lost to the rest.
        """
        won, lost, tied = self.counts.T
        beat, beaten = won + tied > 0, lost + tied > 0
        winners = np.concatenate([self.first[beat], self.second[beaten]])
        losers = np.concatenate([self.second[beat], self.first[beaten]])
        return components((winners, losers), self.arm_names, "strong")


def check_opponents(
    first: Int64[np.ndarray, " row"],
    second: Int64[np.ndarray, " row"],
    arm_names: Sequence[str],
    rows: Int64[np.ndarray, " row"] | None = None,
) -> None:
    """Raise unless the two arms of a row differ; ``rows`` are their numbers."""
    for name, arms in (("first", first), ("second", second)):
        rule = f"must be an arm, numbered from 0 to {len(arm_names) - 1}"
        check_each(name, arms, (arms >= 0) & (arms < len(arm_names)), rule)
    if np.any(first == second):
        row = int(np.argmax(first == second))
        arm = arm_names[first[row]]
        rule = f"compares {arm!r} with itself, which says nothing"
        at = row if rows is None else int(rows[row])
        refuse("row", rule, arm, index=at, remedy="leave such rows out")


def both_as_one(
    there: Float64[np.ndarray, "unit 3"],
    back: Float64[np.ndarray, "unit 3"],
    contradiction: str,
) -> Float64[np.ndarray, "unit 3"]:
    """Return the votes of two answers to each question, for the same two arms each."""
    agree = np.argmax(there, axis=1) == np.argmax(back, axis=1)
    counts = np.where(agree[:, None], (there + back) / 2.0, 0.0)
    if contradiction == "tie":
        counts[~agree, 2] = (there + back)[~agree].sum(axis=1) / 2.0
    return counts


def _is_counted(labels: list[str]) -> bool:
    return labels == [str(position) for position in range(len(labels))]


def _labelled_counts(
    name: str, values: Any, order: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Return a table of votes in the order of its rows, or another, and its labels."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 2:
        # A crosstab of winners and losers lacks rows of arms that never won.
        rows, columns = (list(map(str, s)) for s in (values.index, values.columns))
        counted = _is_counted(rows) or _is_counted(columns)
        if set(rows) != set(columns) and not (counted and len(rows) == len(columns)):
            sides = ("rows", rows, columns), ("columns", columns, rows)
            lacks = " and its ".join(
                f"{side} lack {shortened([n for n in others if n not in names])}"
                for side, names, others in sides
                if not {*others} <= {*names}
            )
            rule = f"must name the same arms in its rows and columns; its {lacks}"
            remedy = (
                "rename what is one arm; or, where an arm never won or never lost, add "
                "zeros: names = sorted({*wins.index, *wins.columns}); "
                "wins.reindex(index=names, columns=names, fill_value=0)"
            )
            refuse(name, rule, values.shape, remedy=remedy)
    with errors_as(ComparisonDataError):
        table, labels = aligned_table(values, name)
    counts = vote_counts(name, table)
    labels = None if labels is None else tuple(map(composed, labels))
    if order is None or labels is None or tuple(order) == labels:
        return counts, labels
    if set(order) != set(labels):
        refuse(name, f"must name the arms {shortened(order)}", labels)
    places = [labels.index(label) for label in order]
    return counts[np.ix_(places, places)], tuple(order)


def check_column_name(name: Any) -> None:
    """Raise where a column of votes is called as something else."""
    if not isinstance(name, str) or not name.strip() or name in _TAKEN:
        rule = f"must be called by a text, and none of {', '.join(_TAKEN)}"
        refuse("columns", rule, name)


def _row_columns(
    given: Any, number: int
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
    """Read columns by name: numbers, True and False, or labels."""
    columns, labels = {}, {}
    if given is not None and not isinstance(given, Mapping):
        rule = "must be a mapping from names to one entry for each vote"
        refuse("columns", rule, given)
    for name, values in (given or {}).items():
        if values is None:
            continue
        check_column_name(name)
        if name not in LABELS and _are_numbers(values):
            column = numbers_of(name, values)
            if name == NEUTRAL:
                check_each(name, column, np.isin(column, (0, 1)), "must be 0 or 1")
        else:
            (texts,) = joined_labels(labels_of(name, values))
            if "" in texts:
                refuse_empty(name, texts.index(""))
            column, labels[name] = codes_of(texts)
        if column.shape != (number,):
            rule = f"must have one entry for each of the {number} votes"
            refuse(name, rule, column.shape)
        columns[name] = column
    if NEUTRAL in labels:
        refuse(NEUTRAL, "must be True or False", shortened(labels[NEUTRAL]))
    return columns, labels


def refuse_empty(name: str, row: int) -> NoReturn:
    """Raise about an entry of a column that is no label."""
    remedy = "name it, or leave the row out ({missing='skip'})"
    refuse(name, "is empty", "", index=row, remedy=remedy)


def _are_numbers(values: Any) -> bool:
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind != "O":
        return kind in "fiub"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        return False
    plain = int, float, bool, np.number, np.bool_
    return bool(len(values)) and all(isinstance(value, plain) for value in values)


type Verdict = tuple[int, float]
"""0, 1 or 2 for the first arm, the second, or a tie; and how many votes it counts."""

_MEANT = ("the first arm", "the second arm", "a tie")


def verdicts_of(words: Any) -> dict[str, Verdict]:
    """Return what each word of a column of winners says, in order."""
    whole = [words] if isinstance(words, str | Mapping) else words
    # An array of no dimensions counts as iterable, and is not.
    many = isinstance(whole, Iterable) and getattr(whole, "ndim", 1) > 0
    entries = list(whole) if many else []
    empty = [entry is None or (isinstance(entry, Sized) and not len(entry))
             for entry in entries]  # fmt: skip
    rule = "must be three different ones"
    if len(entries) != len(_MEANT) or any(empty):
        refuse("words", f"{rule}: for the first arm, the second, and a tie", words)
    verdicts: dict[str, Verdict] = {}
    for outcome, entry in enumerate(entries):
        several = entry if isinstance(entry, Mapping | tuple | list | set) else [entry]
        votes = [1.0] * len(several)
        if isinstance(entry, Mapping):
            votes = vote_counts("words", list(entry.values())).tolist()
        labels = map(composed, labels_of("words", list(several)))
        for word, number in zip(labels, votes, strict=True):
            if verdicts.setdefault(word, (outcome, number)) != (outcome, number):
                refuse("words", f"{rule}, but {word!r} is there twice", words,
                       index=outcome)  # fmt: skip
    return verdicts


def verdict_counts(
    first: Int64[np.ndarray, " vote"],
    second: Int64[np.ndarray, " vote"],
    said: Int64[np.ndarray, " vote"],
    arms: Sequence[str],
    answers: Sequence[str],
    verdicts: Mapping[str, Verdict],
    rows: Int64[np.ndarray, " vote"] | None = None,
) -> Float64[np.ndarray, "vote 3"]:
    """Return the votes of each row for its two arms, and ties."""
    position = {arm: index for index, arm in enumerate(arms)}
    by_word = [verdicts.get(answer, (-1, 1.0)) for answer in answers]
    # A last entry of each table is for the rows without an answer.
    outcomes, votes = map(np.array, zip(*by_word, (-1, 1.0), strict=True))
    word, named = outcomes[said], np.full(len(said), -1)
    if not position.keys().isdisjoint(answers):
        arm = np.array([*(position.get(answer, -2) for answer in answers), -2])[said]
        named[arm == second] = 1
        named[arm == first] = 0
    meant = np.where(word < 0, named, word)
    wrong = (meant < 0) | ((named >= 0) & (named != meant))
    if np.any(wrong):
        at = int(np.argmax(wrong))
        answer = answers[said[at]] if said[at] >= 0 else ""
        rule = f"row {at if rows is None else int(rows[at])} "
        if not answer:
            rule += "has no answer"
            tie = next(word for word, (outcome, _) in verdicts.items() if outcome == 2)
            remedy = (
                f"leave the row out ({{missing='skip'}}), or write {tie!r} for a tie"
            )
        elif meant[at] < 0:
            rule += (
                f"is {answer!r}, but must be {arms[first[at]]!r}, "
                f"{arms[second[at]]!r}, or one of the words "
                f"{', '.join(map(repr, verdicts))}"
            )
            remedy = "say what other words mean ({words})"
        else:
            rule += (
                f"is {answer!r}, which is {_MEANT[named[at]]} by name, but "
                f"{_MEANT[word[at]]} by words={tuple(verdicts)}"
            )
            remedy = "rename the arms or the words so that only one can be meant"
        refuse("winner", rule, answer, remedy=remedy)
    counts = np.zeros((len(said), 3))
    counts[np.arange(len(said)), meant] = votes[said]
    return counts
