"""The Bradley-Terry model, with ties, an order effect, and covariates of the arms."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from bayesduel.models.utilities import PairwiseUtilityModel


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

    def outcome_logs(
        self, difference: Float[Array, ""], tie: Float[Array, ""]
    ) -> Float[Array, " outcome"]:
        """Return log P(outcome) of a vote; ``tie`` is log nu."""
        signed = jnp.stack([difference, -difference])
        if not self.ties:
            return jax.nn.log_sigmoid(signed)
        return jax.nn.log_softmax(jnp.append(signed / 2.0, tie))
