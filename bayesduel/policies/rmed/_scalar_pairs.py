"""What kernels of the RMED family know of pairs: evidence, and the fewest draws.

The state of a kernel has ``pairs`` with the fields below, symmetric but for wins and
gap, and ``now`` with fewest and num_fewest.
"""

from typing import Any

import numpy as np

from bayesduel.models.in_policies.scalar_betas import kl_to_half
from bayesduel.ops import rules
from bayesduel.ops.scalar.compiled import compiled

PAIR_FIELDS = [
    ("wins", np.int64),  # [i, j]: duels of the pair that i won.
    ("draws", np.int64),  # Duels that were asked for, answered or not.
    ("gap", np.float64),  # [i, j]: estimated P(i beats j) - 1/2; 0 before any duel.
    ("divergence", np.float64),  # KL(mu_ij, 1/2)
    ("evidence", np.float64),  # N_ij KL(mu_ij, 1/2)
]

lowest = compiled(rules.lowest)

DRAWS_FIELDS = [
    ("fewest", np.int64),  # Draws of the pairs that were drawn least often,
    ("num_fewest", np.int64),  # and how many pairs these are.
]
"""Of ``now``."""


@compiled
def count_duel(state: Any, first: int, second: int, won: bool) -> None:
    """Count an outcome and refresh the evidence of its pair."""
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    forward.wins += won
    backward.wins += not won
    duels = forward.wins + backward.wins
    gap = 0.5 * (forward.wins - backward.wins) / duels
    forward.gap, backward.gap = gap, -gap
    divergence = kl_to_half(abs(gap))
    forward.divergence = backward.divergence = divergence
    forward.evidence = backward.evidence = duels * divergence


@compiled
def count_ahead(state: Any, first: int, second: int, won: bool, votes: int) -> int:
    """Count votes that were not asked for, and that they were drawn."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += votes
    draws = state.pairs[first, second].draws
    state.pairs[first, second].draws = state.pairs[second, first].draws = draws + votes
    if votes > 0 and draws == state.now[0].fewest:
        state.now[0].num_fewest -= 1
        if state.now[0].num_fewest == 0:
            find_fewest(state)
    return votes


@compiled
def count_draw(state: Any, first: int, second: int) -> None:
    """Count a duel that is asked for; how many there are is known at once."""
    draws = state.pairs[first, second].draws + 1
    state.pairs[first, second].draws = state.pairs[second, first].draws = draws
    if draws == state.now[0].fewest + 1:
        state.now[0].num_fewest -= 1
        if state.now[0].num_fewest == 0:
            find_fewest(state)


@compiled
def find_fewest(state: Any) -> None:
    """Find the pairs that were drawn least often."""
    now, num_arms = state.now[0], len(state.pairs)
    now.fewest, now.num_fewest = state.pairs[0, 1].draws, 0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            draws = state.pairs[i, j].draws
            if draws < now.fewest:
                now.fewest, now.num_fewest = draws, 0
            now.num_fewest += draws == now.fewest
