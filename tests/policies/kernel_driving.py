"""Driving kernels by the loop of the simulator, with outcomes fixed in advance."""

from typing import NamedTuple

import numpy as np

from bayesduel.ops.scalar.compiled import with_names
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.policy_around import STRAIGHT, innermost, manner_of
from bayesduel.simulation.programs import with_kernels
from bayesduel.simulation.rounds import (
    RECOMMENDED,
    PairLedger,
    new_progress,
    new_reports,
)
from bayesduel.stopping.base import never_stops


class PlayedByKernel(NamedTuple):
    """A run: its duels, one pair per round, and how it ended."""

    duels: list[tuple[int, int]]
    recommendation: int
    longest_stretch: int


def play_policy(policy, outcomes, horizon, seed=0) -> PlayedByKernel:
    """Play one run of a policy that a kernel plays, as :func:`play_kernel` does."""
    kernel = kernel_of(innermost(policy))
    return play_kernel(kernel, outcomes, horizon, seed, manner_of(policy))


def play_kernel(kernel, outcomes, horizon, seed=0, manner=STRAIGHT) -> PlayedByKernel:
    """Play one run of a ``ScalarKernel`` in Python, arms in their own order.

    Parameters
    ----------
    outcomes : bool (K, K, N)
        Entry [i, j, n], i < j: whether i wins the n-th duel of the pair.
    """
    num_arms, longest = len(outcomes), 0
    counts = np.zeros((num_arms, num_arms), dtype=np.int64)
    plain = with_kernels("play")

    def count_wins(policy, rng, number, rounds):
        """Look up who wins; in place of a probability there is the number of a pair."""
        first, second = divmod(int(number), num_arms)
        low, high = min(first, second), max(first, second)
        low_won = outcomes[low, high, counts[low, high]]
        counts[low, high] += 1
        return int(low_won == (first == low))

    def ask(policy, state, rng, num_arms, left, *others):
        nonlocal longest
        result = plain.__globals__["ask"](policy, state, rng, num_arms, left, *others)
        longest = max(longest, min(result[1], left))
        return result

    pair = with_names(plain.__globals__["play_pair"], {"count_wins": count_wins})
    play = with_names(plain, {"play_pair": pair, "ask": ask})
    ledger = PairLedger(
        checkpoints=np.arange(1, horizon + 1),
        plays=np.zeros((num_arms, num_arms), dtype=np.int64),
        plays_at=np.zeros((horizon, num_arms, num_arms), dtype=np.int64),
        shares=np.zeros((3, num_arms), dtype=np.int64),
    )
    progress = new_progress(1)[0]
    given = (
        kernel.new_state(np.arange(num_arms), horizon),
        np.random.default_rng(seed),
        np.arange(num_arms**2).reshape(num_arms, num_arms),
        manner.every,
        0 if manner.self_duels else manner.patience,
        ledger,
        new_reports(manner.every, horizon),
        progress,
        None,
        never_stops(num_arms),
        2**62,
    )
    run_uncompiled(play, None, *given)
    while kernel.solve_on_host(given[0]):
        run_uncompiled(play, None, *given)
    item = np.diff(ledger.plays_at, axis=0, prepend=0)
    assert np.all(item.sum(axis=(1, 2)) == 1)
    duels = np.argwhere(item)[:, 1:].tolist()
    return PlayedByKernel(
        [(one, other) for one, other in duels], int(progress[RECOMMENDED]), longest
    )
