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

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import Duel, Wins, declared
from bayesduel.stopping.scalar_rules import GO_ON, observe

PLAYED, EVENTS, CHECKPOINT, RECOMMENDED, FAULT = range(5)
WRONG, CLOCK, WAITING, STOPPED, ANSWER = range(5, 10)
"""Places of a run's progress: rounds so far, events, the number of the next checkpoint,
the arm that is recommended at the end, what went wrong with which number, the rounds of
the policy's own clock, how many outcomes it has not been told, the round in which a
rule for stopping ended it or 0, and the arm that this named, or -1."""

NO_FAULT, BAD_ARM, BAD_IDLE_ROUNDS, BAD_ROUNDS, BAD_RECOMMENDATION = range(5)


def new_progress(num_runs: int) -> Int[np.ndarray, "run 10"]:
    """Return how far runs are before their first rounds."""
    return np.zeros((num_runs, 10), dtype=np.int64)


def when_stopped(
    progress: Int[np.ndarray, "run 10"], orders: Int[np.ndarray, "run K"]
) -> dict[str, Int[np.ndarray, " run"]]:
    """Return when rules for stopping ended runs, and the arms they named; or -1."""
    stopped, answer = progress[:, STOPPED], progress[:, ANSWER]
    named = np.where((stopped > 0) & (answer >= 0), answer, -1)
    arms = orders[np.arange(len(orders)), named].astype(np.int64)
    return {
        "stopped_at": np.where(stopped > 0, stopped, -1),
        "answer": np.where(named >= 0, arms, -1),
    }


def new_reports(every: int, horizon: int) -> Int[np.ndarray, "report 5"]:
    """Return room for the outcomes that a policy has not been told."""
    return np.zeros((min(every, horizon), 5), dtype=np.int64)


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
    wins: int,
    rounds: int,
) -> None:
    """Tell a policy what came of rounds of a pair."""
    won = Wins(wins, rounds) if is_in_bulk(policy) else wins > 0
    policy.update(state, rng, round_, first, second, won)


def is_in_bulk(policy: Any) -> bool:
    """Say whether a policy may ask for several rounds of a pair at once."""
    return declared(policy, "explores_in_bulk")


def count_wins(policy: Any, rng: Generator, probability: float, rounds: int) -> int:
    """Play rounds of a pair, and count those that its first arm wins."""
    if is_in_bulk(policy):
        return rng.binomial(rounds, probability)
    return int(rng.random() < probability)


def recommend(policy: Any, state: Any, rng: Generator) -> Any:
    """Ask a policy for its best arm, likewise."""
    return policy.recommend(state, rng)


def as_duel(asked: Any) -> Duel:
    """Return a pair as a duel of a single round, and a duel as it is.

    Raises ``PolicyParameterError`` if it is neither.
    """
    if isinstance(asked, Duel):
        return asked
    try:
        first, second = map(index, asked)
    except (TypeError, ValueError) as error:
        raise PolicyParameterError(
            "choose",
            "must return a pair of arms, or a Duel",
            asked,
            remedy="return two integers",
        ) from error
    return Duel(first, 0, first, second)


def watch(
    stopping: Any,
    rng: Generator,
    first: int,
    second: int,
    wins: int,
    rounds: int,
    progress: Int[np.ndarray, " 10"],
) -> tuple[int, int]:
    """Let a rule for stopping see rounds of a pair, one by one, in a random order.

    Returns the wins and the rounds until it stops.
    """
    won = 0
    for gone in range(rounds):
        is_won = wins > 0
        if rounds > 1:
            is_won = rng.random() * (rounds - gone) < wins - won
        won += int(is_won)
        said = observe(stopping, first, second, is_won)
        if said != GO_ON:
            progress[ANSWER], progress[STOPPED] = said, progress[PLAYED] + gone + 1
            return won, gone + 1
    return wins, rounds


def write_down(
    plays: Int[np.ndarray, "K K"], ledger: Int[np.ndarray, "C K K"], place: int
) -> None:
    """Copy the plays so far into the ledger."""
    for one in range(len(plays)):
        for other in range(len(plays)):
            ledger[place, one, other] = plays[one, other]


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
        write_down(plays, ledger, place)
        ledger[place, first, second] += checkpoints[place] - played
        place += 1
    plays[first, second] += rounds
    return place


def tell(
    policy: Any,
    state: Any,
    rng: Generator,
    reports: Int[np.ndarray, "report 5"],
    number: int,
) -> None:
    """Tell a policy outcomes in their order, each with its own round."""
    for place in range(number):
        each = reports[place]
        update(policy, state, rng, each[0], each[1], each[2], each[3], each[4])


def play(
    policy: Any,
    state: Any,
    rng: Generator,
    preference: Float[np.ndarray, "K K"],
    checkpoints: Int[np.ndarray, " C"],
    every: int,
    self_duels: bool,
    reports: Int[np.ndarray, "report 5"],
    progress: Int[np.ndarray, " 10"],
    plays: Int[np.ndarray, "K K"],
    ledger: Int[np.ndarray, "C K K"],
    stopping: Any,
    event_limit: int,
) -> None:
    """Play a run on to its last checkpoint, or to so many events.

    Arms are numbered as the policy knows them; ``plays`` counts ordered pairs. An event
    is a question to the policy. A fault of the policy ends the run with a status, as
    compiled code raises nothing.

    After every so many rounds the policy is told the outcomes so far; a stretch ends
    where some arrive. What comes of several rounds of a pair counts as an outcome of
    the last one. Without ``self_duels`` only the policy's own clock counts these, until
    it has waited for longer than any horizon.

    ``stopping`` is the state of a rule for stopping, or None. It sees every duel as it
    is played; a run that it ends keeps its plays up to the last checkpoint.
    """
    num_arms = len(plays)
    horizon = checkpoints[-1]
    played, events, place = progress[PLAYED], progress[EVENTS], progress[CHECKPOINT]
    clock, waiting = progress[CLOCK], progress[WAITING]
    while played < horizon and events < event_limit:
        events += 1
        progress[PLAYED] = played  # So that an error of the policy can be located.
        due = (played // every + 1) * every
        if waiting > 0 and played % every == 0:
            tell(policy, state, rng, reports, waiting)
            waiting = 0
        duel = as_duel(choose(policy, state, rng, clock + 1))
        champion, idle = duel.champion, duel.idle_rounds
        first, second, rounds = duel.first, duel.second, int(duel.explores)
        for arm in (champion, first, second):
            if not 0 <= arm < num_arms:
                progress[FAULT], progress[WRONG] = BAD_ARM, arm
        if idle < 0:
            progress[FAULT], progress[WRONG] = BAD_IDLE_ROUNDS, idle
        if rounds < 0 or (rounds > 1 and not is_in_bulk(policy)):
            progress[FAULT], progress[WRONG] = BAD_ROUNDS, rounds
        if progress[FAULT] != NO_FAULT:
            break
        if clock >= LONGEST_HORIZON:
            idle, rounds = horizon - played, 0
        elif not self_duels:
            clock, idle = clock + min(idle, LONGEST_HORIZON), 0
        elif waiting > 0 and idle >= due - played:
            idle, rounds = due - played, 0
        idle = min(idle, horizon - played)
        if idle > 0:
            place = add_rounds(
                plays, ledger, checkpoints, place, played, champion, champion, idle
            )
            played, clock = played + idle, clock + idle
        rounds = min(rounds, horizon - played)
        if rounds == 0:
            continue
        wins = 0
        if first != second:
            wins = count_wins(policy, rng, preference[first, second], rounds)
            if stopping is not None:
                progress[PLAYED] = played
                wins, rounds = watch(
                    stopping, rng, first, second, wins, rounds, progress
                )
        clock += rounds
        if self_duels or first != second:
            place = add_rounds(
                plays, ledger, checkpoints, place, played, first, second, rounds
            )
            played += rounds
        if first != second:
            if every == 1:
                update(policy, state, rng, clock, first, second, wins, rounds)
            else:
                if waiting > 0 and played > due:
                    # These rounds overlap the end of those whose outcomes arrive.
                    tell(policy, state, rng, reports, waiting)
                    waiting = 0
                each = reports[waiting]
                each[0], each[1], each[2] = clock, first, second
                each[3], each[4] = wins, rounds
                waiting += 1
        if progress[STOPPED] > 0:
            while place < checkpoints.size:
                write_down(plays, ledger, place)
                place += 1
            played = horizon
    progress[PLAYED], progress[EVENTS], progress[CHECKPOINT] = played, events, place
    progress[CLOCK], progress[WAITING] = clock, waiting
    if played == horizon:
        if horizon % every == 0 and progress[STOPPED] == 0:
            tell(policy, state, rng, reports, waiting)
        arm = recommend(policy, state, rng)
        progress[RECOMMENDED] = arm
        if not 0 <= arm < num_arms:
            progress[FAULT], progress[WRONG] = BAD_RECOMMENDATION, arm
