"""How far runs have come: a row of integers each, which the loops over rounds write."""

import numpy as np
from jaxtyping import Int

PLAYED, EVENTS, CHECKPOINT, RECOMMENDED, FAULT = range(5)
WRONG, CLOCK, WAITING, TOLD, ALONE, STOPPED, ANSWER = range(5, 12)
"""Places of a run's progress: rounds so far, events, the number of the next checkpoint,
the arm that is recommended at the end, what went wrong with which number, the rounds of
the policy's own clock, how many outcomes arrive next and how many of them it has been
told, its choices in a row without a duel, the round in which a rule for stopping ended
it or 0, and the arm that this named, or -1."""

NO_FAULT = 0


def new_progress(num_runs: int) -> Int[np.ndarray, "run 12"]:
    """Return how far runs are before their first rounds."""
    return np.zeros((num_runs, 12), dtype=np.int64)


def when_stopped(
    progress: Int[np.ndarray, "run 12"], orders: Int[np.ndarray, "run K"]
) -> dict[str, Int[np.ndarray, " run"]]:
    """Return when rules for stopping ended runs, and the arms they named; or -1."""
    stopped, answer = progress[:, STOPPED], progress[:, ANSWER]
    named = np.where((stopped > 0) & (answer >= 0), answer, -1)
    arms = orders[np.arange(len(orders)), named].astype(np.int64)
    return {
        "stopped_at": np.where(stopped > 0, stopped, -1),
        "answer": np.where(named >= 0, arms, -1),
    }
