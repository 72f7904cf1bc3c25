"""The Bradley-Terry model, with ties, an order effect, and covariates of the arms."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from numpyro import distributions as dist
from scipy.special import expit

from bayesduel.models.base import count_votes, sample
from bayesduel.models.utilities import PairwiseUtilityModel, Votes


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
    ties, tie_scale, order_effect, order_scale, covariates, covariate_scale
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
    >>> from bayesduel.models import BradleyTerry, Comparisons, fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(BradleyTerry(), votes, method="laplace", num_draws=100)
    >>> posterior.probability_of_beating().shape
    (3, 3)
    """

    title: ClassVar[str] = "Bradley-Terry"

    def __call__(self, votes: Votes) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        difference = self.sample_difference(votes)
        tie = jnp.zeros(())
        if self.ties:
            tie = sample("log_tie", dist.Normal(0.0, self.tie_scale))
        log_probability = self.outcome_logs(difference, tie)
        return count_votes(jnp.asarray(votes.counts), log_probability)

    def outcome_logs(
        self, difference: Float[Array, " row"], tie: Array
    ) -> Float[Array, "row outcome"]:
        """Return log P(outcome); ``tie`` is log nu."""
        if not self.ties:
            return jax.nn.log_sigmoid(jnp.stack([difference, -difference], axis=1))
        tie = jnp.broadcast_to(tie, difference.shape)
        odds = jnp.stack([difference / 2.0, -difference / 2.0, tie], axis=1)
        return jax.nn.log_softmax(odds, axis=1)

    def link(self, difference: np.ndarray) -> np.ndarray:
        """Return the logistic function of it."""
        return expit(difference)
