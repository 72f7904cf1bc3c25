"""Comparisons without the rounds in which an arm meets itself: around a policy."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import Policy, kernel_of, policy_class
from bayesduel.policies.policy import Policy as Rule
from bayesduel.policies.policy import declared
from bayesduel.policies.policy_around import PolicyAround
from bayesduel.types import Duel, Outcome, RoundCount, RunKey, State


class WithoutSelfDuelsState(NamedTuple):
    """The state of the policy, and its own rounds so far."""

    inner: State
    clock: RoundCount


@policy_class
class WithoutSelfDuels(PolicyAround):
    """Play the duels of a policy, in their order, and leave its self-duels out.

    Policies that minimize regret let their champion meet itself nearly always. That
    teaches nothing; who pays for duels and wants a name, not regret, leaves it out. The
    policy counts its own rounds, self-duels included, so the law of its duels is the
    same; a run counts those that are played. Once a policy would explore no more within
    2^62 rounds of its own, its choice meets itself to the end.

    Regret, ties and the recommendation are those of the policy.

    Parameters
    ----------
    policy : Policy
        Any policy of dueling bandits that asks for one duel at a time.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.WithoutSelfDuels(policies.get("d-ts")).label
    'D-TS, no self-duels'
    >>> policies.parse("d-ts:self_duels=false").name
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
        """How it is played, where the policy is a rule in NumPy."""
        return {"self_duels": False}

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a policy that does not fit."""
        inner = self.policy
        fits = isinstance(inner, Policy | Rule)
        fits = fits and not isinstance(inner, WithoutSelfDuels)
        if not fits or declared(inner, "explores_in_bulk"):
            raise PolicyParameterError(
                "policy must be one that asks for a duel at a time, such as "
                f"policies.get('d-ts'); got {inner!r}"
            )
        inner.check(num_arms, horizon)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> WithoutSelfDuelsState:
        """Return the state before the first round."""
        return WithoutSelfDuelsState(
            inner=self.policy.init(rng_key, num_arms, horizon), clock=jnp.int64(0)
        )

    def choose(
        self, rng_key: RunKey, state: WithoutSelfDuelsState, round_: RoundCount
    ) -> tuple[Duel, WithoutSelfDuelsState]:
        """Let the policy choose; nothing where it asks for self-duels alone."""
        duel, inner = self.policy.choose(rng_key, state.inner, state.clock + 1)
        over = state.clock >= NEVER
        asked = duel.exploit_rounds + duel.explore_rounds
        differ = (duel.first != duel.second) & ~over
        shown = duel._replace(
            exploit_rounds=jnp.where(over, NEVER, 0),
            explore_rounds=jnp.where(differ, duel.explore_rounds, 0),
            note=(duel.note, duel.exploit_rounds, duel.explore_rounds),
        )
        clock = jnp.where(over, state.clock, state.clock + asked)
        return shown, WithoutSelfDuelsState(inner=inner, clock=clock)

    def update(
        self,
        rng_key: RunKey,
        state: WithoutSelfDuelsState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> WithoutSelfDuelsState:
        """Tell the policy what came of its duel, as if all had been played.

        Of a self-duel the coin is tossed here.
        """
        note, idle, explored = duel.note
        coin = jax.random.bernoulli(jax.random.fold_in(rng_key, 1))
        alone = duel.first == duel.second
        wins = jnp.where(alone, jnp.where(coin, explored, 0), outcome.wins)
        asked = duel._replace(exploit_rounds=idle, explore_rounds=explored, note=note)
        told = Outcome(exploit_rounds=idle, rounds=explored, wins=wins)
        inner = self.policy.update(rng_key, state.inner, state.clock, asked, told)
        return state._replace(inner=inner)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where the policy has one."""
        inner = kernel_of(self.policy)
        if inner is None:
            return None
        # Numba takes half a second to import.
        from bayesduel.policies._scalar_without_self_duels import kernel

        return kernel(inner)
