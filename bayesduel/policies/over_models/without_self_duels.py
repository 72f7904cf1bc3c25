"""The duels of a rule over a model, without its self-duels."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from bayesduel.limits import LONGEST_HORIZON
from bayesduel.policies.over_models.base import ModelRule, model_rule
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class WithoutSelfDuelsState(NamedTuple):
    """The state of the policy, and its own rounds so far."""

    inner: State
    clock: RoundCount


@model_rule
class RoundsWithoutSelfDuels(ModelRule):
    """Plays the duels of a rule, in their order, and leaves its self-duels out."""

    policy: ModelRule

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
        over = state.clock >= LONGEST_HORIZON
        asked = duel.exploit_rounds + duel.explore_rounds
        differ = (duel.first != duel.second) & ~over
        shown = duel._replace(
            exploit_rounds=jnp.where(over, LONGEST_HORIZON, 0),
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

    def recommend(self, rng_key: RunKey, state: Any) -> Arm:
        """Return the recommendation of the policy."""
        return self.policy.recommend(rng_key, state.inner)
