"""Consistency and total order of tables of choice probabilities.

Yang, Ren, Dhillon and Sanghavi (2021), "Combinatorial bandits without total order for
arms", ask only that an arm of the best set is chosen at least as often in every other
set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from theory.arguments import instance_of
from theory.choice.tables import TOLERANCE, ChoiceTable


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
                found = (table.offered(int(exceeds[a, c])),)
                return OrderViolation("transitivity", (a, b, c), found)
    return None
