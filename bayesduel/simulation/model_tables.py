"""Who answers some runs side by side, and their ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt32

from bayesduel.simulation import asked_models
from bayesduel.simulation.asked_models import Told
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.rounds import add_rounds, new_progress
from bayesduel.simulation.segments import begin_anew, new_generator
from bayesduel.simulation.set_rounds import add_offer
from bayesduel.simulation.set_runs import SetRuns
from bayesduel.simulation.set_worlds import answer, put_forward
from bayesduel.simulation.subsets import SubsetEnvironment
from bayesduel.types import Batch, Duel, Offer, OnHost, Rewards, State

NOBODY = -1
"""In place of the number of a run."""

_NEVER = np.iinfo(np.int64).max


@dataclass
class Seats:
    """Runs on their way, side by side; one that is over has played its horizon.

    A seat without a run looks like one whose run is over. It computes as if it had the
    last run of all; nobody looks at it.
    """

    run: Int[np.ndarray, " seat"]
    events: UInt32[np.ndarray, " seat"]
    played: Int[np.ndarray, " seat"]
    states: State = None


class PairTable:
    """Answers duels, several events of every run at once.

    Parameters
    ----------
    environment : PairwiseEnvironment
        Who answers.
    orders, words
        Of every run; see :func:`bayesduel.simulation.beginnings.orders_and_words`.
    checkpoints : int64 (C,)
        Rounds at which the plays are written down; the last one is the horizon.
    num_seats : int
        Runs side by side.
    """

    def __init__(
        self,
        environment: PairwiseEnvironment,
        orders: Int[np.ndarray, "run K"],
        words: UInt32[np.ndarray, "run 2"],
        checkpoints: Int[np.ndarray, " C"],
        num_seats: int,
    ) -> None:
        shape = environment.preference.shape
        self._environment, self._orders, self._words = environment, orders, words
        self._checkpoints = checkpoints
        self._plays = np.zeros((num_seats, *shape), dtype=np.int64)
        self._places = np.full(num_seats, len(checkpoints))
        self._due = np.append(checkpoints, _NEVER)
        self._ledger = np.zeros((len(orders), len(checkpoints), *shape), dtype=np.int64)

    def begin(self, seat: int, run: int) -> None:
        """Seat a run."""
        self._plays[seat], self._places[seat] = 0, 0

    @property
    def terms(self) -> tuple[None, None]:
        """Return what policies are told beside the horizon: nothing more."""
        return None, None

    def ask(
        self, policy: Any, seats: Seats, most: int
    ) -> tuple[UInt32[np.ndarray, " seat"], Batch[OnHost[Duel]]]:
        """Play up to so many events; return the next one of each run, and the duels."""
        seats.states, events, duels = asked_models.play(
            policy,
            self._environment.preference,
            self._checkpoints[-1],
            self._words[seats.run],
            self._orders[seats.run],
            seats.states,
            seats.events,
            seats.played,
            np.int64(most),
        )
        events, duels = jax.device_get((events, duels))
        return np.array(events), duels

    def faults(
        self, found: tuple[Any, Batch[OnHost[Duel]]], seats: Seats
    ) -> Iterator[tuple[int, int, str]]:
        """Find arms that there are not; with the seat, and its rounds before."""
        _, duels = found
        num_arms = self._orders.shape[1]
        arms = np.stack([duels.champion, duels.first, duels.second], axis=-1)
        for event, seat, which in np.argwhere((arms < 0) | (arms >= num_arms)):
            rounds = (
                duels.exploit_rounds[:event, seat],
                duels.explore_rounds[:event, seat],
            )
            yield (
                int(seat),
                int(seats.played[seat] + np.sum(rounds)),
                f"choose named the arm {arms[event, seat, which]}; arms are numbered "
                f"0 to {num_arms - 1}",
            )

    def settle(
        self,
        found: tuple[UInt32[np.ndarray, " seat"], Batch[OnHost[Duel]]],
        seats: Seats,
    ) -> Bool[np.ndarray, " seat"]:
        """Note the plays; say which runs are over."""
        events, duels = found
        rounds = duels.exploit_rounds + duels.explore_rounds
        late = seats.played + rounds.sum(axis=0)
        passing = self._due[self._places] <= late
        for seat in np.flatnonzero(passing):
            self._note(int(seat), seats, duels)
        rest = np.flatnonzero(~passing)
        arms = [each[:, rest] for each in (duels.champion, duels.first, duels.second)]
        champion, first, second = arms
        np.add.at(
            self._plays, (rest, champion, champion), duels.exploit_rounds[:, rest]
        )
        np.add.at(self._plays, (rest, first, second), duels.explore_rounds[:, rest])
        seats.events, seats.played = events, late
        return (seats.run != NOBODY) & (late >= self._checkpoints[-1])

    def _note(self, seat: int, seats: Seats, duels: Batch[OnHost[Duel]]) -> None:
        """Count the plays of a run, and write them down at checkpoints among them."""
        book = self._plays[seat], self._ledger[seats.run[seat]], self._checkpoints
        place, now = self._places[seat], seats.played[seat]
        columns = (each[:, seat] for each in duels[:5])
        for champion, idle, first, second, explored in zip(*columns, strict=True):
            place = add_rounds(*book, place, now, champion, champion, idle)
            place = add_rounds(*book, place, now + idle, first, second, explored)
            now += idle + explored
        self._places[seat] = place

    def labeled(
        self, recommendation: Int[np.ndarray, " run"]
    ) -> tuple[dict[str, Int[np.ndarray, "run C K K"]], Int[np.ndarray, " run"]]:
        """Return the ledger of the first runs, as many as have a recommendation.

        And that, both in the original labels of the arms.
        """
        done = len(recommendation)
        ledger = {"plays": self._ledger[:done]}
        return self._environment.with_original_labels(
            ledger, recommendation, self._orders[:done]
        )


class SetTable:
    """The same for offers of sets, one event a call; see :class:`PairTable`."""

    def __init__(
        self,
        environment: SubsetEnvironment,
        orders: Int[np.ndarray, "run n"],
        words: UInt32[np.ndarray, "run 2"],
        checkpoints: Int[np.ndarray, " C"],
        num_seats: int,
    ) -> None:
        self._environment, self._orders, self._words = environment, orders, words
        self._runs = SetRuns(environment, len(orders), checkpoints)
        self._horizon = checkpoints[-1]
        self._generators = [new_generator() for _ in range(num_seats)]
        self._seats: list[Any] = [None] * num_seats
        self._places = [0] * num_seats
        self._last: Any = None

    @property
    def terms(self) -> tuple[Float[np.ndarray, "run n"], int]:
        """Return revenues by positions in every run, and the size of sets."""
        revenues = np.asarray(self._environment.revenues, dtype=np.float64)
        return revenues[self._orders], self._environment.subset_size

    def begin(self, seat: int, run: int) -> None:
        """Seat a run."""
        begin_anew(self._generators[seat], self._words[run])
        order = self._orders[run]
        self._seats[seat] = self._runs.tables(run, order, new_progress(1)[0])
        self._places[seat] = 0

    def ask(self, policy: Any, seats: Seats, most: int) -> Batch[OnHost[Offer]]:
        """Tell what came of the last requests, and ask for the next ones."""
        if self._last is None:
            request = asked_models.blank_request(policy, seats.states)
            self._last = request, self._nothing(len(seats.run))
        told = Told(
            seats.events > 0, seats.played < self._horizon, seats.played, *self._last
        )
        words = self._words[seats.run]
        request, seats.states = asked_models.ask(
            policy, words, seats.events, seats.states, told
        )
        return jax.device_get(request)

    def faults(
        self, offer: Batch[OnHost[Offer]], seats: Seats
    ) -> Iterator[tuple[int, int, str]]:
        """Find sets of a wrong size; with the seat, and its rounds before."""
        size = self._environment.subset_size
        wrong = (offer.subset.sum(axis=1) != size) & (seats.played < self._horizon)
        for seat in np.flatnonzero(wrong):
            found = int(offer.subset[seat].sum())
            fault = f"choose offered {found} arms; offer {size}"
            yield int(seat), int(seats.played[seat]), fault

    def settle(
        self, offer: Batch[OnHost[Offer]], seats: Seats
    ) -> Bool[np.ndarray, " seat"]:
        """Play the offers; say which runs were over, and have been told so."""
        plays = seats.played < self._horizon
        rounds, rewards = self._nothing(len(seats.run))
        most = np.minimum(offer.rounds, self._horizon - seats.played)
        for seat in np.flatnonzero(most):
            world, lane, grid, ledger, _ = self._seats[seat]
            until, rng = bool(offer.until_no_choice[seat]), self._generators[seat]
            subset = np.asarray(offer.subset[seat])
            put_forward(world, lane, subset)
            rounds[seat] = answer(world, lane, rng, int(most[seat]), until)
            rewards[seat] = lane.rewards
            self._places[seat] = add_offer(
                lane,
                subset,
                grid,
                self._places[seat],
                int(seats.played[seat]),
                int(rounds[seat]),
                ledger,
            )
        self._last = offer._replace(rounds=rounds), Rewards(rounds, rewards)
        seats.events, seats.played = seats.events + plays, seats.played + rounds
        return (seats.run != NOBODY) & ~plays

    def _nothing(self, num_seats: int) -> Batch[OnHost[Rewards]]:
        shape = num_seats, self._orders.shape[1]
        none: Any = np.zeros(num_seats, dtype=np.int64), np.zeros(shape)
        return Rewards(*none)

    def labeled(
        self, recommendation: Bool[np.ndarray, "run n"]
    ) -> tuple[dict[str, Shaped[np.ndarray, "run ..."]], Bool[np.ndarray, "run n"]]:
        """Return the ledger of the first runs and their recommendations."""
        done = len(recommendation)
        ledger, _ = self._runs.found(new_progress(done))
        return self._environment.with_original_labels(
            ledger, recommendation, self._orders[:done]
        )
