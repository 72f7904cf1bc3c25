"""Who loses to whom, surely or by belief, as CCB keeps it.

Zoghi, Karnin, Whiteson and de Rijke (2015), Algorithm 1, lines 1 to 4.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.resolved_rounds import (
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.policies.confidence_bounds import surely_beaten
from bayesduel.types import RoundCount, RunKey

CHECK = 0.25
"""How often a believed loss is checked, if there is an open one (line 5)."""

LOYALTY = 2.0 / 3.0
"""How often the champion is taken from the potential winners (line 6)."""

RIVALS = 0.5
"""How often the challenger is a believed superior of the champion (line 8)."""


class SureSigns(NamedTuple):
    """What the confidence bounds of a round say; the same for ``rounds`` rounds."""

    behind: Bool[Array, "K K"]
    """[i, j]: u_ij < 1/2, that is, j beats i for sure (and l_ji > 1/2)."""

    open: Bool[Array, "K K"]
    """[i, j]: l_ij <= 1/2 <= u_ij; false on the diagonal."""

    most_wins: Int[Array, " K"]
    """Optimistic Copeland score: arms that i may beat, u >= 1/2."""

    least_wins: Int[Array, " K"]
    """Pessimistic Copeland score: arms that i beats for sure, l >= 1/2."""

    optimistic: Bool[Array, " K"]
    """C: arms with the largest optimistic score."""

    rounds: RoundCount
    """Rounds from this one on in which no bound crosses 1/2 if no count changes."""


class BelievedLosses(NamedTuple):
    """The sets that CCB carries from round to round."""

    hopefuls: Bool[Array, " K"]
    """B_t: arms that may be Copeland winners."""

    superiors: Bool[Array, "K K"]
    """B_t^i, [i, j]: j is believed to beat i."""

    losses: Int[Array, ""]
    """L_C: the largest number of losses that a Copeland winner may have."""


def sure_signs(
    wins: Int[Array, "K K"], resolution: Float[Array, "K K"], round_: RoundCount
) -> SureSigns:
    """Evaluate the confidence bounds at ``round_``."""
    behind = surely_beaten(wins, resolution, round_)
    is_open = is_unresolved(log_round(round_), resolution)
    lost = jnp.sum(behind, axis=1, dtype=jnp.int32)
    most_wins = wins.shape[0] - 1 - lost
    next_flip = jnp.min(jnp.where(is_open, jnp.inf, resolution))
    return SureSigns(
        behind=behind,
        open=is_open,
        most_wins=most_wins,
        least_wins=jnp.sum(behind, axis=0, dtype=jnp.int32),
        optimistic=most_wins == jnp.max(most_wins),
        rounds=last_resolved_round(round_, next_flip) - round_ + 1,
    )


def believe_nothing(num_arms: int) -> BelievedLosses:
    """Return the sets at the start, and after a reset."""
    return BelievedLosses(
        hopefuls=jnp.ones(num_arms, dtype=bool),
        superiors=jnp.zeros((num_arms, num_arms), dtype=bool),
        losses=jnp.int32(num_arms),
    )


def is_settled(beliefs: BelievedLosses, signs: SureSigns) -> Bool[Array, ""]:
    """Say whether revising these beliefs again, by the same signs, changes nothing.

    It does only after a reset for want of potential winners: the reset brings back
    arms that the next round removes again.
    """
    return ~jnp.any(_surpassed(beliefs, signs))


def revise(
    rng_key: RunKey, beliefs: BelievedLosses, signs: SureSigns
) -> BelievedLosses:
    """Bring the beliefs in line with the bounds (lines 2 to 4)."""
    # A: an arm surely beats one that was believed to beat it.
    disproved = jnp.any(beliefs.superiors & signs.behind.T)
    beliefs = _reset_if(disproved, beliefs)

    # B: arms that another one surely surpasses are no winners.
    leaving = _surpassed(beliefs, signs)
    known = jnp.sum(beliefs.superiors, axis=1, dtype=jnp.int32)
    renewed = leaving & (known != beliefs.losses + 1)
    superiors = jnp.where(renewed[:, None], signs.behind, beliefs.superiors)
    hopefuls = beliefs.hopefuls & ~leaving
    beliefs = beliefs._replace(hopefuls=hopefuls, superiors=superiors)
    beliefs = _reset_if(~jnp.any(hopefuls), beliefs)

    # C: optimistic champions all of whose pairs are decided are winners.
    winners = signs.optimistic & (signs.most_wins == signs.least_wins)
    found = jnp.any(winners)
    fewest = signs.most_wins.shape[0] - 1 - jnp.max(signs.most_wins)
    known = jnp.sum(beliefs.superiors, axis=1, dtype=jnp.int32)
    kept = beliefs.superiors & ~winners[:, None] & (known > fewest)[:, None]
    kept = _keep_some(rng_key, kept, fewest + 1, found)
    return BelievedLosses(
        hopefuls=beliefs.hopefuls | winners,
        superiors=jnp.where(found, kept, beliefs.superiors),
        losses=jnp.where(found, fewest, beliefs.losses),
    )


def _surpassed(beliefs: BelievedLosses, signs: SureSigns) -> Bool[Array, " K"]:
    """Potential winners that may beat fewer arms than some arm beats for sure."""
    return beliefs.hopefuls & (signs.most_wins < jnp.max(signs.least_wins))


def _reset_if(reset: Bool[Array, ""], beliefs: BelievedLosses) -> BelievedLosses:
    fresh = believe_nothing(beliefs.hopefuls.shape[0])
    return jax.tree.map(lambda a, b: jnp.where(reset, a, b), fresh, beliefs)


def _keep_some(
    rng_key: RunKey,
    members: Bool[Array, "K K"],
    most: Int[Array, ""],
    wanted: Bool[Array, ""],
) -> Bool[Array, "K K"]:
    """Keep ``most`` random members of each row that has more.

    In a loop that runs at most once, and in most rounds not at all: what is cut short
    stays so.
    """
    num_arms = members.shape[0]
    ranks = jnp.arange(num_arms, dtype=jnp.int32)

    def too_many(carry: tuple[Array, Array]) -> Bool[Array, ""]:
        sizes = jnp.sum(carry[1], axis=1, dtype=jnp.int32)
        return wanted & (jnp.max(sizes) > most)

    def cut(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        index, members = carry
        key = jax.random.fold_in(rng_key, index)
        draws = jax.random.uniform(key, (num_arms, num_arms), dtype=jnp.float64)
        draws = jnp.where(members, draws, jnp.inf)
        last = jnp.where((ranks == most - 1)[None, :], jnp.sort(draws, axis=1), 0.0)
        return index + 1, members & (draws <= jnp.sum(last, axis=1, keepdims=True))

    return lax.while_loop(too_many, cut, (jnp.int32(0), members))[1]
