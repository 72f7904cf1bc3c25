"""Independent pairs: one Beta-distributed winning probability per pair of arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Float64
from numpy.typing import NDArray

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_prior, check_tie_prior
from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.base import (
    Draws,
    PreferenceModel,
    check_kind,
    count_votes,
    sample,
)
from bayesduel.models.vote_arrays import Votes, votes_of
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array

Prior = float | tuple[tuple[float, ...], ...]
"""Pseudo-votes: one number for all, or a K x K table as nested tuples."""


class BetaPosterior(NamedTuple):
    """Parameters of the Beta distributions, one entry per pair (i < j, row by row)."""

    for_first: NDArray[np.float64]
    for_second: NDArray[np.float64]
    tie: NDArray[np.float64]  # For the share of ties; empty without ties.
    no_tie: NDArray[np.float64]

    def sample(self, rng: np.random.Generator, num_draws: int) -> dict[str, Any]:
        """Draw from the posterior, independently."""
        draws = {"preference": _betas(rng, self.for_first, self.for_second, num_draws)}
        if len(self.tie):
            draws["tie_share"] = _betas(rng, self.tie, self.no_tie, num_draws)
        return draws

    def expected_information(self) -> Float64[np.ndarray, " pair"]:
        """Return what one more vote on each pair would teach, in nats."""
        information = _information_of_betas(self.for_first, self.for_second)
        if len(self.tie):
            decided = self.no_tie / (self.tie + self.no_tie)
            of_ties = _information_of_betas(self.tie, self.no_tie)
            information = of_ties + decided * information
        # Not negative but for rounding.
        return np.maximum(information, 0.0)


def _betas(
    rng: np.random.Generator,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    num_draws: int,
) -> NDArray[np.float64]:
    """Draw from Beta distributions, (draw, pair)."""
    # With many arms most pairs have no vote, and uniform draws are much faster.
    uniform = (first == 1.0) & (second == 1.0)
    if not uniform.any():
        return rng.beta(first, second, (num_draws, len(first)))
    draws = rng.random((num_draws, len(first)))
    rest = np.flatnonzero(~uniform)
    draws[:, rest] = rng.beta(first[rest], second[rest], (num_draws, len(rest)))
    return draws


def _information_of_betas(first: Any, second: Any) -> Any:
    """Return H(E[p]) - E[H(p)] of p ~ Beta(first, second), in nats."""
    from scipy import special

    total = first + second
    return sum(
        special.entr(votes / total)
        + votes / total * (special.digamma(votes + 1.0) - special.digamma(total + 1.0))
        for votes in (first, second)
    )


@dataclass(frozen=True, kw_only=True)
class PairwiseBeta(PreferenceModel):
    """An independent Beta distribution per pair, which assumes no scale of the arms.

    P(i beats j) = theta_ij ~ Beta(a_ij, a_ji), independent for the pairs i < j; no
    transitivity of any kind. Conjugate: after w wins and l losses theta_ij ~
    Beta(a_ij + w, a_ji + l). The order in which arms are shown does not matter.

    With ``ties`` each pair has a share of ties tau_ij ~ Beta(tie_prior), and theta_ij
    is the probability given that a vote is no tie; with the default priors the three
    outcomes of a pair have a uniform Dirichlet prior.

    Parameters
    ----------
    prior : float or K x K table as nested tuples
        a_ij, the pseudo-votes for i against j. 1: uniform, 1/2: Jeffreys. The diagonal
        of a table is not read.
    ties : bool
        Votes may be ties.
    tie_prior : (float, float)
        Pseudo-votes for a tie, and against it.

    Examples
    --------
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]])
    >>> posterior = fit(PairwiseBeta(prior=0.5), votes)
    >>> posterior.method
    'exact'
    """

    prior: Prior = 1.0
    ties: bool = False
    tie_prior: tuple[float, float] = (1.0, 2.0)

    title: ClassVar[str] = "Beta per pair"
    word: ClassVar[str] = "beta"
    methods: ClassVar[tuple[str, ...]] = ("exact", "laplace", "svi", "nuts")

    def __init_subclass__(cls, **options: Any) -> None:
        """Take "exact" from subclasses with a density that has no closed form."""
        super().__init_subclass__(**options)
        has_own_density = cls.__call__ is not PairwiseBeta.__call__
        if has_own_density and cls.exact_posterior is PairwiseBeta.exact_posterior:
            cls.methods = tuple(name for name in cls.methods if name != "exact")

    def __call__(self, votes: Votes) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        for_first, for_second = self._prior_of_pairs(votes.num_arms)
        preference = sample("preference", dist.Beta(for_first, for_second).to_event(1))
        low = jnp.minimum(votes.first, votes.second)
        high = jnp.maximum(votes.first, votes.second)
        pair = low * votes.num_arms - low * (low + 1) // 2 + high - low - 1
        theta = preference[pair]
        theta = jnp.where(votes.first < votes.second, theta, 1.0 - theta)
        log_probability = jnp.log(jnp.stack([theta, 1.0 - theta], axis=1))
        if self.ties:
            distribution = dist.Beta(
                *(np.full(len(for_first), number) for number in self.tie_prior)
            )
            share = sample("tie_share", distribution.to_event(1))[pair][:, None]
            log_probability = jnp.concatenate(
                [jnp.log1p(-share) + log_probability, jnp.log(share)], axis=1
            )
        return count_votes(jnp.asarray(votes.counts), log_probability)

    def _prior_of_pairs(
        self, num_arms: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        table = np.broadcast_to(
            np.asarray(self.prior, dtype=np.float64), (num_arms, num_arms)
        )
        row, column = np.triu_indices(num_arms, 1)
        return table[row, column], table[column, row]

    def arrays(self, data: Comparisons) -> Votes:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        check_kind(self, data, Comparisons)
        check_prior(self.prior, data.num_arms)
        true_or_false(self.ties, "ties", kind=FitError)
        check_tie_prior(self.tie_prior)
        return votes_of(self, data)

    def exact_posterior(self, arrays: Votes) -> BetaPosterior:
        """Return the posterior in closed form."""
        num_arms = arrays.num_arms
        counts = np.zeros((num_arms, num_arms, arrays.counts.shape[1]))
        np.add.at(counts, (arrays.first, arrays.second), np.asarray(arrays.counts))
        row, column = np.triu_indices(num_arms, 1)
        # Rows in which the arm with the higher position comes first, turned round.
        turned = counts[column, row][:, [1, 0, 2][: counts.shape[2]]]
        total = counts[row, column] + turned
        for_first, for_second = self._prior_of_pairs(num_arms)
        tie = total[:, 2] + self.tie_prior[0] if self.ties else np.zeros(0)
        decided = total[:, 0] + total[:, 1] + self.tie_prior[1]
        return BetaPosterior(
            for_first=for_first + total[:, 0],
            for_second=for_second + total[:, 1],
            tie=tie,
            no_tie=decided if self.ties else np.zeros(0),
        )

    def preference_matrices(self, draws: Draws) -> Values:
        """Return P(i beats j in a vote that is no tie)."""
        xp = namespace(draws["preference"])
        theta = xp.asarray(draws["preference"])
        num_arms = int(round((1 + np.sqrt(1 + 8 * theta.shape[1])) / 2))
        upper = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
        pair = np.zeros((num_arms, num_arms), dtype=np.int32)
        pair[upper] = np.arange(theta.shape[1])
        # Entries of both halves and of the diagonal; the unused ones are dropped.
        pair = np.maximum(pair, pair.T)
        if xp is np:
            matrices = np.take(theta, pair, axis=1)
            np.subtract(1.0, matrices, out=matrices, where=~upper)
            matrices[:, np.arange(num_arms), np.arange(num_arms)] = 0.5
            return matrices
        matrices = theta[:, pair]
        matrices = xp.where(upper, matrices, 1.0 - matrices)
        return xp.where(np.eye(num_arms, dtype=bool), 0.5, matrices)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        return {"preference": ("pair",), "tie_share": ("pair",)}

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        row, column = np.triu_indices(data.num_arms, 1)
        names = data.arm_names
        pairs = zip(row.tolist(), column.tolist(), strict=True)
        return {
            "arm": list(names),
            "pair": [f"{names[i]} over {names[j]}" for i, j in pairs],
        }
