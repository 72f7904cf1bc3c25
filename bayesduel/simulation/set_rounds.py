"""The loops over rounds: one run of any policy over subsets, in plain Python.

:func:`play` plays worlds of choice by their formulas. As ``rounds`` has it for pairs,
``compiled_rounds`` hands the same function to Numba, and both play the same run.
:func:`play_open` plays all other worlds, which it asks once about every part of a
stretch in which nothing changes.
"""

from operator import index
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt32
from numpy.random import Generator

from bayesduel.errors import ArgumentError, PolicyParameterError, SimulationError
from bayesduel.instances.subset_world import SubsetWorld, as_probabilities, as_rewards
from bayesduel.instances.world import check_features, costs_of
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.policies.policy import Problem, declared
from bayesduel.policies.subset_base import Offer
from bayesduel.simulation.rounds import (
    CHECKPOINT,
    EVENTS,
    FAULT,
    NO_FAULT,
    PLAYED,
    WRONG,
    choose,
    recommend,
)
from bayesduel.simulation.runs import (
    OF_WORLDS,
    SubsetEnvironment,
    new_generator,
    num_features,
    reseed,
)
from bayesduel.simulation.set_worlds import (
    RANKING,
    WINNER,
    SetLane,
    SetWorld,
    answer,
    has_formulas,
    new_lane,
    put_forward,
    set_world,
)

# Faults: the length of a mask, how many arms it marks, rounds below 1
BAD_LENGTH, BAD_SIZE, BAD_ROUNDS, BAD_RECOMMENDATION = range(1, 5)


class SetLedger(NamedTuple):
    """Rounds in which each position was offered and sums of regret, per notion."""

    offers: Int[np.ndarray, " n"]
    regret: Float[np.ndarray, " N"]
    offers_at: Int[np.ndarray, "C n"]
    regret_at: Float[np.ndarray, "C N"]
    best: Bool[np.ndarray, " n"]


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


def as_offer(choice: Any) -> Offer:
    """Return a set as an offer for a single round, and an offer as it is."""
    offer = choice if isinstance(choice, Offer) else Offer(choice)
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
    """Return a mask over arms as it is, and raise for anything else."""
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
    checkpoint: int,
    played: int,
    rounds: int,
    ledger: SetLedger,
) -> int:
    """Count rounds of one set, at checkpoints too; return the next checkpoint."""
    while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= played + rounds:
        passed = checkpoints[checkpoint] - played
        for position in range(len(subset)):
            more = passed if subset[position] else 0
            ledger.offers_at[checkpoint, position] = ledger.offers[position] + more
        for notion in range(len(lane.costs)):
            more_regret = lane.costs[notion] * passed
            ledger.regret_at[checkpoint, notion] = ledger.regret[notion] + more_regret
        checkpoint += 1
    for position in range(len(subset)):
        if subset[position]:
            ledger.offers[position] += rounds
    for notion in range(len(lane.costs)):
        ledger.regret[notion] += lane.costs[notion] * rounds
    return checkpoint


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
    """Play a run on to its last checkpoint, or to so many events."""
    num_arms = len(ledger.offers)
    horizon = checkpoints[-1]
    played, events, checkpoint = (
        progress[PLAYED],
        progress[EVENTS],
        progress[CHECKPOINT],
    )
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
        checkpoint = add_offer(
            lane, offer.subset, checkpoints, checkpoint, played, rounds, ledger
        )
        played += rounds
        update(policy, state, rng, played, offer.subset, rounds, lane.rewards)
    progress[PLAYED], progress[EVENTS], progress[CHECKPOINT] = (
        played,
        events,
        checkpoint,
    )
    if played == horizon:
        note_best(as_mask(recommend(policy, state, rng)), ledger, progress)


class OpenRun:
    """One run of a world: its state, its generator, and the set offered last."""

    def __init__(
        self,
        environment: Any,
        record: SetWorld,
        lane: SetLane,
        horizon: int,
        number: int,
        words: UInt32[np.ndarray, " W"],
        *,
        contextual: bool,
    ) -> None:
        world = environment.world
        self._world: SubsetWorld = world
        self._notions, self._number = environment.notions, number
        self.record, self.lane = record, lane
        self._contextual = contextual
        self.answers = world.defines("answer")
        self.changes_features = contextual and world.defines("features")
        # The last round for which the state and what follows from it hold.
        self.until = 0
        self._known: tuple[int, Any] = (0, None)
        self._asked: tuple[int, bytes] = (0, b"")
        reseed(rng := new_generator(), np.append(words, np.uint32(OF_WORLDS)))
        self._rng = rng
        self._state = world.start(horizon, self._rng)

    def features(self, round_: int) -> tuple[Float[np.ndarray, "n d"], ...]:
        """Return the features of the positions in a round, for contextual policies."""
        if not self._contextual:
            return ()
        if self._known[0] < round_:
            self._reach(round_)
            table: Any = self._world.arm_features
            if self.changes_features:
                table = self._world.features(self._state, self._rng, round_)
                try:
                    check_features(self._world, "features", table)
                except ArgumentError as error:
                    raise self._located(error, round_) from error
            table = np.asarray(table, dtype=np.float64)[self.lane.order]
            self._known = self.until, table
        return (self._known[1].copy(),)

    def put_forward(self, round_: int, subset: Bool[np.ndarray, " n"]) -> None:
        """Note a set of positions as the offered one, and what the world says of it."""
        self._reach(round_)
        self.lane.offered[self.lane.order] = subset
        try:
            self._ask(round_, self.lane.offered.copy())
        except ArgumentError as error:
            raise self._located(error, round_) from error

    def _ask(self, round_: int, offered: Bool[np.ndarray, " n"]) -> None:
        lane, world = self.lane, self._world
        key = self.until, offered.tobytes()
        if key != self._asked:
            costs = costs_of(world, world.regret(self._state, round_, offered))
            lane.costs[:] = [costs[notion] for notion in self._notions]
        if self.answers:
            rewards = world.answer(self._state, self._rng, round_, offered)
            lane.rewards[:] = as_rewards(world, lane.offered, rewards)[lane.order]
        elif key != self._asked:
            values = world.probabilities(self._state, self._rng, round_, offered)
            values = as_probabilities(world, lane.offered, values)
            lane.probabilities[:] = self.record.numbers[:] = values
            nobody = 1.0 - values.sum() if self.record.has_no_choice else 0.0
            lane.nobody[0] = min(max(nobody, 0.0), 1.0)
        self._asked = key

    def _reach(self, round_: int) -> None:
        """Bring the state to a round, at most the next after those it holds for."""
        if self.until < round_:
            self._world.advance(self._state, self._rng, round_)
            last = self._world.unchanged_until(self._state, round_)
            self.until = max(int(last), round_)

    def _located(self, error: ArgumentError, round_: int) -> SimulationError:
        """Return an error that names the run and the round."""
        return SimulationError(f"{error} (round {round_} of run {self._number})")


def play_open(
    policy: Any,
    state: Any,
    rng: Generator,
    run: OpenRun,
    checkpoints: Int[np.ndarray, " C"],
    ledger: SetLedger,
    progress: Int[np.ndarray, " 12"],
    event_limit: int,
) -> None:
    """Play a run on to its last checkpoint, or to so many events."""
    num_arms, horizon = len(ledger.offers), int(checkpoints[-1])
    while progress[PLAYED] < horizon and progress[EVENTS] < event_limit:
        progress[EVENTS] += 1
        begun = int(progress[PLAYED])
        known = run.features(begun + 1)
        offer = as_offer(policy.choose(state, rng, begun + 1, *known))
        find_fault(run.record, offer.subset, offer.rounds, num_arms, progress)
        if progress[FAULT] != NO_FAULT:
            return
        end = min(begun + min(offer.rounds, horizon), horizon)
        if run.changes_features:
            end = min(end, run.until)
        rewards = play_offer(run, rng, offer, end, checkpoints, ledger, progress)
        last = int(progress[PLAYED])
        progress[PLAYED] = last - 1  # An error of the policy is one of the last round.
        policy.update(state, rng, last, offer.subset, last - begun, rewards, *known)
        progress[PLAYED] = last
    if progress[PLAYED] == horizon:
        note_best(as_mask(policy.recommend(state, rng)), ledger, progress)


def play_offer(
    run: OpenRun,
    rng: Generator,
    offer: Offer,
    end: int,
    checkpoints: Int[np.ndarray, " C"],
    ledger: SetLedger,
    progress: Int[np.ndarray, " 12"],
) -> Float[np.ndarray, " n"]:
    """Play an offer up to the round ``end`` at most, and return sums of rewards."""
    record, lane, until = run.record, run.lane, offer.until_no_choice
    rewards, is_over = np.zeros(len(offer.subset)), False
    while progress[PLAYED] < end and not is_over:
        played = int(progress[PLAYED])
        run.put_forward(played + 1, offer.subset)
        most = min(run.until, end) - played
        gone = 1 if run.answers else answer(record, lane, rng, most, until)
        rounds = checkpoints, int(progress[CHECKPOINT]), played, gone
        progress[CHECKPOINT] = add_offer(lane, offer.subset, *rounds, ledger)
        progress[PLAYED] = played + gone
        rewards += lane.rewards
        # In the last of these rounds nobody was chosen. Rankings are asked one by one.
        is_over = until and record.feedback == WINNER and lane.rewards.sum() < gone
        is_over = is_over or record.feedback == RANKING
    return rewards


class SetTables:
    """Inputs and records of runs of offers, ``words`` being those of their keys."""

    # The open loop plays worlds without formulas, and contextual policies.

    def __init__(
        self,
        environment: SubsetEnvironment,
        policy: Any,
        runs: Int[np.ndarray, " run"],
        words: UInt32[np.ndarray, "run W"],
        grid: Int[np.ndarray, " C"],
    ) -> None:
        self._environment = environment
        self._contextual = declared(policy, "contextual")
        self._runs, self._words, self.grid = runs, words, grid
        self.is_open = self._contextual or not has_formulas(environment.world)
        self.play: Any = play_open if self.is_open else play
        self._world = world = set_world(
            environment.world, environment.notions, is_open=self.is_open
        )
        self.revenues = np.ones(environment.num_arms)
        if environment.world.revenues is not None:
            self.revenues = np.array(environment.world.revenues, dtype=np.float64)
        num_arms, checkpoints = environment.num_arms, (len(runs), len(grid))
        self._offers = np.zeros((*checkpoints, num_arms), dtype=np.int64)
        self._regret = np.zeros((*checkpoints, len(environment.notions)))
        self._best = np.zeros((len(runs), num_arms), dtype=bool)
        least, most = world.least_size, world.most_size
        sizes = f"{least} to {most}" if least < most else f"{most}"
        length = f"returned a set with {{wrong}} entries; there are {num_arms} arms"
        self.faults = {
            BAD_LENGTH: f"choose {length}",
            BAD_SIZE: f"choose offered {{wrong}} arms; offer {sizes}",
            BAD_ROUNDS: "choose asked for {wrong} rounds; ask for 1 or more",
            BAD_RECOMMENDATION: f"recommend {length}",
        }

    def start(
        self, policy: Any, order: Int[np.ndarray, " n"], rng: np.random.Generator
    ) -> Any:
        """Return the state of a policy before the first round."""
        features = self._environment.features
        problem = Problem(
            num_arms=len(order),
            horizon=int(self.grid[-1]),
            features=None if features is None else features[order],
            subset_size=self._world.most_size,
            revenues=self.revenues[order],
            num_features=num_features(self._environment),
        )
        return policy.start(problem, rng)

    def of_run(
        self, row: int, order: Int[np.ndarray, " n"], progress: Int[np.ndarray, " 12"]
    ) -> tuple[Any, ...]:
        """Return what the loop is given of a run, in its order."""
        ledger = SetLedger(
            offers=np.zeros(len(order), dtype=np.int64),
            regret=np.zeros(len(self._environment.notions)),
            offers_at=self._offers[row],
            regret_at=self._regret[row],
            best=self._best[row],
        )
        lane = new_lane(self._world, order)
        if not self.is_open:
            return self._world, lane, self.grid, ledger, progress
        given = self._environment, self._world, lane, int(self.grid[-1])
        key = int(self._runs[row]), self._words[row]
        run = OpenRun(*given, *key, contextual=self._contextual)
        return run, self.grid, ledger, progress

    def best_of(
        self, progress: Int[np.ndarray, "run 12"]
    ) -> Shaped[np.ndarray, "run ..."]:
        """Return where recommended sets are written."""
        return self._best

    def results(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return offers and regret of the first runs, by positions."""
        return {"offers": self._offers[:done], "regret": self._regret[:done]}
