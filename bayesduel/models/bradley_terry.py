"""The Bradley-Terry model, with ties, an order effect, and covariates of the arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from bayesduel.models.array_modules import (
    Values,
    log_sigmoids,
    log_softmax,
    namespace,
    sigmoids,
)
from bayesduel.models.closed_forms import RowDerivatives
from bayesduel.models.utilities import PairwiseUtilityModel

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(PairwiseUtilityModel):
    r"""Bradley-Terry: the odds of winning are a ratio of worths.

    P(i beats j) = sigma(u_i - u_j) with utilities u_i ~ Normal(0, prior_scale) and
    sigma(x) = 1 / (1 + exp(-x)) (Zermelo 1929, Bradley and Terry 1952). A world with a
    total order in which strong stochastic transitivity and the stochastic triangle
    inequality hold.

    With ``ties``: P(i) : P(j) : P(tie) = exp(d/2) : exp(-d/2) : nu, d = u_i - u_j, that
    is, P(tie) = nu sqrt(P(i) P(j)) with log nu ~ Normal(0, tie_scale) (Davidson 1970).
    Given that a vote is no tie, this is the model without ties. With ``order_effect`` d
    grows by ``first_advantage`` for the arm shown first (Davidson and Beaver 1977).

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.
    ties, tie_scale, order_effect, order_scale, covariates, covariate_scale, residual
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.
    contest_covariates, contest_scale
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.

    References
    ----------
    R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
    Biometrika 39 (1952). R. R. Davidson, "On extending the Bradley-Terry model to
    accommodate ties in paired comparison experiments", JASA 65 (1970). R. R. Davidson
    and R. J. Beaver, "On extending the Bradley-Terry model to incorporate within-pair
    order effects", Biometrics 33 (1977).

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(BradleyTerry(), votes, method="laplace", num_draws=100)
    >>> posterior.probability_of_beating().shape
    (3, 3)
    """

    title: ClassVar[str] = "Bradley-Terry"

    def outcome_logs(self, difference: Values, tie: Values) -> Values:
        """Return log P(outcome) of a vote; ``tie`` is log nu."""
        xp = namespace(difference)
        if not self.ties:
            return xp.stack(log_sigmoids(difference))
        half = difference / 2.0
        return log_softmax(xp.stack([half, -half, tie]))

    def summed_logs(
        self,
        counts: Float[np.ndarray, "row outcome"],
        difference: Float[np.ndarray, "*draw row"],
        tie: Float[np.ndarray, "*draw row"],
    ) -> Float[np.ndarray, "*draw"]:
        """Return the log likelihood of votes: one exponential, one logarithm a row.

        With n votes in a row, log P(first) = d/2 - log Z, log P(second) = -d/2 - log Z
        and log P(tied) = log nu - log Z, nu = 0 without ties. Where m is the size of d,
        log Z = m/2 + log(1 + exp(-m) + nu exp(-m/2)). So a row costs m for each vote
        for the arm that is behind and m/2 for a tie, and n times the last logarithm.
        Nothing large cancels: an arm may have won all of a million votes.
        """
        # Two arrays are used again and again: to make one takes as long as to fill it.
        # Threads of a linear algebra library take longer to start than blocks of rows
        # take to add up.
        size = np.abs(difference)
        rest = np.multiply(size, -0.5)
        np.exp(rest, out=rest)
        if self.ties:  # All rows have the same tie parameter.
            rest *= rest + np.exp(tie[..., :1])
        else:
            rest *= rest
        np.log1p(rest, out=rest)
        won, lost, *ties = np.ascontiguousarray(counts.T)
        tied = ties[0] if self.ties else np.zeros_like(won)
        summed = -np.einsum("...r,r->...", rest, won + lost + tied)
        np.subtract(size, difference, out=rest)  # Twice m where the first is behind.
        summed = summed - 0.5 * np.einsum("...r,r->...", rest, won + 0.5 * tied)
        size += difference
        summed = summed - 0.5 * np.einsum("...r,r->...", size, lost + 0.5 * tied)
        return summed + tie[..., 0] * tied.sum() if self.ties else summed

    def vote_derivatives(
        self,
        counts: Float[Array | np.ndarray, "row outcome"],
        difference: Float[Array | np.ndarray, " row"],
        tie: Float[Array | np.ndarray, " row"],
    ) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row in closed form.

        Those of a softmax: the gradient is what happened minus what was expected, the
        Hessian minus the covariance of a vote.
        """
        xp = namespace(difference)
        if not self.ties:
            number = counts[:, 0] + counts[:, 1]
            first, second = sigmoids(difference)
            zero = xp.zeros_like(difference)
            return RowDerivatives(
                gap=counts[:, 0] * second - counts[:, 1] * first,
                tie=zero,
                gap_gap=-number * first * second,
                gap_tie=zero,
                tie_tie=zero,
                height=lambda: (
                    number * log_sigmoids(difference)[0] - counts[:, 1] * difference
                ),
            )
        number = xp.sum(counts, axis=1)
        probability = xp.exp(self.outcome_logs(difference, tie))
        first, second = probability[0], probability[1]
        lead, decided = (first - second) / 2.0, first + second
        return RowDerivatives(
            gap=(counts[:, 0] - counts[:, 1]) / 2.0 - number * lead,
            tie=counts[:, 2] - number * probability[2],
            gap_gap=-number * (first * second + decided * probability[2] / 4.0),
            gap_tie=number * lead * probability[2],
            tie_tie=-number * decided * probability[2],
        )
