"""SAVAGE (Urvoy, Clerot, Feraud and Naamane 2013)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from theory.arguments import one_of

GOALS = ("condorcet", "copeland")


@register("savage-copeland", acronym="SAVAGE-Copeland", goal="copeland")
@register("savage", acronym="SAVAGE")
class Savage(KernelPolicy):
    """Sensitivity analysis of variables for generic exploration (SAVAGE).

    Duels the pair compared least often among those that may still decide who the winner
    is, then stays with that arm. A pair with n duels has the confidence interval w/n
    +- sqrt(log(K (K - 1) T / delta) / (2 n)), natural logarithm, T the horizon. With
    ``goal="condorcet"`` an arm is out when an interval lies below 1/2, and all its
    pairs with it. With ``goal="copeland"`` a pair is dropped when its interval excludes
    1/2, or when, by the intervals, both arms beat at most so many others (optimistic
    counts) as some arm beats for sure: fewer, or with ``strict=False`` not more, which
    is enough to find one of several winners. A dropped pair never returns. Duels count
    as compared when they are asked for (delayed feedback).

    Ties among pairs, and among the best arms at the end, are broken at random. The
    winner is the arm with the largest optimistic count, then the largest sure one; so
    is the recommendation before the end. Every round of the exploration moves a count,
    so those rounds are stepped; ``look_ahead`` plays what follows as one stretch.

    Parameters
    ----------
    goal : {"condorcet", "copeland"}
        Which winner to find.
    delta : float
        Allowed failure probability; 0, the default, stands for 1/T.
    strict : bool
        For the goal "copeland": drop a pair only if both arms are surely worse.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    T. Urvoy, F. Clerot, R. Feraud, S. Naamane, "Generic Exploration and K-armed Voting
    Bandits", ICML 2013, Sections 4 and 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("savage-copeland").label
    'SAVAGE-Copeland'
    """

    goal: str = "condorcet"
    delta: float = 0.0
    strict: bool = True
    look_ahead: bool = True

    title: ClassVar[str] = "SAVAGE"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        one_of(self.goal, GOALS, "goal", kind=PolicyParameterError)
        if not (0.0 <= self.delta < 1.0):
            raise PolicyParameterError(
                "delta",
                "must be a probability above 0 and below 1, or 0 for 1/T",
                self.delta,
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.elimination._scalar_generic_exploration import kernel

        return kernel(
            finds_copeland=self.goal == "copeland",
            strict=self.strict,
            delta=float(self.delta),
            look_ahead=self.look_ahead,
        )
