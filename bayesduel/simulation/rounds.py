"""The loop over rounds: one run of any policy of pairs, in plain Python.

Numba is handed the same functions, by ``compiled_rounds`` with those of a rule
in them, and by ``programs`` with those of a kernel. Both draw from the same
generator of NumPy, so both play the same run.
"""

from operator import index
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import PolicyParameterError
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.splits import take_first
from bayesduel.policies.policy import Duel, Wins, declared
from bayesduel.policies.scalar_kernel import (
    init,
    is_waiting,
    note,
    play_to_the_end,
    reads_self_duels,
    recall,
    share_idle_rounds,
)
from bayesduel.simulation.monitoring import (
    begins_anew,
    cut_to_period,
    due_pair,
    take_outcome,
)
from bayesduel.stopping.base import GO_ON, observe

# --- How far a run is, and its record ------------------------------------------------

PLAYED, EVENTS, CHECKPOINT, RECOMMENDED, FAULT = range(5)
# Places of a run's progress: rounds so far, events, the number of the next checkpoint,
# the arm that is recommended at the end, what went wrong with which number, the rounds
# of the policy's own clock, how many outcomes arrive next and how many of them it has
# been told, its choices in a row without a duel, the round in which a rule for stopping
# ended it or 0, and the arm that this named, or -1
WRONG, CLOCK, WAITING, REPORTED, ALONE, STOPPED, ANSWER = range(5, 12)
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


class PairLedger(NamedTuple):
    """The record of a run, arms by their positions."""

    checkpoints: Int[np.ndarray, " C"]
    plays: Int[np.ndarray, "K K"]  # Rounds so far of ordered pairs
    plays_at: Int[np.ndarray, "C K K"]  # The same at the checkpoints

    # Shares of a stretch with several champions: ``ops.scalar.splits.take_first``
    shares: Int[np.ndarray, "3 K"]


@compiled
def write_down(ledger: PairLedger, progress: Int[np.ndarray, " 12"]) -> None:
    """Copy the plays so far into the ledger, as those of the next checkpoint."""
    checkpoint = progress[CHECKPOINT]
    for first in range(len(ledger.plays)):
        for second in range(len(ledger.plays)):
            ledger.plays_at[checkpoint, first, second] = ledger.plays[first, second]
    progress[CHECKPOINT] += 1


@compiled
def next_checkpoint(ledger: PairLedger, progress: Int[np.ndarray, " 12"]) -> int:
    """Return the round of the next checkpoint, or one that no run reaches."""
    checkpoint = progress[CHECKPOINT]
    if checkpoint < ledger.checkpoints.size:
        return int(ledger.checkpoints[checkpoint])
    return LONGEST_HORIZON + 1


@compiled
def pass_checkpoints(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Write down the plays at the checkpoints among so many rounds of one pair."""
    for checkpoint in range(progress[CHECKPOINT], ledger.checkpoints.size):
        more = ledger.checkpoints[checkpoint] - played
        if more > rounds:
            return
        write_down(ledger, progress)
        ledger.plays_at[checkpoint, first, second] += more


@compiled
def add_shared_rounds(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    key: np.uint64,
    whole: int,
    rounds: int,
) -> None:
    """Count the first rounds of ``whole`` self-duels, shared as ``shares[0]`` says."""
    parts, num_arms = ledger.shares[2], len(ledger.plays)
    for checkpoint in range(progress[CHECKPOINT], ledger.checkpoints.size):
        more = ledger.checkpoints[checkpoint] - played
        if more > rounds:
            break
        write_down(ledger, progress)
        take_first(ledger.shares, whole, more, key)
        for arm in range(num_arms):
            ledger.plays_at[checkpoint, arm, arm] += parts[arm]
    if rounds < whole:
        take_first(ledger.shares, whole, rounds, key)
    else:
        parts = ledger.shares[0]
    for arm in range(num_arms):
        ledger.plays[arm, arm] += parts[arm]
        ledger.shares[0, arm] = 0


# --- The loop ------------------------------------------------------------------------

# Faults of a policy
BAD_ARM, BAD_IDLE_ROUNDS, BAD_ROUNDS, BAD_RECOMMENDATION = range(1, 5)


def new_reports(every: int, horizon: int) -> Int[np.ndarray, "report 6"]:
    """Return room for reports: round, two arms, wins of the first, rounds, a note."""
    return np.zeros((min(every, horizon), 6), dtype=np.int64)


def choose(policy: Any, state: Any, rng: Generator, round_: int, features: Any) -> Any:
    """Ask a policy, a contextual one with the features of the round."""
    if features is None:
        return policy.choose(state, rng, round_)
    return policy.choose(state, rng, round_, features)


def update(
    policy: Any,
    state: Any,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    wins: int,
    rounds: int,
    features: Any,
) -> None:
    """Tell a policy what came of rounds of a pair, a contextual one with features."""
    won = Wins(wins, rounds) if is_in_bulk(policy) else wins > 0
    if features is None:
        policy.update(state, rng, round_, first, second, won)
    else:
        policy.update(state, rng, round_, first, second, won, features)


def recommend(policy: Any, state: Any, rng: Generator) -> Any:
    """Ask a policy for its best arm or set, likewise."""
    return policy.recommend(state, rng)


def is_in_bulk(policy: Any) -> bool:
    """Say whether a policy may ask for several rounds of a pair at once."""
    return declared(policy, "explores_in_bulk")


def count_wins(policy: Any, rng: Generator, probability: float, rounds: int) -> int:
    """Play rounds of a pair, and count those that its first arm wins."""
    if is_in_bulk(policy):
        return rng.binomial(rounds, probability)
    return int(rng.random() < probability)


# The next four functions are those of a preference matrix, whose regret follows from
# the plays. ``open_worlds`` has those of any other world, to be put in their place.


@compiled
def features_of_round(world: Any, round_: int) -> Any:
    """Return the features of a round, in the order of the run; None without any."""
    return None


@compiled
def charge(
    world: Any,
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Add up the regret of rounds after ``played``, in all of which one pair meets."""


@compiled
def settle(world: Any, progress: Int[np.ndarray, " 12"]) -> None:
    """Write down the regret at all checkpoints to come, of a run that has stopped."""


@compiled
def finish(
    state: Any,
    rng: Generator,
    world: Any,
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
) -> bool:
    """Let a rule draw the rest of the run at once, and say whether it did."""
    checkpoint = progress[CHECKPOINT]
    return play_to_the_end(state, rng, world, ledger, checkpoint, played)


@compiled
def play_pair(
    policy: Any,
    world: Any,
    rng: Generator,
    progress: Int[np.ndarray, " 12"],
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> int:
    """Play rounds of one pair after ``played``, and count those its first arm wins."""
    return count_wins(policy, rng, world[first, second], rounds)


# A rule names one champion at a time. What kernels do, ``programs`` has; without the
# policy or its state among the arguments, all rules share what is compiled of these.


@compiled
def is_shared(champion: int) -> bool:
    """Say whether idle rounds have several champions."""
    return False


@compiled
def add_shared(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    rng: Generator,
    world: Any,
    rounds: int,
    idle: int,
) -> None:
    """Count the first ``idle`` of so many self-duels that arms share."""


def as_duel(choice: Any) -> Duel:
    """Return a pair as a duel of a single round, and a duel as it is."""
    if isinstance(choice, Duel):
        return choice
    try:
        first, second = map(index, choice)
    except (TypeError, ValueError) as error:
        raise PolicyParameterError(
            "choose",
            "must return a pair of arms, or a Duel",
            choice,
            remedy="return two integers",
        ) from error
    return Duel(first, 0, first, second)


def as_arm(choice: Any) -> int:
    """Return an arm as an integer."""
    try:
        return index(choice)
    except TypeError as error:
        raise PolicyParameterError(
            "recommend", "must return an arm", choice, remedy="return an integer"
        ) from error


def ask(
    policy: Any,
    state: Any,
    rng: Generator,
    num_arms: int,
    left: int,
    clock: int,
    progress: Int[np.ndarray, " 12"],
    features: Any,
) -> tuple[int, int, int, int, int]:
    """Return what to play: a champion, its rounds, a pair, and the rounds of that."""
    # A policy whose own clock has stopped plays what it recommends to the end.
    if clock >= LONGEST_HORIZON:
        champion = first = second = as_arm(recommend(policy, state, rng))
        idle, rounds = left, 0
    else:
        duel = as_duel(choose(policy, state, rng, clock + 1, features))
        champion, idle = duel.champion, duel.idle_rounds
        first, second, rounds = duel.first, duel.second, int(duel.explores)
    # One by one: compiled, a loop over them would make a list.
    if not 0 <= champion < num_arms and not is_shared(champion):
        progress[FAULT], progress[WRONG] = BAD_ARM, champion
    is_pair = rounds != 0 or not is_shared(first)
    if is_pair and not 0 <= first < num_arms:
        progress[FAULT], progress[WRONG] = BAD_ARM, first
    if is_pair and not 0 <= second < num_arms:
        progress[FAULT], progress[WRONG] = BAD_ARM, second
    if idle < 0:
        progress[FAULT], progress[WRONG] = BAD_IDLE_ROUNDS, idle
    if rounds < 0 or (rounds > 1 and not is_in_bulk(policy)):
        progress[FAULT], progress[WRONG] = BAD_ROUNDS, rounds
    return champion, idle, first, second, rounds


@compiled
def watch(
    stopping: Any,
    rng: Generator,
    first: int,
    second: int,
    wins: int,
    rounds: int,
    played: int,
    progress: Int[np.ndarray, " 12"],
) -> tuple[int, int]:
    """Let a rule for stopping see rounds, one by one; return wins and rounds seen."""
    won = 0
    for gone in range(rounds):
        is_won = wins > 0
        if rounds > 1:
            is_won = rng.random() * (rounds - gone) < wins - won
        won += int(is_won)
        said = observe(stopping, first, second, is_won)
        if said != GO_ON:
            progress[ANSWER], progress[STOPPED] = said, played + gone + 1
            return won, gone + 1
    return wins, rounds


def tell(
    policy: Any,
    state: Any,
    rng: Generator,
    reports: Int[np.ndarray, "report 6"],
    progress: Int[np.ndarray, " 12"],
) -> None:
    """Tell a policy the outcomes that arrive, until it waits for the host."""
    while progress[REPORTED] < progress[WAITING] and not is_waiting(state):
        outcome = reports[progress[REPORTED]]
        progress[REPORTED] += 1
        recall(state, outcome[1], outcome[2], outcome[5])
        update(
            policy,
            state,
            rng,
            outcome[0],
            outcome[1],
            outcome[2],
            outcome[3],
            outcome[4],
            None,
        )
    if progress[REPORTED] == progress[WAITING]:
        progress[REPORTED] = progress[WAITING] = 0


def report(
    policy: Any,
    state: Any,
    clock: int,
    first: int,
    second: int,
    wins: int,
    rounds: int,
    reports: Int[np.ndarray, "report 6"],
    progress: Int[np.ndarray, " 12"],
) -> None:
    """Keep an outcome until it arrives."""
    outcome = reports[progress[WAITING]]
    outcome[0], outcome[1], outcome[2] = clock, first, second
    outcome[3], outcome[4], outcome[5] = wins, rounds, note(state)
    progress[WAITING] += 1


def hear(
    policy: Any,
    state: Any,
    rng: Generator,
    stopping: Any,
    progress: Int[np.ndarray, " 12"],
    votes: Int[np.ndarray, "vote 3"],
) -> None:
    """Let a new policy and its rule for stopping take in duels from before."""
    # Rows of ``votes``: winner, loser, whether the rule is told, too.
    init(state, rng)
    for row in range(len(votes)):
        winner, loser = votes[row, 0], votes[row, 1]
        update(policy, state, rng, row + 1, winner, loser, 1, 1, None)
        if votes[row, 2]:
            observe(stopping, winner, loser, True)
    # So that it does not begin anew.
    progress[EVENTS] = 1


def play(
    policy: Any,
    state: Any,
    rng: Generator,
    world: Any,
    every: int,
    patience: int,
    ledger: PairLedger,
    reports: Int[np.ndarray, "report 6"],
    progress: Int[np.ndarray, " 12"],
    monitor: Any,
    stopping: Any,
    event_limit: int,
) -> None:
    """Play a run to its last checkpoint, to so many events, or until the host helps.

    Arms are numbered as the policy knows them; so they are in ``world``, the preference
    matrix in the order of the run or a :class:`open_worlds.WorldRun`. An event is a
    question to the policy. A fault of the policy or of the world ends the run with a
    status, as compiled code raises nothing.

    After ``every`` so many rounds the policy is told the outcomes so far, before the
    next choice or the return; a stretch ends where some arrive. What comes of several
    rounds of a pair counts as an outcome of the last one. With ``patience``, self-duels
    are counted by the policy's own clock only, until it has waited for longer than any
    horizon, or so many choices in a row are no duels; with 0 they are played.

    A ``monitor`` has its own duels, of which the policy is not told, and breaks off
    where the policy is to start anew; None if there is none. It is not there where
    outcomes are told late.

    ``stopping`` is the state of a rule for stopping, or None. It sees every duel as it
    is played; a run that it ends keeps its plays up to the last checkpoint.
    """
    num_arms, horizon = len(ledger.plays), ledger.checkpoints[-1]
    # In variables, as compiled code reads an array anew after every write to another.
    # Callers read these numbers, also after an exception, so they are written at once.
    played, clock = int(progress[PLAYED]), int(progress[CLOCK])
    events, checkpoint = int(progress[EVENTS]), next_checkpoint(ledger, progress)
    if events == 0 or begins_anew(monitor):
        init(state, rng)
    while played < horizon and events < event_limit:
        if progress[FAULT] != NO_FAULT:
            break
        due = every - played % every if every > 1 else 1
        if every > 1 and due == every and progress[WAITING] > 0:
            tell(policy, state, rng, reports, progress)
        if is_waiting(state):
            break
        events += 1
        progress[EVENTS] = events
        left = horizon - played
        if stopping is None:
            if every == 1 and patience == 0:
                if finish(state, rng, world, ledger, progress, played):
                    progress[CHECKPOINT] = ledger.checkpoints.size
                    clock += left
                    played = horizon
                    progress[CLOCK], progress[PLAYED] = clock, played
                    break
        features = features_of_round(world, played + 1)
        pair, first, second = due_pair(monitor)
        champion, whole, rounds = first, 0, 1
        if pair < 0:
            champion, whole, first, second, rounds = ask(
                policy, state, rng, num_arms, left, clock, progress, features
            )
        if progress[FAULT] != NO_FAULT or is_waiting(state):
            break
        idle = min(whole, left)
        if pair < 0:
            idle, rounds = cut_to_period(monitor, idle, rounds)
        if patience > 0 and clock < LONGEST_HORIZON:
            idle, explores = 0, rounds > 0 and first != second
            progress[ALONE] = 0 if explores else progress[ALONE] + 1
            clock += min(whole, LONGEST_HORIZON)
            if progress[ALONE] >= patience:
                # A constant would have another type for the compiler.
                clock += LONGEST_HORIZON - clock
        elif every > 1 and progress[WAITING] > 0 and idle >= due:
            idle, rounds = due, 0
        if idle > 0:
            clock += idle
            if is_shared(champion):
                share_idle_rounds(state, rng, whole, ledger.shares[0])
                add_shared(ledger, progress, played, rng, world, whole, idle)
            else:
                charge(world, ledger, progress, played, champion, champion, idle)
                if played + idle >= checkpoint:
                    pass_checkpoints(ledger, progress, played, champion, champion, idle)
                ledger.plays[champion, champion] += idle
            played += idle
            if played >= checkpoint:
                checkpoint = next_checkpoint(ledger, progress)
            progress[PLAYED] = played
        progress[CLOCK] = clock
        rounds = min(rounds, horizon - played)
        if rounds == 0:
            continue
        wins, is_duel = 0, first != second
        if is_duel:
            if idle > 0:
                features = features_of_round(world, played + 1)
            wins = play_pair(
                policy, world, rng, progress, played, first, second, rounds
            )
            if stopping is not None:
                wins, rounds = watch(
                    stopping, rng, first, second, wins, rounds, played, progress
                )
        if pair < 0:
            clock += rounds
        progress[CLOCK] = clock
        if is_duel or patience == 0:
            charge(world, ledger, progress, played, first, second, rounds)
            if played + rounds >= checkpoint:
                pass_checkpoints(ledger, progress, played, first, second, rounds)
                checkpoint = next_checkpoint(ledger, progress)
            ledger.plays[first, second] += rounds
            played += rounds
            progress[PLAYED] = played
        if pair >= 0:
            if take_outcome(monitor, pair, wins > 0) and played < horizon:
                return
            continue
        if not is_duel and not reads_self_duels(state):
            continue
        if every == 1:
            update(policy, state, rng, clock, first, second, wins, rounds, features)
        else:
            if progress[WAITING] > 0 and idle + rounds > due:
                # These rounds overlap the end of those whose outcomes arrive.
                tell(policy, state, rng, reports, progress)
            report(policy, state, clock, first, second, wins, rounds, reports, progress)
        if stopping is not None and progress[STOPPED] > 0:
            settle(world, progress)
            while progress[CHECKPOINT] < ledger.checkpoints.size:
                write_down(ledger, progress)
            progress[PLAYED] = played = horizon
    if played % every == 0 and progress[STOPPED] == 0:
        tell(policy, state, rng, reports, progress)
    if played < horizon or progress[FAULT] != NO_FAULT:
        return
    if not is_waiting(state):
        arm = as_arm(recommend(policy, state, rng))
        progress[RECOMMENDED] = arm
        if not 0 <= arm < num_arms:
            progress[FAULT], progress[WRONG] = BAD_RECOMMENDATION, arm
