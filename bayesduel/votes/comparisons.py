"""Votes between two arms, counted per pair: what the pairwise models are fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._pair_rows import PairRows, pairs_kept
from bayesduel.votes._row_columns import RowColumns, added_up, row_columns
from bayesduel.votes._verdicts import Words, verdict_counts, verdicts_of
from bayesduel.votes.checks import (
    all_composed,
    arm_names_of,
    arm_positions,
    check_lengths,
    check_one_each,
    check_opponents,
    different_labels,
    labelled_counts,
    labels_of,
    vote_counts,
    whole_numbers,
)
from bayesduel.votes.data_checks import check_comparisons, covariates_of
from theory.arguments import true_or_false

OUTCOMES = ("first", "second", "tie")
"""What a vote can say: the first arm of the row, the second one, or neither."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(PairRows):
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
        check_comparisons(self)

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
        row, column = pairs_kept(won + won.T + tied > 0)
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
            What stands in ``winner`` for the first arm, the second arm, and a tie: for
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
        first, second, winner = (
            labels_of(name, each)
            for name, each in (("first", first), ("second", second), ("winner", winner))
        )
        check_lengths(first=first, second=second, winner=winner)
        names = arm_names_of(
            different_labels(first, second) if arm_names is None else arm_names, None
        )
        one = arm_positions("first", first, names)
        other = arm_positions("second", second, names)
        weights = np.ones(len(one)) if weight is None else vote_counts("weight", weight)
        check_one_each("weight", weights, len(one), "votes")
        check_opponents(one, other, names)
        said, left, right = map(all_composed, (winner, first, second))
        rows = range(len(said))
        votes = verdict_counts(said, rows, left, right, verdicts_of(words))
        counts = votes * weights[:, None]
        return cls.from_rows(
            names,
            one,
            other,
            counts,
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
        found = added_up(len(names), one, other, votes, order_known=known, extra=extra)
        return cls(
            names,
            found.first,
            found.second,
            found.counts,
            known,
            columns=found.extra.columns,
            labels=found.extra.labels,
            contest_covariates=found.extra.contest,
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
        found = added_up(
            self.num_arms,
            self.first,
            self.second,
            counts,
            order_known=order_known,
            extra=self._extra if extra is None else extra,
        )
        return Comparisons(
            self.arm_names,
            found.first,
            found.second,
            found.counts,
            order_known,
            self.covariates,
            self.covariate_names,
            *found.extra,
        )
