"""What a policy around another policy leaves to it."""

from typing import Any

from bayesduel.policies.policy import KernelPolicy, Policy, PolicyBase, declared
from bayesduel.policies.subset_base import SubsetPolicy


def rule_of(policy: PolicyBase) -> tuple[Policy | SubsetPolicy, dict[str, Any]] | None:
    """Return the rule in NumPy that a policy is, or is around, and how it is played.

    With the settings of :func:`bayesduel.simulation.rule_runs.run_chunk`.
    """
    inner = policy
    while isinstance(inner, PolicyAround):
        inner = inner.played
    is_rule = isinstance(inner, Policy | SubsetPolicy)
    return (inner, manner_of(policy)) if is_rule else None


def manner_of(policy: PolicyBase) -> dict[str, Any]:
    """Return the settings with which a loop plays the rule that a policy is around."""
    if not isinstance(policy, PolicyAround):
        return {}
    return {**manner_of(policy.played), **policy.settings}


class PolicyAround(KernelPolicy):
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
        """How the loop plays the rule, where that is in NumPy or over a model."""
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
