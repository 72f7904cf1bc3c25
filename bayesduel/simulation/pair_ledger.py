"""What is written down of a run of duels, and how rounds of one pair are counted."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.splits import take_first
from bayesduel.simulation.run_progress import CHECKPOINT, PLAYED


class PairLedger(NamedTuple):
    """What is written down of a run, arms by their positions."""

    checkpoints: Int[np.ndarray, " C"]
    plays: Int[np.ndarray, "K K"]
    """Rounds so far of ordered pairs."""

    plays_at: Int[np.ndarray, "C K K"]
    """The same at the checkpoints."""

    shares: Int[np.ndarray, "3 K"]
    """Of a stretch with several champions: ``ops.scalar.splits.take_first``."""


@compiled
def write_down(ledger: PairLedger, progress: Int[np.ndarray, " 12"]) -> None:
    """Copy the plays so far into the ledger, as those of the next checkpoint."""
    place = progress[CHECKPOINT]
    for one in range(len(ledger.plays)):
        for other in range(len(ledger.plays)):
            ledger.plays_at[place, one, other] = ledger.plays[one, other]
    progress[CHECKPOINT] += 1


@compiled
def pass_checkpoints(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Write down the plays at the checkpoints among so many rounds of one pair."""
    for place in range(progress[CHECKPOINT], ledger.checkpoints.size):
        more = ledger.checkpoints[place] - progress[PLAYED]
        if more > rounds:
            return
        write_down(ledger, progress)
        ledger.plays_at[place, first, second] += more


@inlined
def add_rounds(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Count rounds of one pair."""
    place, end = progress[CHECKPOINT], progress[PLAYED] + rounds
    if place < ledger.checkpoints.size and ledger.checkpoints[place] <= end:
        pass_checkpoints(ledger, progress, first, second, rounds)
    ledger.plays[first, second] += rounds
    progress[PLAYED] = end


@compiled
def add_shared_rounds(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    key: np.uint64,
    whole: int,
    rounds: int,
) -> None:
    """Count the first ``rounds`` of ``whole`` self-duels, shared as ``shares[0]`` says.

    Which is 0 afterwards.
    """
    parts, num_arms = ledger.shares[2], len(ledger.plays)
    for place in range(progress[CHECKPOINT], ledger.checkpoints.size):
        more = ledger.checkpoints[place] - progress[PLAYED]
        if more > rounds:
            break
        write_down(ledger, progress)
        take_first(ledger.shares, whole, more, key)
        for arm in range(num_arms):
            ledger.plays_at[place, arm, arm] += parts[arm]
    if rounds < whole:
        take_first(ledger.shares, whole, rounds, key)
    else:
        parts = ledger.shares[0]
    for arm in range(num_arms):
        ledger.plays[arm, arm] += parts[arm]
        ledger.shares[0, arm] = 0
    progress[PLAYED] += rounds
