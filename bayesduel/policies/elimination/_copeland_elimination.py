"""Finding a Copeland winner by elimination, as SCB does within one epoch.

Zoghi, Karnin, Whiteson and de Rijke (2015), Algorithms 2 and 4: every arm is the arm of
an ordinary bandit whose reward is "beats a uniformly random opponent". A reward costs
duels of the pair until its sign is decided; after that it is free.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.ops.divergences import bernoulli_kl, kl_lower
from bayesduel.ops.rules import among_largest, record

NOBODY = -1


class Elimination(NamedTuple):
    """Where the search stands."""

    # 1 where the row was found better than the column, -1 worse, 0 undecided.
    signs: Int[np.ndarray, "K K"]
    remaining: Bool[np.ndarray, " K"]
    rewards: Int[np.ndarray, " K"]
    opponents: Int[np.ndarray, " K"]  # Whom each arm is compared with in this stage.
    pending: Bool[np.ndarray, " K"]  # Remaining arms without a reward in this stage.
    # The ``arm`` that waits for its reward first, -1 if none does, and the ``duels`` of
    # its pair so far with its ``wins``; the ``stage`` s, from 1: how many rewards each
    # remaining arm will have after it; the ``answer``, the winner found, or -1.
    now: Any


def new_search(num_arms: int) -> Elimination:
    """Return room for a search, which :func:`begin_search` begins."""
    return Elimination(
        signs=np.zeros((num_arms, num_arms), dtype=np.int64),
        remaining=np.zeros(num_arms, dtype=bool),
        rewards=np.zeros(num_arms, dtype=np.int64),
        opponents=np.zeros(num_arms, dtype=np.int64),
        pending=np.zeros(num_arms, dtype=bool),
        now=record(arm=NOBODY, wins=0, duels=0, stage=1, answer=NOBODY),
    )


def begin_search(search: Elimination, rng: Generator) -> None:
    """Forget everything."""
    search.signs.fill(0)
    search.remaining.fill(True)
    search.rewards.fill(0)
    search.now.stage, search.now.answer = 1, NOBODY
    begin_stage(search, rng)


def begin_stage(search: Elimination, rng: Generator) -> None:
    """Let every remaining arm wait for a reward."""
    for arm in range(len(search.opponents)):
        search.pending[arm] = search.remaining[arm]
    draw_opponents(search.opponents, rng)
    hand_out(search)


def draw_opponents(opponents: Int[np.ndarray, " K"], rng: Generator) -> None:
    """Draw for every arm another one, all equally likely."""
    for arm in range(len(opponents)):
        drawn = rng.integers(len(opponents) - 1)
        opponents[arm] = drawn + (drawn >= arm)


def hand_out(search: Elimination) -> None:
    """Give their rewards to the arms whose pairs are decided; name who waits."""
    now = search.now
    now.arm, now.wins, now.duels = NOBODY, 0, 0
    for arm in range(len(search.pending)):
        if search.pending[arm]:
            sign = search.signs[arm, search.opponents[arm]]
            search.rewards[arm] += sign > 0
            search.pending[arm] = sign == 0
            if sign == 0 and now.arm == NOBODY:
                now.arm = arm


def decide(search: Elimination) -> None:
    """Store who is better of the pair that is dueled."""
    arm = search.now.arm
    opponent = search.opponents[arm]
    sign = 1 if 2 * search.now.wins > search.now.duels else -1
    search.signs[arm, opponent], search.signs[opponent, arm] = sign, -sign
    hand_out(search)


def end_stage(search: Elimination, rng: Generator, level: float, eps: float) -> None:
    """Eliminate arms and go on, or answer.

    ``level`` is that of the confidence bounds, times the number of rewards of an arm.
    The bounds of one stage are monotone in the mean: the best mean has the largest.
    "u_i < L" and "1 - L <= (1 + eps)(1 - U)" by the divergence, without inverting it.
    """
    stage, num_arms = search.now.stage, len(search.remaining)
    means, best = np.zeros(num_arms), 0.0
    for arm in range(num_arms):
        if search.remaining[arm]:
            means[arm] = search.rewards[arm] / stage
            best = max(best, means[arm])
    is_close, number = False, 0
    if stage > 1:  # Of a single reward the bounds are 0 and 1.
        width = level / stage
        lowest = kl_lower(best, width)
        for arm in range(num_arms):
            if means[arm] < lowest and bernoulli_kl(means[arm], lowest) > width:
                search.remaining[arm] = False
        rest = 1.0 - (1.0 - lowest) / (1.0 + eps)
        is_close = rest >= best and bernoulli_kl(best, rest) >= width
    for arm in range(num_arms):
        number += search.remaining[arm]
    is_known = are_signs_known(search)
    if is_close or is_known or number == 1:
        search.now.answer = best_arm(search, rng, means, is_known)
        search.pending.fill(False)
    else:
        search.now.stage += 1
        begin_stage(search, rng)


def are_signs_known(search: Elimination) -> bool:
    """Say whether all duels of the remaining arms are decided."""
    for arm in range(len(search.remaining)):
        for other in range(len(search.remaining)):
            if search.remaining[arm] and other != arm and search.signs[arm, other] == 0:
                return False
    return True


def best_arm(
    search: Elimination, rng: Generator, means: Float[np.ndarray, " K"], is_known: bool
) -> int:
    """Return the remaining arm that beats most others if known, else of largest mean.

    Ties at random.
    """
    best, largest, number = 0, -1.0, 0
    for arm in range(len(means)):
        if search.remaining[arm]:
            score = means[arm]
            if is_known:
                score = 0.0
                for other in range(len(means)):
                    score += search.signs[arm, other] > 0
            largest, number, leads = among_largest(rng, score, largest, number)
            if leads:
                best = arm
    return best
