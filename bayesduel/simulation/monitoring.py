"""A monitor that detects changes of the preferences while a policy is played.

The monitor of Kolpaczki, Bengs and Hüllermeier (2022): the loop over rounds asks it for
pairs before it asks the policy. Without one, None stands in its place.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from bayesduel.ops.scalar.compiled import by_state, implement_one
from bayesduel.policies.change.monitored_dueling import monitoring

# Rounds of the period that are over, and whether the policy must start anew
PLACE, BEGINS_ANEW = range(2)

# Per pair: outcomes since the last change, and wins in each half of a window
COUNT, OLDER, NEWER = range(3)


class Monitor(NamedTuple):
    """The state of a monitor in one run."""

    pairs: Int[np.ndarray, "pair 2"]
    # 1 where the first arm has won; the n-th outcome in the place n modulo w
    outcomes: Int[np.ndarray, "pair w"]
    sums: Int[np.ndarray, "pair 3"]
    now: Int[np.ndarray, " 2"]
    period: int
    threshold: float


def new_monitor(num_arms: int, horizon: int, segments: int, delta: float) -> Monitor:
    """Return a monitor before the first round."""
    design = monitoring(num_arms, horizon, segments, delta)
    pairs = np.column_stack(np.triu_indices(num_arms, 1)).astype(np.int64)
    return Monitor(
        pairs=pairs,
        outcomes=np.zeros((len(pairs), design.window), dtype=np.int8),
        sums=np.zeros((len(pairs), 3), dtype=np.int64),
        now=np.zeros(2, dtype=np.int64),
        period=design.period,
        threshold=design.threshold,
    )


# --- What the loop asks, and what holds without a monitor -----------------------------


@by_state
def begins_anew(monitor: Any) -> bool:
    """Say whether the policy is to be prepared for a first round, and note it."""
    return False


@by_state
def due_pair(monitor: Any) -> tuple[int, int, int]:
    """Return the number and arms of the pair that is to meet; -1 if there is none."""
    return -1, -1, -1


@by_state
def cut_to_period(monitor: Any, idle: int, rounds: int) -> tuple[int, int]:
    """Return how many self-duels, and rounds of a pair, the policy may play now."""
    return idle, rounds


@by_state
def take_outcome(monitor: Any, pair: int, won: bool) -> bool:
    """Count an outcome; if preferences have changed, say so and forget all."""
    return False


def _begins_anew(monitor: Monitor) -> bool:
    says_so = monitor.now[BEGINS_ANEW] == 1
    monitor.now[BEGINS_ANEW] = 0
    return says_so


def _due_pair(monitor: Monitor) -> tuple[int, int, int]:
    pair = monitor.now[PLACE]
    if pair < len(monitor.pairs):
        return pair, monitor.pairs[pair, 0], monitor.pairs[pair, 1]
    return -1, -1, -1


def _cut_to_period(monitor: Monitor, idle: int, rounds: int) -> tuple[int, int]:
    most = monitor.period - monitor.now[PLACE]
    if idle >= most:
        idle, rounds = most, 0
    rounds = min(rounds, most - idle)
    monitor.now[PLACE] = (monitor.now[PLACE] + idle + rounds) % monitor.period
    return idle, rounds


def _take_outcome(monitor: Monitor, pair: int, won: bool) -> bool:
    outcomes, sums = monitor.outcomes, monitor.sums
    window, count = outcomes.shape[1], sums[pair, COUNT]
    slot = count % window
    # The oldest outcome leaves the window, and the one of half a window ago leaves its
    # newer half.
    middle = (slot + window // 2) % window
    if count >= window:
        sums[pair, OLDER] -= outcomes[pair, slot]
    if count >= window // 2:
        sums[pair, OLDER] += outcomes[pair, middle]
        sums[pair, NEWER] -= outcomes[pair, middle]
    outcomes[pair, slot] = won
    sums[pair, NEWER] += won
    sums[pair, COUNT] = count + 1
    monitor.now[PLACE] = (monitor.now[PLACE] + 1) % monitor.period
    difference = abs(sums[pair, NEWER] - sums[pair, OLDER])
    if count + 1 < window or difference <= monitor.threshold:
        return False
    for row in range(len(monitor.pairs)):
        for kind in range(3):
            sums[row, kind] = 0
    monitor.now[PLACE], monitor.now[BEGINS_ANEW] = 0, 1
    return True


for _stub, _function in (
    (begins_anew, _begins_anew),
    (due_pair, _due_pair),
    (cut_to_period, _cut_to_period),
    (take_outcome, _take_outcome),
):
    implement_one(_stub, Monitor, _function)
