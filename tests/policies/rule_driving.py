"""Driving rules in plain Python, with outcomes that are fixed in advance."""

from typing import Any, NamedTuple

import numpy as np

from bayesduel.policies.policy import Problem
from bayesduel.simulation.rounds import as_duel, update


class PlayedByRule(NamedTuple):
    """A run: its duels, one pair per round, and how it ended."""

    duels: list[tuple[int, int]]
    recommendation: int
    longest_stretch: int
    state: Any


def play_rule(policy, outcomes, horizon, seed=0, watch=None) -> PlayedByRule:
    """Play one run, arms in their own order.

    Parameters
    ----------
    outcomes : bool (K, K, N)
        Entry [i, j, n], i < j: whether i wins the n-th duel of the pair.
    watch : callable, optional
        Called with the state and the duel after every choice.
    """
    rng = np.random.default_rng(seed)
    state = policy.start(Problem(len(outcomes), horizon), rng)
    counts = np.zeros(outcomes.shape[:2], dtype=np.int64)
    duels, longest = [], 0
    while len(duels) < horizon:
        duel = as_duel(policy.choose(state, rng, len(duels) + 1))
        if watch is not None:
            watch(state, duel)
        idle = min(duel.idle_rounds, horizon - len(duels))
        longest = max(longest, idle)
        duels += [(duel.champion, duel.champion)] * idle
        rounds = min(int(duel.explores), horizon - len(duels))
        first, second = duel.first, duel.second
        duels += [(first, second)] * rounds
        if rounds > 0 and first != second:
            low, high = min(first, second), max(first, second)
            seen = counts[low, high]
            counts[low, high] += rounds
            won = int(outcomes[low, high, seen : seen + rounds].sum())
            won = won if first == low else rounds - won
            update(policy, state, rng, len(duels), first, second, won, rounds, None)
    return PlayedByRule(duels, int(policy.recommend(state, rng)), longest, state)
