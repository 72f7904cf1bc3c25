"""The world ``drifting``: entries that walk at random, or move linearly."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.arguments.named_objects import title_with_changes
from bayesduel.errors import ArgumentError
from bayesduel.instances.catalog import load_matrix
from bayesduel.instances.world import World
from bayesduel.instances.worlds.costs import costs_of_arms, digest_of, label_without
from theory.arguments import integer_from, number_from, width_of
from theory.preferences import PreferenceMatrix


class Drifting(World):
    """Preferences that drift: a reflected random walk, or a line between two matrices.

    *Random walk* (no ``to``). In every round after the first, each entry above the
    diagonal moves by ``speed`` times a standard normal number and is reflected into
    [margin, 1 - margin]; entries below the diagonal are the complements. So after t
    rounds an entry has the law of P_1(i, j) + speed sqrt(t - 1) Z, reflected.

    *Line* (with ``to``). P_t = P_1 + (t - 1) / (T - 1) (P_T - P_1), from
    ``matrix`` to ``to`` over the horizon T. Nothing is random but the answers.

    Parameters
    ----------
    speed : float
        Standard deviation of one step of the walk, not negative.
    num_arms : int
        K, where no matrix is given.
    margin : float
        In [0, 1/2). Entries of the walk stay in [margin, 1 - margin].
    matrix : preference matrix, or the name or file of one
        The first matrix. Without one the walk starts, in each run anew, with entries
        uniform in [margin, 1 - margin].
    to : preference matrix, or the name or file of one
        The last matrix of a line.

    Raises
    ------
    ArgumentError
        If a parameter is out of range, ``to`` is given without ``matrix``, or the two
        have different numbers of arms.

    Notes
    -----
    *Regret.* The best arm of a round is its Condorcet winner. A walk may lose it: then
    each Copeland winner is a best arm. Arm i costs c(i) = max(0, P(w beats i) - 1/2),
    for the best arm w for which this is least, so the lowest regret is 0. Showing i and
    j costs (c(i) + c(j)) / 2 under ``dynamic``, and min(c(i), c(j)) under ``weak``.

    *What is drawn.* K (K - 1) / 2 numbers at the start of a walk without a matrix, and
    as many in every round, row by row, whatever the policy does: the walk of a run is
    the same for all policies.

    Examples
    --------
    >>> from bayesduel.instances.worlds import Drifting
    >>> Drifting(speed=0.001).label
    'drifting:speed=0.001'
    >>> import numpy as np
    >>> line = Drifting(matrix=[[0.5, 0.9], [0.1, 0.5]], to=[[0.5, 0.1], [0.9, 0.5]])
    >>> rng = np.random.default_rng(0)
    >>> state = line.start(101, rng)
    >>> line.advance(state, rng, 51)
    >>> float(line.probability(state, rng, 51, 0, 1))
    0.5
    """

    title = "drifting"
    source = "Saha and Gupta (2022), ICML, for dynamic regret"
    notions = ("dynamic", "weak")
    compiled = True

    speed: float = 0.01
    num_arms: int = 5
    margin: float = 0.0
    matrix: Any = ""
    to: Any = ""

    def __post_init__(self) -> None:
        number_from(self.speed, 0, "speed")
        width_of(self.margin, "margin")
        for name in ("matrix", "to"):
            value = getattr(self, name)
            if isinstance(value, os.PathLike):
                object.__setattr__(self, name, os.fspath(value))
            elif not isinstance(value, str | PreferenceMatrix):
                object.__setattr__(self, name, load_matrix(value))
        first, last = self._ends
        if first is not None:
            object.__setattr__(self, "num_arms", len(first))
            inside = (first >= self.margin) & (first <= 1 - self.margin)
            if last is None and not np.all(inside):
                raise ArgumentError(
                    "margin",
                    "must leave room for the entries of the matrix",
                    self.margin,
                    remedy="take a smaller one",
                )
        integer_from(self.num_arms, 2, "num_arms", 1000)
        if last is not None and (first is None or first.shape != last.shape):
            raise ArgumentError(
                "to",
                "needs a matrix of the same size to start from",
                self.to,
                remedy="give it as matrix",
            )

    @cached_property
    def _ends(self) -> tuple[Any, Any]:
        """The first and the last matrix; None for one that is not given."""
        given = (self.matrix, self.to)
        return tuple(
            None if isinstance(value, str) and not value else load_matrix(value).values
            for value in given
        )  # pyright: ignore[reportReturnType]

    @property
    def label(self) -> str:
        """Name in results, without the size of a given matrix."""
        if self._ends[0] is None:
            return title_with_changes(self)
        return label_without(self, "num_arms")

    @property
    def checksum(self) -> str:
        """Digest of the parameters and of the matrices."""
        ends = [np.zeros(0) if end is None else end for end in self._ends]
        numbers = (float(self.speed), int(self.num_arms), float(self.margin))
        return digest_of(self.title, *numbers, *ends)

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return the matrix, costs of arms, both ends of a line, and its length."""
        first, last = self._ends
        num_arms = self.num_arms
        if first is None:
            first = np.full((num_arms, num_arms), 0.5)
            for i in range(num_arms):
                for j in range(i + 1, num_arms):
                    share = rng.random()
                    first[i, j] = self.margin + (1 - 2 * self.margin) * share
                    first[j, i] = 1 - first[i, j]
        steps = 0 if last is None else max(int(horizon) - 1, 1)
        current, final = np.array(first), np.array(first if last is None else last)
        origin = np.array(first)
        return current, costs_of_arms(current), origin, final, np.array([steps])

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Move all entries; not before the first round."""
        current, costs, origin, final, steps = state
        num_arms = len(costs)
        if round_ == 1:
            return
        share = (round_ - 1) / steps[0] if steps[0] > 0 else 0.0
        for i in range(num_arms):
            for j in range(i + 1, num_arms):
                if steps[0] > 0:
                    value = origin[i, j] + share * (final[i, j] - origin[i, j])
                else:
                    value = current[i, j] + self.speed * rng.standard_normal()
                    value = reflected(value, self.margin, 1 - self.margin)
                current[i, j] = value
                current[j, i] = 1 - value
        costs[:] = costs_of_arms(current)

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the entry of the matrix of the round."""
        return state[0][first, second]

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return dynamic and weak regret."""
        one, two = state[1][first], state[1][second]
        return (one + two) / 2, min(one, two)


def reflected(value: float, low: float, high: float) -> float:
    """Return a number reflected into an interval, as often as it takes."""
    width = high - low
    away = (value - low) % (2 * width)
    return low + (away if away <= width else 2 * width - away)
