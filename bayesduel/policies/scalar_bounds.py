"""Which pairs the confidence bounds of a kernel resolve.

The bounds w/n +- sqrt(alpha log t / n) are kept up to date by what changes: a duel
resolves a pair, for as many rounds as ``ops.scalar.resolved_rounds`` says, and its next
duel or the rounds that pass unresolve it. The state of a kernel has ``now``, ``arms``
and ``pairs`` with the fields below.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.resolved_rounds import NEVER, last_resolved_round
from bayesduel.policies.scalar_choices import among_largest

NOW_FIELDS = [
    ("alpha", np.float64),
    ("next_expiry", np.int64),  # Last round at which all resolved pairs still are.
    ("stale", np.int64),  # Whether what follows from the bounds must be found anew.
]

ARM_FIELDS = [
    ("sure_wins", np.int64),  # Arms that it surely beats.
    ("sure_losses", np.int64),  # Arms that surely beat it.
    ("expiry", np.int64),  # Last round at which its resolved pairs all still are.
]

PAIR_FIELDS = [
    ("wins", np.int64),  # [i, j]: duels of the pair that i won.
    # Last round at which the bounds exclude 1/2; 0 where they do not now.
    ("resolved_until", np.int64),
    ("eligible", np.int64),  # [a, i]: i does not surely beat a; not a itself.
]

# Fields of ``pairs``, where upper bounds are compared
UPPER_BOUND_FIELDS = [
    # [i, j]: u_ij is share + width * sqrt(log t).
    ("share", np.float64),
    ("width", np.float64),
]


def start_bounds(state: Any, *, alpha: float) -> None:
    """Fill in the bounds of a new state, which resolve no pair; by the host."""
    state.now["alpha"] = alpha
    state.now["next_expiry"] = NEVER
    state.now["stale"] = True
    state.arms["expiry"] = NEVER
    state.pairs["eligible"] = ~np.eye(len(state.arms), dtype=bool)


@compiled
def count_duel(
    state: Any, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Count an outcome, and say what the bounds of its pair are in the next round."""
    state.pairs[first, second].wins += won
    state.pairs[second, first].wins += not won
    refresh_upper_bounds(state, first, second)
    refresh_bounds(state, first, second, round_ + 1)


@compiled
def count_ahead(state: Any, first: int, second: int, won: bool, votes: int) -> int:
    """Count votes of a pair, at most until the next one makes it even."""
    # A pair resolved for one arm is unresolved before it is for the other.
    winner, loser = (first, second) if won else (second, first)
    behind = state.pairs[loser, winner].wins - state.pairs[winner, loser].wins
    if behind > 0:
        votes = min(votes, behind - 1)
    state.pairs[winner, loser].wins += votes
    return votes


@compiled
def refresh_bounds(state: Any, first: int, second: int, round_: int) -> None:
    """Bring up to date what the bounds of a pair say at ``round_``."""
    now, arms, pairs = state.now[0], state.arms, state.pairs
    wins, losses = pairs[first, second].wins, pairs[second, first].wins
    until = last_resolved_round(wins, losses, now.alpha, round_)
    before = pairs[first, second].resolved_until
    if before == until:
        return
    pairs[first, second].resolved_until = pairs[second, first].resolved_until = until
    if before == 0:
        behind, better = (second, first) if wins > losses else (first, second)
        pairs[behind, better].eligible = False
        arms[behind].sure_losses += 1
        arms[better].sure_wins += 1
        now.stale = True
    elif until == 0:
        # The wins may be even by now.
        behind, better = (
            (second, first) if pairs[first, second].eligible else (first, second)
        )
        pairs[first, second].eligible = pairs[second, first].eligible = True
        arms[behind].sure_losses -= 1
        arms[better].sure_wins -= 1
        now.stale = True
    was_first = 0 < before == now.next_expiry
    for arm in (first, second):
        if 0 < before == arms[arm].expiry:
            _find_expiry(state, arm)
        elif until > 0:
            arms[arm].expiry = min(arms[arm].expiry, until)
    if was_first:
        now.next_expiry = NEVER
        for arm in range(arms.size):
            now.next_expiry = min(now.next_expiry, arms[arm].expiry)
    elif until > 0:
        now.next_expiry = min(now.next_expiry, until)


@compiled
def _find_expiry(state: Any, arm: int) -> None:
    """Find the last round at which the resolved pairs of an arm all still are."""
    state.arms[arm].expiry = NEVER
    for opponent in range(state.arms.size):
        until = state.pairs[arm, opponent].resolved_until
        if 0 < until < state.arms[arm].expiry:
            state.arms[arm].expiry = until


@compiled
def let_expire(state: Any, round_: int) -> None:
    """Unresolve the pairs that no longer are at ``round_``."""
    num_arms = state.arms.size
    for i in range(num_arms):
        if state.arms[i].expiry < round_:
            for j in range(num_arms):
                if 0 < state.pairs[i, j].resolved_until < round_:
                    refresh_bounds(state, i, j, round_)


def start_upper_bounds(state: Any) -> None:
    """Fill in the upper bounds of a new state, which are 2; by the host."""
    state.pairs["share"] = 2.0


@compiled
def refresh_upper_bounds(state: Any, first: int, second: int) -> None:
    """Bring the upper bounds of a pair up to date: u = share + width sqrt(log t)."""
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    duels = float(forward.wins + backward.wins)
    forward.share, backward.share = forward.wins / duels, backward.wins / duels
    forward.width = backward.width = math.sqrt(state.now[0].alpha / duels)


@compiled
def most_optimistic(state: Any, rng: Generator, champion: int, round_: int) -> int:
    """Return the arm with the largest upper bound against the champion."""
    # That is the champion, whose own bound is 1/2, if it surely beats all others.
    root = math.sqrt(math.log(float(round_)))
    best, largest, number = champion, -1.0, 0
    for i in range(state.arms.size):
        pair = state.pairs[i, champion]
        if pair.eligible:
            upper = pair.share + pair.width * root
            largest, number, leads = among_largest(rng, upper, largest, number)
            if leads:
                best = i
    return best
