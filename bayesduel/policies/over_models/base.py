"""The protocol of a rule over a NumPyro model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, dataclass_transform

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Int, Shaped

from bayesduel.models.in_policies.base import PairPosterior
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class ModelRule:
    """The rule of a policy over a NumPyro model, which JAX plays, runs side by side.

    Subclasses are made by :func:`model_rule`: frozen dataclasses that JAX takes apart
    as pytrees. Numbers are leaves, so a sweep over them does not recompile; fields
    marked ``metadata={"static": True}`` change the program. Every method is pure and
    describes one run; :mod:`bayesduel.simulation.model_calls` adds the batch axis.
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

        It need not be the duel that was chosen last: with outcomes on their way the
        state has moved on. Such a report, as in studies and without self-duels, is only
        of the rounds of the pair: its champion has no rounds, and what teaches nothing
        is not reported.
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


def up_to_another(
    stays: Bool[Array, " n"],
    arms_of: Callable[[Int[Array, ""]], Int[Array, " arm"]],
    leader: Arm,
    number: Int[Array, ""] | int,
) -> tuple[Int[Array, ""], Int[Array, " arm"]]:
    """Return how many rounds only the leader plays, and the arms of the next round.

    Of the rounds that ``stays`` marks that is known; of the others ``arms_of`` is asked
    one after the other. There are ``number`` rounds, at most n: where the leader plays
    all of them, the arms are the leader as well.
    """
    rounds = jnp.arange(len(stays), dtype=jnp.int32)
    last = jnp.asarray(number, dtype=jnp.int32)

    def unknown(start: Array) -> Array:
        open_ = ~stays & (rounds >= start)
        return jnp.min(jnp.where(open_, rounds, last), initial=last)

    def going(draw: tuple[Array, Array]) -> Array:
        index, arms = draw
        return (index < last) & jnp.all(arms == leader)

    def look(draw: tuple[Array, Array]) -> tuple[Array, Array]:
        index, _ = draw
        arms = arms_of(index).astype(leader.dtype)
        stayed = jnp.all(arms == leader)
        return jnp.where(stayed, unknown(index + 1), index), arms

    index = unknown(jnp.int32(0))
    shape = jax.eval_shape(arms_of, index).shape
    return lax.while_loop(going, look, (index, jnp.broadcast_to(leader, shape)))
