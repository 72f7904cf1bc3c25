"""Independent Beta posteriors of all pairs inside a policy: counts and a prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.posteriors.priors import check_prior, normalized


@dataclass(frozen=True, eq=False)
class BetaPairs:
    """Beta posteriors of all pairs, independent of one another: counts and a prior.

    theta_ij = P(i beats j) ~ Beta(prior_ij, prior_ji) before any vote, independently
    for the pairs i < j, and Beta(prior_ij + w, prior_ji + l) after w wins of i and l of
    j: the exact posterior of :class:`bayesduel.models.PairwiseBeta`. Policies keep it
    in scalar code (:mod:`bayesduel.posteriors.scalar_betas`).

    Probabilities P(theta_ij > 1/2) keep their relative accuracy down to 1e-30, whatever
    the prior. Integers shift the counts, and are the fastest.

    Parameters
    ----------
    prior : float or (K, K)
        Above 0, at most 1e8. prior[i, j] are the pseudo-wins of i over j; the diagonal
        is not read. 1: uniform, 1/2: Jeffreys. Integral numbers are kept as integers.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("d-ts", posterior=BetaPairs(prior=2.0)).label
    'D-TS:prior=2'
    """

    prior: Any = 1

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", normalized(self.prior))

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
    def name(self) -> str:
        """What it is called in the parameters of a policy."""
        return "beta"

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
        check_prior(self.prior, num_arms)
