"""Votes between two arms, counted per pair: what the pairwise models are fitted to."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from jaxtyping import Bool, Float, Float64, Int64
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import (
    arm_names_of,
    arm_positions,
    check_array,
    check_different,
    check_each,
    check_lengths,
    check_names,
    check_one_each,
    check_opponents,
    codes_of,
    components,
    composed,
    covariates_of,
    groups_of,
    joined_labels,
    labelled_counts,
    labels_of,
    numbers_of,
    shortened,
    vote_counts,
    whole_numbers,
)
from theory.arguments import one_of, true_or_false

if TYPE_CHECKING:
    import pandas as pd

_LOGGER = logging.getLogger(__name__)

OUTCOMES = ("first", "second", "tie")
"""What a vote can say: the first arm of the row, the second one, or neither."""

LABELS = ("judge", "context", "group", "cluster")
"""Columns of labels, even where these are numbers."""

NEUTRAL = "neutral"
"""The column that says where neither arm was shown first, or was at home."""

_TAKEN = ("first", "second", "counts", "covariates", "num_arms", "arm", "pair", "vote",
          "outcome", "total", "chain", "draw", "row", "comparison")  # fmt: skip
"""Names that stand for something else in what is made of votes."""

_ALL_PAIRS = 4096
"""Pairs that are kept whether they have votes or not."""

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
        num_arms = check_names(self.arm_names, "from_rows")
        first, second = self.first, self.second
        rows = len(first) if isinstance(first, np.ndarray) and first.ndim == 1 else None
        check_array("first", first, (rows,), "i", "from_rows")
        check_array("second", second, (rows,), "i", "from_rows")
        check_array("counts", self.counts, (rows, 3), "f", "from_rows")
        check_opponents(first, second, self.arm_names)
        vote_counts("counts", self.counts)
        ordered = true_or_false(
            self.order_known, "order_known", kind=ComparisonDataError
        )
        _check_columns(self, len(first))
        remedy = "use from_rows(), which adds up the rows of a pair"
        if not ordered and np.any(first > second):
            row = int(np.argmax(first > second))
            rule = "must be the lower position of the two, since the order is not known"
            raise ComparisonDataError(
                "first", rule, int(first[row]), index=row, remedy=remedy
            )
        places, _ = groups_of([first, second, *self.columns.values()])
        check_different("row", self._pairs, places, "pair", "from_rows")
        names, table = self.covariate_names, self.covariates
        if not isinstance(names, tuple):
            rule, remedy = "must be a tuple", "use with_covariates()"
            raise ComparisonDataError("covariate_names", rule, names, remedy=remedy)
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
        won, labels = labelled_counts("wins", wins)
        if won.ndim != 2 or won.shape[0] != won.shape[1]:
            raise ComparisonDataError("wins", "must have a square shape", won.shape)
        names = arm_names_of(labels if arm_names is None else arm_names, len(won))
        tied = np.zeros_like(won)
        if ties is not None:
            tied, _ = labelled_counts("ties", ties, labels)
        if tied.shape != won.shape or not np.array_equal(tied, tied.T):
            rule = f"must be a symmetric table of the shape {won.shape}"
            remedy = "give each pair's number in both places"
            raise ComparisonDataError("ties", rule, tied.shape, remedy=remedy)
        own = np.diagonal(won) + np.diagonal(tied)
        if not true_or_false(
            ignore_self, "ignore_self", kind=ComparisonDataError
        ) and np.any(own > 0):
            arm = int(np.argmax(own > 0))
            rule = f"gives {names[arm]!r} {own[arm]:g} votes against itself"
            remedy = "they say nothing: drop them with ignore_self=True"
            raise ComparisonDataError("wins", rule, wins, remedy=remedy)
        # The number of rows hardly depends on the votes: a program is compiled for a
        # number of rows, and the first vote on another pair would make it anew.
        row, column = np.triu_indices(len(won), 1)
        kept = (won + won.T + tied > 0)[row, column]
        seen = int(kept.sum())
        wanted = max(_ALL_PAIRS, 1 << max(seen - 1, 0).bit_length())
        kept[np.flatnonzero(~kept)[: wanted - seen]] = True
        row, column = row[kept], column[kept]
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
        check_lengths(**{name: labels_of(name, each) for name, each in given.items()})
        verdicts = verdicts_of(words)
        names = [] if arm_names is None else list(arm_names_of(arm_names, None))
        one, other, said, names, texts = joined_labels(
            *map(tuple, given.values()), names, list(verdicts)
        )
        verdicts = dict(zip(texts, verdicts.values(), strict=True))
        arms = arm_names_of(names if names else sorted({*one, *other}), None)
        left = arm_positions("first", one, arms)
        right = arm_positions("second", other, arms)
        weights = np.ones(len(one)) if weight is None else vote_counts("weight", weight)
        check_one_each("weight", weights, len(one), "votes")
        check_opponents(left, right, arms)
        codes, answers = codes_of(said)
        counts = verdict_counts(left, right, codes, arms, answers, verdicts)
        return cls.from_rows(
            arms,
            left,
            right,
            counts * weights[:, None],
            order_known=order_known,
            columns=columns,
            contest_covariates=contest_covariates,
        )

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
            rule = "must have 3 columns, the shape (n, 3)"
            raise ComparisonDataError("counts", rule, votes.shape)
        votes = votes.reshape(-1, 3)
        one = whole_numbers("first", first).reshape(-1)
        other = whole_numbers("second", second).reshape(-1)
        check_lengths(first=one, second=other, counts=votes)
        check_opponents(one, other, names)
        known = true_or_false(order_known, "order_known", kind=ComparisonDataError)
        extra = row_columns(columns, len(one), contest_covariates)
        rows = added_up(len(names), one, other, votes, order_known=known, extra=extra)
        first, second, votes, extra = rows
        return cls(
            names,
            first,
            second,
            votes,
            known,
            columns=extra.columns,
            labels=extra.labels,
            contest_covariates=extra.contest,
        )

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
        table, labels = covariates_of(values, names, self.arm_names)
        return replace(self, covariates=table, covariate_names=labels)

    def without_empty_pairs(self) -> Comparisons:
        """Return the same votes without rows that have none."""
        return self._with_rows(self.counts, self.order_known)

    def without_order(self) -> Comparisons:
        """Return the votes per pair, whichever arm was shown first."""
        return self._with_rows(self.counts, order_known=False)

    def without_ties(self) -> Comparisons:
        """Return the votes that are no ties."""
        return self._with_rows(self.counts * [1.0, 1.0, 0.0], self.order_known)

    def with_split_ties(self) -> Comparisons:
        """Return the votes with each tie as half a vote for either arm.

        Such counts need not be whole: no replicated votes can be drawn from them.
        """
        half = self.counts[:, 2:] / 2.0
        counts = np.concatenate([self.counts[:, :2] + half, 0.0 * half], axis=1)
        return self._with_rows(counts, self.order_known)

    def without_columns(self) -> Comparisons:
        """Return the votes per pair, whoever judged them and whatever else they carry.

        Covariates of the arms stay.
        """
        if not self.columns:
            return self
        return self._with_rows(self.counts, self.order_known, RowColumns({}, {}))

    def _with_rows(
        self, counts: NDArray, order_known: bool, extra: RowColumns | None = None
    ) -> Comparisons:
        first, second, counts, extra = added_up(
            self.num_arms,
            self.first,
            self.second,
            counts,
            order_known=order_known,
            extra=self._extra if extra is None else extra,
        )
        return Comparisons(
            self.arm_names,
            first,
            second,
            counts,
            order_known,
            self.covariates,
            self.covariate_names,
            *extra,
        )

    def __repr__(self) -> str:
        pairs = self.num_arms * (self.num_arms - 1) // 2
        voted = self._pairs[self.counts.sum(axis=1) > 0]
        seen = len(np.unique(np.sort(voted, axis=1), axis=0))
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
    def _pairs(self) -> NDArray[np.int64]:
        return np.stack([self.first, self.second], axis=1)

    @property
    def _extra(self) -> RowColumns:
        return RowColumns(self.columns, self.labels, self.contest_covariates)

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
        carried = [[] for _ in self.first]
        for name, column in self.columns.items():
            words = self.labels.get(name)
            for row, entry in zip(carried, column.tolist(), strict=True):
                row.append(
                    f"{name} {entry:g}" if words is None else f"{name} {words[entry]}"
                )
        return [
            f"{self.arm_names[one]} vs {self.arm_names[other]}"
            + (f" ({', '.join(row)})" if row else "")
            for (one, other), row in zip(self._pairs.tolist(), carried, strict=True)
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
        columns: dict[str, Any] = {
            "first": names[self.first],
            "second": names[self.second],
            **dict(
                zip(("wins_first", "wins_second", "ties"), self.counts.T, strict=True)
            ),
        }
        for name, values in self.columns.items():
            labels = self.labels.get(name)
            columns[name] = values if labels is None else np.array(labels)[values]
        return pd.DataFrame(columns)

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
        one_of(
            contradiction, ("tie", "nothing"), "contradiction", kind=ComparisonDataError
        )
        if not self.order_known or NEUTRAL in self.columns:
            rule = (
                "must be True for all votes (no column 'neutral'), for two orders to "
                "meet"
            )
            raise ComparisonDataError("order_known", rule, self.order_known)
        rows = np.flatnonzero(self.counts.sum(axis=1) > 0)
        low, high = np.sort([self.first[rows], self.second[rows]], axis=0)
        backward = (self.first[rows] > self.second[rows]).astype(np.int64)
        extra = self._extra.of_rows(rows).turned(backward == 1)
        places, unit = groups_of([low * self.num_arms + high, *extra.columns.values()])
        # The row of each question in either order, -1 where there is none.
        row_of = np.full((len(places), 2), -1)
        row_of[unit, backward] = rows
        complete = np.all(row_of >= 0, axis=1)
        self._say_what_is_alone(row_of[~complete], len(rows))
        pairs = row_of[complete]
        there, back = self.counts[pairs[:, 0]], self.counts[pairs[:, 1]][:, [1, 0, 2]]
        for order, votes in zip(pairs.T, (there, back), strict=True):
            several = (votes > 0).sum(axis=1) > 1
            if np.any(several):
                row = int(order[np.argmax(several)])
                rule = f"holds votes that differ, of {self.row_names[row]} in one order"
                value = self.counts[row].tolist()
                raise ComparisonDataError(
                    "counts", rule, value, index=row, remedy=_ONE_QUESTION
                )
        counts = both_as_one(there, back, contradiction)
        counted = counts.sum(axis=1) > 0
        kept = pairs[counted, 0]
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            counts=counts[counted],
            order_known=False,
            columns={name: column[kept] for name, column in self.columns.items()},
        )

    def _say_what_is_alone(
        self, alone: Int64[np.ndarray, "unit 2"], num_rows: int
    ) -> None:
        """Tell of votes without one in the other order, which all of them may be."""
        if len(alone) == num_rows:
            rule = "holds no question that was answered in both orders"
            raise ComparisonDataError("data", rule, num_rows, remedy=_ONE_QUESTION)
        if len(alone):
            _LOGGER.warning(
                "%d of %d rows of votes left out without one in the other order, as %s",
                len(alone),
                num_rows,
                self.row_names[int(alone.max(axis=1)[0])],
            )

    def parts(self) -> list[list[str]]:
        """Return the parts of the graph whose edges are pairs with votes.

        Returns
        -------
        list of lists of str
            Names of the arms, the largest part first. One part: every arm is compared
            with every other one, at least through others.
        """
        first, second = self._pairs[self.counts.sum(axis=1) > 0].T
        return components(self._edges(first, second), "weak", self.arm_names)

    def strong_parts(self) -> list[list[str]]:
        """Return the parts within which every arm beat every other, through others.

        Ties count as a win of both. With more than one part no maximum-likelihood
        estimate of Bradley-Terry utilities exists (Ford 1957): some arm, or group,
        never lost to the rest.
        """
        (one, other), (won, lost, tied) = self._pairs.T, self.counts.T
        beat, beaten = won + tied > 0, lost + tied > 0
        winners = np.concatenate([one[beat], other[beaten]])
        losers = np.concatenate([other[beat], one[beaten]])
        return components(self._edges(winners, losers), "strong", self.arm_names)

    def _edges(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Any:
        """Return a sparse table (K, K) of directed edges."""
        from scipy.sparse import csr_array

        entries = np.ones(len(first), dtype=bool), (first, second)
        return csr_array(entries, shape=(self.num_arms, self.num_arms))


def both_as_one(
    there: Float64[np.ndarray, "unit 3"],
    back: Float64[np.ndarray, "unit 3"],
    contradiction: str,
) -> Float64[np.ndarray, "unit 3"]:
    """Return the votes of two answers to each question, of one outcome each.

    Both are votes for the same first arm, the same second arm, and ties. Answers that
    contradict each other are a tie, or nothing.
    """
    agree = np.argmax(there, axis=1) == np.argmax(back, axis=1)
    counts = np.where(agree[:, None], (there + back) / 2.0, 0.0)
    if contradiction == "tie":
        counts[~agree, 2] = (there + back)[~agree].sum(axis=1) / 2.0
    return counts


_ONE_QUESTION = (
    "name what was asked (context) and who judged (judge), so that each of them has "
    "one vote in either order"
)


class RowColumns(NamedTuple):
    """The columns that rows carry beside arms and counts: numbers, or label places."""

    columns: dict[str, NDArray[Any]]
    labels: dict[str, tuple[str, ...]]
    # Covariates of the contest change their sign with the order of the arms.
    contest: tuple[str, ...] = ()

    def of_rows(self, chosen: Any) -> RowColumns:
        """Return the columns of some rows."""
        rows = {name: column[chosen] for name, column in self.columns.items()}
        return self._replace(columns=rows)

    def turned(self, swap: Bool[np.ndarray, " vote"]) -> RowColumns:
        """Return the columns after the two arms of some rows changed places."""
        sign = np.where(swap, -1.0, 1.0)
        # Adding 0 makes 0 of -0, which is printed otherwise.
        turned = {name: sign * self.columns[name] + 0.0 for name in self.contest}
        return self._replace(columns=self.columns | turned)


def row_columns(given: Any, number: int, contest: Any) -> RowColumns:
    """Read columns by name: numbers, True and False, or labels.

    ``ComparisonDataError`` for a name that stands for something else, a column of
    another length than the ``number`` of rows, or an entry that is missing; names the
    row.
    """
    columns, labels = {}, {}
    if given is not None and not isinstance(given, Mapping):
        rule = "must be a mapping from names to one entry for each vote"
        raise ComparisonDataError("columns", rule, given)
    for name, values in (given or {}).items():
        if values is None:
            continue
        if not isinstance(name, str) or not name.strip() or name in _TAKEN:
            rule = f"must be called by a text, and none of {', '.join(_TAKEN)}"
            raise ComparisonDataError("columns", rule, name)
        if hasattr(values, "codes") and hasattr(values, "categories"):
            # A Categorical of pandas, whose categories are sorted texts.
            column, names = np.array(values.codes, dtype=np.int64), values.categories
            if np.any(column < 0):
                _refuse_empty(name, int(np.argmax(column < 0)))
            used, column = np.unique(column, return_inverse=True)
            labels[name] = tuple(names[used])
        elif name not in LABELS and _are_numbers(values):
            column = numbers_of(name, values)
            if name == NEUTRAL:
                check_each(name, column, np.isin(column, (0, 1)), "must be 0 or 1")
        else:
            (texts,) = joined_labels(labels_of(name, values))
            if "" in texts:
                _refuse_empty(name, texts.index(""))
            column, labels[name] = codes_of(texts)
        if column.shape != (number,):
            rule = f"must have one entry for each of the {number} votes"
            raise ComparisonDataError(name, rule, column.shape)
        columns[name] = column
    if NEUTRAL in labels:
        rule, words = "must be True or False", labels[NEUTRAL]
        raise ComparisonDataError(NEUTRAL, rule, shortened(words))
    return RowColumns(
        columns, labels, tuple(map(str, labels_of("contest_covariates", contest)))
    )


def _refuse_empty(name: str, row: int) -> NoReturn:
    remedy = "name it, or leave the row out ({missing='skip'})"
    raise ComparisonDataError(name, "is empty", "", index=row, remedy=remedy)


def _are_numbers(values: Any) -> bool:
    if isinstance(values, np.ndarray) or hasattr(values, "dtype"):
        kind = getattr(values.dtype, "kind", "O")
        if kind != "O":
            return kind in "fiub"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        return False
    plain = int, float, bool, np.number, np.bool_
    return bool(len(values)) and all(isinstance(each, plain) for each in values)


def added_up(
    num_arms: int,
    first: Int64[np.ndarray, " vote"],
    second: Int64[np.ndarray, " vote"],
    counts: Float[np.ndarray, "vote 3"],
    *,
    order_known: bool,
    extra: RowColumns,
) -> tuple[
    Int64[np.ndarray, " row"],
    Int64[np.ndarray, " row"],
    Float64[np.ndarray, "row 3"],
    RowColumns,
]:
    """Add up the counts of rows of the same pair, with the same entries of columns.

    Sorted by pair, then by the columns; rows without a vote are left out. Where the
    order is not known the arm of the lower position comes first, and so it does where
    neither was shown first.
    """
    columns = extra.columns
    free = columns.get(NEUTRAL, np.zeros(len(first))) != 0
    if not order_known:
        free = np.ones(len(first), dtype=bool)
        columns = {name: each for name, each in columns.items() if name != NEUTRAL}
        extra = extra._replace(columns=columns)
    swap = free & (first > second)
    if np.any(swap):
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        counts = np.where(swap[:, None], counts[:, [1, 0, 2]], counts)
        extra = extra.turned(swap)
    pair = first * num_arms + second
    if columns:
        places, index = groups_of([pair, *extra.columns.values()])
        pair, extra = pair[places], extra.of_rows(places)
    elif num_arms**2 <= len(pair):  # Without sorting: there is room for all pairs.
        pair, index = np.arange(num_arms**2), pair
    else:
        pair, index = np.unique(pair, return_inverse=True)
    sums = [np.bincount(index, each, len(pair)) for each in counts.T]
    # Of no votes bincount returns integers.
    total = np.stack(sums, axis=1).astype(np.float64)
    kept = total.sum(axis=1) > 0
    pair = pair[kept]
    return pair // num_arms, pair % num_arms, total[kept], extra.of_rows(kept)


def _check_columns(data: Comparisons, rows: int) -> None:
    """Raise unless columns of ``Comparisons`` are what they are documented to be."""
    columns, labels, contest = data.columns, data.labels, data.contest_covariates
    remedy = "use from_rows(), which converts what it is given"
    fits = isinstance(columns, dict) and isinstance(labels, dict)
    if not fits or not set(labels) <= set(columns):
        rule = "must be dictionaries, with labels of columns that are there"
        raise ComparisonDataError("columns and labels", rule, columns, remedy=remedy)
    for name, column in columns.items():
        kind = "i" if name in labels else "f"
        shaped = isinstance(column, np.ndarray) and column.shape == (rows,)
        if not shaped or column.dtype.kind != kind:
            words = "places of labels, integers" if kind == "i" else "floats"
            rule = f"must be an array of {words}, of the shape ({rows},)"
            raise ComparisonDataError(name, rule, column, remedy=remedy)
        if kind == "i":
            number = len(labels[name])
            rule = f"must be the place of a label, from 0 to {number - 1}"
            check_each(name, column, (column >= 0) & (column < number), rule)
        else:
            check_each(name, column, np.isfinite(column), "must be finite")
    known = [each for each in columns if each not in (*labels, *LABELS, NEUTRAL)]
    fits = isinstance(contest, tuple) and len(set(contest)) == len(contest)
    if not fits or not set(contest) <= set(known):
        carried = shortened(known) or "none"
        rule = f"must be different columns of numbers that the votes carry, {carried}"
        raise ComparisonDataError("contest_covariates", rule, contest)
    if NEUTRAL in columns and not data.order_known:
        rule = "needs order_known=True: it says where the known order means nothing"
        raise ComparisonDataError(NEUTRAL, rule, data.order_known, remedy=remedy)


type Verdict = tuple[int, float]
"""0, 1 or 2 for the first arm, the second, or a tie; and how many votes it counts."""

_MEANT = ("the first arm", "the second arm", "a tie")


def verdicts_of(words: Any) -> dict[str, Verdict]:
    """Return what each word of a column of winners says, in order.

    ``ComparisonDataError`` if there are not three entries, one has no word, two share
    one, or a word counts a number of votes that is negative or not finite.
    """
    whole = [words] if isinstance(words, str | Mapping) else words
    # An array of no dimensions counts as iterable, and is not.
    many = isinstance(whole, Iterable) and getattr(whole, "ndim", 1) > 0
    entries = list(whole) if many else []
    empty = [each is None or (isinstance(each, Sized) and not len(each))
             for each in entries]  # fmt: skip
    if len(entries) != len(_MEANT) or any(empty):
        rule = "must be three different ones: for the first arm, the second, and a tie"
        raise ComparisonDataError("words", rule, words)
    verdicts: dict[str, Verdict] = {}
    for outcome, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            votes = vote_counts("words", list(entry.values())).tolist()
            labels = map(composed, entry)
        else:
            several = entry if isinstance(entry, tuple | list | set) else [entry]
            labels = [composed(label) for label in labels_of("words", list(several))]
            votes = [1.0] * len(labels)
        for word, number in zip(labels, votes, strict=True):
            if verdicts.get(word, (outcome, number)) != (outcome, number):
                rule = f"must be three different ones, but {word!r} is there twice"
                raise ComparisonDataError("words", rule, words, index=outcome)
            verdicts[word] = outcome, number
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
    """Return the votes of each row for its two arms, and ties.

    ``said`` are places among the ``answers``: names of arms, or words. A row without an
    answer has the place -1. ``ComparisonDataError`` where an answer is neither, or both
    and they differ; names the row by its number among ``rows``.
    """
    place = {arm: position for position, arm in enumerate(arms)}
    by_word = [verdicts.get(answer, (-1, 1.0)) for answer in answers]
    # A last entry of each table is for the rows without an answer.
    word = np.array([*(outcome for outcome, _ in by_word), -1])[said]
    votes = np.array([*(number for _, number in by_word), 1.0])
    named = np.full(len(said), -1)
    if not place.keys().isdisjoint(answers):
        arm = np.array([*(place.get(answer, -2) for answer in answers), -2])[said]
        named[arm == second] = 1
        named[arm == first] = 0
    wrong = (named != word) & ((named < 0) == (word < 0)) | (word < 0) & (named < 0)
    if np.any(wrong):
        at = int(np.argmax(wrong))
        answer = answers[said[at]] if said[at] >= 0 else ""
        row = at if rows is None else int(rows[at])
        listed = ", ".join(map(repr, verdicts))
        if not answer:
            rule = f"row {row} has no answer"
            tie = next(word for word, (outcome, _) in verdicts.items() if outcome == 2)
            remedy = (
                f"leave the row out ({{missing='skip'}}), or write {tie!r} for a tie"
            )
        elif word[at] < 0:
            rule = (
                f"row {row} is {answer!r}, but must be {arms[first[at]]!r}, "
                f"{arms[second[at]]!r}, or one of the words {listed}"
            )
            remedy = "say what other words mean ({words})"
        else:
            rule = (
                f"row {row} is {answer!r}, which is {_MEANT[named[at]]} by name, but "
                f"{_MEANT[word[at]]} by words={tuple(verdicts)}"
            )
            remedy = "rename the arms or the words so that only one can be meant"
        raise ComparisonDataError("winner", rule, answer, remedy=remedy)
    counts = np.zeros((len(said), 3))
    counts[np.arange(len(said)), np.where(word < 0, named, word)] = votes[said]
    return counts
