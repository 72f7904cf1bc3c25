"""The preference matrix: who beats whom, and how likely."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from theory.arguments import arm_index, items_of, one_of
from theory.errors import ArgumentTypeError, InvalidPreferenceError
from theory.regret import pair_regret
from theory.validation import (
    aligned_table,
    feature_table,
    price_table,
    probability_matrix,
)

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64, Shaped


TIE_TOLERANCE = 1e-8  # Two arms tie when |P(i beats j) - 1/2| is below this

# Rounding in a comparison of sums of two printed probabilities.
TRANSITIVITY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceMatrix:
    """Preference matrix of K arms, validated and read-only.

    Entry (i, j) is the probability that arm i beats arm j. Everything that depends only
    on which arm of a pair is better (superiors, losses, winners) is computed from gaps.
    There, the two entries of a pair are exact negatives of each other, and a tie is
    exactly 0. Ties are allowed. Bounds that assume that there are none say so.

    Parameters
    ----------
    values : array-like (K, K)
        K >= 2, real, finite, in [0, 1], values + values.T = 1 within 1e-9, diagonal
        1/2; at most 5000. The array is copied, and its numbers are used as given. The
        exception is float32: these numbers may be off by their rounding error, 1.2e-7,
        and are converted to float64 as 1/2 + (values - values.T) / 2. For a
        pandas.DataFrame or xarray.DataArray, the labels become the names of the arms,
        and columns are reordered to match the rows.
    name : str, optional
        Name of the matrix.
    arm_names : sequence of K different str, optional
        Names of the arms, in the order of the rows.
    source : str, optional
        Where the numbers come from.
    features : array-like (K, d), optional
        Features of each arm, in the order of the rows, for policies and models that use
        them. Nothing is assumed about how the probabilities depend on them.
    prices : array-like (K, K) or (K,), or mapping from names to float, optional
        The prices of duels, as for `identification_bound`: one per pair, or one per
        arm, so that a duel costs the sum of its two arms. They are stored as a table of
        pairs.

    Attributes
    ----------
    values : float64 (K, K)
        The numbers as given, read-only; see above for float32.

    Raises
    ------
    InvalidPreferenceError
        If one of these rules is violated. The message names the worst entry.

    Notes
    -----
    Two matrices are equal when their values, features and prices are, whatever their
    names.

    Examples
    --------
    >>> matrix = PreferenceMatrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    >>> matrix.condorcet_winner
    0
    >>> matrix.losses.tolist()
    [0, 1, 2]
    >>> matrix
    PreferenceMatrix(K=3, Condorcet winner 0)
    """

    values: NDArray[np.float64]
    name: str | None = field(default=None, kw_only=True)
    arm_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    source: str | None = field(default=None, kw_only=True)
    features: NDArray[np.float64] | None = field(default=None, kw_only=True)
    prices: NDArray[np.float64] | None = field(default=None, kw_only=True)

    def __init__(
        self,
        values: ArrayLike,
        *,
        name: str | None = None,
        arm_names: Sequence[str] | None = None,
        source: str | None = None,
        features: ArrayLike | None = None,
        prices: ArrayLike | Mapping[str, float] | None = None,
    ) -> None:
        table, labels = aligned_table(values, "values")
        array = probability_matrix(table)
        array.setflags(write=False)
        given = labels if arm_names is None else arm_names
        names = None if given is None else _checked_names(given, len(array))
        for word, text in (("name", name), ("source", source)):
            if not (text is None or isinstance(text, str)):
                raise ArgumentTypeError(word, "must be a str", text)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arm_names", names)
        object.__setattr__(self, "source", source)
        known = None if features is None else feature_table(features, len(array))
        object.__setattr__(
            self, "features", known if known is None else _read_only(known)
        )
        paid = None if prices is None else price_table(prices, len(array), names)
        object.__setattr__(self, "prices", paid if paid is None else _read_only(paid))

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> Shaped[np.ndarray, "K K"]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PreferenceMatrix):
            return NotImplemented
        # Features that there are and none are different, too.
        known = np.array_equal(self.features, other.features)  # pyright: ignore
        paid = np.array_equal(self.prices, other.prices)  # pyright: ignore
        return np.array_equal(self.values, other.values) and known and paid

    def __hash__(self) -> int:
        return hash((self.values + 0.0).tobytes())  # -0.0 equals 0.0

    def __reduce__(self) -> tuple[object, ...]:
        # Pickles and copies are validated and read-only again.
        given = {"name": self.name, "arm_names": self.arm_names, "source": self.source}
        known = {"features": self.features, "prices": self.prices}
        return partial(PreferenceMatrix, **given, **known), (self.values,)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        if self.condorcet_winner is not None:
            winner = f"Condorcet winner {self.condorcet_winner}"
        else:
            noun = "winner" if len(self.copeland_winners) == 1 else "winners"
            arms = ", ".join(map(str, self.copeland_winners[:5]))
            more = ", ..." if len(self.copeland_winners) > 5 else ""
            winner = f"Copeland {noun} {arms}{more}"
        ties = f", {len(self.ties)} tied" if self.ties else ""
        return f"PreferenceMatrix({name}K={self.num_arms}, {winner}{ties})"

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.values.shape[0]

    @cached_property
    def gaps(self) -> Float64[np.ndarray, "K K"]:
        """Exactly antisymmetric (values - values.T) / 2; below 1e-8 set to 0."""
        gaps = (self.values - self.values.T) / 2
        gaps[np.abs(gaps) < TIE_TOLERANCE] = 0.0
        gaps.setflags(write=False)
        return gaps

    @property
    def ties(self) -> list[tuple[int, int]]:
        """Tied pairs (i, j), i < j, in reading order."""
        rows, columns = np.nonzero(np.triu(self.gaps == 0, k=1))
        return list(zip(rows.tolist(), columns.tolist(), strict=True))

    def superiors(self, arm: int) -> tuple[int, ...]:
        """Return the arms that beat an arm, P(arm beats j) < 1/2, in order."""
        row = self.gaps[arm_index(arm, self.num_arms, "arm")]
        return tuple(np.flatnonzero(row < 0).tolist())

    def inferiors(self, arm: int) -> tuple[int, ...]:
        """Return the arms that an arm beats, P(arm beats j) > 1/2, in order."""
        row = self.gaps[arm_index(arm, self.num_arms, "arm")]
        return tuple(np.flatnonzero(row > 0).tolist())

    @cached_property
    def losses(self) -> Int64[np.ndarray, " K"]:
        """Number of superiors of every arm, int64 (K,)."""
        return _read_only((self.gaps < 0).sum(axis=1, dtype=np.int64))

    @cached_property
    def wins(self) -> Int64[np.ndarray, " K"]:
        """Number of inferiors of every arm, int64 (K,)."""
        return _read_only((self.gaps > 0).sum(axis=1, dtype=np.int64))

    @property
    def copeland_scores(self) -> Float64[np.ndarray, " K"]:
        """Share of the other arms that every arm beats, float64 (K,)."""
        return self.wins / (self.num_arms - 1)

    @cached_property
    def copeland_winners(self) -> tuple[int, ...]:
        """Arms with the most wins. Simulated regret uses these winners."""
        return tuple(np.flatnonzero(self.wins == self.wins.max()).tolist())

    @cached_property
    def loss_winners(self) -> tuple[int, ...]:
        """Arms with the fewest losses, the notion of the lower-bound programs.

        They differ from `copeland_winners` only if arms tie.
        """
        return tuple(np.flatnonzero(self.losses == self.losses.min()).tolist())

    @property
    def borda_scores(self) -> Float64[np.ndarray, " K"]:
        """Mean probability to beat one of the other arms, float64 (K,)."""
        return (self.values.sum(axis=1) - 0.5) / (self.num_arms - 1)

    @property
    def condorcet_winner(self) -> int | None:
        """The arm that beats all others, or None."""
        best = self.copeland_winners[0]
        return best if self.wins[best] == self.num_arms - 1 else None

    @cached_property
    def is_total_order(self) -> bool:
        """Whether the arms can be listed so that none is beaten by a later one.

        Equivalent: no cycle of wins. Ties are allowed.
        """
        return not find_cycle(self)

    def satisfies_sst(self) -> bool:
        """Return whether strong stochastic transitivity holds for all triples of arms.

        That is: a total order exists, and P(i beats k) >= max(P(i beats j), P(j beats
        k)) within 1e-9 whenever neither P(i beats j) nor P(j beats k) is below 1/2.
        Without ties this is the usual definition, applied along the order. Tied arms
        must be interchangeable.
        """
        return self.is_total_order and find_intransitive_triple(self, "sst") is None

    def satisfies_sti(self) -> bool:
        """Return whether the stochastic triangle inequality holds for all triples.

        That is: a total order exists, and gap(i, k) <= gap(i, j) + gap(j, k) within
        1e-9 whenever neither gap on the right is negative, gap(i, j) being P(i beats j)
        - 1/2.
        """
        return self.is_total_order and find_intransitive_triple(self, "sti") is None

    def regret_per_pair(
        self, notion: str = "copeland", *, include_self: bool = False
    ) -> Float64[np.ndarray, "K K"]:
        """Compute the regret of one duel of every pair.

        Parameters
        ----------
        notion : str
            One of `theory.REGRET_NOTIONS`; their formulas and sources are in
            `theory.regret.pair_regret`.
        include_self : bool
            Only for ``borda``: count a duel of an arm with itself in its score.

        Returns
        -------
        float64 (K, K)
            Symmetric; entry (i, i) is the regret of a duel of i with itself.

        Raises
        ------
        InvalidPreferenceError
            If the notion is unknown, or needs a Condorcet winner and there is none.

        Examples
        --------
        >>> matrix = PreferenceMatrix([[0.5, 0.7], [0.3, 0.5]])
        >>> matrix.regret_per_pair("copeland").tolist()
        [[0.0, 0.5], [0.5, 1.0]]
        """
        return pair_regret(self.values, self.gaps, notion, include_self=include_self)

    def submatrix(self, indices: Sequence[int]) -> PreferenceMatrix:
        """Select arms.

        Parameters
        ----------
        indices : sequence of at least two different int
            Arms in the wanted order.

        Returns
        -------
        PreferenceMatrix
            Their matrix, with the names, features and prices of the arms and the
            source, without the name.

        Raises
        ------
        InvalidPreferenceError
            If an index is repeated or not among 0, ..., K - 1, or fewer than two are
            given.
        """
        given = items_of(indices, "indices")
        arms = [arm_index(arm, self.num_arms, "indices") for arm in given]
        if len(set(arms)) < len(arms) or len(arms) < 2:
            raise InvalidPreferenceError(
                "indices", "must be at least two different arms", arms
            )
        names = self.arm_names
        return PreferenceMatrix(
            self.values[np.ix_(arms, arms)],
            arm_names=None if names is None else [names[arm] for arm in arms],
            source=self.source,
            features=None if self.features is None else self.features[arms],
            prices=None if self.prices is None else self.prices[np.ix_(arms, arms)],
        )

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the values as little-endian float64 in C order, hexadecimal.

        If there are features or prices, they are appended to the values.
        """
        digest = hashlib.sha256(self.values.astype("<f8").tobytes())
        if self.features is not None:
            digest.update(self.features.astype("<f8").tobytes())
        if self.prices is not None:
            digest.update(b"prices")
            digest.update(self.prices.astype("<f8").tobytes())
        return digest.hexdigest()


def as_preference_matrix(matrix: PreferenceMatrix | ArrayLike) -> PreferenceMatrix:
    """Return a preference matrix as it is, and check anything else."""
    return matrix if isinstance(matrix, PreferenceMatrix) else PreferenceMatrix(matrix)


def find_cycle(matrix: PreferenceMatrix | ArrayLike) -> tuple[int, ...]:
    """Find a cycle of wins.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)

    Returns
    -------
    tuple of int
        Arms of which each beats the next one, and the last one the first; empty if
        there is none, that is, if the arms have a total order (ties allowed).

    Examples
    --------
    >>> find_cycle([[0.5, 0.6, 0.3], [0.4, 0.5, 0.8], [0.7, 0.2, 0.5]])
    (0, 1, 2)
    """
    beats = as_preference_matrix(matrix).gaps > 0
    remaining = np.ones(len(beats), dtype=bool)
    while remaining.any():
        beaten = remaining & (beats & remaining[:, None]).any(axis=0)
        if (beaten == remaining).all():
            break
        remaining = beaten
    else:
        return ()
    # Go from an arm to one that beats it until an arm comes twice.
    path = [int(np.flatnonzero(remaining)[0])]
    while True:
        above = int(np.flatnonzero(beats[:, path[-1]] & remaining)[0])
        if above in path:
            cycle = path[path.index(above) :][::-1]
            start = cycle.index(min(cycle))
            return tuple(cycle[start:] + cycle[:start])
        path.append(above)


def find_intransitive_triple(
    matrix: PreferenceMatrix | ArrayLike, rule: str
) -> tuple[int, int, int] | None:
    """Find the triple of arms that breaks a rule of transitivity most.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    rule : {"sst", "sti"}
        For arms with gap(i, j) >= 0 and gap(j, k) >= 0, gap being P - 1/2: "sst" is
        strong stochastic transitivity, gap(i, k) >= max(gap(i, j), gap(j, k)); "sti"
        the stochastic triangle inequality, gap(i, k) <= gap(i, j) + gap(j, k).

    Returns
    -------
    (i, j, k) or None
        The triple where the inequality fails by most, the first one among equals; None
        if it holds within 1e-9 for all. `PreferenceMatrix.satisfies_sst` and
        ``satisfies_sti`` ask for a total order as well, see `find_cycle`.

    Examples
    --------
    >>> matrix = [[0.5, 0.7, 0.6], [0.3, 0.5, 0.7], [0.4, 0.3, 0.5]]
    >>> find_intransitive_triple(matrix, "sst")
    (0, 1, 2)
    >>> find_intransitive_triple(matrix, "sti") is None
    True
    """
    one_of(rule, ("sst", "sti"), "rule")
    gaps = as_preference_matrix(matrix).gaps
    worst, triple = TRANSITIVITY_TOLERANCE, None
    for middle in range(len(gaps)):
        to_middle, from_middle = gaps[:, middle, None], gaps[None, middle, :]
        if rule == "sst":
            shortfall = np.maximum(to_middle, from_middle) - gaps
        else:
            shortfall = gaps - (to_middle + from_middle)
        # A "triple" with a repeated arm has 0 here.
        shortfall[~((to_middle >= 0) & (from_middle >= 0))] = 0.0
        first, last = np.unravel_index(int(shortfall.argmax()), shortfall.shape)
        if shortfall[first, last] > worst:
            worst, triple = shortfall[first, last], (int(first), middle, int(last))
    return triple


def require_strong_transitivity(matrix: PreferenceMatrix, bound: str) -> None:
    """Raise unless a total order, SST and STI hold, as ``bound`` asks."""
    cycle = find_cycle(matrix)
    if cycle:
        raise InvalidPreferenceError(
            "matrix",
            f"must have a total order of the arms for {bound}, and no cycle",
            " > ".join(map(str, (*cycle, cycle[0]))),
        )
    gaps = matrix.gaps
    for rule, name, sign in (
        ("sst", "strong stochastic transitivity", "below max"),
        ("sti", "the stochastic triangle inequality", "above the sum"),
    ):
        triple = find_intransitive_triple(matrix, rule)
        if triple:
            i, j, k = triple
            raise InvalidPreferenceError(
                "matrix",
                f"must have {name} for {bound}; arms {i}, {j}, {k} break it: their "
                f"gap is {sign} of gap({i}, {j}) = {gaps[i, j]:.10g} and gap({j}, "
                f"{k}) = {gaps[j, k]:.10g}",
                # For P = 0.672 the last digits of P - 1/2 are rounding errors.
                float(f"{gaps[i, k]:.15g}"),
                index=(i, k),
            )


def _read_only[T: np.generic](array: NDArray[T]) -> NDArray[T]:
    array.setflags(write=False)
    return array


def _checked_names(arm_names: Sequence[str], num_arms: int) -> tuple[str, ...]:
    names = items_of(arm_names, "arm_names")
    if not all(isinstance(name, str) for name in names):
        raise InvalidPreferenceError(
            "arm_names", "must be a sequence of strings", arm_names
        )
    if len(names) != num_arms or len(set(names)) < len(names):
        raise InvalidPreferenceError(
            "arm_names", f"must be {num_arms} different names, one per arm", names
        )
    return names
