"""Choices out of offered subsets: what the multinomial logit is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Shaped
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
    joined_labels,
    labels_of,
    numbers_of,
    refuse,
    rows_of,
    vote_counts,
    weights_of,
    whole_numbers,
)
from bayesduel.votes.comparisons import CountedVotes
from theory.validation import any_array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Choices(CountedVotes):
    """Choices counted per offered subset, or one by one with what was offered.

    Attributes
    ----------
    arm_names : tuple of K str
        Names of the arms.
    offered : bool (R, K)
        Which arms each row offers: a row for each different subset, or, with attributes
        or persons, for each choice.
    counts : float64 (R, K + 1)
        How often each arm was chosen; the last column counts "none of them".
    worst : bool (R,) or None
        Rows in which the worst was named, and not the best; None where there is none.
    outside : bool
        Whether "none of them" could be chosen.
    attributes : float64 (R, K, d) or None
        What is known of each alternative of each row, such as its price; 0 where it was
        not on offer.
    attribute_names : tuple of d str
        What they are called.
    persons : int64 (R,) or None
        Who chose, a place among ``person_names``.
    person_names : tuple of str
        Labels of the persons, sorted.

    Examples
    --------
    >>> choices = Choices.from_subsets(
    ...     [["tea", "milk"], ["tea", "coffee"], ["tea", "milk"]], ["tea", None, "milk"]
    ... )
    >>> choices
    Choices(3 arms, 2 subsets, 3 choices, 1 of none)
    """

    arm_names: tuple[str, ...]
    offered: NDArray[np.bool_]
    counts: NDArray[np.float64]
    outside: bool
    attributes: NDArray[np.float64] | None = None
    attribute_names: tuple[str, ...] = ()
    persons: NDArray[np.int64] | None = None
    person_names: tuple[str, ...] = ()
    worst: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        num_arms, make = check_names(self.arm_names, "from_counts"), "from_counts"
        check_array("offered", self.offered, (None, num_arms), "b", make)
        rows = len(self.offered)
        check_array("counts", self.counts, (rows, num_arms + 1), "f", make)
        vote_counts("counts", self.counts)
        flag(self.outside, "outside")
        table, who, last = self.attributes, self.persons, self.worst
        if last is not None:
            check_array("worst", last, (rows,), "b", make)
            if self.outside or table is not None:
                rule = "must be left out where none can be chosen, and with attributes"
                refuse("worst", rule, last)
        if self._are_subsets:
            marked = np.column_stack([self.offered, *([] if last is None else [last])])
            check_different("offered", marked, [*marked.T], "subset", make)
        for name, of in (("attribute_names", table), ("person_names", who)):
            names = getattr(self, name)
            if not isinstance(names, tuple) or (of is None and names):
                refuse(name, "must be a tuple of names", names, remedy=f"use {make}()")
        if table is not None:
            shape = rows, num_arms, len(self.attribute_names)
            check_array("attributes", table, shape, "f", make)
            check_each("attributes", table, np.isfinite(table), "must be finite")
        if who is not None:
            check_array("persons", who, (rows,), "i", make)
            most = len(self.person_names) - 1
            rule = f"must be the place of a person, from 0 to {most}"
            check_each("persons", who, (who >= 0) & (who <= most), rule)

    @classmethod
    def from_counts(
        cls,
        offered: ArrayLike,
        counts: ArrayLike,
        none: ArrayLike | None = None,
        *,
        arm_names: Sequence[str] | None = None,
        attributes: ArrayLike | None = None,
        attribute_names: Sequence[str] | None = None,
        persons: Sequence[Any] | None = None,
        worst: ArrayLike | None = None,
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
        attributes : float (n, K, d) or (n, K), optional
            What is known of each alternative; read where it was on offer.
        attribute_names : sequence of d str, optional
            By default "attribute 0", "attribute 1", ...
        persons : sequence of n labels, optional
            Who chose.
        worst : bool (n,), optional
            Rows in which the worst was named; without ``none`` and attributes.

        Raises
        ------
        ComparisonDataError
            If shapes differ, a count is negative, an arm was chosen that was not on
            offer, or a subset offers no alternative; or an attribute of what was on
            offer is no finite number.
        """
        given = whole_numbers("offered", offered)
        rule = "must be 1 where an arm was on offer, else 0"
        check_each("offered", given, np.isin(given, (0, 1)), rule)
        subsets = np.atleast_2d(given != 0)
        chosen = np.atleast_2d(vote_counts("counts", counts))
        if subsets.shape != chosen.shape or subsets.ndim != 2:
            shapes = subsets.shape, chosen.shape
            refuse("offered and counts", "must be tables of one shape", shapes)
        number, size = subsets.shape
        names = arm_names_of(arm_names, size)
        wrong = (chosen > 0) & ~subsets
        if wrong.any():
            row, arm = np.argwhere(wrong)[0]
            rule = f"chooses {names[arm]!r}, which was not on offer"
            refuse("counts", rule, names[arm], index=int(row))
        nothing = np.zeros(number)
        if none is not None:
            nothing = weights_of("none", none, number, "rows")
        too_few = subsets.sum(axis=1) < (1 if none is not None else 2)
        if too_few.any():
            row = int(np.argmax(too_few))
            remedy = "offer two arms at least, or the option of none"
            refuse("offered", "leaves no choice", subsets[row], index=row,
                   remedy=remedy)  # fmt: skip
        last = None
        if worst is not None:
            last = np.asarray(worst)
            if last.shape != (number,) or last.dtype.kind != "b":
                rule = f"must be True or False for each of the {number} rows"
                refuse("worst", rule, worst)
            last = last if last.any() else None
        total = np.column_stack([chosen, nothing])
        if attributes is None and persons is None:
            marked = np.column_stack([subsets, *([] if last is None else [last])])
            marked, index = np.unique(marked, axis=0, return_inverse=True)
            rows, total = total, np.zeros((len(marked), size + 1))
            np.add.at(total, index.reshape(-1), rows)
            subsets, last = marked[:, :size], None if last is None else marked[:, -1]
        table, titles, who, people = None, (), None, ()
        if attributes is not None:
            table, titles = _attributes_of(attributes, attribute_names, subsets)
        elif attribute_names is not None:
            refuse("attribute_names", "needs attributes", attribute_names)
        if persons is not None:
            (labels,) = joined_labels(labels_of("persons", persons))
            if len(labels) != number:
                rule = f"must name one person for each of the {number} rows"
                refuse("persons", rule, labels)
            who, people = codes_of(labels)
        outside = none is not None
        return cls(names, subsets, total, outside, table, titles, who, people, last)

    @classmethod
    def from_attributes(
        cls,
        attributes: ArrayLike,
        chosen: Sequence[Any],
        *,
        available: ArrayLike | None = None,
        persons: Sequence[Any] | None = None,
        weight: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
        attribute_names: Sequence[str] | None = None,
        outside: bool | None = None,
    ) -> Choices:
        """Take single choices among alternatives that are known by attributes.

        Parameters
        ----------
        attributes : float (n, K, d) or (n, K)
            Of each alternative in each choice; read where it was on offer, and
            anything, such as nan, elsewhere.
        chosen : sequence of n str or None
            The chosen arm, or None for "none of them".
        available : bool (n, K), optional
            Which alternatives were on offer; all by default.
        persons : sequence of n labels, optional
            Who chose: choices of one person may be alike (a panel).
        weight : float (n,), optional
            How many times each choice counts, 1 by default.
        arm_names : sequence of K str, optional
            Names of the alternatives, by default "0", "1", ...
        attribute_names : sequence of d str, optional
            By default "attribute 0", "attribute 1", ...
        outside : bool, optional
            Whether none could be chosen; by default, whether it ever was.

        Raises
        ------
        ComparisonDataError
            As :meth:`from_counts`.

        Examples
        --------
        >>> from bayesduel.votes import Choices
        >>> Choices.from_attributes(
        ...     [[3.0, 1.0], [2.0, 2.5]],
        ...     ["car", "bus"],
        ...     arm_names=["bus", "car"],
        ...     attribute_names=["price"],
        ... )
        Choices(2 arms, 2 choices, 1 attributes)
        """
        table = _attribute_table(attributes)
        names = arm_names_of(arm_names, table.shape[1])
        chosen = rows_of("chosen", chosen)
        check_lengths(attributes=table, chosen=chosen)
        counts = np.zeros((len(chosen), len(names) + 1))
        picked = [row for row, choice in enumerate(chosen) if choice is not None]
        labels = labels_of("chosen", [chosen[row] for row in picked])
        counts[picked, arm_positions("chosen", labels, names)] = 1.0
        counts[:, -1] = 1.0 - counts.sum(axis=1)
        counts *= weights_of("weight", weight, len(chosen), "choices")[:, None]
        offered = np.ones(table.shape[:2]) if available is None else available
        return cls.from_counts(
            offered, counts[:, :-1], _nobody(counts[:, -1], outside), arm_names=names,
            attributes=table, attribute_names=attribute_names, persons=persons,
        )  # fmt: skip

    @classmethod
    def from_subsets(
        cls,
        subsets: Sequence[Sequence[Any]],
        chosen: Sequence[Any],
        *,
        worst: Sequence[Any] | None = None,
        weight: ArrayLike | None = None,
        arm_names: Sequence[str] | None = None,
        outside: bool | None = None,
    ) -> Choices:
        """Count single choices, of the best or of the best and the worst.

        Parameters
        ----------
        subsets : sequence of sequences of str
            The arms on offer.
        chosen : sequence of str or None
            The chosen arm, or None for "none of them".
        worst : sequence of str or None, optional
            The worst of those that are not chosen, where it was named: a choice more,
            out of these; of two arms it says nothing new.
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

        Examples
        --------
        >>> from bayesduel.votes import Choices
        >>> Choices.from_subsets([["tea", "milk", "ale"]], ["ale"], worst=["tea"])
        Choices(3 arms, 2 subsets, 2 choices)
        """
        subsets = [
            labels_of(f"subset {row}", subset)
            for row, subset in enumerate(rows_of("subsets", subsets))
        ]
        chosen = rows_of("chosen", chosen)
        last = rows_of("worst", [None] * len(chosen) if worst is None else worst)
        check_lengths(subsets=subsets, chosen=chosen, worst=last)
        if arm_names is None:
            (labels,) = joined_labels([label for subset in subsets for label in subset])
            arm_names = sorted(set(labels))
        names = arm_names_of(arm_names, None)
        weights = weights_of("weight", weight, len(chosen), "choices")
        # First of the best, then of the worst among the others.
        offered = np.zeros((2, len(subsets), len(names)), dtype=bool)
        counts, none = np.zeros(offered.shape), np.zeros(len(subsets))
        for row, (subset, *both) in enumerate(zip(subsets, chosen, last, strict=True)):
            arms = arm_positions(f"subset {row}", subset, names).tolist()
            if len(set(arms)) < len(arms):
                at = next(at for at, arm in enumerate(arms) if arm in arms[:at])
                name, remedy = names[arms[at]], "name every arm on offer once"
                rule = f"offers {name!r} twice"
                refuse(f"subset {row}", rule, name, index=at, remedy=remedy)
            offered[:, row, arms] = True
            for turn, choice in enumerate(both):
                if choice is not None:
                    what = f"{('choice', 'worst')[turn]} {row}"
                    (arm,) = arm_positions(what, labels_of(what, [choice]), names)
                    counts[turn, row, arm] = weights[row]
                    offered[1, row, arm] &= turn == 1
            none[row] = weights[row] if both[0] is None else 0.0
        nothing = _nobody(none, outside)
        if worst is None:
            return cls.from_counts(offered[0], counts[0], nothing, arm_names=names)
        wrong = (counts[1] > 0) & ~offered[1]
        if wrong.any():
            row, arm = np.argwhere(wrong)[0]
            is_best = offered[0, row, arm]
            rule = "is the best, too" if is_best else "was not on offer"
            refuse("worst", rule, names[arm], index=int(row))
        useful = counts[1].any(axis=1) & (offered[1].sum(axis=1) > 1)
        return cls.from_counts(
            np.concatenate([offered[0], offered[1, useful]]),
            np.concatenate([counts[0], counts[1, useful]]), nothing, arm_names=names,
            worst=np.arange(len(subsets) + useful.sum()) >= len(subsets),
        )  # fmt: skip

    def to_dataframe(self) -> pd.DataFrame:
        """Return a row per offered subset and choice, with its count.

        Returns
        -------
        pandas.DataFrame
            ``offered`` holds tuples of names; ``chosen`` is None for none of them.
        """
        import pandas as pd

        names = np.array(self.arm_names, dtype=object)
        row, chosen = np.nonzero(self.counts)
        offered = [tuple(names[subset]) for subset in self.offered]
        columns = {
            "offered": [offered[index] for index in row],
            "chosen": [[*names, None][arm] for arm in chosen],
            "count": self.counts[row, chosen],
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        none = f", {self.counts[:, -1].sum():g} of none" if self.outside else ""
        rows = f" {len(self.offered)} subsets," if self._are_subsets else ""
        known = len(self.attribute_names)
        more = f", {known} attributes" if self.attributes is not None else ""
        people = len(self.person_names)
        more += f", {people} persons" if self.persons is not None else ""
        return (
            f"Choices({self.num_arms} arms,{rows} {self.num_votes:g} choices"
            f"{none}{more})"
        )

    @property
    def _are_subsets(self) -> bool:
        """Whether rows are different subsets, and not single choices."""
        return self.attributes is None and self.persons is None

    @property
    def row_names(self) -> list[str]:
        """A name for each subset: its arms; for single choices, numbers and persons."""
        if not self._are_subsets:
            if self.persons is None:
                return [f"choice {row}" for row in range(len(self.offered))]
            people = [self.person_names[person] for person in self.persons]
            return [f"choice {row} by {person}" for row, person in enumerate(people)]
        ends = [""] * len(self.offered)
        if self.worst is not None:
            ends = [" (worst)" * bool(is_worst) for is_worst in self.worst]
        return [
            " | ".join(self.arm_names[arm] for arm in np.flatnonzero(subset)) + end
            for subset, end in zip(self.offered, ends, strict=True)
        ]

    def parts(self) -> list[list[str]]:
        """Return the parts of the graph of arms that were offered together.

        "None of them" is offered with all, and then connects them.
        """
        used = self.offered & (self.counts.sum(axis=1, keepdims=True) > 0)
        if self.outside:
            used = np.concatenate([used, used.any(axis=1, keepdims=True)], axis=1)
        together = used.T.astype(np.int64) @ used.astype(np.int64)
        return components(together > 0, self.arm_names)


def _nobody(
    none: Float64[np.ndarray, " row"], outside: bool | None
) -> Float64[np.ndarray, " row"] | None:
    """Return how often none was chosen, or None where it could not be."""
    chosen = bool(none.sum() > 0)
    possible = chosen if outside is None else flag(outside, "outside")
    if chosen and not possible:
        rule = "is None, which outside=False rules out"
        refuse("chosen", rule, None, index=int(np.argmax(none > 0)))
    return none if possible else None


def _attribute_table(values: Any) -> Shaped[np.ndarray, "row arm attribute"]:
    """Return a table (row, K, d) of anything, of which only some may be numbers."""
    with errors_as(ComparisonDataError):
        table = any_array(values, "attributes")
    if table.ndim not in (2, 3):
        rule = "must be of the shape (n, K, d), or (n, K)"
        refuse("attributes", rule, table.shape)
    return table[:, :, None] if table.ndim == 2 else table


def _attributes_of(
    values: Any, names: Any, offered: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return attributes (row, K, d), 0 where nothing was on offer, and their names."""
    table = _attribute_table(values)
    if table.shape[:2] != offered.shape:
        size = ", ".join(map(str, offered.shape))
        rule = f"must be of the shape ({size}, d), d numbers for each alternative"
        refuse("attributes", rule, table.shape)
    width = table.shape[2]
    if names is None:
        names = [f"attribute {index}" for index in range(width)]
    titles = tuple(map(composed, labels_of("attribute_names", names)))
    if len(titles) != width or len(set(titles)) < width:
        rule = f"must be {width} different names, one for each attribute"
        refuse("attribute_names", rule, titles)
    here = np.where(offered[:, :, None], table, np.zeros((), table.dtype))
    return numbers_of("attributes", here), titles
