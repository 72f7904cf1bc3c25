"""Beta posteriors of pairs or arms inside a policy: counts and a prior."""

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.errors import PolicyParameterError
from theory.validation import refuse_entries

# Largest pseudo-count: with those of the duels they must fit into 32 bits.
_LARGEST = 1e8


def _normalized(prior: Any) -> Any:
    # Integral numbers as integers, tables as NumPy arrays: which program runs depends
    # on that. What is no prior is returned as it is, and refused by `_check_prior`.
    if isinstance(prior, np.bool_ | bool):
        return prior
    array = np.asarray(prior) if hasattr(prior, "__array__") else None
    scalar = array is not None and array.ndim == 0 and array.dtype.kind in "iuf"
    if isinstance(prior, numbers.Real) or scalar:
        number = np.asarray(prior)[()]
        if np.isfinite(number) and abs(number) <= _LARGEST and number == int(number):
            return int(number)
        return float(number)
    if not isinstance(prior, list | tuple) and array is None:
        return prior
    try:
        table = np.array(prior)
    except ValueError:  # Rows of different lengths.
        return prior
    if table.dtype.kind not in "iuf" or table.ndim != 2 or len(set(table.shape)) > 1:
        return prior
    np.fill_diagonal(table, 1)
    finite = np.all(np.isfinite(table)) and np.all(np.abs(table) <= _LARGEST)
    whole = finite and np.all(table == np.floor(table))
    return table.astype(np.int64 if whole else np.float64)


def _check_prior(
    prior: Any, num_arms: int | None = None, *, table: bool = True
) -> None:
    """Raise unless a prior is a number in (0, 1e8], or a table of such numbers."""
    size = "K x K" if num_arms is None else f"{num_arms} x {num_arms}"
    rule = f"must be a number above 0 and at most {_LARGEST:.0e}"
    rule += f", or a {size} table of such numbers" if table else ""
    if isinstance(prior, bool) or not isinstance(prior, int | float | np.ndarray):
        raise PolicyParameterError("prior", rule, prior)
    values = np.asarray(prior)
    if values.dtype.kind not in "iuf":
        raise PolicyParameterError("prior", rule, prior)
    if values.ndim == 0:
        if not 0 < values <= _LARGEST:
            raise PolicyParameterError("prior", rule, values.item())
        return
    square = values.ndim == 2 and values.shape[0] == values.shape[1]
    fits = square and (num_arms is None or len(values) == num_arms)
    if not (table and fits):
        raise PolicyParameterError("prior", rule, values.shape)
    bad = ~((values > 0) & (values <= _LARGEST)) & ~np.eye(len(values), dtype=bool)
    refuse_entries(bad, values, "prior", rule, kind=PolicyParameterError)


@dataclass(frozen=True)
class BetaArms:
    """A Beta distribution per arm, Beta(prior + gains, prior + losses), independently.

    The posterior of a rate of wins, where every arm meets the same opponents. That is
    what reductions to ordinary bandits assume; it holds for no preference matrix once
    the opponents change, so it is a belief of a policy and no model of votes.

    Parameters
    ----------
    prior : float
        Pseudo-gains and pseudo-losses of each arm, above 0, at most 1e8. 1: uniform,
        1/2: Jeffreys.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("self-sparring", posterior=BetaArms(prior=2)).label
    'Self-Sparring:prior=2'
    """

    prior: Any = 1

    name: ClassVar[str] = "beta"
    """Its name in the parameters of a policy."""

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", _normalized(self.prior))

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` for a bad prior; no table has a meaning."""
        _check_prior(self.prior, num_arms, table=False)


@dataclass(frozen=True, eq=False)
class BetaPairs:
    """Beta posteriors of all pairs, independent of one another: counts and a prior.

    theta_ij = P(i beats j) ~ Beta(prior_ij, prior_ji) before any vote, independently
    for the pairs i < j, and Beta(prior_ij + w, prior_ji + l) after w wins of i and l of
    j: the exact posterior of :class:`bayesduel.models.PairwiseBeta`. Policies keep it
    in scalar code (:mod:`bayesduel.models.in_policies.scalar_betas`).

    Probabilities P(theta_ij > 1/2) keep their relative accuracy down to 1e-30, whatever
    the prior. Integers shift the counts, and are the fastest.

    Parameters
    ----------
    prior : float or (K, K)
        Pseudo-wins that are added to the counts, above 0 and at most 1e8: one number
        for all pairs, or a matrix with prior[i, j] for i over j, whose diagonal is not
        read. 1 is the uniform prior, and 1/2 is Jeffreys' prior.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("d-ts", posterior=BetaPairs(prior=2.0)).label
    'D-TS:prior=2'
    """

    prior: Any = 1

    name: ClassVar[str] = "beta"
    """Its name in the parameters of a policy."""

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", _normalized(self.prior))

    def __eq__(self, other: object) -> bool:
        """Compare priors, tables entry by entry."""
        if not isinstance(other, BetaPairs):
            return NotImplemented
        return np.array_equal(self.prior, other.prior)

    def __hash__(self) -> int:
        """Equal priors have equal hashes."""
        prior = np.asarray(self.prior)
        return hash(prior.item() if prior.ndim == 0 else prior.astype(float).tobytes())

    @property
    def model(self) -> Any:
        """``PairwiseBeta`` with this prior."""
        # NumPyro is no matter of the policies.
        from bayesduel.models import PairwiseBeta

        table = np.asarray(self.prior, dtype=np.float64)
        if table.ndim == 0:
            return PairwiseBeta(prior=table.item())
        return PairwiseBeta(prior=tuple(tuple(row) for row in table.tolist()))

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` for a bad prior."""
        _check_prior(self.prior, num_arms)
