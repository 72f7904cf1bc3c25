"""MultiSBM (Ailon, Karnin and Joachims 2014)."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Int

from bayesduel.ops.masks import ordered_pair_mask, row_of
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import Policy, check_above, one_round, policy_class
from bayesduel.policies.reductions.bandit_machines import (
    Machine,
    advance_ucb,
    most_pulled,
)
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class MultiSBMState(NamedTuple):
    """One machine per left arm, and the arm that was right in the last round."""

    pulls: Int[Array, "K K"]
    """[x, y]: rewards that machine x was fed for arm y."""

    gains: Int[Array, "K K"]
    last: Arm


@register("multisbm", acronym="MultiSBM")
@policy_class
class MultiSBM(Policy):
    """MultiSBM: one ordinary bandit machine (UCB) per left arm.

    The left arm of a round is the right arm of the round before, a random one at the
    start; its machine names the right arm and is fed 1 if that arm wins. Self-duels are
    fed as well: their outcome is a fair coin and it matters. Natural logarithm; ties at
    random, arms that a machine has never pulled first. Every round feeds a machine, so
    there is nothing that look-ahead could jump over.

    Parameters
    ----------
    alpha : float
        Width sqrt((alpha + 2) log s / (2 n)), s and n counted by each machine.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 2 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("multisbm", alpha=4.5).label
    'MultiSBM:alpha=4.5'
    """

    alpha: float = 3.0

    title: ClassVar[str] = "Multiple Singleton Bandit Machines (MultiSBM)"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> MultiSBMState:
        """Draw the first left arm."""
        nothing = jnp.zeros((num_arms, num_arms), dtype=jnp.int32)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return MultiSBMState(
            pulls=nothing,
            gains=nothing,
            last=choose_among(uniform, jnp.ones(num_arms, dtype=bool)),
        )

    def choose(
        self, rng_key: RunKey, state: MultiSBMState, round_: RoundCount
    ) -> tuple[Duel, MultiSBMState]:
        """Let the machine of the last right arm name the next one."""
        machine = Machine(
            pulls=row_of(state.pulls, state.last), gains=row_of(state.gains, state.last)
        )
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        arm = advance_ucb(uniform, machine, self.alpha)
        return one_round(state.last, arm), state._replace(last=arm)

    def update(
        self,
        rng_key: RunKey,
        state: MultiSBMState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> MultiSBMState:
        """Feed the machine of the left arm."""
        here = ordered_pair_mask(state.pulls.shape[0], duel.first, duel.second)
        gains = outcome.rounds - outcome.wins
        return state._replace(
            pulls=state.pulls + jnp.where(here, outcome.rounds, 0).astype(jnp.int32),
            gains=state.gains + jnp.where(here, gains, 0).astype(jnp.int32),
        )

    def recommend(self, rng_key: RunKey, state: MultiSBMState) -> Arm:
        """Return the arm that was most often on the right."""
        return most_pulled(rng_key, jnp.sum(state.pulls, axis=0, dtype=jnp.int32))
