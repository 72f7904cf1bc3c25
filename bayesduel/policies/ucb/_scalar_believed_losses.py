"""Who is believed to lose to whom, as the kernel of CCB keeps it.

Zoghi, Karnin, Whiteson and de Rijke (2015), Algorithm 1, lines 2 to 4.

The arms believed to beat one are few, so they are a list. The state of a kernel has
``now``, ``arms`` and ``pairs`` with the fields below and those of ``scalar_bounds``.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.draws import choose_index

BELIEF_NOW_FIELDS = [
    ("num_hopefuls", np.int64),
    ("losses", np.int64),  # L_C: the most losses that a Copeland winner may have.
]

BELIEF_ARM_FIELDS = [
    ("is_hopeful", np.int64),  # B_t: whether it may be a Copeland winner.
    ("is_winner", np.int64),  # Optimistic champion all of whose pairs are decided.
    ("num_superiors", np.int64),
]

BELIEF_PAIR_FIELDS = [
    # [i, place]: not of the pair: the arms believed to beat i, B_t^i.
    ("superior", np.int64)
]


@inlined
def believe_nothing(state: Any) -> None:
    """Set everything as at the start."""
    state.now[0].num_hopefuls = state.now[0].losses = state.arms.size
    for i in range(state.arms.size):
        state.arms[i].is_hopeful, state.arms[i].num_superiors = True, 0


@compiled
def revise(state: Any, rng: Generator) -> None:
    """Bring the beliefs in line with the bounds, and say who is a winner.

    The state is stale still where revising again would change more: after a reset for
    want of potential winners, which brings back arms that the next round removes again.
    """
    now, arms = state.now[0], state.arms
    now.stale = False
    if _is_disproved(state):
        believe_nothing(state)
    fewest, surest = arms.size, 0
    for i in range(arms.size):
        fewest = min(fewest, arms[i].sure_losses)
        surest = max(surest, arms[i].sure_wins)
    for i in range(arms.size):
        if arms[i].is_hopeful and arms.size - 1 - arms[i].sure_losses < surest:
            arms[i].is_hopeful = False
            now.num_hopefuls -= 1
            if arms[i].num_superiors != now.losses + 1:
                _believe_in_sure_losses(state, i)
    if now.num_hopefuls == 0:
        believe_nothing(state)
        now.stale = True
    found = False
    for i in range(arms.size):
        is_best = arms[i].sure_losses == fewest
        arms[i].is_winner = is_best and arms[i].sure_wins == arms.size - 1 - fewest
        if arms[i].is_winner:
            found = True
            now.num_hopefuls += not arms[i].is_hopeful
            arms[i].is_hopeful = True
    if found:
        now.losses = fewest
        for i in range(arms.size):
            _keep_some(state, rng, i)


@inlined
def _is_disproved(state: Any) -> bool:
    """Say whether an arm surely beats one that was believed to beat it."""
    for i in range(state.arms.size):
        for place in range(state.arms[i].num_superiors):
            superior = state.pairs[i, place].superior
            if not state.pairs[superior, i].eligible:
                return True
    return False


@compiled
def _believe_in_sure_losses(state: Any, arm: int) -> None:
    count = 0
    for other in range(state.arms.size):
        if other != arm and not state.pairs[arm, other].eligible:
            state.pairs[arm, count].superior = other
            count += 1
    state.arms[arm].num_superiors = count


@inlined
def _keep_some(state: Any, rng: Generator, arm: int) -> None:
    """Keep one more superior than a winner has losses, or none if there are fewer."""
    most, pairs = state.now[0].losses + 1, state.pairs
    count = state.arms[arm].num_superiors
    if state.arms[arm].is_winner or count < most:
        state.arms[arm].num_superiors = 0
        return
    for place in range(most if count > most else 0):
        other = place + choose_index(rng, count - place)
        kept = pairs[arm, other].superior
        pairs[arm, other].superior = pairs[arm, place].superior
        pairs[arm, place].superior = kept
    state.arms[arm].num_superiors = most


@inlined
def count_open_beliefs(state: Any) -> int:
    """Count the believed losses that the bounds do not decide."""
    count = 0
    for i in range(state.arms.size):
        for place in range(state.arms[i].num_superiors):
            superior = state.pairs[i, place].superior
            count += state.pairs[i, superior].resolved_until == 0
    return count


@compiled
def open_belief(state: Any, number: int) -> tuple[int, int]:
    """Return the open belief of this number, from 0: who loses, and to whom."""
    for i in range(state.arms.size):
        for place in range(state.arms[i].num_superiors):
            superior = state.pairs[i, place].superior
            if state.pairs[i, superior].resolved_until == 0:
                if number == 0:
                    return i, superior
                number -= 1
    return 0, 0
