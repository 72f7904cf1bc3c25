"""Doubler (Ailon, Karnin and Joachims 2014)."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Int

from bayesduel.ops.sampling import choose_among, choose_weighted
from bayesduel.policies.base import Policy, check_above, one_round, policy_class
from bayesduel.policies.reductions.bandit_machines import (
    Machine,
    advance_ucb,
    feed,
    fresh_machine,
    most_pulled,
)
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class DoublerState(NamedTuple):
    """The machine of the epoch, and the right arms of this epoch and the last."""

    machine: Machine
    left: Int[Array, " K"]
    """How often each arm was right in the last epoch: where left arms come from."""

    right: Int[Array, " K"]
    """How often each arm was right in this epoch."""


@register("doubler", acronym="Doubler")
@policy_class
class Doubler(Policy):
    """Doubler: a bandit machine against the choices it made an epoch earlier.

    Epoch i = 1, 2, ... has 2^i rounds. The left arm is drawn from the right arms of the
    epoch before (in the first epoch it is one random arm), the right arm is named by a
    machine (UCB) that starts afresh with the epoch and is fed 1 if its arm wins.
    Self-duels are fed as well: their outcome is a fair coin and it matters. Natural
    logarithm; ties at random, arms never pulled first. Every round feeds the machine,
    so there is nothing that look-ahead could jump over.

    An outcome that arrives after its epoch (delayed feedback) feeds no machine.

    Parameters
    ----------
    alpha : float
        Width sqrt((alpha + 2) log s / (2 n)), s and n counted within the epoch.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 1 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("doubler", alpha=4.5).label
    'Doubler:alpha=4.5'
    """

    alpha: float = 3.0

    title: ClassVar[str] = "Doubler"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> DoublerState:
        """Draw the left arm of the first epoch."""
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        arm = choose_among(uniform, jnp.ones(num_arms, dtype=bool))
        return DoublerState(
            machine=fresh_machine(num_arms),
            left=(jnp.arange(num_arms, dtype=jnp.int32) == arm).astype(jnp.int32),
            right=jnp.zeros(num_arms, dtype=jnp.int32),
        )

    def choose(
        self, rng_key: RunKey, state: DoublerState, round_: RoundCount
    ) -> tuple[Duel, DoublerState]:
        """Begin an epoch where one is over; draw the left arm, let the machine name."""
        over = _epoch_is_over(state)
        state = DoublerState(
            machine=jax.tree.map(lambda seen: jnp.where(over, 0, seen), state.machine),
            left=jnp.where(over, state.right, state.left),
            right=jnp.where(over, 0, state.right),
        )
        uniforms = jax.random.uniform(rng_key, (2,), dtype=jnp.float64)
        first = choose_weighted(uniforms[0], state.left.astype(jnp.float64))
        second = advance_ucb(uniforms[1], state.machine, self.alpha)
        chosen = jnp.arange(state.right.shape[0], dtype=jnp.int32) == second
        right = state.right + chosen.astype(jnp.int32)
        return one_round(first, second), state._replace(right=right)

    def update(
        self,
        rng_key: RunKey,
        state: DoublerState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> DoublerState:
        """Feed the machine, if it is still the one that asked."""
        # Epoch i begins with round 2^i - 1, and 2^i is twice the size of the last one.
        is_current = round_ + 1 >= 2 * jnp.sum(state.left, dtype=jnp.int64)
        rounds = jnp.where(is_current, outcome.rounds, 0)
        gains = jnp.where(is_current, outcome.rounds - outcome.wins, 0)
        return state._replace(machine=feed(state.machine, duel.second, rounds, gains))

    def recommend(self, rng_key: RunKey, state: DoublerState) -> Arm:
        """Return the arm that was right most often in the last complete epoch."""
        finished = jnp.where(_epoch_is_over(state), state.right, state.left)
        return most_pulled(rng_key, finished)


def _epoch_is_over(state: DoublerState) -> Bool[Array, ""]:
    """Say whether this epoch has its twice as many rounds as the last one."""
    last = jnp.sum(state.left, dtype=jnp.int32)
    return jnp.sum(state.right, dtype=jnp.int32) == 2 * last
