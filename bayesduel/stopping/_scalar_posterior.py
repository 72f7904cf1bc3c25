"""The kernel of `PosteriorProbability`: `posterior_probabilities` after every duel."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.ops.scalar.compiled import Records, compiled, implement_one, inlined
from bayesduel.stopping._scalar_bets import log_bets, log_whole
from bayesduel.stopping.scalar_rules import GO_ON, ScalarStopping, observe

_NOW = np.dtype([("delta", np.float64), ("prior", np.float64), ("whole", np.float64)])

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("probability", np.float64),  # [i, j]: P(theta_ij > 1/2); 0 on the diagonal.
    ]
)


class PosteriorKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    score: Float[np.ndarray, " K"]
    """Expected number of wins."""

    tail: Float[np.ndarray, " N"]
    """[r]: P(the pairs so far supply at least r), of one rival; r up to K."""


def stopping(*, delta: float, prior: float) -> ScalarStopping:
    """Return what stops by posterior probability."""

    def initial_state(num_arms: int) -> PosteriorKernel:
        now = np.zeros(1, dtype=_NOW)
        now["delta"], now["prior"], now["whole"] = delta, prior, log_whole(prior, 0.5)
        pairs = np.zeros((num_arms, num_arms), dtype=_PAIR)
        pairs["probability"] = 0.5 * (1.0 - np.eye(num_arms))
        score = np.full(num_arms, 0.5 * (num_arms - 1))
        return PosteriorKernel(now, pairs, score, np.zeros(num_arms + 1))

    return ScalarStopping("posterior", initial_state)


@inlined
def _observe(state: PosteriorKernel, first: int, second: int, won: bool) -> int:
    """Count a duel; return the leader if it is probable enough."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    _refresh(state, winner, loser)
    leader = 0
    for arm in range(len(state.pairs)):
        if state.score[arm] > state.score[leader]:
            leader = arm
    return leader if _probability_wrong(state, leader) <= state.now[0].delta else GO_ON


@compiled
def _refresh(state: PosteriorKernel, one: int, other: int) -> None:
    now = state.now[0]
    forward, backward = state.pairs[one, other], state.pairs[other, one]
    bets = log_bets(forward.wins, backward.wins, now.prior, 0.5, now.whole, now.whole)
    # Both sides of 1/2 in proportion to what bets on them are worth.
    forward.probability = 1.0 / (1.0 + math.exp(min(bets[1] - bets[0], 709.0)))
    backward.probability = 1.0 / (1.0 + math.exp(min(bets[0] - bets[1], 709.0)))
    for arm in (one, other):
        total = 0.0
        for j in range(len(state.pairs)):
            total += state.pairs[arm, j].probability
        state.score[arm] = total


@compiled
def _probability_wrong(state: PosteriorKernel, leader: int) -> float:
    """Add up the probabilities of all rivals to have more wins than the leader."""
    num_arms, tail, total = len(state.pairs), state.tail, 0.0
    for rival in range(num_arms):
        if rival == leader:
            continue
        for needed in range(1, num_arms + 1):
            tail[needed] = 0.0
        tail[0] = 1.0
        for other in range(num_arms):
            if other != rival and other != leader:
                _add(tail, state.pairs[rival, other].probability)
                _add(tail, state.pairs[other, leader].probability)
        direct = state.pairs[rival, leader].probability
        total += direct * tail[num_arms - 2] + (1.0 - direct) * tail[num_arms]
        if total > state.now[0].delta:
            break
    return total


@inlined
def _add(tail: Float[np.ndarray, " N"], probability: float) -> None:
    for needed in range(tail.size - 1, 0, -1):
        tail[needed] = (
            probability * tail[needed - 1] + (1.0 - probability) * tail[needed]
        )


implement_one(observe, PosteriorKernel, _observe)
