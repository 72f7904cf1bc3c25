"""Comparisons without the rounds in which an arm meets itself: around a policy."""

from typing import Any

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import PolicyBase, declared
from bayesduel.policies.policy_around import PolicyAround


class WithoutSelfDuels(PolicyAround):
    """Play the duels of a policy, in their order, and leave its self-duels out.

    Policies that minimize regret let their champion meet itself nearly always. That
    teaches nothing; who pays for duels and wants a name, not regret, leaves it out. The
    policy counts its own rounds, self-duels included, so the distribution of its duels
    is the same; a run counts those that are played. Once a policy would explore no more
    within 2^62 rounds of its own, the arm that it recommends meets itself to the end.

    Regret, ties and the recommendation are those of the policy.

    Parameters
    ----------
    policy : Policy
        Any policy of dueling bandits that asks for one duel at a time; SCB does with
        ``look_ahead=False``.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.WithoutSelfDuels(policies.get("d-ts")).label
    'D-TS, no self-duels'
    >>> policies.parse_policy("d-ts:self_duels=false").name
    'd-ts, no self-duels'
    """

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name in words."""
        return f"{declared(self.policy, 'title')} without self-duels"

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        return "no self-duels"

    @property
    def settings(self) -> dict[str, Any]:
        """How the loop over rounds plays it."""
        return {"self_duels": False}

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a policy that does not fit."""
        inner = self.policy
        fits = isinstance(inner, PolicyBase)
        fits = fits and not isinstance(inner, WithoutSelfDuels)
        # Without look-ahead a policy asks for one duel at a time.
        in_bulk = fits and declared(inner, "explores_in_bulk")
        if not fits or (in_bulk and getattr(inner, "look_ahead", True)):
            raise PolicyParameterError(
                "policy",
                "must be one that asks for a duel at a time, such as "
                "policies.get('d-ts')",
                inner,
            )
        inner.check(num_arms, horizon)
