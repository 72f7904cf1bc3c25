"""Policies whose rules are in JAX, as those over models are."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from bayesduel.policies.over_models.base import ModelRule, model_rule
from bayesduel.policies.policy import KernelPolicy
from bayesduel.types import Duel


class WandererState(NamedTuple):
    speed: Array
    """Longest stretch of this run: some runs take many more events than others."""

    won: Array
    weight: Array
    """A float sum over the whole history, so that any difference is kept."""


@model_rule
class WandererRule(ModelRule):
    title = "Wanderer"
    scale: float = 1.0

    def init(self, rng_key, num_arms, horizon):
        draw = jax.random.uniform(rng_key, dtype=jnp.float64)
        return WandererState(
            speed=jnp.floor(1 + jnp.exp(5 * draw)),
            won=jnp.zeros(num_arms, dtype=jnp.int64),
            weight=jnp.zeros(num_arms, dtype=jnp.float64),
        )

    def choose(self, rng_key, state, round_):
        num_arms = state.won.shape[0]
        draws = jax.random.uniform(rng_key, 4, dtype=jnp.float64)
        arms = jnp.floor(draws[:3] * float(num_arms)).astype(jnp.int32)
        # A champion that depends on all that happened: a slip shows up in the plays.
        leader = jnp.argmax(state.weight + self.scale * draws[0]).astype(jnp.int32)
        duel = Duel(
            champion=leader,
            exploit_rounds=jnp.floor(draws[3] * state.speed).astype(jnp.int64),
            first=arms[1],
            second=arms[2],
            explore_rounds=jnp.int64(1),
        )
        return duel, state

    def update(self, rng_key, state, round_, duel, outcome):
        is_first = jnp.arange(state.won.shape[0], dtype=jnp.int32) == duel.first
        lucky = jax.random.uniform(rng_key, dtype=jnp.float64) / jnp.log1p(
            round_.astype(jnp.float64)
        )
        return state._replace(
            won=state.won + jnp.where(is_first, outcome.wins, 0),
            weight=state.weight + jnp.where(is_first, lucky, 0.0),
        )

    def recommend(self, rng_key, state):
        noise = jax.random.uniform(rng_key, state.won.shape, dtype=jnp.float64)
        return jnp.argmax((state.won + 1).astype(jnp.float64) * noise).astype(jnp.int32)


@model_rule
class ScriptedRule(ModelRule):
    """Position 2 duels itself some rounds, then 0 meets 1, or does not.

    The state counts the duels and their wins of position 0, which is recommended as
    long as it has won every one of them.
    """

    title = "Scripted"
    exploit: int = 5
    explore: int = 1
    first: int = 0
    duels: int = 0
    """After so many, ``first`` meets position 1."""

    def init(self, rng_key, num_arms, horizon):
        return {"duels": jnp.int64(0), "won": jnp.int64(0)}

    def choose(self, rng_key, state, round_):
        duel = Duel(
            champion=jnp.int32(2),
            exploit_rounds=jnp.asarray(self.exploit, dtype=jnp.int64),
            first=jnp.where(state["duels"] >= self.duels, self.first, 0).astype(
                jnp.int32
            ),
            second=jnp.int32(1),
            explore_rounds=jnp.asarray(self.explore, dtype=jnp.int64),
        )
        return duel, state

    def update(self, rng_key, state, round_, duel, outcome):
        return {
            "duels": state["duels"] + outcome.rounds,
            "won": state["won"] + outcome.wins,
        }

    def recommend(self, rng_key, state):
        return jnp.where(state["won"] == state["duels"], 0, 1).astype(jnp.int32)


class Wanderer(KernelPolicy):
    """Duels at random, in stretches of random length."""

    title = "Wanderer"
    scale: float = 1.0

    def over_model(self):
        return WandererRule(self.scale)


class Scripted(KernelPolicy):
    """Position 2 duels itself some rounds, then 0 meets 1, or does not."""

    title = "Scripted"
    exploit: int = 5
    explore: int = 1
    first: int = 0
    duels: int = 0

    def over_model(self):
        return ScriptedRule(self.exploit, self.explore, self.first, self.duels)
