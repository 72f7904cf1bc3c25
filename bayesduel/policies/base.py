"""The protocol of a policy and what most of them share."""

from dataclasses import replace
from typing import Any, ClassVar, Self, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Int, Shaped

from bayesduel.ops.frozen_pytrees import frozen_pytree
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.policy import PolicyBase
from bayesduel.posteriors.base import PairPosterior
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class Policy(PolicyBase):
    """The form of a policy that JAX plays, many runs side by side.

    Subclasses are made by :func:`policy_class`: frozen dataclasses that JAX takes apart
    as pytrees. Numbers are leaves, so a sweep over them does not recompile; fields
    marked ``metadata={"static": True}`` change the program. Every method is pure and
    describes one run; the simulator adds the batch axis.
    """

    title: ClassVar[str] = ""
    """The name in words, for tables."""

    needs_horizon: ClassVar[bool] = False
    """Whether the rule reads the horizon (not "anytime")."""

    explores_in_bulk: ClassVar[bool] = False
    """Whether ``explore_rounds`` may exceed 1."""

    def in_order(self, order: Int[Array, " K"]) -> Self:
        """Return the policy for arms in another order.

        Only what it knows of certain arms in advance changes, such as a table of prior
        counts. ``order[position]`` is the arm that it will know as ``position``.
        """
        moved = {
            name: value.in_order(order)
            for name, value in vars(self).items()
            if isinstance(value, Policy | PairPosterior)
        }
        return replace(self, **moved) if moved else self  # pyright: ignore

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round; consumes ``rng_key``."""
        raise NotImplementedError

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Say what to play from ``round_`` on; consumes ``rng_key``.

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
def policy_class[T: type](cls: T) -> T:
    """Turn a class into a frozen dataclass and a JAX pytree."""
    return frozen_pytree(cls)


def is_in_jax(policy: Any) -> bool:
    """Say whether a policy is written for JAX, and not as a kernel alone."""
    return isinstance(policy, Policy) and type(policy).choose is not Policy.choose


def one_round(first: Arm, second: Arm) -> Duel:
    """Return a duel of a single round, as a step-by-step policy asks for it."""
    return Duel(
        champion=first,
        exploit_rounds=jnp.int64(0),
        first=first,
        second=second,
        explore_rounds=jnp.int64(1),
    )


def most_beaten(
    rng_key: RunKey, wins: Int[Array, "K K"], among: Bool[Array, " K"] | None = None
) -> Arm:
    """Return the arm that beats the most others empirically.

    Ties by the larger total of wins, then at random. ``among`` limits who is returned.
    """
    beaten = jnp.sum(wins > wins.T, axis=1, dtype=jnp.int32)
    if among is not None:
        beaten = jnp.where(among, beaten, -1)
    total = jnp.sum(wins, axis=1, dtype=wins.dtype)
    best = beaten == jnp.max(beaten)
    best = best & (total == jnp.max(jnp.where(best, total, -1)))
    return choose_among(jax.random.uniform(rng_key, dtype=jnp.float64), best)


def others_mask(num_arms: int) -> Bool[np.ndarray, "K K"]:
    """Mark everything off the diagonal."""
    return ~np.eye(num_arms, dtype=bool)


from bayesduel.policies.checks import *  # noqa
from bayesduel.policies.parameters import *  # noqa
