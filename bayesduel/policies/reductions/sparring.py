"""Sparring (Ailon, Karnin and Joachims 2014)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.checks import check_beta
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_arms import BetaArms
from theory.arguments import number_above, one_of

INNER = ("ucb", "ts")
"""Names of the machines."""


@register("sparring", acronym="Sparring")
class Sparring(KernelPolicy):
    """Sparring: two ordinary bandit machines, each of which names one arm of the duel.

    The left machine is fed 1 if its arm wins and 0 otherwise, the right one the
    opposite. Self-duels are fed as well: their outcome is a fair coin and it matters.
    Natural logarithm; ties at random, arms never pulled first.

    The rewards of a machine are not stationary, because the other one learns. There is
    no theorem outside utility models, and without a Condorcet winner the regret is
    large. Every round feeds the machines, so there is nothing that look-ahead could
    jump over.

    Parameters
    ----------
    inner : {"ucb", "ts"}
        Machines: UCB, or Thompson sampling.
    alpha : float
        Of UCB: width sqrt((alpha + 2) log s / (2 n)); 3 gives sqrt(2.5 log s / n).
    posterior : BetaArms
        Of Thompson sampling, not read by UCB; its ``prior`` may be given in its place
        by name, as in ``policies.get("sparring", inner="ts", prior=2)``.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 3 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("sparring", alpha=4.5).label
    'Sparring:alpha=4.5'
    """

    inner: str = "ucb"
    alpha: float = 3.0
    posterior: BetaArms = BetaArms()

    title: ClassVar[str] = "Sparring"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        one_of(self.inner, INNER, "inner", kind=PolicyParameterError)
        number_above(self.alpha, 0, "alpha", kind=PolicyParameterError)
        check_beta(self.posterior, BetaArms, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.reductions._scalar_sparring import kernel

        return kernel(
            samples=self.inner == "ts",
            alpha=float(self.alpha),
            prior=float(self.posterior.prior),
        )
