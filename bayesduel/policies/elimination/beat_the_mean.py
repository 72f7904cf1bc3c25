"""Beat the Mean (Yue and Joachims 2011)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import number_from


@register("beat-the-mean", acronym="BTM")
class BeatTheMean(KernelPolicy):
    """Beat the Mean Bandit (BTM).

    The active arm with the fewest duels meets a uniformly random active arm, possibly
    itself, and only the first arm is credited: its share of wins estimates how it fares
    against the "mean bandit". With n* the fewest duels of an active arm, the worst arm
    is removed when its share plus c is at most the best share minus c, with c = 3
    gamma^2 sqrt(log(2 T K) / n*) (natural logarithm, T the horizon; 1 at n* = 0); its
    duels then leave all sums. The last arm is played against itself. For relaxed
    stochastic transitivity with constant gamma.

    Whose turn it is goes by the duels asked for, n* by those whose outcomes are known
    (delayed feedback). All ties are broken at random. A self-duel before the end feeds
    its coin flip, like any other duel. Every round of the exploration is random, so it
    is stepped; ``look_ahead`` plays the rest as one stretch. The recommendation is the
    active arm with the largest share.

    Parameters
    ----------
    gamma : float
        Constant of the transitivity, at least 1.
    tight : bool
        c = gamma^2 sqrt(log(1/delta) / n*) instead, without the factor 3: as the paper
        allows for gamma = 1, and as Komiyama's library has it for every gamma.
    self_duels : bool
        Draw the opponent among all active arms, as the mean bandit is defined; without
        the arm itself if false.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    Y. Yue, T. Joachims, "Beat the Mean Bandit", ICML 2011, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("beat-the-mean", gamma=1.95).label
    'BTM:gamma=1.95'
    """

    gamma: float = 1.3
    tight: bool = False
    self_duels: bool = True
    look_ahead: bool = True

    title: ClassVar[str] = "Beat the Mean"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_from(self.gamma, 1, "gamma", kind=PolicyParameterError)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.elimination._scalar_beat_the_mean import kernel

        factor = float(self.gamma) ** 2 * (1.0 if self.tight else 3.0)
        return kernel(
            factor=factor, draws_itself=self.self_duels, look_ahead=self.look_ahead
        )
