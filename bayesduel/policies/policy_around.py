"""What a policy around another policy leaves to it."""

from typing import Any

from jax import Array
from jaxtyping import Bool, Shaped

from bayesduel.policies.base import Policy, policy_class
from bayesduel.policies.policy import Policy as Rule
from bayesduel.policies.policy import PolicyBase, declared
from bayesduel.policies.subset_base import SubsetPolicy
from bayesduel.types import Arm, OnHost, RunKey


def rule_of(policy: PolicyBase) -> tuple[Rule | SubsetPolicy, dict[str, Any]] | None:
    """Return the rule in NumPy that a policy is, or is around, and how it is played.

    With the settings of :func:`bayesduel.simulation.run_by_run.run_chunk`.
    """
    if isinstance(policy, Rule | SubsetPolicy):
        return policy, {}
    if not isinstance(policy, PolicyAround):
        return None
    found = rule_of(policy.played)
    return found and (found[0], {**found[1], **policy.settings})


@policy_class
class PolicyAround(Policy):
    """A policy that plays another one, its field ``policy``, in a way of its own.

    Its state has the state of that one as its field ``inner``. Name and label are those
    of the policy with ``manner`` behind them; the recommendation, the numbers of a
    finished run and what is asked of the host are the policy's.
    """

    policy: Policy

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """How it is played, where the policy is a rule in NumPy."""
        raise NotImplementedError

    @property
    def played(self) -> Policy:
        """The policy in the form that is played."""
        return self.policy

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether ``explore_rounds`` may exceed 1."""
        return declared(self.policy, "explores_in_bulk")

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the rule reads the horizon."""
        return declared(self.policy, "needs_horizon")

    @property
    def assisted(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the policy sometimes waits for the host."""
        return self.policy.assisted

    @property
    def name(self) -> str:
        """Name of the policy, and how it is played."""
        return f"{self.policy.name}, {self.manner}"

    @property
    def label(self) -> str:
        """Acronym of the policy, and how it is played."""
        return f"{self.policy.label}, {self.manner}"

    def recommend(self, rng_key: RunKey, state: Any) -> Arm:
        """Return the recommendation of the policy."""
        return self.played.recommend(rng_key, state.inner)

    def info(self, state: Any) -> dict[str, Shaped[Array, ""]]:
        """Return the numbers of the policy."""
        return self.played.info(state.inner)

    def is_waiting(self, state: Any) -> Bool[Array, ""]:
        """Say whether the policy waits for the host."""
        return self.played.is_waiting(state.inner)

    def host_step(self, state: OnHost[Any]) -> OnHost[Any]:
        """Serve the policy on the host."""
        return state._replace(inner=self.played.host_step(state.inner))
