"""Which arms break strong stochastic transitivity or the triangle inequality."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import one_of
from theory.errors import InvalidPreferenceError
from theory.preferences import (
    TRANSITIVITY_TOLERANCE,
    PreferenceMatrix,
    as_preference_matrix,
)


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
            return _walk_back(beats, remaining)
        remaining = beaten
    return ()


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
    worst, found = TRANSITIVITY_TOLERANCE, None
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
            worst, found = shortfall[first, last], (int(first), middle, int(last))
    return found


def require_strong_transitivity(matrix: PreferenceMatrix, bound: str) -> None:
    """Raise unless a total order, SST and STI hold, as the theorem ``bound`` asks.

    `InvalidPreferenceError` names the arms.
    """
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
                # Of P = 0.672 the last digits of P - 1/2 are not what was given.
                float(f"{gaps[i, k]:.15g}"),
                index=(i, k),
            )


def _walk_back(
    beats: NDArray[np.bool_], remaining: NDArray[np.bool_]
) -> tuple[int, ...]:
    """Go from an arm to one that beats it until an arm comes twice."""
    path = [int(np.flatnonzero(remaining)[0])]
    while True:
        above = int(np.flatnonzero(beats[:, path[-1]] & remaining)[0])
        if above in path:
            cycle = path[path.index(above) :][::-1]
            start = cycle.index(min(cycle))
            return tuple(cycle[start:] + cycle[:start])
        path.append(above)
