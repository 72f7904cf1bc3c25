"""The loop over rounds: one run of any policy of pairs, in plain Python.

``scalar.compiled_rounds`` hands the same function to Numba, with the functions of a
policy that can be compiled. Both draw from the same generator of NumPy, so both play
the same run.
"""

from operator import index
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import Duel

PLAYED, EVENTS, CHECKPOINT, RECOMMENDED, FAULT, WRONG = range(6)
"""Places of a run's progress: rounds so far, events, the number of the next checkpoint,
the arm that is recommended at the end, and what went wrong with which number."""

NO_FAULT, BAD_ARM, BAD_IDLE_ROUNDS, BAD_RECOMMENDATION = range(4)


def new_progress(num_runs: int) -> Int[np.ndarray, "run 6"]:
    """Return how far runs are before their first rounds."""
    return np.zeros((num_runs, 6), dtype=np.int64)


def choose(policy: Any, state: Any, rng: Generator, round_: int) -> Any:
    """Ask a policy; compiled, it is the function of the policy itself."""
    return policy.choose(state, rng, round_)


def update(
    policy: Any,
    state: Any,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Tell a policy, likewise."""
    policy.update(state, rng, round_, first, second, won)


def recommend(policy: Any, state: Any, rng: Generator) -> Any:
    """Ask a policy for its best arm, likewise."""
    return policy.recommend(state, rng)


def as_duel(asked: Any) -> Duel:
    """Return a pair as a duel of a single round, and a duel as it is.

    Raises
    ------
    PolicyParameterError
        If it is neither.
    """
    if isinstance(asked, Duel):
        return asked
    try:
        first, second = map(index, asked)
    except (TypeError, ValueError) as error:
        raise PolicyParameterError.of(
            "choose",
            "must return a pair of arms, or a Duel",
            asked,
            remedy="return two integers",
        ) from error
    return Duel(first, 0, first, second, True)


def add_rounds(
    plays: Int[np.ndarray, "K K"],
    ledger: Int[np.ndarray, "C K K"],
    checkpoints: Int[np.ndarray, " C"],
    place: int,
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> int:
    """Count rounds of one pair, and write down the plays at checkpoints among them.

    Returns the number of the next checkpoint, which was ``place`` before.
    """
    while place < checkpoints.size and checkpoints[place] <= played + rounds:
        ledger[place] = plays
        ledger[place, first, second] += checkpoints[place] - played
        place += 1
    plays[first, second] += rounds
    return place


def play(
    policy: Any,
    state: Any,
    rng: Generator,
    preference: Float[np.ndarray, "K K"],
    checkpoints: Int[np.ndarray, " C"],
    progress: Int[np.ndarray, " 6"],
    plays: Int[np.ndarray, "K K"],
    ledger: Int[np.ndarray, "C K K"],
    event_limit: int,
) -> None:
    """Play a run on to its last checkpoint, or to so many events.

    Arms are numbered as the policy knows them; ``plays`` counts ordered pairs. An event
    is a question to the policy. A fault of the policy ends the run with a status, as
    compiled code raises nothing.
    """
    num_arms = len(plays)
    horizon = checkpoints[-1]
    played, events, place = progress[PLAYED], progress[EVENTS], progress[CHECKPOINT]
    while played < horizon and events < event_limit:
        events += 1
        progress[PLAYED] = played  # So that an error of the policy can be located.
        duel = as_duel(choose(policy, state, rng, played + 1))
        champion, idle = duel.champion, duel.idle_rounds
        first, second = duel.first, duel.second
        for arm in (champion, first, second):
            if not 0 <= arm < num_arms:
                progress[FAULT], progress[WRONG] = BAD_ARM, arm
        if idle < 0:
            progress[FAULT], progress[WRONG] = BAD_IDLE_ROUNDS, idle
        if progress[FAULT] != NO_FAULT:
            break
        idle = min(idle, horizon - played)
        if idle > 0:
            place = add_rounds(
                plays, ledger, checkpoints, place, played, champion, champion, idle
            )
            played += idle
        if duel.explores and played < horizon:
            place = add_rounds(
                plays, ledger, checkpoints, place, played, first, second, 1
            )
            played += 1
            if first != second:
                won = rng.random() < preference[first, second]
                update(policy, state, rng, played, first, second, won)
    progress[PLAYED], progress[EVENTS], progress[CHECKPOINT] = played, events, place
    if played == horizon:
        arm = recommend(policy, state, rng)
        progress[RECOMMENDED] = arm
        if not 0 <= arm < num_arms:
            progress[FAULT], progress[WRONG] = BAD_RECOMMENDATION, arm
