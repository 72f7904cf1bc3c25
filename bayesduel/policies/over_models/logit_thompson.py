"""Thompson sampling over the draws of utilities of a model of choices."""

from dataclasses import field
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.models.in_policies.set_laplace import SetBeliefs, SetLaplace, SetModel
from bayesduel.policies.over_models.base import ModelRule, model_rule, top
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


class LogitState(NamedTuple):
    """The posterior, and the size of the sets."""

    beliefs: SetBeliefs
    slots: Int[Array, " k"]


@model_rule
class SampledLogit(ModelRule):
    """Offers the k arms of the largest utilities in a draw."""

    posterior: SetLaplace
    no_choice: bool = field(metadata={"static": True})

    def init(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> LogitState:
        """Return the state before the first round: the prior."""
        model = self.posterior.over(num_arms, subset_size, no_choice=self.no_choice)
        return LogitState(
            beliefs=model.init(), slots=jnp.arange(subset_size, dtype=jnp.int32)
        )

    def _model(self, state: LogitState) -> SetModel:
        """Return the model for the sets that the state is about."""
        num_arms = state.beliefs.counts.shape[1] - self.no_choice
        return self.posterior.over(
            num_arms, state.slots.shape[0], no_choice=self.no_choice
        )

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, rng_key: RunKey, state: LogitState, round_: RoundCount
    ) -> tuple[Offer, LogitState]:
        """Draw utilities, offer the k largest."""
        key_draw, key_ties = jax.random.split(rng_key)
        model = self._model(state)
        utility = model.sample_utilities(key_draw, state.beliefs, 1)[0]
        uniforms = jax.random.uniform(key_ties, utility.shape, dtype=jnp.float64)
        subset = top(utility, uniforms, len(state.slots))
        return Offer(subset, jnp.int64(1), jnp.bool_(False)), state

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        state: LogitState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> LogitState:
        """Count the choice and fit the model again."""
        outcome = rewards.rewards
        if self.no_choice:
            nobody = rewards.rounds.astype(jnp.float64) - jnp.sum(outcome)
            outcome = jnp.concatenate([outcome, nobody[None]])
        beliefs = self._model(state).update(state.beliefs, offer.subset, outcome)
        return state._replace(beliefs=beliefs)

    def recommend(self, rng_key: RunKey, state: LogitState) -> Bool[Array, " n"]:
        """Return the k arms with the largest utilities at the mode."""
        utility = self._model(state).utilities(state.beliefs)
        uniforms = jax.random.uniform(rng_key, utility.shape, dtype=jnp.float64)
        return top(utility, uniforms, len(state.slots))
