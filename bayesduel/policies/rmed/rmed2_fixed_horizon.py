"""RMED2FH (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from typing import Any, ClassVar

from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_rmed import kernel
from bayesduel.policies.rmed.rmed2 import RMED2


@register("rmed2fh", acronym="RMED2FH")
class RMED2FH(RMED2):
    """Relative Minimum Empirical Divergence 2, fixed horizon (RMED2FH).

    :class:`RMED2` made simple by the knowledge of the horizon T: every pair is drawn
    L = max(1, ceil(alpha log log T)) times at first, then the targets b_l are computed
    once and for all, and no pair is drawn outside the lists any more. Arm l meets its
    b_l, where l does not beat it, unless l was compared with i* fewer than
    N_{l b_l} / log log T times. Natural logarithms; log log T is taken at T >= 3 in the
    first place and at T >= 16 in the second. Duels count when they are asked for; the
    targets wait for the outcomes of all initial draws (delayed feedback).

    The initial draws are L sweeps over all pairs in lexicographic order (the paper has
    no order). Order of the lists and ties as in RMED1: the order of the arms, and the
    lowest position.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Of the initial draws; 3 in the paper.
    numerator_floor : float
        Smallest numerator of b_l, as in RMED2.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2fh", f_scale=0.45).label
    'RMED2FH:f_scale=0.45'
    """

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2, fixed horizon"
    needs_horizon: ClassVar[bool] = True

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed2fh", **vars(self))
