"""What rows of votes on pairs say together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesduel.votes._counted_votes import CountedVotes
from bayesduel.votes._row_columns import RowColumns, words_of_rows
from bayesduel.votes.checks import components

if TYPE_CHECKING:
    from jaxtyping import Float64


class PairRows(CountedVotes):
    """Rows of votes, each on a pair."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    columns: dict[str, NDArray[Any]]
    labels: dict[str, tuple[str, ...]]
    contest_covariates: tuple[str, ...]

    def __repr__(self) -> str:
        pairs = self.num_arms * (self.num_arms - 1) // 2
        voted = self._pairs[self.counts.sum(axis=1) > 0]
        seen = len(np.unique(np.sort(voted, axis=1), axis=0))
        ties = f", {self.counts[:, 2].sum():g} ties" if self.has_ties else ""
        return (
            f"Comparisons({self.num_arms} arms, {seen} of {pairs} pairs, "
            f"{self.num_votes:g} votes{ties}{self._said_of_columns()})"
        )

    def _said_of_columns(self) -> str:
        found = [
            f"{len(self.labels[name])} {name}s" if name in self.labels else name
            for name in self.columns
        ]
        return f", with {', '.join(found)}" if found else ""

    @property
    def _pairs(self) -> NDArray[np.int64]:
        return np.stack([self.first, self.second], axis=1)

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
        """A name for each row, such as "tea vs coffee"."""
        more = words_of_rows(self._extra, len(self.first))
        return [
            f"{self.arm_names[one]} vs {self.arm_names[other]}{words}"
            for (one, other), words in zip(self._pairs.tolist(), more, strict=True)
        ]

    @property
    def _extra(self) -> RowColumns:
        return RowColumns(self.columns, self.labels, self.contest_covariates)

    def with_both_orders_as_one(self, contradiction: str = "tie") -> Self:
        """Return one vote for each question that was asked in both orders.

        Language models prefer a side so often that each pair is best shown either way
        round. Two votes on the same pair, with the same entries in all columns (what
        was asked, who judged), are one question. Where both are for the same arm, or
        both ties, that is the vote; else they contradict each other.

        Parameters
        ----------
        contradiction : {"tie", "nothing"}
            What it counts as.

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
        >>> from bayesduel.votes import Comparisons
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
        from bayesduel.votes._both_orders import both_orders_as_one

        return both_orders_as_one(self, contradiction)  # pyright: ignore

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


_ALL_PAIRS = 4096
"""Pairs that are kept whether they have votes or not."""


def pairs_kept(
    voted: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two arms of every pair with votes, and of some without any.

    Their number hardly depends on the votes: a program is compiled for a number of
    rows, and the first vote on another pair would make it anew.
    """
    row, column = np.triu_indices(len(voted), 1)
    seen = voted[row, column]
    wanted = max(_ALL_PAIRS, 1 << max(int(seen.sum()) - 1, 0).bit_length())
    empty = np.flatnonzero(~seen)[: wanted - int(seen.sum())]
    seen[empty] = True
    return row[seen], column[seen]
