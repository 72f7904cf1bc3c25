"""Comparisons as arrays: a row per pair, or tables of all pairs.

Which of the two a log density is written for decides how fast it is. Rows hold the
pairs that were compared, found by index; tables hold all of them, and need no index:
inside a program that many runs share, indexing costs many times the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from bayesduel.errors import FitError
from bayesduel.models.array_modules import Values, namespace, sums_at
from bayesduel.votes.comparisons import NEUTRAL, Comparisons

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True)
class Votes:
    """Comparisons as arrays, as the models read them.

    Attributes
    ----------
    first, second : int (row,)
        Positions of the two arms, in the order in which they were shown.
    counts : float (row, outcome)
        Votes for the first arm, for the second and, in a model with ties, ties.
    covariates : float (K, D)
        What is known about each arm.
    num_arms : int
        K.
    columns : dict of arrays (row,)
        What each row carries, such as ``judge``, for models that read it: numbers, or
        places among labels. ``votes["judge"]`` is one of them, ``votes.size("judge")``
        the number of its labels.
    sizes : tuple of (str, int)
        Numbers of labels.
    contest : float (row, C), optional
        Covariates of the contest, the first arm's minus the second's, in units of their
        own; None in a model without.
    contest_units : tuple of C float
        These units: the root mean square over rows. Chains are slow where unknown
        quantities differ in size, and the unit of a column may be anything.

    Notes
    -----
    A pytree as soon as :mod:`bayesduel.models.fit.numpyro_models` is imported, which
    everything that traces it does.
    """

    first: Int[Array | np.ndarray, " row"]
    second: Int[Array | np.ndarray, " row"]
    counts: Float[Array | np.ndarray, "row outcome"]
    covariates: Float[Array | np.ndarray, "K D"]
    num_arms: int
    columns: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[tuple[str, int], ...] = ()
    contest: Float[Array | np.ndarray, "row C"] | None = None
    contest_units: tuple[float, ...] = ()

    def __getitem__(self, name: str) -> Values:
        """Return a column (row,): numbers, or places among the labels of it."""
        if name not in self.columns:
            carried = ", ".join(self.columns) or "none"
            rule = f"must be a column that the votes carry, {carried}"
            raise FitError("name", rule, name)
        return self.columns[name]

    def size(self, name: str) -> int:
        """Return the number of labels of a column."""
        sizes = dict(self.sizes)
        if name not in sizes:
            carried = ", ".join(sizes) or "none"
            rule = f"must be a column of labels that the votes carry, {carried}"
            raise FitError("name", rule, name)
        return sizes[name]

    def differences(self, utility: Values) -> Values:
        """Return utility (..., K) of the first arm minus the second's, (..., row)."""
        if namespace(utility) is np:
            # Twice as fast as an index, and most of the time of a fit of many votes.
            won, lost = (np.take(utility, arms, axis=-1) for arms in
                         (self.first, self.second))  # fmt: skip
            return np.subtract(won, lost, out=won)
        return utility[..., self.first] - utility[..., self.second]

    def ordered(self, weight: Values) -> Values:
        """Return weights, one or (row,), as 0 where neither arm was shown first."""
        if NEUTRAL not in self.columns:
            return weight
        return weight * (1.0 - self.columns[NEUTRAL])

    def incidence(self, weight: Values) -> Values:
        """Return sum over rows of weight (e_first - e_second), (K,)."""
        won = sums_at(self.first, weight, self.num_arms)
        return won - sums_at(self.second, weight, self.num_arms)

    def laplacian(self, weight: Values) -> Values:
        """Return sum over rows of weight (e_first - e_second)(e_first - e_second)^T."""
        xp = namespace(weight)
        num_arms = self.num_arms
        cell = self.first * num_arms + self.second
        square = sums_at(cell, -weight, num_arms**2).reshape(num_arms, num_arms)
        degrees = sums_at(self.first, weight, num_arms)
        degrees = degrees + sums_at(self.second, weight, num_arms)
        return (
            square + square.T + xp.eye(num_arms, dtype=weight.dtype) * degrees[None, :]
        )


@dataclass(frozen=True)
class PairTables:
    """Votes of all ordered pairs, row K i + j for i shown first and j second."""

    counts: Float[Array | np.ndarray, "row outcome"]
    num_arms: int

    def differences(self, utility: Values) -> Values:
        """Return utility (..., K) of the first arm minus the second's, (..., row)."""
        table = utility[..., :, None] - utility[..., None, :]
        return table.reshape(*utility.shape[:-1], self.num_arms**2)

    def ordered(self, weight: Values) -> Values:
        """Return the weights: in every row an arm was shown first."""
        return weight

    def incidence(self, weight: Values) -> Values:
        """Return sum over rows of weight (e_first - e_second), (K,)."""
        xp = namespace(weight)
        table = weight.reshape(self.num_arms, self.num_arms)
        return xp.sum(table, axis=1) - xp.sum(table, axis=0)

    def laplacian(self, weight: Values) -> Values:
        """Return sum over rows of weight (e_first - e_second)(e_first - e_second)^T."""
        xp = namespace(weight)
        table = weight.reshape(self.num_arms, self.num_arms)
        both = table + table.T
        identity = xp.eye(self.num_arms, dtype=weight.dtype)
        return identity * xp.sum(both, axis=1)[:, None] - both


@dataclass(frozen=True)
class UnorderedPairs:
    """Votes of all pairs i < j, row by row: what the fall along a ray needs of them."""

    # A product of matrices is many times as fast inside a program as an index.

    counts: Float[Array | np.ndarray, "row outcome"]
    num_arms: int

    def differences(self, utility: Values) -> Values:
        """Return utility (..., K) of the first arm minus the second's, (..., row)."""
        first, second = np.triu_indices(self.num_arms, 1)
        identity = np.eye(self.num_arms, dtype=utility.dtype)
        return utility @ (identity[:, first] - identity[:, second])


def votes_of(model: Any, data: Comparisons) -> Votes:
    """Return the arrays of a pairwise model, with or without a column of ties."""
    if data.has_ties and not model.ties:
        rule = f"must hold no ties, for which {type(model).__name__} has no place"
        remedy = "say ties=True, or drop them with .without_ties(), or split them "
        remedy += "with .with_split_ties()"
        raise FitError("data", rule, float(data.counts[:, 2].sum()), remedy=remedy)
    for name, known, lack, remedy in (
        (
            "order_effect",
            data.order_known,
            "where the data do not say which arm was shown first "
            "(order_known is False)",
            "where the first column of a file was shown first, read it with "
            "order_known=True (--order-known)",
        ),
        (
            "covariates",
            data.covariate_names,
            "for data without covariates of the arms",
            "add them with .with_covariates(table)",
        ),
        (
            "contest_covariates",
            data.contest_covariates,
            "for votes without covariates of the contest",
            "name columns of the votes with contest_covariates=[...] of "
            "from_votes or read_comparisons (--contest-covariate)",
        ),
    ):
        if getattr(model, name, False) and not known:
            raise FitError(name, f"must not be True {lack}", True, remedy=remedy)
    known_of_arms = getattr(model, "covariates", False)
    table = data.covariates if known_of_arms else np.zeros((data.num_arms, 0))
    reads = columns_read(model, data)
    data = data if reads else data.without_columns()
    labels = {name: data.labels[name] for name in reads if name in data.labels}
    contest, units = None, ()
    if getattr(model, "contest_covariates", False):
        contest = np.stack([data.columns[name] for name in data.contest_covariates], 1)
        sizes = np.linalg.norm(contest, axis=0) / np.sqrt(max(len(contest), 1))
        units = tuple(np.where(sizes > 0.0, sizes, 1.0).tolist())
        contest = contest / units
    return Votes(
        first=data.first.astype(np.int32),
        second=data.second.astype(np.int32),
        counts=data.counts if model.ties else data.counts[:, :2],
        covariates=table,
        num_arms=data.num_arms,
        columns={
            name: data.columns[name].astype(np.int32 if name in labels else np.float64)
            for name in reads
        },
        sizes=tuple((name, len(names)) for name, names in labels.items()),
        contest=contest,
        contest_units=units,
    )


def columns_read(model: Any, data: Comparisons) -> list[str]:
    """Return the columns that a model reads."""
    names: list[str] = list(getattr(model, "reads", ()))
    for name in names:
        if name not in data.columns:
            rule = f"{model.title} reads the column {name!r}, which the votes do not "
            rule += f"carry (they carry {', '.join(data.columns) or 'none'})"
            remedy = "keep it with columns={{name!r}: ...} of from_votes, or an "
            remedy += "option of read_comparisons"
            raise FitError("data", rule, remedy=remedy)
    if getattr(model, "contest_covariates", False):
        names += [name for name in data.contest_covariates if name not in names]
    effect = getattr(model, "order_effect", False) and NEUTRAL in data.columns
    return [*names, NEUTRAL] if effect and NEUTRAL not in names else names


def with_one_label(
    data: Comparisons, labels: Sequence[str], numbers: Sequence[str] = ()
) -> Comparisons:
    """Return votes that have one label in some columns, or the number 0, all alike."""
    rows = len(data.first)
    columns: dict[str, Any] = {name: np.zeros(rows, np.int64) for name in labels}
    columns |= {name: np.zeros(rows) for name in numbers}
    said = {name: ("any",) for name in labels}
    return replace(data, columns=columns, labels=said, contest_covariates=())


def is_whole(data: Any, arrays: Any = None) -> bool:
    """Whether all counts are numbers of votes, also those in a model's own rows."""
    counts = np.asarray(getattr(arrays, "counts", ()))
    return bool(data.is_whole and np.all(counts == np.rint(counts)))


def with_counts(arrays: Any, counts: Any) -> Any:
    """Return the arrays of a model, a dataclass or a named tuple, with other counts."""
    if hasattr(arrays, "_replace"):
        return arrays._replace(counts=counts)
    return replace(arrays, counts=counts)
