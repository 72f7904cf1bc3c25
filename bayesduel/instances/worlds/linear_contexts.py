"""The world ``linear-contexts``: utilities linear in features, fixed or fresh."""

from __future__ import annotations

import math
import os
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.errors import ArgumentError, InvalidPreferenceError, ProgramError
from bayesduel.instances.world import (
    CONDORCET_WINNER,
    FIXED_PREFERENCES,
    KNOWN_HORIZON,
    LAST_ROUND,
    World,
)
from bayesduel.instances.worlds.costs import array_of_file, digest_of
from theory.arguments import integer_from, number_above, one_of
from theory.validation import feature_table

_ROWS = ("sphere", "signs", "shifted-signs")

# Kinds of rows as the compiled code knows them.
_SPHERE, _SIGNS, _SHIFTED, _TABLE, _CONTEXT = range(5)

# Arms at most, of all contexts, whose lower bound takes less than a second
_MOST_ARMS = 40


class LinearContexts(World):
    """Arms with features, and utilities that are linear in them.

    In round t the arms have features x_1, ..., x_K, vectors of d numbers. With
    utilities u_i = x_i . theta, arm i is preferred to j with probability F(u_i - u_j).

    Parameters
    ----------
    contexts : str
        ``"fresh"``: features are drawn anew in every round. ``"fixed"``: they are drawn
        once, from ``seed``, and policies know them as ``problem.features``.
    num_arms, num_features : int
        K and d. A table has its own d.
    rows : str, array-like (n, d) or array-like (C, K, d)
        How the features of an arm are drawn: ``"sphere"``, uniform on the sphere of
        length 1; ``"signs"``, d random signs divided by sqrt(d); ``"shifted-signs"``,
        d random signs, each plus a uniform number in [-0.1, 0]; or a table, or the path
        of one (NPY, NPZ, CSV): K different rows of it. With three axes it has the
        features of every arm in each of C contexts, one of which every round draws,
        all with the same probability.
    length : float
        Length of theta, above 0.
    active : int
        Theta has a uniform direction in its first so many coordinates, and is 0 in the
        others; 0 means all.
    link : str
        F(u): ``"logistic"``, 1 / (1 + exp(-u)), or ``"probit"``, the distribution
        function of the standard normal law.
    seed : int
        Seed of theta, and of fixed features: the same in all runs.

    Raises
    ------
    ArgumentError
        If a parameter is out of range.

    Notes
    -----
    *Regret.* With the largest utility u of the round, showing i and j costs
    u - (u_i + u_j) / 2 (``utility_mean``), twice that (``utility_sum``), and
    u - max(u_i, u_j) (``utility_weak``).

    *What is drawn.* Theta, then fixed features, from the seed. Fresh features
    in every round, arm by arm, from the generator of the world: the same in run r for
    all policies.

    *Lower bound.* Where features are fixed, or a table has C contexts, with at most 40
    arms (of all contexts), tables and figures have the constant of log T that
    `theory.structured_lower_bound` computes for policies that know features and link.

    *What policies may assume.* With fixed features preferences are fixed, and the arm
    of the largest utility, if it is the only one, is the Condorcet winner.

    See Also
    --------
    GinopContexts, VacdbContexts : the generators of two papers.

    References
    ----------
    Saha (2021), Optimal Algorithms for Stochastic Contextual Preference Bandits,
    NeurIPS.

    Examples
    --------
    >>> from bayesduel.instances.worlds import LinearContexts
    >>> LinearContexts(num_arms=4).arm_features is None
    True
    >>> LinearContexts(contexts="fixed", num_arms=4).arm_features.shape
    (4, 5)
    >>> table = [[[1, 0], [0, 1]], [[1, 1], [0, 0]]]  # Two contexts, two arms.
    >>> sorted(LinearContexts(rows=table, num_arms=2).theory())
    ['utility_mean', 'utility_sum']
    """

    title = "linear-contexts"
    source = "Saha (2021), NeurIPS"
    notions = ("utility_mean", "utility_sum", "utility_weak")
    compiled = True

    contexts: str = "fresh"
    num_arms: int = 10
    num_features: int = 5
    rows: Any = "sphere"
    length: float = 2.0
    active: int = 0
    link: str = "logistic"
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.contexts, ("fresh", "fixed"), "contexts")
        one_of(self.link, ("logistic", "probit"), "link")
        number_above(self.length, 0, "length")
        integer_from(self.seed, 0, "seed")
        integer_from(self.num_arms, 2, "num_arms", 5000)
        if isinstance(self.rows, os.PathLike):
            object.__setattr__(self, "rows", os.fspath(self.rows))
        if self._table is not None:
            object.__setattr__(self, "num_features", self._table.shape[-1])
            if self._table.ndim == 3 and self.contexts == "fixed":
                raise ArgumentError(
                    "contexts",
                    "must be 'fresh' for a table of contexts, one of which is drawn in "
                    "every round",
                    self.contexts,
                )
        integer_from(self.num_features, 1, "num_features", 1000)
        integer_from(self.active, 0, "active", self.num_features)

    @cached_property
    def _table(self) -> Float[np.ndarray, "*n d"] | None:
        """Rows of the user's table, of each context where there are several."""
        rows = self.rows
        if isinstance(rows, str):
            if rows in _ROWS:
                return None
            if "." not in rows:
                one_of(rows, _ROWS, "rows")
            rows = next(iter(array_of_file(rows, "rows").values()))
        shape = np.shape(rows)
        if len(shape) == 3:
            if 0 in shape or shape[1] != self.num_arms:
                raise ArgumentError(
                    "rows",
                    "must have a row of features for each context and arm, shape "
                    f"(C, {self.num_arms}, d)",
                    self.rows,
                    remedy="give num_arms, too",
                )
            size = shape[0] * shape[1]
            return feature_table(np.reshape(rows, (size, shape[2]))).reshape(shape)
        if len(shape) != 2 or shape[0] < self.num_arms:
            raise ArgumentError(
                "rows",
                f"must be a table (n, d) with a row for each of the {self.num_arms} "
                "arms, or more",
                self.rows,
                remedy="give num_arms, too",
            )
        return feature_table(rows, shape[0])

    @cached_property
    def theta(self) -> Float[np.ndarray, " d"]:
        """Coefficients of the utilities, float64 (d,)."""
        return self._drawn[0]

    @property
    def arm_features(self) -> Float[np.ndarray, "K d"] | None:
        """Fixed features, float64 (K, d); None where they are fresh in every round."""
        return self._drawn[1] if self.contexts == "fixed" else None

    @cached_property
    def _drawn(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, "K d"]]:
        """Coefficients, and features: those of all rounds where they are fixed."""
        rng = np.random.default_rng(self.seed)
        theta = np.zeros(self.num_features)
        direction = rng.normal(size=self.active or self.num_features)
        theta[: len(direction)] = direction * self.length / np.linalg.norm(direction)
        features = np.zeros((self.num_arms, self.num_features))
        if self.contexts == "fixed":
            table, order, kind = self._source_of_rows()
            draw_features(features, table, order, kind, rng)
        return theta, features

    def _source_of_rows(self) -> tuple[Any, Any, int]:
        if self._table is None:
            empty = np.zeros((1, self.num_features))
            return empty, np.zeros(1, np.int64), _ROWS.index(self.rows)
        if self._table.ndim == 3:
            flat = self._table.reshape(-1, self.num_features)
            return flat, np.arange(len(self._table)), _CONTEXT
        return np.array(self._table), np.arange(len(self._table)), _TABLE

    @property
    def guarantees(self) -> tuple[str, ...]:  # pyright: ignore
        """Assumptions of policies that hold here."""
        if self.contexts == "fresh":
            return (KNOWN_HORIZON,)
        utilities = self._drawn[1] @ self.theta
        unique = np.sum(utilities >= utilities.max() - 1e-12) == 1
        winner = (CONDORCET_WINNER,) if unique else ()
        return (FIXED_PREFERENCES, *winner, KNOWN_HORIZON)

    def theory(self) -> dict[str, float]:
        """Return the constants of log T for policies that know features and link."""
        return dict(self._bounds)

    @cached_property
    def _bounds(self) -> dict[str, float]:
        model = {"logistic": "bradley-terry", "probit": "thurstone"}[self.link]
        table: Any = self.arm_features
        if table is not None:
            table = table[None]
        elif self._table is not None and self._table.ndim == 3:
            table = self._table
        if table is None or table.shape[0] * table.shape[1] > _MOST_ARMS:
            return {}
        from theory import structured_lower_bound  # It loads SciPy.

        # The model of Thurstone has F(u) = Phi(u / sqrt 2).
        unit = math.sqrt(2.0) if self.link == "probit" else 1.0
        frequencies = np.full(len(table), 1.0 / len(table))
        try:
            bound = structured_lower_bound(
                unit * self.theta,
                model,
                features=table,
                contexts=frequencies,
                cost="utility",
            )
        except (InvalidPreferenceError, ProgramError):
            return {}  # Tied, or beyond floating point.
        return {
            "utility_mean": bound.value / unit,
            "utility_sum": 2 * bound.value / unit,
        }

    @property
    def checksum(self) -> str:
        """Digest of the parameters, and of the table."""
        table = np.zeros(0) if self._table is None else self._table
        rows = self.rows if self._table is None else "table"
        numbers = (int(self.num_arms), int(self.num_features), float(self.length))
        numbers += (int(self.active), int(self.seed))
        words = (self.contexts, rows, self.link)
        return digest_of("linear-contexts", *numbers, *words, table)

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return features, utilities, the best one, coefficients, and how to draw."""
        features = np.array(self._drawn[1])
        theta = np.array(self.theta)
        table, order, kind = self._source_of_rows()
        utilities = features @ theta
        flags = np.array([self.contexts == "fresh", kind, self.link == "probit"])
        best = np.array([utilities.max()])
        return features, utilities, best, theta, table, order, flags.astype(np.int64)

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Draw fresh features."""
        features, utilities, best, theta, table, order, flags = state
        if not flags[0]:
            return
        draw_features(features, table, order, flags[1], rng)
        for i in range(len(utilities)):
            total = 0.0
            for k in range(len(theta)):
                total += features[i, k] * theta[k]
            utilities[i] = total
        best[0] = utilities.max()

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return this round, or the last of all where features are fixed."""
        return round_ if state[6][0] else LAST_ROUND

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the link of the difference of utilities."""
        gap = state[1][first] - state[1][second]
        if state[6][2]:
            return 0.5 * math.erfc(-gap / math.sqrt(2.0))
        return 1 / (1 + math.exp(-max(gap, -700.0)))

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return the regret of the mean, of the sum, and of the better arm."""
        best, one, two = state[2][0], state[1][first], state[1][second]
        mean = best - (one + two) / 2
        return mean, 2 * mean, best - max(one, two)

    def features(
        self, state: Any, rng: Generator, round_: int, /
    ) -> Float[np.ndarray, "K d"]:
        """Return the features of the round."""
        return state[0]


class GinopContexts(LinearContexts):
    """The generator of the paper on GINOP: 30 arms with 10 random signs.

    A :class:`LinearContexts` with other defaults: fixed features, d = 10, K = 30, rows
    of random signs divided by sqrt(d), and theta of length 2. Each ``seed`` is an
    instance; regret is ``utility_mean``.

    References
    ----------
    Ben Yahmed, Abeille and Calauzènes (2026), On the Complexity of Preference-Based
    Bandits, Appendix F.

    Examples
    --------
    >>> from bayesduel.instances.worlds import GinopContexts
    >>> GinopContexts(seed=3).arm_features.shape
    (30, 10)
    """

    title = "ginop-contexts"
    source = "Ben Yahmed, Abeille and Calauzènes (2026), Appendix F"

    contexts: str = "fixed"
    num_arms: int = 30
    num_features: int = 10
    rows: Any = "signs"


class VacdbContexts(LinearContexts):
    """The generator of the paper on VACDB: arms with 5 random signs plus noise.

    A :class:`LinearContexts` with other defaults: fresh features, d = 5, rows of random
    signs plus uniform numbers in [-0.1, 0], and theta of length 1 in the first two
    coordinates. There are 32 arms, as many as rows of signs. Regret is ``utility_sum``.

    References
    ----------
    Di, Jin, Wu, Zhao, Farnoud and Gu (2024), Variance-aware Regret Bounds for
    Stochastic Contextual Dueling Bandits, ICLR.

    Examples
    --------
    >>> from bayesduel.instances.worlds import VacdbContexts
    >>> VacdbContexts().theta.round(3)[2:].tolist()
    [0.0, 0.0, 0.0]
    """

    title = "vacdb-contexts"
    source = "Di, Jin, Wu, Zhao, Farnoud and Gu (2024), ICLR"

    num_arms: int = 32
    rows: Any = "shifted-signs"
    length: float = 1.0
    active: int = 2


def draw_features(
    features: Float[np.ndarray, "K d"],
    table: Float[np.ndarray, "n d"],
    order: Any,
    kind: int,
    rng: Generator,
) -> None:
    """Draw features of all arms in place, arm by arm. Plain loops, for Numba."""
    num_arms, size = features.shape
    first = int(rng.random() * len(order)) * num_arms if kind == _CONTEXT else 0
    for i in range(num_arms):
        if kind == _CONTEXT:
            for k in range(size):
                features[i, k] = table[first + i, k]
        elif kind == _TABLE:
            # The next card of a deck that is shuffled as it is dealt.
            j = i + int(rng.random() * (len(order) - i))
            order[i], order[j] = order[j], order[i]
            for k in range(size):
                features[i, k] = table[order[i], k]
        elif kind == _SPHERE:
            total = 0.0
            for k in range(size):
                features[i, k] = rng.standard_normal()
                total += features[i, k] * features[i, k]
            for k in range(size):
                features[i, k] /= math.sqrt(total)
        else:
            for k in range(size):
                sign = 1.0 if rng.random() < 0.5 else -1.0
                if kind == _SIGNS:
                    features[i, k] = sign / math.sqrt(size)
                else:
                    features[i, k] = sign - 0.1 * rng.random()
