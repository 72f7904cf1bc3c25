"""Expected information: ask the pair whose duel teaches most."""

from typing import Any, ClassVar

import numpy as np

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_pairs import BetaPairs
from bayesduel.posteriors.names import check_pair_posterior, take_by_name
from theory.arguments import number_from


@register("information", acronym="Information")
class ExpectedInformation(KernelPolicy):
    """Expected information: the pair whose next outcome tells most about the model.

    Asks the pair with the largest mutual information of its outcome and all unknown
    probabilities, H(E[theta_ij]) - E[H(theta_ij)] with H the entropy of one outcome
    (Lindley 1956; Houlsby et al. 2011). What is learnt need not be about the winner.
    With a Beta distribution per pair that is nearly the pair with the fewest duels; on
    a scale (``posterior="bradley-terry"``) a duel tells of all arms, and pairs of arms
    that are close and little known come first. In closed form for Beta distributions,
    else a mean over draws. Ties, to a relative 1e-9, are broken at random. Nothing is
    known of its duels before a winner is named; stopping is a matter of
    :mod:`bayesduel.stopping`.

    Every round is a duel of two arms. There is no look-ahead, as every round teaches.

    Parameters
    ----------
    posterior : PairPosterior, or its name
        What is known of the pairs: "beta", "bradley-terry", "thurstone", ....
    draws : int
        Of the posterior, at least 2, where there is no closed form.

    References
    ----------
    D. V. Lindley, "On a Measure of the Information Provided by an Experiment", Annals
    of Mathematical Statistics 27(4), 1956. N. Houlsby, F. Huszar, Z. Ghahramani,
    M. Lengyel, "Bayesian Active Learning for Classification and Preference Learning",
    2011, equation (2).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse_policy("information:posterior=bradley-terry").label
    'Information:posterior=bradley-terry'
    """

    draws: int = 100
    posterior: Any = BetaPairs()

    title: ClassVar[str] = "Expected information"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_from(self.draws, 2, "draws", kind=PolicyParameterError)
        check_pair_posterior(self.posterior, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        if not isinstance(self.posterior, BetaPairs):
            return None
        # Only what is played is imported.
        from bayesduel.policies.identification._scalar_information import kernel

        return kernel(np.asarray(self.posterior.prior))

    def over_model(self) -> Any:
        """Return the rule over the draws of any other posterior."""
        if isinstance(self.posterior, BetaPairs):
            return None
        # JAX takes a second to import.
        from bayesduel.policies.over_models.expected_information import (
            SampledInformation,
        )

        return SampledInformation(self.posterior, draws=self.draws)
