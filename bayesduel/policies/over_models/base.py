"""The protocol of a rule over a NumPyro model."""

from dataclasses import dataclass, replace
from typing import Self, dataclass_transform

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Int, Shaped

from bayesduel.posteriors.base import PairPosterior
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class ModelRule:
    """The rule of a policy over a NumPyro model, which JAX plays, runs side by side.

    Subclasses are made by :func:`model_rule`: frozen dataclasses that JAX takes apart
    as pytrees. Numbers are leaves, so a sweep over them does not recompile; fields
    marked ``metadata={"static": True}`` change the program. Every method is pure and
    describes one run; :mod:`bayesduel.simulation.asked_models` adds the batch axis.
    """

    def in_order(self, order: Int[Array, " K"]) -> Self:
        """Return the rule for arms in another order.

        Only what it knows of certain arms in advance changes, such as a table of prior
        counts. ``order[position]`` is the arm that it will know as ``position``.
        """
        moved = {
            name: value.in_order(order)
            for name, value in vars(self).items()
            if isinstance(value, ModelRule | PairPosterior)
        }
        return replace(self, **moved) if moved else self  # pyright: ignore

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round; consumes ``rng_key``."""
        raise NotImplementedError

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Say what to play from ``round_`` on; consumes ``rng_key``.

        A pair is asked for once at most: ``explore_rounds`` is 0 or 1.

        Only loop positions may move in the state here, never statistics. How often
        each pair was asked for is a loop position: the learner knows its own draws
        before it is told what came of them.
        """
        raise NotImplementedError

    def update(
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> State:
        """Take in what was played; ``round_`` is the last round of it.

        What is judged is the ``duel`` that is reported, which need not be the one that
        was chosen last: with outcomes on their way the state has moved on, and only
        ``duel.note`` still says why this duel was asked for.
        """
        raise NotImplementedError

    def recommend(self, rng_key: RunKey, state: State) -> Arm:
        """Return the arm that the policy believes to be best."""
        raise NotImplementedError

    def info(self, state: State) -> dict[str, Shaped[Array, ""]]:
        """Return numbers of a finished run that are worth keeping, by name.

        The results hold them as variables; the dictionary has the same names and
        dtypes for every state.
        """
        return {}


@dataclass_transform(frozen_default=True)
def model_rule[T: type](cls: T) -> T:
    """Turn a class into a frozen dataclass and a JAX pytree."""
    return jax.tree_util.register_dataclass(dataclass(frozen=True)(cls))


def one_round(first: Arm, second: Arm) -> Duel:
    """Return a duel of a single round, as a step-by-step policy asks for it."""
    return Duel(
        champion=first,
        exploit_rounds=jnp.int64(0),
        first=first,
        second=second,
        explore_rounds=jnp.int64(1),
    )


def up_to_a_meeting(
    first: Int[Array, "*n"],
    second: Int[Array, " n"],
    holds: Bool[Array, " n"] | bool = True,
) -> tuple[Int[Array, ""], Arm, Arm]:
    """Return how many rounds of n are idle before different arms meet, and these arms.

    Only rounds that hold are played. Where no different arms meet in them, the first
    arm of the last one is returned twice.
    """
    first = jnp.broadcast_to(first, second.shape)
    place = jnp.arange(len(second), dtype=jnp.int32)
    meets = (first != second) & holds
    idle = (jnp.cumsum(first != second, dtype=jnp.int32) == 0) & holds
    waited = jnp.sum(idle, dtype=jnp.int32)
    here = place == jnp.minimum(waited, len(second) - 1)
    one, other = (
        jnp.sum(jnp.where(here, arms, 0), dtype=jnp.int32) for arms in (first, second)
    )
    return waited, one, jnp.where(jnp.any(meets), other, one)
