"""The true preferences, pair by pair, after every check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import one_of
from theory.copeland_program.prices import checked_prices
from theory.divergences import bernoulli_kl
from theory.errors import ArgumentError, InvalidPreferenceError, TieError
from theory.preferences import (
    PreferenceMatrix,
    as_preference_matrix,
    find_intransitive_triple,
)
from theory.structured.links import LINKS, Link
from theory.validation import feature_table, numeric_array

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64


# Costs that are regret, and their notions
COSTS: dict[str, str] = {
    "copeland": "copeland_losses",
    "gap": "condorcet_mean",
    "utility": "utility_mean",
}
MISFIT = 1e-6  # A matrix obeys a utility model if no probability is off by more
RAREST_WIN = 1e-12  # Smallest probability of a utility model

# The remedy for a matrix that obeys no model
PROJECT = "fit the model first: theory.project_on_model, bounds --project"
_ARGUMENT = "preferences"


@dataclass(frozen=True, eq=False)
class Truth:
    """Pairs that can be asked, E of them, with the arm that is behind first."""

    num_arms: int  # Number of arms K; with contexts the arms of all of them, C K.
    best: NDArray[np.intp]  # (1,), (C,): The arms that beat all others, per context.
    # (E,): Both arms of a pair.
    behind: NDArray[np.intp]
    ahead: NDArray[np.intp]
    # (E,): P(behind beats ahead), at most 1/2: small ones keep all their digits.
    shares: NDArray[np.float64]
    prices: NDArray[np.float64]  # (E,): Price of a duel, positive and finite.

    def table(self, values: Float64[np.ndarray, " E"]) -> Float64[np.ndarray, "K K"]:
        """Spread values of the pairs over a symmetric matrix."""
        table = np.zeros((self.num_arms, self.num_arms))
        table[self.behind, self.ahead] = table[self.ahead, self.behind] = values
        return table

    def label(self, arm: int) -> str:
        """Return an arm in words, with its context where there are several."""
        if len(self.best) == 1:
            return f"arm {arm}"
        context, position = divmod(arm, self.num_arms // len(self.best))
        return f"arm {position} of context {context}"

    def divergences(
        self, alternatives: Float64[np.ndarray, "*rows E"]
    ) -> Float64[np.ndarray, "*rows E"]:
        """Return KL(P, P') on every pair, for P'(behind beats ahead)."""
        return np.asarray(bernoulli_kl(self.shares, alternatives))


@dataclass(frozen=True, eq=False)
class Solved:
    """Two sides of a solved program."""

    # (E,): An allocation under which every alternative costs at least 1, as was proved.
    duels: NDArray[np.float64]
    # (R,): Of the alternatives: sum of multipliers * KL(p, p') <= price on every pair.
    multipliers: NDArray[np.float64]
    # (R,): The best arm of every alternative, level with the true one.
    rivals: NDArray[np.intp]
    # (R, E): p' of the pairs, P'(behind beats ahead).
    alternatives: NDArray[np.float64]
    rounds: int  # Steps of the method.


@dataclass(frozen=True, eq=False)
class UtilityModel:
    """Utilities theta = directions @ beta, with theta = 0 of the best arm."""

    link: Link
    directions: NDArray[np.float64]  # (K, m) or (C K, m): Of full column rank.
    utilities: NDArray[np.float64]  # (K,): The true ones, those of the best arms 0.


def truth_of(
    matrices: list[PreferenceMatrix], prices: Float64[np.ndarray, "C K K"]
) -> Truth:
    """List the pairs with a finite price, of one context after the other."""
    num_arms = matrices[0].num_arms
    context, first, second = np.nonzero(np.triu(np.isfinite(prices), k=1))
    values = np.stack([matrix.values for matrix in matrices])
    gaps = np.stack([matrix.gaps for matrix in matrices])
    swap = gaps[context, first, second] > 0
    behind, ahead = np.where(swap, second, first), np.where(swap, first, second)
    best = np.array([matrix.condorcet_winner for matrix in matrices], dtype=np.intp)
    offset = num_arms * context
    return Truth(
        num_arms * len(matrices),
        best + num_arms * np.arange(len(matrices)),
        behind + offset,
        ahead + offset,
        np.minimum(values[context, behind, ahead], 0.5),
        prices[context, behind, ahead],
    )


def refuse_without_best_arm(matrix: PreferenceMatrix, where: str = "") -> None:
    """Raise unless one arm beats all others; ties between others are allowed."""
    if matrix.condorcet_winner is not None:
        return
    arm = matrix.loss_winners[0]
    tied = [pair for pair in matrix.ties if arm in pair]
    if not tied:
        raise InvalidPreferenceError(
            _ARGUMENT,
            f"must have an arm that beats all others{where}: the order of a model has "
            "one",
            list(matrix.loss_winners),
            remedy=f"theory.copeland_lower_bound needs no order; or {PROJECT}",
        )
    i, j = tied[0]
    raise TieError(
        _ARGUMENT,
        f"must not be 1/2: arms {i} and {j} tie{where}, no number of duels tells "
        "which of them is the best, and there is no bound of this kind",
        0.5,
        index=(i, j),
        remedy="leave one of them out",
    )


def costs_of(
    cost: object,
    matrix: PreferenceMatrix,
    utilities: Float64[np.ndarray, " K"] | None = None,
) -> tuple[str, Float64[np.ndarray, "K K"]]:
    """Return the name of a cost, and the price of a duel of every pair."""
    if not isinstance(cost, str):
        prices = checked_prices(cost, matrix)
        off = ~np.eye(matrix.num_arms, dtype=bool)
        if (prices[off] == 0).any():
            i, j = np.argwhere((prices == 0) & off)[0].tolist()
            raise InvalidPreferenceError(
                "cost",
                f"must be positive; a duel of ({i}, {j}) is free, and under a model it "
                "tells about other pairs too, so it would be asked without end",
                0.0,
                remedy="give every pair a positive price, or inf if it cannot be asked",
            )
        return "prices", prices
    name = one_of(cost, ("duels", *COSTS), "cost")
    if name == "duels":
        return name, checked_prices(None, matrix)
    if name == "utility":
        if utilities is None:
            raise ArgumentError(
                "cost",
                "must not be 'utility' for the model 'transitive', which has none",
                cost,
                remedy="take 'gap'",
            )
        regret = utilities.max() - (utilities[:, None] + utilities) / 2
    else:
        regret = matrix.regret_per_pair(COSTS[name])
    np.fill_diagonal(regret, 0.0)
    return name, regret


def read_utility_model(
    preferences: PreferenceMatrix | ArrayLike, model: str, features: object
) -> tuple[PreferenceMatrix, UtilityModel]:
    """Read utilities (K,), or find those of a matrix (K, K) that obeys the model."""
    link = LINKS[model]
    utilities, given = _utilities(preferences, link, model)
    basis = None if features is None else feature_table(features, len(utilities))
    if basis is not None:
        # Only differences matter: neither side needs a constant.
        basis, utilities = basis - basis.mean(axis=0), utilities - utilities.mean()
        spanned = basis @ np.linalg.lstsq(basis, utilities, rcond=None)[0]
        rule = "must be spanned by the features"
        _refuse_misfit(_table(link, spanned), _table(link, utilities), rule)
        utilities = spanned
    names = given.arm_names if given is not None else None
    matrix = _matrix_of(link, utilities, names)
    best = int(np.argmax(utilities))
    directions = (
        np.delete(np.eye(len(utilities)), best, axis=1)
        if basis is None
        else _orthonormal(basis - basis[best])
    )
    return matrix, UtilityModel(link, directions, utilities - utilities[best])


def read_contexts(
    preferences: object, model: str, features: object, contexts: object
) -> tuple[list[PreferenceMatrix], UtilityModel, Int64[np.ndarray, " S"]]:
    """Read utilities (C, K), or coefficients (d,), and features (C, K, d)."""
    # Return a matrix for each context of positive frequency, the model of all of them,
    # and which contexts these are.
    link = LINKS[model]
    table = numeric_array(features, "features")
    if table.ndim != 3 or 0 in table.shape or table.shape[1] < 2:
        raise InvalidPreferenceError(
            "features",
            "must have a row of features for each context and arm, shape (C, K, d) "
            "with at least two arms",
            table.shape,
            remedy="features of one context are features[None] with contexts=[1.0]",
        )
    num_contexts, num_arms, size = table.shape
    table = feature_table(table.reshape(-1, size)).reshape(table.shape)
    frequencies = numeric_array(contexts, "contexts")
    fits = frequencies.shape == (num_contexts,)
    fits = fits and np.isfinite(frequencies).all() and (frequencies >= 0).all()
    if not (fits and abs(frequencies.sum() - 1.0) <= 1e-9):
        raise ArgumentError(
            "contexts",
            f"must be the frequencies of the {num_contexts} contexts of the features: "
            "not negative, with sum 1",
            contexts,
        )
    given = numeric_array(preferences, _ARGUMENT)
    rule = (
        f"must be coefficients, shape ({size},), or utilities of every context and "
        f"arm, shape ({num_contexts}, {num_arms})"
    )
    known = given.shape in {(size,), (num_contexts, num_arms)}
    if not known or not np.isfinite(given).all():
        raise InvalidPreferenceError(_ARGUMENT, rule, preferences)
    utilities = table @ given if given.ndim == 1 else given
    # Only differences within a context matter.
    table = table - table.mean(axis=1, keepdims=True)
    utilities = utilities - utilities.mean(axis=1, keepdims=True)
    flat = table.reshape(-1, size)
    spanned = flat @ np.linalg.lstsq(flat, utilities.ravel(), rcond=None)[0]
    spanned = spanned.reshape(utilities.shape)
    occurring = np.flatnonzero(frequencies > 0)
    matrices = []
    for context in occurring:
        where = f" in context {context}"
        rule = f"must be spanned by the features{where}"
        fitted = _table(link, spanned[context])
        _refuse_misfit(fitted, _table(link, utilities[context]), rule)
        matrices.append(_matrix_of(link, spanned[context], None, where))
    rows = np.arange(len(occurring))
    table, spanned = table[occurring], spanned[occurring]
    best = spanned.argmax(axis=1)
    directions = table - table[rows, best][:, None]
    away = spanned - spanned[rows, best][:, None]
    kind = UtilityModel(link, _orthonormal(directions.reshape(-1, size)), away.ravel())
    return matrices, kind, occurring


def _matrix_of(
    link: Link,
    utilities: Float64[np.ndarray, " K"],
    names: tuple[str, ...] | None,
    where: str = "",
) -> PreferenceMatrix:
    values = _table(link, utilities)
    smallest = values.min()
    if smallest < RAREST_WIN:
        i, j = (int(k) for k in np.unravel_index(values.argmin(), values.shape))
        raise InvalidPreferenceError(
            _ARGUMENT,
            f"must leave every arm a probability to win of {RAREST_WIN:g} or more; arm "
            f"{i} against {j} has less{where}",
            float(smallest),
            remedy="leave out arms that never win",
        )
    matrix = PreferenceMatrix(values, arm_names=names)
    refuse_without_best_arm(matrix, where)
    return matrix


def read_transitive(preferences: PreferenceMatrix | ArrayLike) -> PreferenceMatrix:
    """Read a matrix that obeys strong stochastic transitivity."""
    if not isinstance(preferences, PreferenceMatrix) and np.ndim(preferences) == 1:
        raise InvalidPreferenceError(
            _ARGUMENT,
            "must be a matrix (K, K) for 'transitive', which has no utilities",
            preferences,
        )
    matrix = as_preference_matrix(preferences)
    refuse_without_best_arm(matrix)
    triple = find_intransitive_triple(matrix, "sst")
    if triple is not None:
        i, j, k = triple
        gaps = matrix.gaps
        short = max(gaps[i, j], gaps[j, k]) - gaps[i, k]
        raise InvalidPreferenceError(
            _ARGUMENT,
            "must obey strong stochastic transitivity, P(i beats k) >= max(P(i beats "
            f"j), P(j beats k)); arms {i}, {j}, {k} miss it by {short:.4g}: P({i} "
            f"beats {k})",
            float(matrix.values[i, k]),
            remedy=f"theory.copeland_lower_bound assumes no order; or {PROJECT}",
        )
    return matrix


def _utilities(
    preferences: PreferenceMatrix | ArrayLike, link: Link, model: str
) -> tuple[NDArray[np.float64], PreferenceMatrix | None]:
    if not isinstance(preferences, PreferenceMatrix) and np.ndim(preferences) == 1:
        utilities = numeric_array(preferences, _ARGUMENT)
        if utilities.size < 2 or not np.isfinite(utilities).all():
            raise InvalidPreferenceError(
                _ARGUMENT, "must be at least two finite utilities", preferences
            )
        return utilities, None
    matrix = as_preference_matrix(preferences)
    off = ~np.eye(matrix.num_arms, dtype=bool)
    sure = ((matrix.values == 0) | (matrix.values == 1)) & off
    if sure.any():
        i, j = np.argwhere(sure)[0].tolist()
        raise InvalidPreferenceError(
            _ARGUMENT,
            f"must lie strictly between 0 and 1 for {model!r}; entry ({i}, {j}) does "
            "not",
            float(matrix.values[i, j]),
            remedy=f"finite utilities leave every arm a probability; {PROJECT}",
        )
    # Both orientations are read, so that the one near 1 does not spoil the other.
    small = np.minimum(matrix.values, matrix.values.T)
    away = link.difference(small) * np.where(matrix.values > 0.5, -1.0, 1.0)
    np.fill_diagonal(away, 0.0)
    utilities = away.mean(axis=1)
    rule = f"must obey the model {model!r}"
    _refuse_misfit(_table(link, utilities), matrix.values, rule)
    return utilities, matrix


def _table(
    link: Link, utilities: Float64[np.ndarray, " K"]
) -> Float64[np.ndarray, "K K"]:
    return link.probability(utilities[:, None] - utilities)


def _refuse_misfit(
    fitted: Float64[np.ndarray, "K K"], given: Float64[np.ndarray, "K K"], rule: str
) -> None:
    misfit = np.abs(fitted - given)
    if misfit.max() > MISFIT:
        i, j = (int(k) for k in np.unravel_index(misfit.argmax(), misfit.shape))
        raise InvalidPreferenceError(
            _ARGUMENT,
            f"{rule} within {MISFIT:g}; P({i} beats {j}) misses that by "
            f"{misfit[i, j]:.4g}",
            float(given[i, j]),
            remedy=f"{PROJECT}; or use theory.copeland_lower_bound, which assumes none",
        )


def _orthonormal(table: Float64[np.ndarray, "K d"]) -> Float64[np.ndarray, "K m"]:
    """Return columns that span the same space."""
    left, sizes, _ = np.linalg.svd(table, full_matrices=False)
    keep = sizes > sizes.max(initial=0.0) * max(table.shape) * np.finfo(float).eps
    # The row of the best arm is 0, to the last bit.
    return np.where((table != 0).any(axis=1)[:, None], left[:, keep], 0.0)
