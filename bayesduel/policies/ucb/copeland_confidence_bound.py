"""Copeland Confidence Bound (Zoghi, Karnin, Whiteson and de Rijke 2015)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import number_above
from theory.theorems import ccb_order


@register("ccb", acronym="CCB", theorems=(ccb_order,))
class CopelandConfidenceBound(KernelPolicy):
    """Copeland Confidence Bound (CCB).

    The optimistic champions are the arms that, by their upper bounds, may beat the most
    others. Beside them the algorithm keeps the arms that may still be Copeland winners,
    and for the others a short list of arms believed to beat them (as many as prove
    that an arm is no winner), which it forgets when a belief is disproved. With
    probability 1/4 an open belief is checked; else a champion is drawn, with
    probability 2/3 among the potential winners if it can be, and meets the arm with the
    largest upper bound against it, of all arms or (1/2) of its believed superiors,
    without arms that beat it for sure. ``log`` is natural; an uncompared pair has u = 2
    and l = 0.

    A champion meets itself when all its pairs are decided. While no bound reaches 1/2
    the sets stay as they are, the rounds are independent, and the number of such self-
    duels is geometric; ``look_ahead`` draws it at once. The distribution of all counts
    of different arms, of the state at every round, and the mean of every regret are
    exactly those of the step form. One champion is drawn per idle stretch, so with
    several optimistic champions the split of self-duels among them is coarser.

    Ties among challengers are broken at random, never in favor of the champion. Where
    no believed superior is admissible all arms are (not stated in the paper; the
    program of Wu and Liu 2016 does so). Believed superiors to keep are drawn
    independently for each arm.

    Parameters
    ----------
    alpha : float
        Bounds wins/n +- sqrt(alpha log t / n); > 1/2 in the theory.
    look_ahead : bool
        Jump over self-duels.

    References
    ----------
    M. Zoghi, Z. Karnin, S. Whiteson, M. de Rijke, "Copeland Dueling Bandits", NIPS
    2015, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ccb", alpha=0.765).label
    'CCB:alpha=0.765'
    """

    alpha: float = 0.51
    look_ahead: bool = True

    title: ClassVar[str] = "Copeland Confidence Bound"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0.5, "alpha", kind=PolicyParameterError)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.ucb._scalar_copeland_confidence_bound import kernel

        return kernel(alpha=float(self.alpha), look_ahead=self.look_ahead)
