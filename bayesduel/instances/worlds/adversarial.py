"""The world ``adversarial``: one matrix for each round, from a table."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.errors import ArgumentError
from bayesduel.instances.world import (
    FIXED_PREFERENCES,
    KNOWN_HORIZON,
    LAST_ROUND,
    World,
)
from bayesduel.instances.worlds.costs import array_of_file, digest_of, matrices_of
from theory.arguments import one_of


class Adversarial(World):
    """An adversary who has fixed a matrix P_t for each round before the run.

    Parameters
    ----------
    table : array-like (n, K, K), or the path of a file
        Matrices of the rounds 1 to n. A file is NPY; NPZ with one array, or one called
        ``matrices``; or CSV with a row for each round, in which the K x K entries stand
        row by row.
    after : str
        Matrices of rounds after n: ``"cycle"`` begins again with the first, ``"hold"``
        keeps the last.

    Raises
    ------
    ArgumentError
        If there is no table, or one of its matrices is no preference matrix.

    Notes
    -----
    *Regret.* External regret compares with the best fixed arm in hindsight, and which
    arm that is depends on what a policy has played: it is no sum of costs of rounds.
    Here the fixed arm is the one with the largest total over the horizon, k = argmax of
    the sum of P_t(k, j) over t and j, the smallest number among equals. Showing i
    and j in round t costs (P_t(k, i) + P_t(k, j) - 1) / 2. This may be
    negative: in some rounds another arm is better than k.

    *What is drawn.* Nothing but the answers. A long stretch of one pair costs one step
    for each part of it with equal matrices in the table.

    References
    ----------
    Saha and Gaillard (2022), Versatile Dueling Bandits, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances.worlds import Adversarial
    >>> up = np.array([[0.5, 0.9], [0.1, 0.5]])
    >>> world = Adversarial(table=[up, up, up.T])
    >>> world.num_arms, world.best_arm(horizon=3), world.best_arm(horizon=10**12)
    (2, 0, 0)
    >>> rng = np.random.default_rng(0)
    >>> state = world.start(3, rng)
    >>> round(float(world.regret(state, 3, 1, 1)), 3)
    -0.4
    """

    title = "adversarial"
    source = "Saha and Gaillard (2022), ICML"
    notions = ("external",)
    compiled = True

    table: Any = ""
    after: str = "cycle"

    def __post_init__(self) -> None:
        one_of(self.after, ("cycle", "hold"), "after")
        if isinstance(self.table, os.PathLike):
            object.__setattr__(self, "table", os.fspath(self.table))
        if not isinstance(self.table, str):
            object.__setattr__(self, "table", matrices_of(self.table, "table"))

    @property
    def num_arms(self) -> int:
        """Number of arms K of the table."""
        return self.matrices.shape[1]

    @property
    def checksum(self) -> str:
        """Digest of the table, and of what comes after it."""
        return digest_of(self.title, self.matrices, self.after)

    @property
    def guarantees(self) -> tuple[str, ...]:  # pyright: ignore
        """Assumptions of policies that hold here."""
        fixed = (FIXED_PREFERENCES,) if len(self.matrices) == 1 else ()
        return (*fixed, KNOWN_HORIZON)

    @cached_property
    def matrices(self) -> Float[np.ndarray, "n K K"]:
        """Matrices of the rounds, float64 (n, K, K).

        Raises ``ArgumentError`` without a table, and for a wrong one.
        """
        if not isinstance(self.table, str):
            return self.table
        if not self.table:
            raise ArgumentError(
                "table",
                "must be given: the matrices of the rounds",
                remedy="write adversarial:table=FILE (NPY, NPZ, CSV), or "
                "Adversarial(table=array)",
            )
        arrays = array_of_file(self.table, "table")
        table = arrays.get("matrices", next(iter(arrays.values())))
        if len(arrays) > 1 and "matrices" not in arrays:
            raise ArgumentError(
                "table",
                f"has the arrays {', '.join(arrays)}, and none called matrices",
                self.table,
                remedy="save one array",
            )
        if table.ndim == 2 and Path(self.table).suffix.lower() in (".csv", ".txt"):
            size = round(table.shape[1] ** 0.5)
            if size * size != table.shape[1]:
                raise ArgumentError(
                    "table",
                    f"must have K x K numbers in each row, got {table.shape[1]}",
                    self.table,
                    remedy="write all entries of the matrix of a round in one row",
                )
            table = table.reshape(-1, size, size)
        return matrices_of(table, "table")

    def best_arm(self, horizon: int) -> int:
        """Return the fixed arm with the largest total over the horizon."""
        scores = self.matrices.sum(axis=2)
        count = len(scores)
        whole, rest = divmod(int(horizon), count)
        if self.after == "hold":
            whole, rest = min(whole, 1), rest if whole == 0 else 0
        times = np.full(count, float(whole))
        times[:rest] += 1
        times[-1] += max(int(horizon) - count, 0) if self.after == "hold" else 0
        # Sums of equal scores may differ in the last digits.
        total = times @ scores / horizon
        return int(np.flatnonzero(total >= total.max() - 1e-12)[0])

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return the table, ends of its parts with equal matrices, arm, and a flag."""
        table = np.array(self.matrices)
        flags = np.array([self.best_arm(horizon), self.after == "hold"], dtype=np.int64)
        changes = np.flatnonzero(np.any(table[1:] != table[:-1], axis=(1, 2)))
        ends = np.append(changes, len(table) - 1)
        # The last index of the part of equal matrices around each.
        last_equal = ends[np.searchsorted(ends, np.arange(len(table)))]
        return table, last_equal.astype(np.int64), flags

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return the last round with an equal matrix, as far as the table tells."""
        table, last_equal, flags = state
        count = len(table)
        index = place_of(round_, count, flags[1])
        if last_equal[0] == count - 1 or (flags[1] and last_equal[index] == count - 1):
            return LAST_ROUND
        return round_ + last_equal[index] - index

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the entry of the matrix of the round."""
        table, _, flags = state
        return table[place_of(round_, len(table), flags[1]), first, second]

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return external regret, against the arm with the largest total."""
        table, _, flags = state
        index, best = place_of(round_, len(table), flags[1]), flags[0]
        return (table[index, best, first] + table[index, best, second] - 1) / 2


def place_of(round_: int, count: int, hold: int) -> int:
    """Return the index in the table of the matrix of a round."""
    return min(round_ - 1, count - 1) if hold else (round_ - 1) % count
