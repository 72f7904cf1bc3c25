"""Outcomes that arrive in bunches: a policy around a policy."""

from dataclasses import fields, replace
from typing import Any

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import PolicyBase, declared
from bayesduel.policies.policy_around import PolicyAround


class DelayedFeedback(PolicyAround):
    """Tell a policy the outcomes only every ``every`` rounds.

    After the rounds d, 2 d, 3 d, ... all outcomes so far are told, one after the other
    and each with its own round, as Wu and Liu (2016, Appendix D.2.3) do it. Meanwhile
    the policy goes on choosing: its loop positions advance, it counts the duels that it
    asked for, and the round counts on; what it knows of outcomes stands still. With
    d = 1 it is the policy itself. Several rounds of one pair that were asked for at
    once are told together, after the last of them.

    The policy is stepped round by round. A policy that looks ahead promises that
    nothing is learnt before its next duel; with outcomes on their way this fails, and
    the stretch would have to be drawn anew whenever some arrive. A policy without
    look-ahead that asks for long stretches of its own accord (batched ones) may do so.

    Regret, ties and the recommendation are those of the policy; the recommendation does
    not know the outcomes still on their way at the horizon.

    Parameters
    ----------
    policy : Policy
        Any policy of dueling bandits.
    every : int
        d, at least 1.

    References
    ----------
    H. Wu, X. Liu, "Double Thompson Sampling for Dueling Bandits", NIPS 2016, Appendix
    D.2.3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.DelayedFeedback(policies.get("rucb"), every=100).label
    'RUCB, told every 100 rounds'
    """

    every: int

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name in words."""
        return f"{declared(self.policy, 'title')} with delayed feedback"

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        return f"told every {self.every} rounds"

    @property
    def settings(self) -> dict[str, Any]:
        """How the loop over rounds plays it."""
        return {"every": self.every}

    @property
    def played(self) -> PolicyBase:
        """The policy in its round-by-round form."""
        policy: Any = self.policy
        if any(each.name == "look_ahead" for each in fields(policy)):
            return replace(policy, look_ahead=False)
        return policy

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad delay or a bad parameter."""
        fits = isinstance(self.policy, PolicyBase)
        if not fits or isinstance(self.policy, DelayedFeedback):
            raise PolicyParameterError(
                "policy",
                "must be a policy without a delay of its own, such as "
                "policies.get('d-ts')",
                self.policy,
            )
        whole = isinstance(self.every, int) and not isinstance(self.every, bool)
        if not whole or self.every < 1:
            raise PolicyParameterError(
                "every", "must be a number of rounds, at least 1", self.every
            )
        self.policy.check(num_arms, horizon)
