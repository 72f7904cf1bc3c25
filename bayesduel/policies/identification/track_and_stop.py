"""Track-and-Stop for Copeland winners."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import as_number

_MOST_ARMS = 64


@register("track-and-stop", acronym="Track-and-Stop")
class TrackAndStop(KernelPolicy):
    """Track-and-Stop: ask the pairs in the proportions that prove an answer cheapest.

    After so many duels the identification program (`theory.identification_bound`) is
    solved for the estimates, and its numbers of duels, as shares a, are tracked: the
    next pair is the one that maximizes t a_e - n_e ("D-tracking"), unless some pair was
    asked fewer than sqrt(t) - M/2 times, M being the number of pairs: then the one that
    was asked least. Garivier and Kaufmann (2016) prove for a unique answer that the
    number of duels is asymptotically the least, T* log(1/delta). With several Copeland
    winners each is a right answer, and tracking must not waver between two of them
    (Degenne and Koolen 2019): an answer is kept until another one is cheaper by the
    share ``sticky``, or it is no winner of the estimates any more. Stopping is not part
    of it: see :mod:`bayesduel.stopping`. Regret is of no interest to it.

    Deviations: the shares are found anew only where the number of duels has grown by
    ``growth``, as the estimates do not move faster. A pair's evidence per duel is the
    posterior mean of KL(theta, 1/2), theta ~ Beta(wins + 1, losses + 1), which at even
    counts is not 0. Of an even pair the arm with the lower position is taken to be
    ahead, and pairs that are behind by the same number (to 1e-6) come in lexicographic
    order; both are at random in each run, as arms are relabeled. Prices of the n-th
    pair are tilted by 1 + 1e-6 sin(n), so that the optimum is unique. The guarantee of
    sticky Track-and-Stop is for confidence sets of estimates, which are left out here;
    with several winners of different cost duels are within 1/(1 - sticky) of the
    best. Nothing is proved of this form.

    Parameters
    ----------
    growth : float
        From 0, which finds the shares anew after every duel, to 1.
    sticky : float
        At least 0, below 1.

    Notes
    -----
    A program of K arms takes about K^5 operations where estimates have changed sides,
    K^4 where they have not; at most 64 arms are allowed.

    References
    ----------
    A. Garivier, E. Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
    COLT 2016, section 3. R. Degenne, W. M. Koolen, "Pure Exploration with Multiple
    Correct Answers", NeurIPS 2019.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("track-and-stop", sticky=0.2).label
    'Track-and-Stop:sticky=0.2'
    """

    growth: float = 0.05
    sticky: float = 0.1

    title: ClassVar[str] = "Track-and-Stop"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter, or too many arms."""
        if not 0.0 <= as_number(self.growth) <= 1.0:
            rule = "must be a number from 0 to 1"
            raise PolicyParameterError("growth", rule, self.growth)
        if not 0.0 <= as_number(self.sticky) < 1.0:
            rule = "must be a number from 0 to below 1"
            raise PolicyParameterError("sticky", rule, self.sticky)
        if num_arms > _MOST_ARMS:
            raise PolicyParameterError(
                "num_arms",
                f"must be at most {_MOST_ARMS} for track-and-stop",
                num_arms,
                remedy="rd-ts:cost=duels takes more",
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.identification._scalar_track_and_stop import kernel

        return kernel(growth=float(self.growth), sticky=float(self.sticky))
