"""The protocol of a rule over a NumPyro model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, dataclass_transform

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int, Shaped

from bayesduel.models.in_policies.base import PairPosterior
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class ModelRule:
    """The rule of a policy over a NumPyro model; JAX plays many runs of it at once.

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
    """Return the duel of a policy that plays one round at a time."""
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
    """Return the number of self-duels of the leader, and the arms after them."""
    # ``stays`` marks rounds of which that is known; of the others ``arms_of`` is asked
    # in turn. Where the leader plays all ``number`` <= n rounds, the arms are the
    # leader as well.
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


# --- Helpers of rules that count ------------------------------------------------------


def add_wins(
    wins: Int[Array, "K K"], duel: Duel, outcome: Outcome
) -> Int[Array, "K K"]:
    """Add an outcome to ``wins[i, j]``, duels of {i, j} that i won."""
    rounds = jnp.where(duel.first != duel.second, outcome.rounds, 0)
    won = jnp.minimum(outcome.wins, rounds)
    wins = wins.at[duel.first, duel.second].add(won.astype(wins.dtype))
    return wins.at[duel.second, duel.first].add((rounds - won).astype(wins.dtype))


def choose_among(uniform: Float[Array, ""], candidates: Bool[Array, " n"]) -> Arm:
    """Draw a member of a set, each as likely; the last index of an empty one."""
    upto = jnp.cumsum(candidates)
    target = jnp.floor(uniform * upto[-1].astype(uniform.dtype)).astype(upto.dtype)
    return jnp.minimum(jnp.sum(upto <= target), len(candidates) - 1).astype(jnp.int32)


def largest(values: Float[Array, " n"]) -> Bool[Array, " n"]:
    """Mark all entries that have the largest value."""
    # XLA may compute a number anew for each use of it and round it otherwise: behind
    # the barrier it is computed once.
    values = lax.optimization_barrier(values)
    return values == jnp.max(values)


def most_beaten(uniform: Float[Array, ""], wins: Int[Array, "K K"]) -> Arm:
    """Return the arm that beats the most others empirically."""
    # Ties by the larger total of wins, then at random.
    beaten = jnp.sum(wins > wins.T, axis=1)
    total = jnp.where(beaten == jnp.max(beaten), jnp.sum(wins, axis=1), -1)
    return choose_among(uniform, total == jnp.max(total))


def top(
    values: Float[Array, " n"], uniforms: Float[Array, " n"], size: int
) -> Bool[Array, " n"]:
    """Mark the ``size`` arms with the largest values; ties at random, by uniforms."""
    rank = jnp.argsort(jnp.lexsort((uniforms, values)))
    return rank >= len(values) - size
