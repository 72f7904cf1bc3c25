"""The matrix of a model that is nearest to another one: estimates obey no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import one_of
from theory.divergences import bernoulli_kl
from theory.errors import InvalidPreferenceError, ProgramError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.structured import transitive
from theory.structured.links import LINKS, Link
from theory.structured.truth import RAREST_WIN, Truth
from theory.validation import feature_table

if TYPE_CHECKING:
    from jaxtyping import Float64

_MAXIMAL_STEPS = 200
_ROUNDING = 1e-13
_STEEPEST = 1e-12  # A gradient that counts as 0, in units of the number of pairs


@dataclass(frozen=True, eq=False)
class Projection:
    """The matrix of a model that is nearest to a given one.

    Attributes
    ----------
    matrix : PreferenceMatrix
        P', that of the model.
    model : str
    utilities : float64 (K,) or None
        Those of the model, which add up to 0; None for "transitive".
    divergence : float
        Mean of KL(P, P') over pairs, in nats: what a duel loses by the model.
    largest_change : float
        Of a probability.
    pair : (int, int)
        Where that is.
    """

    matrix: PreferenceMatrix
    model: str
    utilities: NDArray[np.float64] | None
    divergence: float
    largest_change: float
    pair: tuple[int, int]


def project_on_model(
    preferences: PreferenceMatrix | ArrayLike,
    model: str = "bradley-terry",
    *,
    features: ArrayLike | None = None,
) -> Projection:
    """Fit a model to a matrix by maximum likelihood, every pair with equal weight.

    The fitted P' minimizes the sum of KL(P_ij, P'_ij) over pairs: it is the limit of
    the maximum-likelihood estimate from equally many duels of every pair. A matrix that
    obeys the model is its own projection.

    Parameters
    ----------
    preferences : PreferenceMatrix or array-like (K, K)
    model : {"bradley-terry", "thurstone", "transitive"}
        As in `structured_lower_bound`; at most 6 arms for "transitive".
    features : array-like (K, d), optional
        Utilities are ``features @ beta``; not for "transitive".

    Returns
    -------
    Projection

    Raises
    ------
    InvalidPreferenceError
        If no finite utilities are the best: some arms always beat the others.
    ProgramError
        If the search does not end.

    Notes
    -----
    With utilities the sum is convex, and Newton's method with a line search finds its
    minimum. With transitivity every order of the arms has an isotonic regression, and
    the best of them is taken: arms may come out level.

    Examples
    --------
    >>> result = project_on_model([[0.5, 0.7, 0.7], [0.3, 0.5, 0.6], [0.3, 0.4, 0.5]])
    >>> result.matrix.values.round(3)
    array([[0.5 , 0.67, 0.73],
           [0.33, 0.5 , 0.57],
           [0.27, 0.43, 0.5 ]])
    >>> round(result.divergence, 4)
    0.002
    """
    one_of(model, (*LINKS, "transitive"), "model")
    matrix = as_preference_matrix(preferences)
    utilities = None
    if model == "transitive":
        transitive.refuse_features(features)
        if matrix.num_arms > transitive.MOST_ARMS:
            raise InvalidPreferenceError(
                "preferences",
                f"must have at most {transitive.MOST_ARMS} arms here, for "
                f"{transitive.WHY}",
                matrix.num_arms,
                remedy="take fewer arms",
            )
        values = _nearest_order(matrix)
    else:
        table = None if features is None else feature_table(features, matrix.num_arms)
        utilities = _nearest_utilities(matrix.values, LINKS[model], table)
        values = LINKS[model].probability(utilities[:, None] - utilities)
        _refuse_certain(values, model)
    first, second = np.triu_indices(matrix.num_arms, 1)
    given, fitted = matrix.values[first, second], values[first, second]
    worst = int(np.abs(fitted - given).argmax())
    return Projection(
        matrix=PreferenceMatrix(
            values, arm_names=matrix.arm_names, features=matrix.features
        ),
        model=model,
        utilities=utilities,
        divergence=float(np.mean(np.asarray(bernoulli_kl(given, fitted)))),
        largest_change=float(abs(fitted - given)[worst]),
        pair=(int(first[worst]), int(second[worst])),
    )


def _nearest_utilities(
    values: Float64[np.ndarray, "K K"],
    link: Link,
    features: Float64[np.ndarray, "K d"] | None,
) -> Float64[np.ndarray, " K"]:
    """Minimize the sum of KL(P, F(differences)) over pairs, by Newton's method."""
    num_arms = len(values)
    first, second = np.triu_indices(num_arms, 1)
    p = values[first, second]
    basis = np.eye(num_arms) if features is None else features
    # Only differences matter: an orthonormal basis of what is left of the columns.
    left, sizes, _ = np.linalg.svd(basis - basis.mean(axis=0), full_matrices=False)
    keep = sizes > sizes.max(initial=0.0) * num_arms * np.finfo(float).eps
    directions = left[:, keep]
    steps = directions[first] - directions[second]
    beta = np.zeros(directions.shape[1])

    def total(beta: Float64[np.ndarray, " m"]) -> float:
        return float(np.asarray(bernoulli_kl(p, link.probability(steps @ beta))).sum())

    height = total(beta)
    for _ in range(_MAXIMAL_STEPS):
        x = steps @ beta
        gradient = steps.T @ link.slope(p, x)
        if np.abs(gradient).max(initial=0.0) <= _STEEPEST * len(p):
            return directions @ beta
        curved = steps.T @ (link.curvature(p, x)[:, None] * steps)
        way = np.linalg.solve(curved, gradient)
        # No difference moves by more than one unit at once: the sum is flat far out.
        share = 1.0 / max(1.0, float(np.abs(steps @ way).max()))
        there = total(beta - share * way)
        while there > height + _ROUNDING * (1.0 + height) and share > _ROUNDING:
            share /= 2.0
            there = total(beta - share * way)
        beta, height = beta - share * way, there
    raise ProgramError(
        f"no nearest matrix was found in {_MAXIMAL_STEPS} steps of Newton's method."
    )


def _refuse_certain(values: Float64[np.ndarray, "K K"], model: str) -> None:
    smallest = values.min()
    if smallest >= RAREST_WIN:
        return
    i, j = (int(k) for k in np.unravel_index(values.argmin(), values.shape))
    raise InvalidPreferenceError(
        "preferences",
        f"must leave the utilities of {model!r} finite; some arms always beat others, "
        f"and the estimate for arm {i} against {j} goes to 0",
        float(smallest),
        remedy="leave out arms that never win or never lose",
    )


def _nearest_order(matrix: PreferenceMatrix) -> Float64[np.ndarray, "K K"]:
    """Return the best of the isotonic regressions along all orders of the arms."""
    num_arms = matrix.num_arms
    first, second = np.triu_indices(num_arms, 1)
    ones = np.ones(first.size)
    best, nearest = np.inf, matrix.values
    # The orders that some arm does not lead; two arms leave out none together.
    for arm in (0, 1):
        shares = matrix.values[first, second]
        oracle = transitive.OrderOracle(
            Truth(num_arms, np.array([arm]), first, second, shares, ones)
        )
        q = oracle.solve(ones)
        sums = oracle.values(ones, q)[0]
        row = np.array([int(sums.argmin())])
        if sums[row[0]] < best - 1e-15:
            best = float(sums[row[0]])
            fitted = oracle.on_pairs(q[row], row)[0]
            nearest = np.full((num_arms, num_arms), 0.5)
            nearest[first, second], nearest[second, first] = fitted, 1.0 - fitted
    return nearest
