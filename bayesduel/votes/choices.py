"""Choices out of offered subsets: what the multinomial logit is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
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
    check_one_each,
    codes_of,
    components,
    composed,
    joined_labels,
    labels_of,
    numbers_of,
    rows_of,
    vote_counts,
    whole_numbers,
)
from bayesduel.votes.comparisons import CountedVotes
from theory.arguments import true_or_false
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
    attributes: NDArray[np.float64] | None = None
    attribute_names: tuple[str, ...] = ()
    persons: NDArray[np.int64] | None = None
    person_names: tuple[str, ...] = ()
    worst: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        num_arms = check_names(self.arm_names, "from_counts")
        check_array("offered", self.offered, (None, num_arms), "b", "from_counts")
        rows = len(self.offered)
        check_array("counts", self.counts, (rows, num_arms + 1), "f", "from_counts")
        vote_counts("counts", self.counts)
        true_or_false(self.outside, "outside", kind=ComparisonDataError)
        table, who, constructor = self.attributes, self.persons, "from_counts"
        last = self.worst
        if last is not None:
            check_array("worst", last, (rows,), "b", constructor)
            if self.outside or table is not None:
                rule = "must be left out where none can be chosen, and with attributes"
                raise ComparisonDataError("worst", rule, last)
        if table is None and who is None:
            marked = (
                self.offered if last is None else np.column_stack([self.offered, last])
            )
            _, places = np.unique(marked, axis=0, return_index=True)
            check_different("offered", marked, places, "subset", constructor)
        for name, of in (("attribute_names", table), ("person_names", who)):
            names = getattr(self, name)
            if not isinstance(names, tuple) or (of is None and names):
                rule, remedy = "must be a tuple of names", f"use {constructor}()"
                raise ComparisonDataError(name, rule, names, remedy=remedy)
        if table is not None:
            width = len(self.attribute_names)
            check_array("attributes", table, (rows, num_arms, width), "f", constructor)
            check_each("attributes", table, np.isfinite(table), "must be finite")
        if who is not None:
            check_array("persons", who, (rows,), "i", constructor)
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
        total = np.concatenate([chosen, nothing[:, None]], axis=1)
        last = _worst_rows(worst, len(subsets))
        if attributes is None and persons is None:
            marked = subsets if last is None else np.column_stack([subsets, last])
            marked, index = np.unique(marked, axis=0, return_inverse=True)
            subsets, rows = marked[:, : len(names)], total
            last = None if last is None else marked[:, -1]
            total = np.zeros((len(subsets), len(names) + 1))
            np.add.at(total, index.reshape(-1), rows)
        table, titles = _attributes_of(attributes, attribute_names, subsets)
        who, people = _persons_of(persons, len(subsets))
        none_ = none is not None
        return cls(names, subsets, total, none_, table, titles, who, people, last)

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
        picked = [row for row, each in enumerate(chosen) if each is not None]
        labels = labels_of("chosen", [chosen[row] for row in picked])
        counts[picked, arm_positions("chosen", labels, names)] = 1.0
        counts[:, -1] = 1.0 - counts.sum(axis=1)
        if weight is not None:
            weights = vote_counts("weight", weight)
            check_one_each("weight", weights, len(chosen), "choices")
            counts *= weights[:, None]
        offered = np.ones(table.shape[:2]) if available is None else available
        none = _nobody(counts[:, -1], outside)
        return cls.from_counts(
            offered,
            counts[:, :-1],
            none,
            arm_names=names,
            attributes=table,
            attribute_names=attribute_names,
            persons=persons,
        )

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
        subsets = tuple(
            labels_of(f"subset {row}", subset)
            for row, subset in enumerate(rows_of("subsets", subsets))
        )
        (found,) = joined_labels([label for subset in subsets for label in subset])
        chosen = rows_of("chosen", chosen)
        last = rows_of("worst", [None] * len(chosen) if worst is None else worst)
        check_lengths(subsets=subsets, chosen=chosen, worst=last)
        names = arm_names_of(
            sorted(set(found)) if arm_names is None else arm_names, None
        )
        weights = (
            np.ones(len(chosen)) if weight is None else vote_counts("weight", weight)
        )
        check_one_each("weight", weights, len(chosen), "choices")
        offered = np.zeros((2, len(subsets), len(names)), dtype=bool)
        counts = np.zeros((2, len(subsets), len(names)))
        none = np.zeros(len(subsets))
        for row, (subset, *both) in enumerate(zip(subsets, chosen, last, strict=True)):
            arms = arm_positions(f"subset {row}", subset, names)
            for place, arm in enumerate(arms):
                if arm in arms[:place]:
                    remedy = "name every arm on offer once"
                    rule = f"offers {names[arm]!r} twice"
                    raise ComparisonDataError(
                        f"subset {row}", rule, names[arm], index=place, remedy=remedy
                    )
            offered[:, row, arms] = True
            for turn, choice in enumerate(both):
                if choice is not None:
                    what = f"{('choice', 'worst')[turn]} {row}"
                    (arm,) = arm_positions(what, labels_of(what, [choice]), names)
                    counts[turn, row, arm] = weights[row]
                    offered[1, row, arm] &= turn == 1
            if both[0] is None:
                none[row] = weights[row]
        nothing = _nobody(none, outside)
        if worst is None:
            return cls.from_counts(offered[0], counts[0], nothing, arm_names=names)
        wrong = (counts[1] > 0) & ~offered[1]
        if wrong.any():
            row, arm = np.argwhere(wrong)[0]
            is_best = offered[0, row, arm]
            rule = "is the best, too" if is_best else "was not on offer"
            raise ComparisonDataError("worst", rule, names[arm], index=int(row))
        told = counts[1].any(axis=1) & (offered[1].sum(axis=1) > 1)
        return cls.from_counts(
            np.concatenate([offered[0], offered[1, told]]),
            np.concatenate([counts[0], counts[1, told]]),
            nothing,
            arm_names=names,
            worst=np.arange(len(subsets) + told.sum()) >= len(subsets),
        )

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
            "offered": [offered[each] for each in row],
            "chosen": [[*names, None][each] for each in chosen],
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
            people = [self.person_names[each] for each in self.persons]
            return [f"choice {row} by {each}" for row, each in enumerate(people)]
        ends = [""] * len(self.offered)
        if self.worst is not None:
            ends = [" (worst)" * bool(each) for each in self.worst]
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
        return components(together > 0, "weak", self.arm_names)


def _nobody(
    none: Float64[np.ndarray, " row"], outside: bool | None
) -> Float64[np.ndarray, " row"] | None:
    """Return how often none was chosen, or None where it could not be."""
    chosen = bool(none.sum() > 0)
    possible = (
        chosen
        if outside is None
        else true_or_false(outside, "outside", kind=ComparisonDataError)
    )
    if chosen and not possible:
        rule, row = "is None, which outside=False rules out", np.argmax(none > 0)
        raise ComparisonDataError("chosen", rule, None, index=int(row))
    return none if possible else None


def _attribute_table(values: Any) -> Shaped[np.ndarray, "row arm attribute"]:
    """Return a table (row, K, d) of anything, of which only some may be numbers."""
    with errors_as(ComparisonDataError):
        table = any_array(values, "attributes")
    if table.ndim not in (2, 3):
        rule = "must be of the shape (n, K, d), or (n, K)"
        raise ComparisonDataError("attributes", rule, table.shape)
    return table[:, :, None] if table.ndim == 2 else table


def _attributes_of(
    values: Any, names: Any, offered: Bool[np.ndarray, "row arm"]
) -> tuple[Float64[np.ndarray, "row arm attribute"] | None, tuple[str, ...]]:
    """Return attributes (row, K, d), 0 where nothing was on offer, and their names."""
    if values is None:
        if names is not None:
            raise ComparisonDataError("attribute_names", "needs attributes", names)
        return None, ()
    table = _attribute_table(values)
    if table.shape[:2] != offered.shape:
        size = ", ".join(map(str, offered.shape))
        rule = f"must be of the shape ({size}, d), d numbers for each alternative"
        raise ComparisonDataError("attributes", rule, table.shape)
    width = table.shape[2]
    if names is None:
        names = [f"attribute {place}" for place in range(width)]
    titles = tuple(composed(each) for each in labels_of("attribute_names", names))
    if len(titles) != width or len(set(titles)) < width:
        rule = f"must be {width} different names, one for each attribute"
        raise ComparisonDataError("attribute_names", rule, titles)
    here = np.where(offered[:, :, None], table, np.zeros((), table.dtype))
    return numbers_of("attributes", here), titles


def _persons_of(
    persons: Any, number: int
) -> tuple[Int64[np.ndarray, " row"] | None, tuple[str, ...]]:
    """Return the place of the person of each row among the names, and these."""
    if persons is None:
        return None, ()
    (labels,) = joined_labels(labels_of("persons", persons))
    if len(labels) != number:
        rule = f"must name one person for each of the {number} rows"
        raise ComparisonDataError("persons", rule, labels)
    return codes_of(labels)


def _worst_rows(worst: Any, number: int) -> Bool[np.ndarray, " row"] | None:
    """Return which rows name the worst, None where there is none."""
    if worst is None:
        return None
    given = np.asarray(worst)
    if given.shape != (number,) or given.dtype.kind != "b":
        rule = f"must be True or False for each of the {number} rows"
        raise ComparisonDataError("worst", rule, worst)
    return given if given.any() else None
