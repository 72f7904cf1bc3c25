"""Relative Confidence Sampling (Zoghi, Whiteson, de Rijke and Munos 2014)."""

from typing import Any, ClassVar

import numpy as np

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.checks import check_beta
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_pairs import BetaPairs
from theory.arguments import number_above, one_of


@register("rcs", acronym="RCS")
class RelativeConfidenceSampling(KernelPolicy):
    """Relative Confidence Sampling (RCS).

    The champion is the arm that beats all others in one sample of the posterior, by
    default with prior Beta(1, 1) per unordered pair; where there is none, the arm that
    was champion least often. The challenger is the arm with the largest upper
    confidence bound against it, the champion itself included at 1/2. ``log`` is
    natural; an uncompared pair has u = 2. Ties are broken at random.

    A round teaches nothing when the champion is an arm that surely beats all others;
    there is at most one. While its bounds hold and it has been champion more often than
    some other arm, such rounds are independent, each with the probability that the arm
    beats all others in the sample: their number is geometric, and ``look_ahead`` draws
    it at once, with the champion of the round that follows. The distribution of
    everything that is counted is that of the step form.

    Parameters
    ----------
    alpha : float
        u = wins/n + sqrt(alpha log t / n); > 1/2 in the theory.
    fallback : {"least", "random"}
        Without an arm that beats all others in the sample: the arm that was champion
        least often (as in the paper), or any (as Wu and Liu 2016 describe it).
    look_ahead : bool
        Jump over self-duels. Without it every round is drawn.
    posterior : BetaPairs
        What the sample is drawn from; its ``prior`` may be given in its place by name,
        as in ``policies.get("rcs", prior=2)``. The bounds count duels alone.

    References
    ----------
    M. Zoghi, S. Whiteson, M. de Rijke, R. Munos, "Relative Confidence Sampling for
    Efficient On-Line Ranker Evaluation", WSDM 2014, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rcs", alpha=0.765).label
    'RCS:alpha=0.765'
    """

    alpha: float = 0.51
    fallback: str = "least"
    look_ahead: bool = True
    posterior: BetaPairs = BetaPairs()

    title: ClassVar[str] = "Relative Confidence Sampling"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0.5, "alpha", kind=PolicyParameterError)
        one_of(
            self.fallback, ("least", "random"), "fallback", kind=PolicyParameterError
        )
        check_beta(self.posterior, BetaPairs, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.thompson._scalar_relative_sampling import kernel

        return kernel(
            np.asarray(self.posterior.prior),
            alpha=float(self.alpha),
            any_may_stand_in=self.fallback == "random",
            steps=not self.look_ahead,
        )
