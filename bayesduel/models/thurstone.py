"""Thurstone's model of paired comparisons, with ties, an order effect, covariates."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import log_ndtr
from jaxtyping import Float

from bayesduel.models.utilities import PairwiseUtilityModel

_SQRT2 = float(np.sqrt(2.0))


@dataclass(frozen=True, kw_only=True)
class Thurstone(PairwiseUtilityModel):
    r"""Thurstone's case V: the larger of two normal impressions wins.

    P(i beats j) = Phi((u_i - u_j) / sqrt(2)): each arm makes an impression
    Normal(u_i, 1), independently at every vote (Thurstone 1927; probit).

    With ``ties``: a tie if the impressions differ by less than a threshold, log
    threshold ~ Normal(0, tie_scale) (Glenn and David 1960). With ``order_effect``
    u_i - u_j grows by ``first_advantage`` for the arm shown first.

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.
    ties, tie_scale, order_effect, order_scale, covariates, covariate_scale
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.

    References
    ----------
    L. L. Thurstone, "A law of comparative judgment", Psychological Review 34 (1927).
    W. A. Glenn and H. A. David, "Ties in paired-comparison experiments using a modified
    Thurstone-Mosteller model", Biometrics 16 (1960).

    Examples
    --------
    >>> from bayesduel.models import Comparisons, Thurstone, fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(Thurstone(), votes, method="laplace", num_draws=100)
    >>> bool(posterior.probability_of_beating().sel(arm="0", opponent="2") > 0.7)
    True
    """

    title: ClassVar[str] = "Thurstone"
    tie_name: ClassVar[str] = "log_threshold"

    def outcome_logs(
        self, difference: Float[Array, ""], tie: Float[Array, ""]
    ) -> Float[Array, " outcome"]:
        """Return log P(outcome); ``tie`` is the logarithm of the threshold."""
        signed = jnp.stack([difference, -difference])
        if not self.ties:
            return log_ndtr(signed / _SQRT2)
        threshold = jnp.exp(tie)
        decided = log_ndtr((signed - threshold) / _SQRT2)
        # Phi((t - d)/sqrt 2) - Phi((-t - d)/sqrt 2), from the side where it is small;
        # an even function of d.
        size = difference * jnp.where(difference < 0.0, -1.0, 1.0)
        upper = log_ndtr((threshold - size) / _SQRT2)
        lower = log_ndtr((-threshold - size) / _SQRT2)
        return jnp.append(decided, upper + jnp.log1p(-jnp.exp(lower - upper)))
