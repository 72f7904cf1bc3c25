"""Choice probabilities of sets of arms as a table, and which order they obey."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import instance_of, integer_from
from theory.errors import ArgumentError
from theory.validation import MOST_ARMS, numeric_array, refuse_entries

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64


TOLERANCE = 1e-12  # Probabilities that differ by less are equal
# A table has at most this many entries.
_MAXIMAL_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceTable:
    """Choice probabilities of the arms of S sets of k arms, validated and read-only.

    Parameters
    ----------
    sets : array-like of int (S, k)
        The arms of every set, different, from 0 on; every set once, in any order.
    probabilities : array-like (S, k)
        P(sets[s, i] | set s), in [0, 1]. The sum of a row may exceed 1 if several arms
        can be rewarded in the same round.

    Attributes
    ----------
    sets : int64 (S, k)
        The arms of every set.
    probabilities : float64 (S, k)
        The numbers as given.

    Raises
    ------
    ValueError
        If a rule is broken; the text names the set.

    Examples
    --------
    >>> table = ChoiceTable(
    ...     [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0]]
    ... )
    >>> table.best_set, round(table.gap, 12)
    ((0, 1), 0.1)
    """

    sets: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def __init__(self, sets: ArrayLike, probabilities: ArrayLike) -> None:
        arms = _checked_sets(sets)
        values = numeric_array(probabilities, "probabilities")
        if values.shape != arms.shape:
            raise ArgumentError(
                "probabilities",
                f"must have one entry per entry of sets, shape {arms.shape}",
                values.shape,
            )
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            rule = f"must lie in [0, 1], as arm {arms[row, column]} of set "
            rule += f"{tuple(arms[row].tolist())} has one"
            refuse_entries(bad, values, "probabilities", rule, kind=ArgumentError)
        arms.setflags(write=False)
        values.setflags(write=False)
        object.__setattr__(self, "sets", arms)
        object.__setattr__(self, "probabilities", values)

    def __repr__(self) -> str:
        return (
            f"ChoiceTable({len(self.sets)} sets of {self.set_size} of {self.num_arms} "
            f"arms, best set {self.best_set})"
        )

    @classmethod
    def from_rule(
        cls,
        num_arms: int,
        set_size: int,
        rule: Callable[[Int64[np.ndarray, "S k"]], ArrayLike],
    ) -> ChoiceTable:
        """Tabulate a rule over all sets of k out of n arms.

        Parameters
        ----------
        num_arms, set_size : int
            n and k, 1 <= k <= n.
        rule : callable
            Maps an int array (S, k) of sets, arms in increasing order, to the choice
            probabilities (S, k).

        Returns
        -------
        ChoiceTable
            All sets, in lexicographic order.

        Raises
        ------
        ValueError
            If a number is out of range, there would be more than 2e7 entries, or the
            rule returns no probabilities.

        Examples
        --------
        >>> weights = np.array([0.9, 0.7, 0.5, 0.2])
        >>> def logit(sets):
        ...     chosen = weights[sets]
        ...     return chosen / (1 + chosen.sum(axis=1, keepdims=True))
        >>> ChoiceTable.from_rule(4, 2, logit).best_set
        (0, 1)
        """
        n = integer_from(num_arms, 1, "num_arms", MOST_ARMS)
        k = integer_from(set_size, 1, "set_size")
        if k > n or comb(n, k) * k > _MAXIMAL_ENTRIES:
            raise ArgumentError(
                "set_size",
                f"must be at most num_arms = {n}, and all sets together at most "
                f"{_MAXIMAL_ENTRIES:.0e} entries",
                k,
                remedy="tabulate some of the sets only",
            )
        flat = chain.from_iterable(combinations(range(n), k))
        sets = np.fromiter(flat, dtype=np.int64, count=comb(n, k) * k).reshape(-1, k)
        return cls(sets, rule(sets))

    @cached_property
    def num_arms(self) -> int:
        """Number of arms n: one more than the largest index."""
        return int(self.sets.max()) + 1

    @property
    def set_size(self) -> int:
        """Number of arms k of a set."""
        return self.sets.shape[1]

    @cached_property
    def totals(self) -> Float64[np.ndarray, " S"]:
        """Expected reward of every set, float64 (S,)."""
        return self.probabilities.sum(axis=1)

    @cached_property
    def canonical_rows(self) -> Int64[np.ndarray, " S"]:
        """Rows by their sets in lexicographic order, whatever the order given."""
        return np.lexsort(np.sort(self.sets, axis=1).T[::-1])

    @cached_property
    def best_rows(self) -> Int64[np.ndarray, " best"]:
        """Rows of the sets with the largest expected reward, in lexicographic order."""
        equal = self.totals >= self.totals.max() - TOLERANCE
        return self.canonical_rows[equal[self.canonical_rows]]

    @property
    def best_row(self) -> int:
        """Row of the best set; of equals the first in lexicographic order."""
        return int(self.best_rows[0])

    @property
    def best_set(self) -> tuple[int, ...]:
        """Arms of the best set, as given."""
        return self.offered(self.best_row)

    @property
    def gap(self) -> float:
        """Expected reward of the best set minus that of the second best, eps.

        0 if several sets are best, and if there is one set only.
        """
        if len(self.totals) == 1:
            return 0.0
        second, best = np.partition(self.totals, -2)[-2:]
        return float(best - second) if best - second > TOLERANCE else 0.0

    def offered(self, row: int) -> tuple[int, ...]:
        """Return the arms of a row as a tuple of int."""
        return tuple(self.sets[row].tolist())

    def by_arm(self) -> Float64[np.ndarray, "S n"]:
        """Return P(a|s) as a float64 (S, n); nan where an arm is not in the set."""
        dense = np.full((len(self.sets), self.num_arms), np.nan)
        np.put_along_axis(dense, self.sets, self.probabilities, axis=1)
        return dense


def find_missing_set(table: ChoiceTable) -> tuple[int, ...] | None:
    """Find a set of k out of n arms that is not in a table.

    Parameters
    ----------
    table : ChoiceTable
        Choice probabilities.

    Returns
    -------
    tuple of int or None
        The lexicographically first, arms increasing; None if there is none.

    Examples
    --------
    >>> find_missing_set(ChoiceTable([[0, 1], [2, 1]], [[0.5, 0.3], [0.3, 0]]))
    (0, 2)
    """
    instance_of(table, ChoiceTable, "table")
    if len(table.sets) == comb(table.num_arms, table.set_size):
        return None
    known = set(map(tuple, np.sort(table.sets, axis=1).tolist()))
    everything = combinations(range(table.num_arms), table.set_size)
    return next(arms for arms in everything if arms not in known)


def _checked_sets(sets: ArrayLike) -> NDArray[np.int64]:
    values = numeric_array(sets, "sets")
    if values.ndim != 2 or values.size == 0:
        raise ArgumentError(
            "sets",
            "must be a table with one row per set, shape (sets, set_size)",
            values.shape,
        )
    bad = ~((values >= 0) & (values < MOST_ARMS) & (values == np.floor(values)))
    rule = f"must be the number of an arm, from 0 to {MOST_ARMS - 1}"
    refuse_entries(bad, values, "sets", rule, kind=ArgumentError)
    arms = values.astype(np.int64)
    ordered = np.sort(arms, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        row = int(np.flatnonzero(twice)[0])
        raise ArgumentError(
            "sets", "must hold different arms", tuple(arms[row].tolist()), index=row
        )
    unique, counts = np.unique(ordered, axis=0, return_counts=True)
    if counts.max() > 1:
        repeated = tuple(unique[int(counts.argmax())].tolist())
        raise ArgumentError(
            "sets",
            "must be different, each of them there once",
            repeated,
            remedy="leave out the second",
        )
    return arms


@dataclass(frozen=True)
class Inconsistency:
    """An arm of the best set that is chosen less often in another set.

    Attributes
    ----------
    offered : tuple of int
        The set s.
    arm : int
        The arm a, in s and in the best set.
    probability, in_best_set : float
        P(a|s), and the larger P(a|s*).
    """

    offered: tuple[int, ...]
    arm: int
    probability: float
    in_best_set: float


@dataclass(frozen=True)
class OrderViolation:
    """Why the arms have no total order.

    Attributes
    ----------
    rule : str
        "comparability": of two arms each is chosen more often than the other in some
        set. "transitivity": a <= b and b <= c in all sets, but a > c in some set.
    arms : tuple of int
        The pair (a, b), or the triple (a, b, c).
    sets : tuple of tuple of int
        For a pair, a set with P(a|s) > P(b|s) and one with P(a|s) < P(b|s); for a
        triple, a set with P(a|s) > P(c|s).
    """

    rule: str
    arms: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]


def find_inconsistency(table: ChoiceTable) -> Inconsistency | None:
    """Find where weak optimal-set consistency fails.

    It asks for P(a|s) >= P(a|s*) for every set s and every arm a of s that is in the
    best set s* (Assumption 1). The paper knows one best set only; of several, one must
    do, against the others too, because the proofs use the inequality in every round.

    Parameters
    ----------
    table : ChoiceTable
        Choice probabilities, of some sets at least.

    Returns
    -------
    Inconsistency or None
        None if it holds within 1e-12. Otherwise the lexicographically first set, and
        its first arm, that contradict `ChoiceTable.best_set`.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Assumption 1 (and 2, with expected rewards).

    Examples
    --------
    >>> import theory
    >>> table = theory.ChoiceTable(
    ...     [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.2, 0]]
    ... )
    >>> find_inconsistency(table)
    Inconsistency(offered=(1, 2), arm=1, probability=0.2, in_best_set=0.3)
    """
    instance_of(table, ChoiceTable, "table")
    # A best set fits if no arm of it has a smaller probability in any set.
    least = np.full(table.num_arms, np.inf)
    np.minimum.at(least, table.sets, table.probabilities)
    needed = table.probabilities[table.best_rows] - TOLERANCE
    fails = (least[table.sets[table.best_rows]] < needed).any(axis=1)
    if not fails.all():
        return None
    best = np.full(table.num_arms, -np.inf)
    best[table.sets[table.best_row]] = table.probabilities[table.best_row]
    broken = table.probabilities < best[table.sets] - TOLERANCE
    row = int(table.canonical_rows[broken[table.canonical_rows].any(axis=1)][0])
    arm = int(table.sets[row, broken[row]].min())
    column = int(np.flatnonzero(table.sets[row] == arm)[0])
    return Inconsistency(
        offered=table.offered(row),
        arm=arm,
        probability=float(table.probabilities[row, column]),
        in_best_set=float(best[arm]),
    )


def find_order_violation(table: ChoiceTable) -> OrderViolation | None:
    """Find out why the arms have no total order.

    a <= b if P(a|s) <= P(b|s) in every set with both (within 1e-12). The order is total
    if any two arms are comparable and the relation is transitive. Multinomial logit
    and random utility models have one.

    Parameters
    ----------
    table : ChoiceTable
        Choice probabilities.

    Returns
    -------
    OrderViolation or None
        The first pair that is not comparable, else the first triple that is not
        transitive, each with the first sets in lexicographic order that show it; None
        if there is a total order.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Definition 2.

    Examples
    --------
    >>> import theory
    >>> table = theory.ChoiceTable(
    ...     [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.2, 0.4], [0.3, 0]]
    ... )
    >>> find_order_violation(table)
    OrderViolation(rule='transitivity', arms=(1, 0, 2), sets=((1, 2),))
    """
    instance_of(table, ChoiceTable, "table")
    rows_in_order = table.canonical_rows
    dense = table.by_arm()[rows_in_order]
    n = table.num_arms
    # exceeds[a, b]: a row in which a is chosen more often than b, or -1.
    exceeds = np.full((n, n), -1, dtype=np.int64)
    for a in range(n):
        # Comparisons with nan are false.
        more = dense[:, a, None] > dense + TOLERANCE
        first = rows_in_order[more.argmax(axis=0)]
        exceeds[a] = np.where(more.any(axis=0), first, -1)
    for a, b in combinations(range(n), 2):
        rows = int(exceeds[a, b]), int(exceeds[b, a])
        if min(rows) >= 0:
            sets = tuple(table.offered(row) for row in rows)
            return OrderViolation("comparability", (a, b), sets)
    below = exceeds < 0
    for b in range(n):
        for a, c in permutations(range(n), 2):
            if b not in (a, c) and below[a, b] and below[b, c] and not below[a, c]:
                violation = (table.offered(int(exceeds[a, c])),)
                return OrderViolation("transitivity", (a, b, c), violation)
    return None
