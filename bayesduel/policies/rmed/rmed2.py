"""RMED2 (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_rmed import kernel
from bayesduel.policies.rmed.rmed1 import RMED1
from theory.arguments import number_above, number_from


@register("rmed2", acronym="RMED2")
class RMED2(RMED1):
    """Relative Minimum Empirical Divergence, second version (RMED2).

    As :class:`RMED1`, with two changes. At the head of each pass every pair compared
    fewer than alpha log log t times is drawn, outside the lists. And arm l meets, in
    place of RMED1's opponent, the arm that proves it not to be the Condorcet winner at
    the least cost,

        b_l = argmin over j with mu_lj < 1/2 of
              (mu_{i*l} + mu_{i*j} - 1) / KL(mu_lj, 1/2),

    unless l was compared with i* fewer than N_{l b_l} / log log t times. The numerator,
    twice the regret of the pair, is estimated and floored. Natural logarithms; log log
    t is taken at t >= 3 in the first place and at t >= 16, where it is about 1, in the
    second. Both rules count duels when they are asked for, so also those whose outcomes
    are on their way (delayed feedback).

    The list order is the order of the arms, and ties go to the lowest position, as in
    RMED1. Rare pairs are drawn in lexicographic order, one at a time, with t moving on.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Of the forced draws; 3 in the paper.
    numerator_floor : float
        Smallest numerator of b_l; estimates may be negative early on. 0.01 as in the
        authors' program, the paper has no floor, which is -1 here.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2", f_scale=0.45).label
    'RMED2:f_scale=0.45'
    """

    alpha: float = 3.0
    numerator_floor: float = 0.01

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        number_above(self.alpha, 0, "alpha", kind=PolicyParameterError)
        number_from(
            self.numerator_floor, -1, "numerator_floor", kind=PolicyParameterError
        )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed2", **vars(self))
