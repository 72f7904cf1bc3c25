"""What a policy around another policy leaves to it."""

from typing import Any, NamedTuple

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.policies.policy import FrozenPolicy, Policy, PolicyBase, declared
from bayesduel.policies.subset_base import SubsetPolicy


class Manner(NamedTuple):
    """How duels are played."""

    every: int = 1
    """After so many rounds the policy is told the outcomes so far."""

    self_duels: bool = True
    """Whether the self-duels that it chooses are played."""

    patience: int = LONGEST_HORIZON
    """Where they are not: choices in a row without a duel after which it is done."""

    clock: int = 0
    """Rounds of the policy's own clock before the first one."""


STRAIGHT = Manner()


def innermost(policy: PolicyBase) -> PolicyBase:
    """Return the policy that is played in the end, in the form that is played."""
    while isinstance(policy, PolicyAround):
        policy = policy.played
    return policy


def rule_of(policy: PolicyBase) -> Policy | SubsetPolicy | None:
    """Return the rule in NumPy that a policy is, or is around."""
    inner = innermost(policy)
    return inner if isinstance(inner, Policy | SubsetPolicy) else None


def manner_of(policy: PolicyBase) -> Manner:
    """Return how a policy plays the one that it is around."""
    if not isinstance(policy, PolicyAround):
        return STRAIGHT
    return manner_of(policy.played)._replace(**policy.settings)


class PolicyAround(FrozenPolicy):
    """A policy that plays another one, its field ``policy``, in a way of its own.

    Name and label are those of the policy with ``manner`` behind them.
    """

    policy: PolicyBase

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """How the loop over rounds plays it: fields of :class:`Manner`."""
        raise NotImplementedError

    @property
    def played(self) -> PolicyBase:
        """The policy in the form that is played."""
        return self.policy

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it asks for several rounds of a pair at once."""
        return declared(self.policy, "explores_in_bulk")

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the rule reads the horizon."""
        return declared(self.policy, "needs_horizon")

    @property
    def name(self) -> str:
        """Name of the policy, and how it is played."""
        return f"{self.policy.name}, {self.manner}"

    @property
    def label(self) -> str:
        """Acronym of the policy, and how it is played."""
        return f"{self.policy.label}, {self.manner}"
