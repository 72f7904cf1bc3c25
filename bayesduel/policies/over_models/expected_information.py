"""Expected information over the draws of a posterior."""

from dataclasses import field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy import special
from jaxtyping import Int

from bayesduel.models.in_policies.base import PairPosterior, is_on_a_scale
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.over_models.base import (
    ModelRule,
    add_wins,
    choose_among,
    model_rule,
    most_beaten,
    one_round,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class ExpectedInformationState(NamedTuple):
    """Counts for the recommendation, and the posterior."""

    wins: Int[Array, "K K"]
    beliefs: State


@model_rule
class SampledInformation(ModelRule):
    """The pair with the largest mean information of so many draws."""

    posterior: PairPosterior
    draws: int = field(metadata={"static": True})

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> ExpectedInformationState:
        """Return the state before the first round."""
        return ExpectedInformationState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            beliefs=self.posterior.init(rng_key, num_arms),
        )

    def choose(
        self, rng_key: RunKey, state: ExpectedInformationState, round_: RoundCount
    ) -> tuple[Duel, ExpectedInformationState]:
        """Take the pair that teaches most."""
        key_draws, key_tie = jax.random.split(rng_key)
        probabilities = self.posterior.sample(key_draws, state.beliefs, self.draws)
        unsure = special.entr(probabilities) + special.entr(1.0 - probabilities)
        mean = jnp.mean(probabilities, axis=0)
        whole = special.entr(mean) + special.entr(1.0 - mean)
        gains = (whole - jnp.mean(unsure, axis=0))[np.triu_indices(len(mean), 1)]
        best = gains >= jnp.max(gains) * (1.0 - EQUAL_GAINS)
        pair = choose_among(jax.random.uniform(key_tie, dtype=jnp.float64), best)
        first, second = jnp.asarray(np.triu_indices(len(state.wins), 1), jnp.int32)
        return one_round(first[pair], second[pair]), state

    def update(
        self,
        rng_key: RunKey,
        state: ExpectedInformationState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ExpectedInformationState:
        """Count the outcome."""
        beliefs = self.posterior.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        return ExpectedInformationState(
            wins=add_wins(state.wins, duel, outcome), beliefs=beliefs
        )

    def recommend(self, rng_key: RunKey, state: ExpectedInformationState) -> Arm:
        """Return the arm that beats most others; on a scale, the best at the mode."""
        posterior = self.posterior
        if is_on_a_scale(posterior):
            return jnp.argmax(posterior.utilities(state.beliefs)).astype(jnp.int32)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return most_beaten(uniform, state.wins)
