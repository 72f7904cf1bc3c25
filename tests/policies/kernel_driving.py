"""Driving kernels without the simulator, with outcomes that are fixed in advance."""

from typing import NamedTuple

import numpy as np

from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.scalar_kernel import (
    choose,
    init,
    is_waiting,
    reads_self_duels,
    recommend,
    update,
)


class PlayedByKernel(NamedTuple):
    """A run: its duels, one pair per round, and how it ended."""

    duels: list[tuple[int, int]]
    recommendation: int
    longest_stretch: int


def play_kernel(kernel, outcomes, horizon, seed=0) -> PlayedByKernel:
    """Play one run of a ``ScalarKernel`` in Python, arms in their own order.

    Parameters
    ----------
    outcomes : bool (K, K, N)
        Entry [i, j, n], i < j: whether i wins the n-th duel of the pair.
    """
    state = kernel.new_state(np.arange(len(outcomes)), horizon)
    duels = np.zeros((horizon, 2), dtype=np.int64)
    counts = np.zeros(outcomes.shape[:2], dtype=np.int64)
    rng = np.random.default_rng(seed)
    run = np.zeros(3, dtype=np.int64)
    run_uncompiled(_play, state, rng, outcomes, counts, duels, run)
    while kernel.solve_on_host(state):
        run_uncompiled(_play, state, rng, outcomes, counts, duels, run)
    _, longest, recommendation = run.tolist()
    return PlayedByKernel(
        [(one, other) for one, other in duels.tolist()], recommendation, longest
    )


def _play(state, rng, outcomes, counts, duels, run):
    """Play on until the policy waits; ``run`` is rounds, longest stretch, best arm."""
    played, longest = run[0], run[1]
    if played == 0:
        init(state, rng)
    while played < len(duels) and not is_waiting(state):
        duel = choose(state, rng, played + 1)
        if is_waiting(state):
            break
        idle = min(duel.idle_rounds, len(duels) - played)
        longest = max(longest, idle)
        for _ in range(idle):
            duels[played, 0] = duels[played, 1] = duel.champion
            played += 1
        if duel.explores and played < len(duels):
            first, second = duel.first, duel.second
            duels[played, 0], duels[played, 1] = first, second
            played += 1
            if first != second:
                low, high = min(first, second), max(first, second)
                low_won = outcomes[low, high, counts[low, high]]
                counts[low, high] += 1
                update(state, rng, played, first, second, low_won == (first == low))
            elif reads_self_duels(state):
                update(state, rng, played, first, second, False)
    run[0], run[1] = played, longest
    if played == len(duels) and not is_waiting(state):
        run[2] = recommend(state, rng)
