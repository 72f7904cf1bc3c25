"""Double Thompson Sampling: D-TS, D-TS+ and pure D-TS (Wu and Liu 2016)."""

from typing import Any, ClassVar

import numpy as np

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.posteriors.base import is_on_a_scale
from bayesduel.posteriors.beta_pairs import (
    BetaPairs,
)
from bayesduel.posteriors.names import check_pair_posterior, take_by_name
from theory.arguments import number_above, one_of
from theory.theorems import double_thompson_bound, double_thompson_refined_bound


@register("bt-ts", acronym="BT-TS", elimination=False, posterior="bradley-terry")
@register("pure-d-ts", acronym="Pure D-TS", elimination=False)
@register(
    "d-ts+",
    acronym="D-TS+",
    tie_break="regret",
    theorems=(double_thompson_refined_bound,),
)
@register(
    "d-ts",
    acronym="D-TS",
    theorems=(double_thompson_bound, double_thompson_refined_bound),
)
class DoubleThompson(KernelPolicy):
    """Double Thompson Sampling (D-TS, D-TS+).

    Both arms of a duel are drawn from Beta posteriors of the pairs: the first wins the
    vote of one sample among the arms that the confidence bounds leave as possible
    Copeland winners; the second is the arm that does best against the first in another,
    independent sample, unless the bounds rule it out. Prior Beta(1, 1) per unordered
    pair unless another one is given; the bounds count duels alone. ``log`` is natural;
    t counts from 1.

    With ``look_ahead`` the rounds in which the first arm would meet itself are not
    stepped through: their number is geometric and drawn at once. The distribution of
    all counts of different arms, of the state at every round, and the mean of every
    regret are exactly those of the step form. One champion is drawn per idle stretch,
    so with several Copeland winners how self-duels split among them is coarser than
    round by round (for Copeland regret that is immaterial: they all cost nothing).

    With another ``posterior`` both samples are preference matrices drawn from that,
    with the same rule and the same bounds, which assume nothing. Where its draws are
    independent and ``look_ahead`` is on, 16 rounds are drawn at once, up to the first
    in which different arms meet; the probability of an idle round has no closed form.

    BT-TS is pure D-TS over Bradley-Terry, by :class:`~bayesduel.posteriors.Laplace` or
    :class:`~bayesduel.posteriors.HMC`, its slow truth. One scale shares what is learnt
    between all pairs, K unknowns where Beta distributions have K (K - 1) / 2: the best
    arms of two samples of utilities meet. The price is the assumption: with cyclic
    preferences it may settle on an arm that is no Copeland winner, and the bounds do
    not save it, since an arm that only meets itself is never ruled out;
    ``diagnostics.transitivity`` looks for cycles in votes. The theorems on D-TS say
    nothing of other posteriors than Beta distributions, and none is known to us.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, > 1/2 in the theory; 0.51 in the paper.
    tie_break : {"random", "regret"}
        Among first arms with equally many sampled votes: uniformly at random (D-TS), or
        the one with the least estimated regret (D-TS+, Section 4.3 there; remaining
        ties at random).
    elimination : bool
        Use the confidence bounds. Without them (pure D-TS, Appendix D.2.4 there) regret
        is linear when a Copeland winner loses to some arm.
    look_ahead : bool
        Jump over idle rounds. Without it every round is drawn.
    posterior : PairPosterior, or its name
        What both samples are drawn from: "beta" is ``BetaPairs()``, "bradley-terry"
        ``Laplace(BradleyTerry())``, "bradley-terry-hmc" ``HMC(BradleyTerry())``, and
        likewise "thurstone". Their parameters may be given by name as well, as in
        ``policies.get("d-ts", prior=2)``. On one scale samples never tie, so that
        ``tie_break`` must then be "random".

    References
    ----------
    H. Wu and X. Liu, "Double Thompson Sampling for Dueling Bandits", NIPS 2016,
    Algorithm 1 and Section 4.3. O. Chapelle and L. Li, "An empirical evaluation of
    Thompson sampling", NIPS 2011 (Laplace's method in Thompson sampling).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("d-ts", alpha=0.6).label
    'D-TS:alpha=0.6'
    >>> policies.parse_policy("d-ts:prior=2").posterior
    BetaPairs(prior=2)
    >>> policies.parse_policy("d-ts:posterior=thurstone,prior_scale=1").label
    'D-TS:posterior=thurstone,prior_scale=1.0'
    >>> policies.get("pure-d-ts", posterior="bradley-terry").label
    'BT-TS'
    """

    alpha: float = 0.51
    tie_break: str = "random"
    elimination: bool = True
    look_ahead: bool = True
    posterior: Any = BetaPairs()

    title: ClassVar[str] = "Double Thompson Sampling"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0.5, "alpha", kind=PolicyParameterError)
        one_of(
            self.tie_break, ("random", "regret"), "tie_break", kind=PolicyParameterError
        )
        posterior = check_pair_posterior(self.posterior, num_arms)
        if self.tie_break != "random" and is_on_a_scale(posterior):
            raise PolicyParameterError(
                "tie_break",
                f"must be random with posterior={posterior.name!r}, where samples "
                "never tie",
                self.tie_break,
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        posterior = self.posterior
        if not isinstance(posterior, BetaPairs):
            return None
        # Only what is played is imported.
        from bayesduel.policies.thompson._scalar_double_thompson import kernel
        from bayesduel.policies.thompson._scalar_state import EITHER, STEP

        return kernel(
            np.asarray(posterior.prior),
            alpha=float(self.alpha),
            elimination=self.elimination,
            ties_by_regret=self.tie_break == "regret",
            form=EITHER if self.look_ahead else STEP,
        )

    def over_model(self) -> Any:
        """Return the rule over the draws of any other posterior."""
        posterior = self.posterior
        if isinstance(posterior, BetaPairs):
            return None
        # JAX takes a second to import.
        from bayesduel.policies.over_models.double_thompson import (
            ROUNDS_AT_ONCE,
            SampledDoubleThompson,
        )

        together = self.look_ahead and posterior.independent_draws
        return SampledDoubleThompson(
            posterior,
            alpha=self.alpha,
            elimination=self.elimination,
            by_regret=self.tie_break == "regret",
            at_once=ROUNDS_AT_ONCE if together else 1,
        )
