"""Which pairs the confidence bounds of a kernel resolve.

``confidence_bounds``, in scalars, kept up to date by what changes: a duel resolves a
pair, for as many rounds as ``ops.scalar.resolved_rounds`` says, and its next duel or
the rounds that pass unresolve it. The state of a kernel has ``now`` with alpha,
next_expiry and stale, ``arms`` with sure_losses and expiry, and ``pairs`` with wins,
resolved_until and eligible.
"""

from typing import Any

import numpy as np
from jaxtyping import Shaped

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.resolved_rounds import NEVER, last_resolved_round


def resolve_nothing(state: Any) -> None:
    """Fill in the bounds of a new state; by the host."""
    state.now["next_expiry"] = NEVER
    state.now["stale"] = True
    state.arms["expiry"] = NEVER
    state.pairs["eligible"] = ~np.eye(len(state.arms), dtype=bool)


@inlined
def resolve(state: Any, round_: int, one: int, other: int) -> None:
    """Bring the bounds of a pair that is not resolved up to date."""
    now = state.now[0]
    wins, losses = state.pairs[one, other].wins, state.pairs[other, one].wins
    until = last_resolved_round(wins, losses, now.alpha, round_)
    if until == 0:
        return
    ahead, behind = (one, other) if wins > losses else (other, one)
    state.pairs[one, other].resolved_until = until
    state.pairs[other, one].resolved_until = until
    state.pairs[behind, ahead].eligible = False
    state.arms[behind].sure_losses += 1
    state.arms[one].expiry = min(state.arms[one].expiry, until)
    state.arms[other].expiry = min(state.arms[other].expiry, until)
    now.next_expiry = min(now.next_expiry, until)
    now.stale = True


@compiled
def unresolve(state: Any, one: int, other: int) -> None:
    """Let the bounds of a resolved pair contain 1/2."""
    now = state.now[0]
    until = state.pairs[one, other].resolved_until
    ahead = state.pairs[one, other].wins > state.pairs[other, one].wins
    behind, better = (other, one) if ahead else (one, other)
    state.pairs[one, other].resolved_until = 0
    state.pairs[other, one].resolved_until = 0
    state.pairs[behind, better].eligible = True
    state.arms[behind].sure_losses -= 1
    now.stale = True
    if until <= state.arms[one].expiry:
        state.arms[one].expiry = _first_expiry(state.pairs, one)
    if until <= state.arms[other].expiry:
        state.arms[other].expiry = _first_expiry(state.pairs, other)
    if until <= now.next_expiry:
        now.next_expiry = NEVER
        for arm in range(state.arms.size):
            now.next_expiry = min(now.next_expiry, state.arms[arm].expiry)


@compiled
def _first_expiry(pairs: Shaped[np.ndarray, "K K"], arm: int) -> int:
    found = NEVER
    for other in range(len(pairs)):
        until = pairs[arm, other].resolved_until
        if 0 < until < found:
            found = until
    return found


@compiled
def let_expire(state: Any, round_: int) -> None:
    """Unresolve the pairs that no longer are at ``round_``."""
    num_arms = state.arms.size
    for i in range(num_arms):
        if state.arms[i].expiry < round_:
            for j in range(num_arms):
                if 0 < state.pairs[i, j].resolved_until < round_:
                    unresolve(state, i, j)
