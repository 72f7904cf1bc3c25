"""The loop over rounds of sets in any world: one run of any policy, in plain Python.

A stretch of one offer costs one question to the world for every part of it in which
nothing changes; answers of such a part are drawn as ``set_rounds`` draws them.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32
from numpy.random import Generator

from bayesduel.errors import ArgumentError, BayesduelError, SimulationError
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
from bayesduel.simulation.runs import new_generator, reseed
from bayesduel.simulation.set_answers import answer
from bayesduel.simulation.set_rounds import (
    SetLedger,
    add_offer,
    as_mask,
    as_offer,
    find_fault,
    note_best,
)
from bayesduel.simulation.set_worlds import RANKING, WINNER, SetLane, SetWorld

_OF_THE_WORLD = 1
"""Beside the words of a run: those of the generator of its world."""


class OpenRun:
    """One run of a world: its state, its generator, and the set offered last.

    ``record`` and ``lane`` are what the functions that draw answers read.
    """

    def __init__(
        self,
        world: SubsetWorld,
        notions: tuple[str, ...],
        record: SetWorld,
        lane: SetLane,
        number: int,
        *,
        contextual: bool,
    ) -> None:
        self._world, self._notions, self._number = world, notions, number
        self.record, self.lane = record, lane
        self._contextual = contextual
        self.answers = world.defines("answer")
        self.changes_features = contextual and world.defines("features")
        # The last round for which the state and what follows from it hold.
        self.until = 0
        self._round, self._method = 1, "start"
        self._known: tuple[int, Any] = (-1, None)
        self._asked: tuple[int, bytes] = (-1, b"")

    def start(self, horizon: int, words: UInt32[np.ndarray, " W"]) -> None:
        """Make the hidden state."""
        self.rng = new_generator()
        reseed(self.rng, np.append(words, np.uint32(_OF_THE_WORLD)))
        try:
            self._state = self._world.start(horizon, self.rng)
        except Exception as error:
            raise self._located(error) from error

    def features(self, round_: int) -> tuple[Float[np.ndarray, "n d"], ...]:
        """Return the features of the positions in a round, for contextual policies."""
        if not self._contextual:
            return ()
        if self._known[0] < round_:
            try:
                self._reach(round_)
                table: Any = self._world.arm_features
                if self.changes_features:
                    self._method = "features"
                    table = self._world.features(self._state, self.rng, round_)
                    check_features(self._world, "features", table)
            except Exception as error:
                raise self._located(error) from error
            if table is None:
                raise SimulationError(
                    f"{self._world.label} has no features, which a contextual policy "
                    f"reads ({self._where})"
                )
            table = np.asarray(table, dtype=np.float64)[self.lane.order]
            self._known = self.until, table
        return (self._known[1].copy(),)

    def put_forward(self, round_: int, subset: Bool[np.ndarray, " n"]) -> None:
        """Note a set of positions as the offered one, and what the world says of it."""
        try:
            self._reach(round_)
            lane, world = self.lane, self._world
            lane.offered[lane.order] = subset
            key = self.until, subset.tobytes()
            if key != self._asked:
                self._method = "regret"
                costs = world.regret(self._state, round_, lane.offered.copy())
                costs = costs_of(world, costs)
                lane.costs[:] = [costs[notion] for notion in self._notions]
            if self.answers:
                self._method = "answer"
                offered = lane.offered.copy()
                rewards = world.answer(self._state, self.rng, round_, offered)
                rewards = as_rewards(world, lane.offered, rewards)
                lane.rewards[:] = rewards[lane.order]
            elif key != self._asked:
                self._method = "probabilities"
                offered = lane.offered.copy()
                values = world.probabilities(self._state, self.rng, round_, offered)
                values = as_probabilities(world, lane.offered, values)
                lane.probabilities[:] = self.record.numbers[:] = values
                nobody = 1.0 - values.sum() if self.record.has_no_choice else 0.0
                lane.nobody[0] = min(max(nobody, 0.0), 1.0)
            self._asked = key
        except Exception as error:
            raise self._located(error) from error

    def _reach(self, round_: int) -> None:
        """Bring the state to a round: the next one after those that it holds for."""
        self._round = round_
        if self.until >= round_:
            return
        self._method = "advance"
        self._world.advance(self._state, self.rng, round_)
        self._method = "unchanged_until"
        last = self._world.unchanged_until(self._state, round_)
        if not isinstance(last, int | np.integer) or last < round_:
            raise ArgumentError(
                f"{type(self._world).__name__}: unchanged_until",
                "must return a round that is not before the one it is asked about",
                last,
                remedy="return round_ where everything may change in the next round",
            )
        self.until = int(last)

    @property
    def _where(self) -> str:
        return f"round {self._round} of run {self._number}"

    def _located(self, error: Exception) -> Exception:
        """Return an error of the world that names the run and the round."""
        if isinstance(error, BayesduelError | ArgumentError):
            return SimulationError(f"{error} ({self._where})")
        kind = type(self._world).__name__
        error.add_note(f"raised by {self._method} of {kind} in {self._where}")
        return error


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
        played = int(progress[PLAYED])
        known = run.features(played + 1)
        offer = as_offer(policy.choose(state, rng, played + 1, *known))
        find_fault(run.record, offer.subset, offer.rounds, num_arms, progress)
        if progress[FAULT] != NO_FAULT:
            return
        most = min(offer.rounds, horizon - played)
        if run.changes_features:
            most = min(most, run.until - played)
        rounds, rewards = play_offer(run, rng, offer, most, checkpoints, ledger, progress)
        told = offer.subset, rounds, rewards, *known
        policy.update(state, rng, played + rounds, *told)
        progress[PLAYED] = played + rounds
    if progress[PLAYED] == horizon:
        note_best(as_mask(policy.recommend(state, rng)), ledger, progress)


def play_offer(
    run: OpenRun,
    rng: Generator,
    offer: Offer,
    most: int,
    checkpoints: Int[np.ndarray, " C"],
    ledger: SetLedger,
    progress: Int[np.ndarray, " 12"],
) -> tuple[int, Float[np.ndarray, " n"]]:
    """Play an offer for up to ``most`` rounds; return how many, and sums of rewards."""
    record, lane, subset = run.record, run.lane, offer.subset
    until = offer.until_no_choice
    rounds, rewards, is_over = 0, np.zeros(len(subset)), False
    while rounds < most and not is_over:
        begun = int(progress[PLAYED]) + rounds
        run.put_forward(begun + 1, subset)
        part = min(run.until - begun, most - rounds)
        gone = 1 if run.answers else answer(record, lane, rng, part, until)
        place = int(progress[CHECKPOINT])
        progress[CHECKPOINT] = add_offer(
            lane, subset, checkpoints, place, begun, gone, ledger
        )
        rounds += gone
        rewards += lane.rewards
        # In the last one nobody was chosen.
        is_over = until and record.feedback == WINNER and lane.rewards.sum() < gone
        # Rankings are asked for one by one.
        is_over = is_over or record.feedback == RANKING
    return rounds, rewards
