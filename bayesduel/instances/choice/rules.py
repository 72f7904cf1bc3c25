"""How likely each offered arm is chosen: the rules behind worlds of subset choice.

A rule is a frozen set of NumPy arrays; its formulas are in ``theory.choice.rules``. The
simulator has them for one set at a time (``simulation.set_worlds``).
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb, isfinite
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float64
from numpy.typing import ArrayLike

from bayesduel.errors import ChoiceWorldError, errors_as
from theory.arguments import number_from, number_that
from theory.choice.rules import (
    binomial_table,
    checked_means,
    gaussian_choice,
    gaussian_nodes,
    logit_choice,
    subset_rank,
)
from theory.choice.tables import ChoiceTable
from theory.validation import finite_vector

_FAR = 1e-9  # Probabilities of a set may add up to this much more than 1


class ChoiceRule:
    """P(i|s) for every set s and arm i of it; see the subclasses."""

    allows_fewer: ClassVar[bool] = True
    """Whether sets of fewer arms than k may be offered."""

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        if self.values is None:
            raise NotImplementedError
        return self.values.shape[0]

    @property
    def has_no_choice(self) -> bool:
        """Whether it happens that no offered arm is chosen."""
        raise NotImplementedError

    @property
    def values(self) -> Float[Any, " n"] | None:
        """One number per arm that orders them, or None; float64 (n,)."""
        return None

    def probabilities(self, offered: Bool[Any, "*sets n"]) -> Float[Any, "*sets n"]:
        """Compute P(i|s); 0 for arms outside the set.

        Parameters
        ----------
        offered : bool array (..., n)
            Sets as masks over the arms; also a traced array (n,).

        Returns
        -------
        float array (..., n)
        """
        raise NotImplementedError

    def no_choice_probability(
        self, offered: Bool[Any, "*sets n"]
    ) -> Float[Any, "*sets"]:
        """Compute P(nobody is chosen | s), for rules that choose one arm at most.

        Parameters
        ----------
        offered : bool array (..., n)
            As for `probabilities`.

        Returns
        -------
        float array (...)
            In [0, 1], also where probabilities add up to more than 1 by rounding; 0 if
            somebody is always chosen.
        """
        xp = offered.__array_namespace__()
        if not self.has_no_choice:
            return xp.zeros(offered.shape[:-1], dtype=xp.float64)
        return xp.clip(1.0 - xp.sum(self.probabilities(offered), axis=-1), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class LogitRule(ChoiceRule):
    """Multinomial logit: P(i|s) = v_i / (v_0 + sum of v_j over s).

    Parameters
    ----------
    weights : float64 (n,)
        v_i.
    no_choice_weight : float64 ()
        v_0; 0 if somebody is always chosen.
    """

    weights: Any
    no_choice_weight: Any

    @classmethod
    def of(cls, weights: ArrayLike, no_choice_weight: float) -> "LogitRule":
        """Check the numbers.

        Raises
        ------
        ChoiceWorldError
            If a weight is not positive and finite, or ``no_choice_weight`` negative.
        """
        with errors_as(ChoiceWorldError):
            vector = finite_vector(
                weights,
                "weights",
                rule="must be positive",
                holds=lambda values: values > 0,
            )
            # 0 if somebody is always chosen.
            weight = number_from(no_choice_weight, 0, "no_choice_weight")
        return cls(vector, np.asarray(weight))

    @property
    def has_no_choice(self) -> bool:
        """Whether v_0 > 0."""
        return bool(self.no_choice_weight > 0)

    @property
    def values(self) -> Float[Any, " n"]:
        """The weights."""
        return self.weights

    def probabilities(self, offered: Bool[Any, "*sets n"]) -> Float[Any, "*sets n"]:
        """Compute P(i|s)."""
        return logit_choice(offered, self.weights, self.no_choice_weight)

    def no_choice_probability(
        self, offered: Bool[Any, "*sets n"]
    ) -> Float[Any, "*sets"]:
        """Compute v_0 / (v_0 + sum of v_j over s), also where 1 - it rounds to 1."""
        xp = offered.__array_namespace__()
        chosen = xp.sum(xp.where(offered, self.weights, 0.0), axis=-1)
        return self.no_choice_weight / (self.no_choice_weight + chosen)


@dataclass(frozen=True, eq=False)
class GaussianRule(ChoiceRule):
    """Gaussian random utilities of variance 1; the largest one is chosen.

    Parameters
    ----------
    means : float64 (n,)
        Mean utilities.
    no_choice_mean : float or None
        The mean utility of choosing nothing; None if somebody is always chosen.
    """

    means: Any
    no_choice_mean: float | None

    @classmethod
    def of(cls, means: ArrayLike, no_choice_mean: float | None) -> "GaussianRule":
        """Check the means.

        Raises
        ------
        ChoiceWorldError
            If a mean is not finite.
        """
        vector = checked_means(arm_vector("means", means))
        if no_choice_mean is not None:
            rule = "a finite number, or None if somebody is always chosen"
            no_choice_mean = number_that(
                no_choice_mean, "no_choice_mean", rule, isfinite, kind=ChoiceWorldError
            )
        return cls(vector, no_choice_mean)

    @cached_property
    def nodes(self) -> tuple[Any, Any, Any]:
        """The tables of ``theory.choice.rules.gaussian_nodes``, which load SciPy."""
        return gaussian_nodes(self.means, self.no_choice_mean)

    @property
    def has_no_choice(self) -> bool:
        """Whether choosing nothing has a utility."""
        return self.no_choice_mean is not None

    @property
    def values(self) -> Float[Any, " n"]:
        """The mean utilities."""
        return self.means

    def probabilities(self, offered: Bool[Any, "*sets n"]) -> Float[Any, "*sets n"]:
        """Compute P(i|s) by quadrature."""
        return gaussian_choice(offered, *self.nodes)


@dataclass(frozen=True, eq=False)
class TableRule(ChoiceRule):
    """A table of probabilities for all sets of exactly k arms.

    Parameters
    ----------
    by_rank : float64 (C(n, k), n)
        P(i|s) of the set with each colexicographic rank, 0 outside the set.
    binomials : int64 (n, k)
        What the rank is computed from.
    no_choice : bool
        Whether some set leaves nothing chosen.
    """

    by_rank: Any
    binomials: Any
    no_choice: bool

    allows_fewer: ClassVar[bool] = False

    @classmethod
    def of(cls, table: ChoiceTable, *, exclusive: bool) -> "TableRule":
        """Sort a table by rank.

        Parameters
        ----------
        table : theory.choice.tables.ChoiceTable
            All sets of k out of n arms.
        exclusive : bool
            Whether at most one arm is chosen, so that the probabilities of a set add
            up to at most 1.

        Raises
        ------
        ChoiceWorldError
            If a set is missing, or its probabilities exceed 1 together.
        """
        if not isinstance(table, ChoiceTable):
            raise ChoiceWorldError("table", "must be a theory.ChoiceTable", table)
        n, k = table.num_arms, table.set_size
        if exclusive and np.any(table.totals > 1 + _FAR):
            row = int(np.argmax(table.totals > 1 + _FAR))
            raise ChoiceWorldError(
                "table",
                "must have probabilities of one set that add up to at most 1 where "
                f"one arm at most is chosen; those of {table.offered(row)} add up to "
                f"{table.totals[row]:.12g}",
                table.totals[row],
                index=row,
                remedy="use feedback='independent' if several arms can be rewarded "
                "in one round",
            )
        offered = np.zeros((len(table.sets), n), dtype=bool)
        np.put_along_axis(offered, table.sets, True, axis=1)
        binomials = binomial_table(n, k)
        rank = subset_rank(offered, binomials)
        by_rank = np.full((comb(n, k), n), np.nan)
        by_rank[rank] = np.nan_to_num(table.by_arm(), nan=0.0)
        missing = np.flatnonzero(np.isnan(by_rank).any(axis=1))
        if missing.size:
            raise ChoiceWorldError(
                "table",
                f"must have all {comb(n, k)} sets of {k} of {n} arms; "
                f"{_set_of_rank(int(missing[0]), k)} is missing",
                table,
            )
        no_choice = exclusive and bool(np.any(table.totals < 1 - _FAR))
        return cls(by_rank, binomials, no_choice)

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.by_rank.shape[1]

    @property
    def has_no_choice(self) -> bool:
        """Whether the probabilities of some set add up to less than 1."""
        return self.no_choice

    def probabilities(self, offered: Bool[Any, "*sets n"]) -> Float[Any, "*sets n"]:
        """Look P(i|s) up; undefined for sets of another size."""
        return self.by_rank[subset_rank(offered, self.binomials)]


@dataclass(frozen=True, eq=False)
class IndependentRule(ChoiceRule):
    """Every arm has a reward of its own, with the same mean in all sets.

    Parameters
    ----------
    means : float64 (n,)
        Mean rewards as shares of the largest possible one, in [0, 1].
    """

    means: Any

    # Every arm is rewarded for itself, nothing is chosen.
    has_no_choice: ClassVar[bool] = False  # pyright: ignore[reportIncompatibleMethodOverride]

    @classmethod
    def of(cls, means: ArrayLike) -> "IndependentRule":
        """Check the means.

        Raises
        ------
        ChoiceWorldError
            If one of them is outside [0, 1].
        """
        with errors_as(ChoiceWorldError):
            vector = finite_vector(
                means,
                "means",
                rule="must lie in [0, 1] (shares of the largest reward)",
                holds=lambda mean: (mean >= 0) & (mean <= 1),
            )
        return cls(vector)

    @property
    def values(self) -> Float[Any, " n"]:
        """The means."""
        return self.means

    def probabilities(self, offered: Bool[Any, "*sets n"]) -> Float[Any, "*sets n"]:
        """Return the means of the offered arms."""
        xp = offered.__array_namespace__()
        return xp.where(offered, self.means, 0.0)


def arm_vector(argument: str, values: ArrayLike) -> Float64[np.ndarray, " n"]:
    """Return one finite number per arm."""
    with errors_as(ChoiceWorldError):
        return finite_vector(values, argument)


def _set_of_rank(rank: int, size: int) -> tuple[int, ...]:
    """Return the arms of the set with a colexicographic rank."""
    arms = []
    for count in range(size, 0, -1):
        arm = count - 1
        while comb(arm + 1, count) <= rank:
            arm += 1
        rank -= comb(arm, count)
        arms.append(arm)
    return tuple(reversed(arms))
