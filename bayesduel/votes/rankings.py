"""Ballots that rank arms: what Plackett-Luce is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._counted_votes import CountedVotes
from bayesduel.votes.checks import (
    arm_names_of,
    arm_positions,
    check_each,
    check_one_each,
    composed,
    different_labels,
    labels_of,
    rows_of,
    vote_counts,
    whole_numbers,
)
from bayesduel.votes.comparisons import Comparisons
from bayesduel.votes.data_checks import check_rankings


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
        check_rankings(self)

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
            rule = "must have the shape (ballot, arm)"
            raise ComparisonDataError("places", rule, table.shape)
        check_each("places", table, table >= 0, "must not be negative")
        names = arm_names_of(arm_names, table.shape[1])
        number = (
            np.ones(len(table)) if counts is None else vote_counts("counts", counts)
        )
        check_one_each("counts", number, len(table), "ballots")
        dense = np.array([_dense(row) for row in table]).reshape(table.shape)
        unique, index = np.unique(dense, axis=0, return_inverse=True)
        total = np.zeros(len(unique))
        np.add.at(total, index.reshape(-1), number)
        kept = (total > 0) & (np.sum(unique > 0, axis=1) > 1)
        return cls(names, unique[kept], total[kept])

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
                labels_of(f"orders: ballot {row}", _tied(item))
                for item in rows_of(f"orders: ballot {row}", order)
            ]
            for row, order in enumerate(rows_of("orders", orders))
        ]
        found = different_labels(*(group for order in groups for group in order))
        names = arm_names_of(found if arm_names is None else arm_names, None)
        places = np.zeros((len(groups), len(names)), dtype=np.int64)
        for ballot, order in enumerate(groups):
            for place, group in enumerate(order, start=1):
                for arm in arm_positions(f"orders: ballot {ballot}", group, names):
                    if places[ballot, arm]:
                        rule = f"ranks {names[arm]!r} twice"
                        raise ComparisonDataError(
                            "orders", rule, names[arm], index=ballot
                        )
                    places[ballot, arm] = place
        return cls.from_places(places, counts=counts, arm_names=names)

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


def _tied(item: Any) -> Any:
    """Return the arms that share a place: one, or a tuple, list or set of them."""
    if not isinstance(item, tuple | list | set | frozenset):
        return [item]
    return sorted(item, key=composed)


def _dense(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return places without gaps: 1, 2, ..., and 0 for an arm that is not there."""
    used = np.unique(places[places > 0])
    return np.where(places > 0, np.searchsorted(used, places) + 1, 0)
