"""Choices out of offered subsets: what the multinomial logit is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._counted_votes import CountedVotes
from bayesduel.votes.checks import (
    arm_names_of,
    arm_positions,
    check_each,
    check_lengths,
    check_one_each,
    components,
    different_labels,
    labels_of,
    rows_of,
    vote_counts,
    whole_numbers,
)
from bayesduel.votes.data_checks import check_choices
from theory.arguments import true_or_false


@dataclass(frozen=True, eq=False)
class Choices(CountedVotes):
    """Choices counted per offered subset.

    Attributes
    ----------
    arm_names : tuple of K str
        Names of the arms.
    offered : bool (R, K)
        Which arms each different subset holds.
    counts : float64 (R, K + 1)
        How often each arm was chosen; the last column counts "none of them".
    outside : bool
        Whether "none of them" could be chosen.

    Examples
    --------
    >>> choices = Choices.from_subsets(
    ...     [["tea", "milk"], ["tea", "coffee"], ["tea", "milk"]],
    ...     ["tea", None, "milk"],
    ... )
    >>> choices
    Choices(3 arms, 2 subsets, 3 choices, 1 of none)
    """

    arm_names: tuple[str, ...]
    offered: NDArray[np.bool_]
    counts: NDArray[np.float64]
    outside: bool

    def __post_init__(self) -> None:
        """Check every field."""
        check_choices(self)

    @classmethod
    def from_counts(
        cls,
        offered: ArrayLike,
        counts: ArrayLike,
        none: ArrayLike | None = None,
        *,
        arm_names: Sequence[str] | None = None,
    ) -> Choices:
        """Take choices as counts per subset.

        Parameters
        ----------
        offered : bool (n, K)
            Which arms were on offer; a subset may occur in several rows.
        counts : float (n, K)
            How often each arm was chosen; 0 for an arm that was not on offer.
        none : float (n,), optional
            How often none was chosen. Without it there was no such option.
        arm_names : sequence of str, optional
            Names of the arms, by default "0", "1", ...

        Raises
        ------
        ComparisonDataError
            If shapes differ, a count is negative, an arm was chosen that was not on
            offer, or a subset offers no alternative.
        """
        given = whole_numbers("offered", offered)
        rule = "must be 1 where an arm was on offer, else 0"
        check_each("offered", given, np.isin(given, (0, 1)), rule)
        subsets = np.atleast_2d(given != 0)
        chosen = np.atleast_2d(vote_counts("counts", counts))
        if subsets.shape != chosen.shape or subsets.ndim != 2:
            rule, shapes = "must be tables of one shape", (subsets.shape, chosen.shape)
            raise ComparisonDataError("offered and counts", rule, shapes)
        names = arm_names_of(arm_names, subsets.shape[1])
        if np.any((chosen > 0) & ~subsets):
            row, arm = np.argwhere((chosen > 0) & ~subsets)[0]
            rule = f"chooses {names[arm]!r}, which was not on offer"
            raise ComparisonDataError("counts", rule, names[arm], index=int(row))
        nothing = np.zeros(len(subsets)) if none is None else vote_counts("none", none)
        check_one_each("none", nothing, len(subsets), "rows")
        least = 1 if none is not None else 2
        if np.any(subsets.sum(axis=1) < least):
            row = int(np.argmax(subsets.sum(axis=1) < least))
            remedy = "offer two arms at least, or the option of none"
            raise ComparisonDataError(
                "offered", "leaves no choice", subsets[row], index=row, remedy=remedy
            )
        unique, index = np.unique(subsets, axis=0, return_inverse=True)
        total = np.zeros((len(unique), len(names) + 1))
        np.add.at(
            total, index.reshape(-1), np.concatenate([chosen, nothing[:, None]], axis=1)
        )
        return cls(names, unique, total, none is not None)

    @classmethod
    def from_subsets(
        cls,
        subsets: Sequence[Sequence[Any]],
        chosen: Sequence[Any],
        *,
        weight: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
        outside: bool | None = None,
    ) -> Choices:
        """Count single choices.

        Parameters
        ----------
        subsets : sequence of sequences of str
            The arms on offer.
        chosen : sequence of str or None
            The chosen arm, or None for "none of them".
        weight : float (n,), optional
            How many times each choice counts, 1 by default.
        arm_names : sequence of str, optional
            All arms, in the wanted order. By default the names that occur, sorted.
        outside : bool, optional
            Whether none could be chosen; by default, whether it ever was.

        Raises
        ------
        ComparisonDataError
            Naming the row of an unknown arm, of one that was not on offer, or of an arm
            that is offered twice.
        """
        subsets = tuple(
            labels_of(f"subset {row}", subset)
            for row, subset in enumerate(rows_of("subsets", subsets))
        )
        chosen = rows_of("chosen", chosen)
        check_lengths(subsets=subsets, chosen=chosen)
        found = different_labels(*subsets)
        names = arm_names_of(found if arm_names is None else arm_names, None)
        weights = (
            np.ones(len(chosen)) if weight is None else vote_counts("weight", weight)
        )
        check_one_each("weight", weights, len(chosen), "choices")
        offered = np.zeros((len(subsets), len(names)), dtype=bool)
        counts = np.zeros((len(subsets), len(names)))
        none = np.zeros(len(subsets))
        for row, (subset, choice) in enumerate(zip(subsets, chosen, strict=True)):
            arms = arm_positions(f"subset {row}", subset, names)
            _check_repetition(row, [names[arm] for arm in arms])
            offered[row, arms] = True
            if choice is None:
                none[row] = weights[row]
            else:
                label = labels_of(f"choice {row}", [choice])
                (arm,) = arm_positions(f"choice {row}", label, names)
                counts[row, arm] = weights[row]
        may_be_none = bool(none.sum() > 0)
        if outside is not None:
            may_be_none = true_or_false(outside, "outside", kind=ComparisonDataError)
        if none.sum() > 0 and not may_be_none:
            rule, row = "is None, which outside=False rules out", np.argmax(none > 0)
            raise ComparisonDataError("chosen", rule, None, index=int(row))
        return cls.from_counts(
            offered, counts, none if may_be_none else None, arm_names=names
        )

    def __repr__(self) -> str:
        none = f", {self.counts[:, -1].sum():g} of none" if self.outside else ""
        return (
            f"Choices({self.num_arms} arms, {len(self.offered)} subsets, "
            f"{self.num_votes:g} choices{none})"
        )

    @property
    def row_names(self) -> list[str]:
        """A name for each subset: its arms."""
        return [
            " | ".join(self.arm_names[arm] for arm in np.flatnonzero(subset))
            for subset in self.offered
        ]

    def parts(self) -> list[list[str]]:
        """Return the parts of the graph of arms that were offered together.

        "None of them" is offered with all, and then connects them.
        """
        used = self.offered & (self.counts.sum(axis=1, keepdims=True) > 0)
        if self.outside:
            used = np.concatenate([used, used.any(axis=1, keepdims=True)], axis=1)
        together = used.T.astype(np.int64) @ used.astype(np.int64)
        return components(together > 0, "weak", self.arm_names)


def _check_repetition(row: int, subset: list[str]) -> None:
    """Raise where a subset offers an arm twice: its weight would be unclear."""
    for place, arm in enumerate(subset):
        if arm in subset[:place]:
            raise ComparisonDataError(
                f"subset {row}",
                f"offers {arm!r} twice",
                arm,
                index=place,
                remedy="name every arm on offer once",
            )
