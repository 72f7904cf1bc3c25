"""ECW-RMED (Komiyama, Honda and Nakagawa 2016)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import number_above, number_from
from theory.theorems import ecw_kl_sum_bound, ecw_kl_worst_case_bound, ecw_rmed_bound


class CopelandRMED(KernelPolicy):
    """What CW-RMED and ECW-RMED share: the numbers of Algorithm 1."""

    alpha: float = 3.0
    beta: float = 0.01
    look_ahead: bool = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0, "alpha", kind=PolicyParameterError)
        number_from(self.beta, 0, "beta", kind=PolicyParameterError)


@register(
    "ecw-rmed",
    acronym="ECW-RMED",
    theorems=(ecw_rmed_bound, ecw_kl_sum_bound, ecw_kl_worst_case_bound),
)
class ECWRMED(CopelandRMED):
    """Efficient Copeland Winners Relative Minimum Empirical Divergence (ECW-RMED).

    While the evidence N_ij KL(mu_ij, 1/2) / log t satisfies every constraint of the
    Copeland lower bound (Eq. 2) for some estimated winner i, only (i, i) is due. Else
    the efficient program (Eqs. 4 and 5; Theorem 5, in closed form) is solved for the
    estimated matrix, and every pair with less evidence than it asks for is due, with
    the program's winner against itself. Before each draw, a pair is drawn out of turn
    if it was compared fewer than alpha sqrt(log t) times, or if its estimate is within
    beta / log log t of 1/2, or exactly 1/2. Logarithms are natural, those of t below 1
    count as 1. With outcomes on their way (delayed feedback) a pair counts as compared
    when it is asked for, and an estimate is near 1/2 only once all outcomes of its pair
    are there.

    Order: pairs lexicographically by position (the environment shuffles the arms by
    default), then (i, i); ties go to the lowest position. With beta > 0 a pair that
    truly ties is drawn out of turn again and again: regret is then linear if it costs.

    Parameters
    ----------
    alpha : float
        3.0 in the paper.
    beta : float
        0.01 in the paper; 0 is nearly as good.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower
    Bound, Optimal Algorithm, and Computationally Efficient Algorithm", ICML 2016,
    Algorithm 1 with the program of Section 4.2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ecw-rmed", alpha=4.5).label
    'ECW-RMED:alpha=4.5'
    """

    title: ClassVar[str] = "Efficient Copeland Winners RMED"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.rmed._scalar_efficient_copeland import kernel

        return kernel(
            alpha=float(self.alpha), beta=float(self.beta), look_ahead=self.look_ahead
        )
