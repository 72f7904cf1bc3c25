"""Rounds of RD-TS over a posterior of utilities.

A draw decides when: a round whose draw has the leader on top is idle. The world of the
rival that is on top decides where.
"""

from dataclasses import field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from bayesduel.models.in_policies.base import RivalPosterior, utilities_by_number
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.over_models.base import (
    ModelRule,
    choose_among,
    model_rule,
    up_to_another,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

_EVEN = 1e-9  # Utilities that differ by no more are equal: no mode is known better

# Least gain of the rival: where both are level already, no pair tells
_LEAST_GAIN = 1e-20
_LEAST_PROBABILITY = 1e-300


class RivalState(NamedTuple):
    """A belief, and who leads where utilities are equal."""

    beliefs: Any
    # Drawn once in a run; of equal arms the one with the largest leads.
    rank: Float[Array, " K"]


@model_rule
class SampledRivals(ModelRule):
    """The rule of RD-TS over the draws of a posterior on one scale."""

    # With ``costs_regret`` a duel costs its Copeland regret by the order of the
    # utilities; else every duel costs the same, and no arm meets itself.

    posterior: RivalPosterior
    costs_regret: bool = field(metadata={"static": True})
    at_once: int = field(metadata={"static": True})

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> RivalState:
        """Return the state before the first round."""
        key_posterior, key_rank = jax.random.split(rng_key)
        return RivalState(
            beliefs=self.posterior.init(key_posterior, num_arms),
            rank=jax.random.uniform(key_rank, (num_arms,), dtype=jnp.float64),
        )

    def choose(
        self, rng_key: RunKey, state: RivalState, round_: RoundCount
    ) -> tuple[Duel, RivalState]:
        """Draw rounds up to the first whose draw has a rival on top."""
        key_rivals, key_pair = jax.random.split(rng_key)
        leader = self._leader(state)
        if self.costs_regret:
            draws = utilities_by_number(
                self.posterior, key_rivals, state.beliefs, self.at_once, leader
            )

            def on_top(index: Array) -> Array:
                return jnp.argmax(draws.at(index[None]), axis=1).astype(jnp.int32)

            waited, (rival,) = up_to_another(draws.stay, on_top, leader, self.at_once)
        else:
            # By how likely the likeliest world is in which a rival is level.
            arms = jnp.arange(len(state.rank), dtype=jnp.int32)
            world = jax.vmap(
                lambda arm: self.posterior.level_world(state.beliefs, leader, arm)
            )
            logs = jnp.where(arms == leader, -jnp.inf, -world(arms).fall)
            rival = jax.random.categorical(key_rivals, logs).astype(jnp.int32)
            waited = jnp.int32(0)
        first, second = self._pair(key_pair, state.beliefs, leader, rival)
        duel = Duel(
            champion=leader,
            exploit_rounds=waited.astype(jnp.int64),
            first=first,
            second=second,
            explore_rounds=(rival != leader).astype(jnp.int64),
        )
        return duel, state

    def update(
        self,
        rng_key: RunKey,
        state: RivalState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> RivalState:
        """Tell the posterior."""
        beliefs = self.posterior.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        return state._replace(beliefs=beliefs)

    def recommend(self, rng_key: RunKey, state: RivalState) -> Arm:
        """Return the leader."""
        return self._leader(state)

    def _leader(self, state: RivalState) -> Arm:
        """Return the arm with the largest utility."""
        utility = self.posterior.utilities(state.beliefs)
        level = utility >= jnp.max(utility) - _EVEN
        return jnp.argmax(jnp.where(level, state.rank, -1.0)).astype(jnp.int32)

    def _pair(
        self, rng_key: RunKey, beliefs: Any, leader: Arm, rival: Arm
    ) -> tuple[Arm, Arm]:
        """Return the pair that tells most per cost of whether the rival is level."""
        # The leader twice where there is no rival.
        worlds = [
            self.posterior.level_world(beliefs, leader, second).preference
            for second in (leader, rival)
        ]
        gains = divergence(*worlds)
        apart = (gains > _LEAST_GAIN).at[leader, rival].set(True)
        gains = jnp.where(apart, jnp.maximum(gains, _LEAST_GAIN), 0.0)
        gains = gains.at[rival, leader].set(gains[leader, rival])
        if self.costs_regret:
            utility = self.posterior.utilities(beliefs)
            gains = gains / estimated_regret(utility, leader)
        first, second = np.triu_indices(len(gains), 1)
        gain = gains[first, second]
        key_tie, key_order = jax.random.split(rng_key)
        best = gain >= jnp.max(gain) * (1.0 - EQUAL_GAINS)
        index = choose_among(jax.random.uniform(key_tie, dtype=jnp.float64), best)
        pair = jnp.stack([jnp.asarray(first)[index], jnp.asarray(second)[index]])
        pair = jnp.where(jax.random.bernoulli(key_order), pair, pair[::-1])
        pair = jnp.where(rival == leader, leader, pair.astype(jnp.int32))
        return pair[0], pair[1]


def estimated_regret(
    utility: Float[Array, " K"], leader: Int[Array, ""]
) -> Float[Array, "K K"]:
    """Return the Copeland regret of every pair but for a factor, by arms' order."""
    above = jnp.sum(utility[:, None] < utility[None, :], axis=1, dtype=jnp.float64)
    losses = jnp.maximum(above, 1.0).at[leader].set(0.0)
    # The leader and itself: no pair.
    return jnp.maximum(losses[:, None] + losses[None, :], 1.0)


def divergence(
    truth: Float[Array, "K K"], other: Float[Array, "K K"]
) -> Float[Array, "K K"]:
    """Return the Kullback-Leibler divergence of a duel of every pair, in nats."""
    # Both probabilities of a pair are read, where they are small: the other may be
    # rounded to 1. With x = q / p - 1 it is the sum of p (x - log(1 + x)) >= 0.
    p, q = (jnp.maximum(terms, _LEAST_PROBABILITY) for terms in (truth, other))
    x = (q - p) / p
    small = jnp.where(jnp.abs(x) < 1e-3, x, 0.0)
    series = jnp.square(small) * (0.5 - small * (1 / 3 - small * (0.25 - 0.2 * small)))
    logs = jnp.where(x < -0.5, jnp.log(q) - jnp.log(p), jnp.log1p(jnp.maximum(x, -0.5)))
    terms = p * jnp.where(jnp.abs(x) < 1e-3, series, x - logs)
    return terms + terms.T
