"""Counts of every pair and the quantities that follow from them, kept up to date.

Only the pair that was just compared changes, so each duel costs one evaluation of a
logarithm and of a Beta tail; choosing costs comparisons and sums.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import MANY_ARMS, entry_of, materialize
from bayesduel.ops.resolved_rounds import resolution
from bayesduel.posteriors.beta_tails import half_tail_rates
from bayesduel.types import Duel, Outcome

_EVEN = 1e-9
"""By how much the chance of an even pair may be off 1/2, by rounding."""


class PairBeliefs(NamedTuple):
    """What D-TS knows, one entry per ordered pair (i, j)."""

    wins: Int[Array, "K K"]
    """Duels of {i, j} that i won."""

    resolution: Float[Array, "K K"]
    """Log of the last round at which the bounds of {i, j} exclude 1/2."""

    chance: Float[Array, "K K"]
    """P(theta_ij > 1/2) under the posterior Beta(wins + 1, losses + 1)."""

    rate: Float[Array, "K K"]
    """-log P(theta_ij <= 1/2): rates of independent events add up."""


def empty_beliefs(num_arms: int) -> PairBeliefs:
    """Return the state before any duel."""
    others = ~np.eye(num_arms, dtype=bool)
    return PairBeliefs(
        wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
        resolution=jnp.where(others, jnp.float64(-1.0), jnp.inf),
        chance=jnp.where(others, jnp.float64(0.5), 0.0),
        rate=jnp.where(others, jnp.float64(np.log(2.0)), 0.0),
    )


def add_outcome(
    beliefs: PairBeliefs, duel: Duel, outcome: Outcome, alpha: Float[Array, ""]
) -> PairBeliefs:
    """Count ``outcome`` and refresh the pair; a self-duel teaches nothing."""
    arms = jnp.arange(beliefs.wins.shape[0], dtype=jnp.int32)
    is_first, is_second = arms == duel.first, arms == duel.second
    learnt = (duel.first != duel.second) & (outcome.rounds > 0)
    here = is_first[:, None] & is_second[None, :] & learnt
    there = is_second[:, None] & is_first[None, :] & learnt

    losses = outcome.rounds - outcome.wins
    won = entry_of(beliefs.wins, duel.first, duel.second) + outcome.wins.astype(
        jnp.int32
    )
    lost = entry_of(beliefs.wins, duel.second, duel.first) + losses.astype(jnp.int32)
    resolved_until = resolution(won, lost, alpha)
    rate_above, rate_below = half_tail_rates(won, lost)
    chance_above, chance_below = -jnp.expm1(-rate_above), -jnp.expm1(-rate_below)
    won, lost, resolved_until, rate_above, rate_below, chance_above, chance_below = (
        materialize(
            won,
            lost,
            resolved_until,
            rate_above,
            rate_below,
            chance_above,
            chance_below,
        )
    )

    def put(old: Array, forward: Array, backward: Array) -> Array:
        return jnp.where(here, forward, jnp.where(there, backward, old))

    return PairBeliefs(
        wins=put(beliefs.wins, won, lost),
        resolution=put(beliefs.resolution, resolved_until, resolved_until),
        chance=put(beliefs.chance, chance_above, chance_below),
        rate=put(beliefs.rate, rate_above, rate_below),
    )


def arms_ahead(beliefs: PairBeliefs) -> Bool[Array, "K K"]:
    """[i, j]: i has won more duels of the pair than j.

    With many arms a transpose is dear, and the chance says the same: of 2^31 duels the
    one that is ahead has won one more at least, which is a chance of 1/2 + 8e-6.
    """
    if beliefs.wins.shape[0] > MANY_ARMS:
        return beliefs.chance > 0.5 + _EVEN
    return beliefs.wins > beliefs.wins.T


def majority_signs(beliefs: PairBeliefs) -> Bool[Array, "K K"]:
    """[i, j]: i is ahead of j; at equal counts the lower index."""
    num_arms = beliefs.wins.shape[0]
    upper = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
    ahead = arms_ahead(beliefs)
    if num_arms > MANY_ARMS:
        (signs,) = materialize(ahead | (upper & (beliefs.chance > 0.5 - _EVEN)))
        return signs
    return ahead | (~ahead.T & upper)
