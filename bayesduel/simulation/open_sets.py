"""The loop over rounds of sets in any world: one run of any policy, in plain Python.

A stretch of one offer costs one question to the world for every part of it in which
nothing changes; answers of such a part are drawn as ``set_rounds`` draws them.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32
from numpy.random import Generator

from bayesduel.errors import ArgumentError, SimulationError
from bayesduel.instances.subset_world import SubsetWorld, as_probabilities, as_rewards
from bayesduel.instances.world import check_features, costs_of
from bayesduel.policies.subset_base import Offer
from bayesduel.simulation.run_progress import (
    CHECKPOINT,
    EVENTS,
    FAULT,
    NO_FAULT,
    PLAYED,
)
from bayesduel.simulation.runs import world_generator
from bayesduel.simulation.set_rounds import (
    SetLedger,
    add_offer,
    as_mask,
    as_offer,
    find_fault,
    note_best,
)
from bayesduel.simulation.set_worlds import (
    RANKING,
    WINNER,
    SetLane,
    SetWorld,
    answer,
)


class OpenRun:
    """One run of a world: its state, its generator, and the set offered last.

    ``record`` and ``lane`` are what the functions that draw answers read; ``words``
    seed the run, ``number`` names it in errors.
    """

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
        self._rng = world_generator(words)
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


def play(
    policy: Any,
    state: Any,
    rng: Generator,
    run: OpenRun,
    checkpoints: Int[np.ndarray, " C"],
    ledger: SetLedger,
    progress: Int[np.ndarray, " 12"],
    event_limit: int,
) -> None:
    """Play a run on to its last checkpoint, or to so many events.

    As :func:`bayesduel.simulation.set_rounds.play`.
    """
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
        told = offer.subset, last - begun, rewards, *known
        progress[PLAYED] = last - 1  # An error there is one of the last round.
        policy.update(state, rng, last, *told)
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
        progress[CHECKPOINT] = add_offer(
            lane,
            offer.subset,
            checkpoints,
            int(progress[CHECKPOINT]),
            played,
            gone,
            ledger,
        )
        progress[PLAYED] = played + gone
        rewards += lane.rewards
        # In the last of these rounds nobody was chosen.
        is_over = until and record.feedback == WINNER and lane.rewards.sum() < gone
        # Rankings are asked for one by one.
        is_over = is_over or record.feedback == RANKING
    return rewards
