"""Contests for the second arm of D-TS, between all that exceed 1/2 in its sample."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from bayesduel.ops.masks import materialize
from bayesduel.policies.thompson._events import CONTESTANTS
from bayesduel.posteriors.beta_above_half import attempt, offsets_above_half
from bayesduel.posteriors.beta_pairs import PairBeliefs, pseudo_wins_against
from bayesduel.types import Arm, RunKey


def draw_all(
    rng_key: RunKey, contest: Float[Array, " K"], beliefs: PairBeliefs, first: Arm
) -> Float[Array, " K"]:
    """Draw the offsets of all undrawn arms of a contest.

    Early on half of the arms take part. With many of them, an event for every two
    costs more than a loop over the few draws that fail.
    """
    wins, losses = pseudo_wins_against(beliefs, first)
    undrawn = contest == 0.0
    offsets = offsets_above_half(rng_key, wins, losses, undrawn)
    return jnp.where(undrawn, offsets, contest)


def draw_two(
    contest: Float[Array, " K"],
    uniforms: Float[Array, "U 2"],
    beliefs: PairBeliefs,
    first: Arm,
) -> Float[Array, " K"]:
    """Try to draw the offsets of the first two undrawn arms of a contest.

    Most contests are between two arms; more of them take more events.
    """
    undrawn = contest == 0.0
    rank = jnp.where(undrawn, jnp.cumsum(undrawn, dtype=jnp.int32), 0)
    slots = [rank == slot + 1 for slot in range(CONTESTANTS)]
    wins, losses = pseudo_wins_against(beliefs, first)
    # An empty slot draws from Beta(1, 1), in vain.
    idle = jnp.stack([~jnp.any(slot) for slot in slots]).astype(wins.dtype)
    won, lost = (
        idle
        + jnp.stack(
            [jnp.sum(jnp.where(slot, counts, 0), dtype=counts.dtype) for slot in slots]
        )
        for counts in (wins, losses)
    )
    offset, accepted = materialize(*attempt(uniforms, won, lost))
    for index, slot in enumerate(slots):
        contest = jnp.where(slot & accepted[index], offset[index], contest)
    return contest
