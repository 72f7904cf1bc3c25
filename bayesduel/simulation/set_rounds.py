"""The loop over rounds: one run of any policy over subsets, in plain Python.

As ``rounds`` has it for pairs: ``compiled_rounds`` hands the same function to
Numba, and both play the same run.
"""

from operator import index
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.policies.subset_base import Offer
from bayesduel.simulation.rounds import choose, recommend
from bayesduel.simulation.run_progress import (
    CHECKPOINT,
    EVENTS,
    FAULT,
    NO_FAULT,
    PLAYED,
    WRONG,
)
from bayesduel.simulation.set_worlds import SetLane, SetWorld, answer, put_forward

BAD_LENGTH, BAD_SIZE, BAD_ROUNDS, BAD_RECOMMENDATION = range(1, 5)
"""What may go wrong: the length of a mask, how many arms it marks, rounds below 1."""


class SetLedger(NamedTuple):
    """What is written down of a run, arms by their positions."""

    offers: Int[np.ndarray, " n"]
    """Rounds so far in which each was offered."""

    regret: Float[np.ndarray, " N"]
    """Sums so far, per notion."""

    offers_at: Int[np.ndarray, "C n"]
    """At the checkpoints."""

    regret_at: Float[np.ndarray, "C N"]
    best: Bool[np.ndarray, " n"]
    """What is recommended at the end."""


def update(
    policy: Any,
    state: Any,
    rng: Generator,
    round_: int,
    subset: Bool[np.ndarray, " n"],
    rounds: int,
    rewards: Float[np.ndarray, " n"],
) -> None:
    """Tell a policy; compiled, it is the function of the policy itself."""
    policy.update(state, rng, round_, subset, rounds, rewards)


def as_offer(asked: Any) -> Offer:
    """Return a set as an offer for a single round, and an offer as it is.

    Raises ``PolicyParameterError`` if it is neither.
    """
    offer = asked if isinstance(asked, Offer) else Offer(asked)
    subset = as_mask(offer.subset)
    try:
        return Offer(subset, index(offer.rounds), bool(offer.until_no_choice))
    except (TypeError, ValueError) as error:
        raise PolicyParameterError(
            "choose",
            "must offer a set for a number of rounds",
            offer.rounds,
            remedy="return an Offer with an integer",
        ) from error


def as_mask(subset: Any) -> Any:
    """Return a mask over arms as it is.

    Raises ``PolicyParameterError`` if it is none.
    """
    if isinstance(subset, np.ndarray) and subset.dtype == bool and subset.ndim == 1:
        return subset
    raise PolicyParameterError(
        "choose and recommend",
        "must return a set of arms",
        subset,
        remedy="return a NumPy array of bool, with an entry for each arm, or an Offer",
    )


@compiled
def find_fault(
    world: SetWorld,
    subset: Bool[np.ndarray, " n"],
    rounds: int,
    num_arms: int,
    progress: Int[np.ndarray, " 12"],
) -> None:
    """Note what is wrong with an offer."""
    size = 0
    for position in range(len(subset)):
        if subset[position]:
            size += 1
    if len(subset) != num_arms:
        progress[FAULT], progress[WRONG] = BAD_LENGTH, len(subset)
    elif not world.least_size <= size <= world.most_size:
        progress[FAULT], progress[WRONG] = BAD_SIZE, size
    elif rounds < 1:
        progress[FAULT], progress[WRONG] = BAD_ROUNDS, rounds


@compiled
def add_offer(
    lane: SetLane,
    subset: Bool[np.ndarray, " n"],
    checkpoints: Int[np.ndarray, " C"],
    place: int,
    played: int,
    rounds: int,
    ledger: SetLedger,
) -> int:
    """Count rounds of one set, and write down what is so far at checkpoints among them.

    Returns the number of the next checkpoint, which was ``place`` before.
    """
    while place < len(checkpoints) and checkpoints[place] <= played + rounds:
        passed = checkpoints[place] - played
        for position in range(len(subset)):
            more = passed if subset[position] else 0
            ledger.offers_at[place, position] = ledger.offers[position] + more
        for notion in range(len(lane.costs)):
            more_regret = lane.costs[notion] * passed
            ledger.regret_at[place, notion] = ledger.regret[notion] + more_regret
        place += 1
    for position in range(len(subset)):
        if subset[position]:
            ledger.offers[position] += rounds
    for notion in range(len(lane.costs)):
        ledger.regret[notion] += lane.costs[notion] * rounds
    return place


@compiled
def note_best(
    best: Bool[np.ndarray, " n"], ledger: SetLedger, progress: Int[np.ndarray, " 12"]
) -> None:
    """Write down the set that is recommended at the end."""
    for position in range(min(len(best), len(ledger.best))):
        ledger.best[position] = best[position]
    if len(best) != len(ledger.best):
        progress[FAULT], progress[WRONG] = BAD_RECOMMENDATION, len(best)


def play(
    policy: Any,
    state: Any,
    rng: Generator,
    world: SetWorld,
    lane: SetLane,
    checkpoints: Int[np.ndarray, " C"],
    ledger: SetLedger,
    progress: Int[np.ndarray, " 12"],
    event_limit: int,
) -> None:
    """Play a run on to its last checkpoint, or to so many events.

    Arms are numbered as the policy knows them. An event is a question to the policy. A
    fault of the policy ends the run with a status, as compiled code raises nothing.
    """
    num_arms = len(ledger.offers)
    horizon = checkpoints[-1]
    played, events, place = progress[PLAYED], progress[EVENTS], progress[CHECKPOINT]
    while played < horizon and events < event_limit:
        events += 1
        progress[PLAYED] = played  # So that an error of the policy can be located.
        offer = as_offer(choose(policy, state, rng, played + 1, None))
        find_fault(world, offer.subset, offer.rounds, num_arms, progress)
        if progress[FAULT] != NO_FAULT:
            break
        put_forward(world, lane, offer.subset)
        most = min(offer.rounds, horizon - played)
        rounds = answer(world, lane, rng, most, offer.until_no_choice)
        place = add_offer(
            lane, offer.subset, checkpoints, place, played, rounds, ledger
        )
        played += rounds
        update(policy, state, rng, played, offer.subset, rounds, lane.rewards)
    progress[PLAYED], progress[EVENTS], progress[CHECKPOINT] = played, events, place
    if played == horizon:
        note_best(as_mask(recommend(policy, state, rng)), ledger, progress)
