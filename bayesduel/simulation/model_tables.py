"""Who answers some runs side by side, and their ledger, in NumPy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt32

from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.rounds import add_rounds, new_progress
from bayesduel.simulation.segments import begin_anew, new_generator
from bayesduel.simulation.set_rounds import add_offer
from bayesduel.simulation.set_runs import SetRuns
from bayesduel.simulation.set_worlds import answer, put_forward
from bayesduel.simulation.subsets import SubsetEnvironment
from bayesduel.types import Batch, Duel, Offer, OnHost, Outcome, Rewards

Rounds = Int[np.ndarray, " seat"]

_NEVER = np.iinfo(np.int64).max


class PairTable:
    """Seats at which runs are played: each has its order of arms, and its generator.

    Parameters
    ----------
    environment : PairwiseEnvironment
        Who answers.
    orders, words
        Of every run; see :func:`bayesduel.simulation.beginnings.orders_and_words`.
    checkpoints : int64 (C,)
        Rounds at which the plays are written down.
    num_seats : int
        Runs side by side.
    in_bulk : bool
        Whether a pair may be asked for several times at once.
    """

    def __init__(
        self,
        environment: PairwiseEnvironment,
        orders: Int[np.ndarray, "run K"],
        words: UInt32[np.ndarray, "run 2"],
        checkpoints: Int[np.ndarray, " C"],
        num_seats: int,
        *,
        in_bulk: bool,
    ) -> None:
        shape = environment.preference.shape
        self._environment, self._orders, self._words = environment, orders, words
        self._checkpoints, self._in_bulk = checkpoints, in_bulk
        self._seats = np.arange(num_seats)
        self._generators = [new_generator() for _ in self._seats]
        self._chances = np.zeros((num_seats, *shape))
        self._plays = np.zeros((num_seats, *shape), dtype=np.int64)
        self._runs = np.zeros(num_seats, dtype=np.int64)
        self._places = np.full(num_seats, len(checkpoints))
        self._due = np.append(checkpoints, _NEVER)
        self._ledger = np.zeros((len(orders), len(checkpoints), *shape), dtype=np.int64)

    def begin(self, seat: int, run: int) -> None:
        """Seat a run."""
        order = self._orders[run]
        begin_anew(self._generators[seat], self._words[run])
        self._chances[seat] = self._environment.preference[order[:, None], order]
        self._plays[seat] = 0
        self._runs[seat], self._places[seat] = run, 0

    @property
    def terms(self) -> tuple[None, None]:
        """Return what policies are told beside the horizon: nothing more."""
        return None, None

    @staticmethod
    def nothing(num_seats: int) -> Batch[OnHost[Outcome]]:
        """Return what came of no request."""
        none = np.zeros(num_seats, dtype=np.int64)
        return Outcome(none, none, none)

    def faults(self, duel: Batch[OnHost[Duel]]) -> Iterator[tuple[int, str]]:
        """Find the seats with arms that there are not."""
        num_arms = self._orders.shape[1]
        for arms in (duel.champion, duel.first, duel.second):
            for seat in np.flatnonzero((arms < 0) | (arms >= num_arms)):
                yield (
                    int(seat),
                    f"choose named the arm {arms[seat]}; arms are numbered 0 to "
                    f"{num_arms - 1}",
                )

    def play(
        self,
        duel: Batch[OnHost[Duel]],
        played: Rounds,
        left: Rounds,
    ) -> tuple[Batch[OnHost[Duel]], Batch[OnHost[Outcome]], Rounds]:
        """Cut requests to the rounds that are left, draw who wins, and note the plays.

        Returns the requests as they were played, their outcomes, and their rounds.
        """
        idle = np.minimum(duel.exploit_rounds, left)
        rounds = np.minimum(duel.explore_rounds, left - idle)
        chance = self._chances[self._seats, duel.first, duel.second]
        if self._in_bulk:
            drawn = [
                rng.binomial(*each)
                for rng, *each in zip(self._generators, rounds, chance, strict=True)
            ]
            wins = np.array(drawn, dtype=np.int64)
        else:
            uniform = np.array([rng.random() for rng in self._generators])
            wins = np.where(uniform < chance, rounds, 0)
        duel = duel._replace(exploit_rounds=idle, explore_rounds=rounds)
        self._note(duel, played)
        return duel, Outcome(idle, rounds, wins), idle + rounds

    def _note(self, duel: Batch[OnHost[Duel]], played: Rounds) -> None:
        """Count plays, and write them down at checkpoints among them."""
        late = played + duel.exploit_rounds + duel.explore_rounds
        passing = self._due[self._places] <= late
        for seat in np.flatnonzero(passing):
            book = self._plays[seat], self._ledger[self._runs[seat]], self._checkpoints
            place, now = self._places[seat], played[seat]
            for first, second, rounds in (
                (duel.champion[seat], duel.champion[seat], duel.exploit_rounds[seat]),
                (duel.first[seat], duel.second[seat], duel.explore_rounds[seat]),
            ):
                place = add_rounds(*book, place, now, first, second, rounds)
                now += rounds
            self._places[seat] = place
        rest = self._seats[~passing]
        champion, first, second = (
            duel.champion[rest],
            duel.first[rest],
            duel.second[rest],
        )
        self._plays[rest, champion, champion] += duel.exploit_rounds[rest]
        self._plays[rest, first, second] += duel.explore_rounds[rest]

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
    """The same for offers of sets; see :class:`PairTable`."""

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
        self._generators = [new_generator() for _ in range(num_seats)]
        self._seats: list[Any] = [None] * num_seats
        self._places = [0] * num_seats

    @property
    def terms(self) -> tuple[Float[np.ndarray, "run n"], int]:
        """Return revenues by positions in every run, and the size of sets."""
        revenues = np.asarray(self._environment.revenues, dtype=np.float64)
        return revenues[self._orders], self._environment.subset_size

    def nothing(self, num_seats: int) -> Batch[OnHost[Rewards]]:
        """Return what came of no request."""
        shape = num_seats, self._orders.shape[1]
        return Rewards(np.zeros(num_seats, dtype=np.int64), np.zeros(shape))

    def begin(self, seat: int, run: int) -> None:
        """Seat a run."""
        begin_anew(self._generators[seat], self._words[run])
        order = self._orders[run]
        self._seats[seat] = self._runs.tables(run, order, new_progress(1)[0])
        self._places[seat] = 0

    def faults(self, offer: Batch[OnHost[Offer]]) -> Iterator[tuple[int, str]]:
        """Find the seats with sets of a wrong size."""
        size = self._environment.subset_size
        for seat in np.flatnonzero(offer.subset.sum(axis=1) != size):
            found = int(offer.subset[seat].sum())
            yield int(seat), f"choose offered {found} arms; offer {size}"

    def play(
        self, offer: Batch[OnHost[Offer]], played: Rounds, left: Rounds
    ) -> tuple[Batch[OnHost[Offer]], Batch[OnHost[Rewards]], Rounds]:
        """Cut requests to the rounds that are left, draw who is chosen, and note it."""
        rounds, rewards = self.nothing(len(left))
        most = np.minimum(offer.rounds, left)
        for seat in np.flatnonzero(most):
            world, lane, grid, ledger, _ = self._seats[seat]
            until, rng = bool(offer.until_no_choice[seat]), self._generators[seat]
            put_forward(world, lane, offer.subset[seat])
            rounds[seat] = answer(world, lane, rng, int(most[seat]), until)
            rewards[seat] = lane.rewards
            self._places[seat] = add_offer(
                lane,
                offer.subset[seat],
                grid,
                self._places[seat],
                int(played[seat]),
                int(rounds[seat]),
                ledger,
            )
        return offer._replace(rounds=rounds), Rewards(rounds, rewards), rounds

    def labeled(
        self, recommendation: Bool[np.ndarray, "run n"]
    ) -> tuple[dict[str, Shaped[np.ndarray, "run ..."]], Bool[np.ndarray, "run n"]]:
        """Return the ledger of the first runs and their recommendations."""
        done = len(recommendation)
        ledger, _ = self._runs.found(new_progress(done))
        return self._environment.with_original_labels(
            ledger, recommendation, self._orders[:done]
        )
