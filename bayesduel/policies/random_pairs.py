"""Random pairs, the rule that learns nothing from what it sees."""

from typing import Any, ClassVar

from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register


@register("random", acronym="Random")
class RandomPairs(KernelPolicy):
    """Uniformly random pairs, a yardstick.

    Both arms are drawn independently of everything, so self-duels occur in one round of
    K. The regret grows by the same amount in every round.

    There is no look-ahead: no two rounds belong together, and a stretch would have to
    put the duels of a pair one after the other, which a checkpoint inside it shows.

    Parameters
    ----------
    distinct : bool
        Draw two different arms.

    References
    ----------
    The baseline of J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound
    and Optimal Algorithm in Dueling Bandit Problem", COLT 2015.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("random").label
    'Random'
    """

    distinct: bool = False

    title: ClassVar[str] = "Random pairs"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies._scalar_random_pairs import kernel

        return kernel(distinct=self.distinct)
