"""RMED1 (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_rmed import kernel
from theory.arguments import number_from
from theory.theorems import rmed1_bound


@register("rmed1", acronym="RMED1", theorems=(rmed1_bound,))
class RMED1(KernelPolicy):
    """Relative Minimum Empirical Divergence, first version (RMED1).

    I_i = sum of N_ij KL(mu_ij, 1/2) over the arms j that i does not beat (mu_ij <= 1/2)
    is the evidence against i being the Condorcet winner; i* has the least, I*. After
    one duel of every pair, the algorithm passes through a list of arms l, each against
    i* if i* is among those that l does not beat (or if there is none of them), else
    against the arm it does worst against; arms j with I_j - I* <= log t + f(K) enter
    the next list. An arm leaves the list when it is played, before its outcome is known
    (``every=`` and studies tell that later). While the list is i* alone, only log t
    moves: ``look_ahead`` computes the round at which another arm enters (that round is
    still a self-duel). Natural logarithm.

    The list order is the order of the arms (the environment shuffles them by default),
    and ties, of which there are many early on, go to the lowest position.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed1", f_scale=0.45).label
    'RMED1:f_scale=0.45'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    f_scale: float = 0.3
    f_power: float = 1.01
    look_ahead: bool = True

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 1"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_from(self.f_scale, 0, "f_scale", kind=PolicyParameterError)
        number_from(self.f_power, 0, "f_power", kind=PolicyParameterError)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed1", **vars(self))
