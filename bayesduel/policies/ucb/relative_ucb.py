"""Relative Upper Confidence Bound (Zoghi et al. 2014)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import number_above
from theory.theorems import rucb_bound


@register("rucb", acronym="RUCB", theorems=(rucb_bound,))
class RelativeUCB(KernelPolicy):
    """Relative Upper Confidence Bound (RUCB).

    The champion is drawn among the arms that no other arm beats for sure (u >= 1/2
    against all), the challenger is the arm with the largest upper bound against it,
    the champion itself included at 1/2. When all others are below 1/2 the champion
    duels itself; no random number and no count is involved until the first bound comes
    back to 1/2, which ``look_ahead`` computes.

    Ties among challengers are broken at random, never in favor of the champion. ``log``
    is natural; an uncompared pair has u = 2.

    Parameters
    ----------
    alpha : float
        u = wins/n + sqrt(alpha log t / n); > 1/2 in the theory.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    M. Zoghi, S. Whiteson, R. Munos, M. de Rijke, "Relative Upper Confidence Bound for
    the K-Armed Dueling Bandit Problem", ICML 2014, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rucb", alpha=0.765).label
    'RUCB:alpha=0.765'
    """

    alpha: float = 0.51
    look_ahead: bool = True

    title: ClassVar[str] = "Relative Upper Confidence Bound"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0.5, "alpha", kind=PolicyParameterError)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.ucb._scalar_relative_ucb import kernel

        return kernel(alpha=float(self.alpha), look_ahead=self.look_ahead)
