"""Which rounds of D-TS cannot teach anything, given the counts.

Between two updates of the counts the rounds of D-TS are independent and identically
distributed until a pair stops being resolved. Of the first sample only the signs
[theta_ij > 1/2] matter. Write s for the majority signs, v for the votes they give, C
for the candidates, v* = max of v over C, W for the arms of C with v* votes ("leaders").
An arm of C outside W *can reach* if its majority wins against W plus all its pairs
outside W make at least v*. A flip against the majority is *relevant* if its pair
touches W or if the majority loser of the pair can reach.

Without a relevant flip the sampled winners inside C are exactly W: pairs of W keep
their sign; an arm that cannot reach stays below v*; one that can reach gains nothing.
Arms outside C do not matter. With one candidate nothing is relevant.

A single flip rarely brings an arm to v*. Kernels count how many it lacks, which makes
fewer events of the same law (``_scalar_upsets``).
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.ops.resolved_rounds import (
    NEVER,
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.types import RoundCount


class RoundSets(NamedTuple):
    """The sets that the rule of a round is made of; constant until ``last_round``."""

    candidates: Bool[Array, " K"]
    """C: arms with the largest optimistic Copeland score."""

    eligible: Bool[Array, "K K"]
    """[i, a]: i may be the second arm against a (l_ia <= 1/2); false at i = a."""

    last_round: RoundCount
    """Last round for which these sets hold if no count changes."""


def round_sets(
    ahead: Bool[Array, "K K"],
    resolution: Float[Array, "K K"],
    round_: RoundCount,
    *,
    elimination: bool,
) -> RoundSets:
    """Evaluate the confidence bounds at ``round_``: of the duels, without any prior.

    Strictness as in Wu and Liu (2016), Algorithm 1: u > 1/2 for an optimistic win,
    l <= 1/2 for an eligible challenger. Without elimination every arm takes part.

    Parameters
    ----------
    ahead : bool (K, K)
        [i, j]: i has won more duels of the pair than j.
    resolution : float64 (K, K)
        Log of the last round at which the bounds of the pair exclude 1/2.
    round_ : int64
        The round.
    elimination : bool
        Use the bounds.
    """
    num_arms = ahead.shape[0]
    others = ~np.eye(num_arms, dtype=bool)
    if not elimination:
        return RoundSets(
            candidates=jnp.ones(num_arms, dtype=bool),
            eligible=jnp.asarray(others),
            last_round=jnp.int64(NEVER),
        )
    unresolved = is_unresolved(log_round(round_), resolution)
    optimistic = jnp.sum(ahead | unresolved, axis=1, dtype=jnp.int32)
    next_flip = jnp.min(jnp.where(unresolved, jnp.inf, resolution))
    return RoundSets(
        candidates=optimistic == jnp.max(optimistic),
        eligible=(~ahead | unresolved) & others,
        last_round=last_resolved_round(round_, next_flip),
    )
