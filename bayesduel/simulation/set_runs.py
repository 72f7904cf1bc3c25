"""Runs of offers of subsets, as ``run_by_run`` plays them."""

from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from bayesduel.simulation import set_rounds
from bayesduel.simulation.set_rounds import SetLedger
from bayesduel.simulation.set_worlds import new_lane, set_world
from bayesduel.simulation.subsets import SubsetEnvironment


class SetRuns:
    """Runs of offers.

    Parameters
    ----------
    environment : SubsetEnvironment
        Who answers.
    num_runs : int
        How many there are.
    grid : int64 (C,)
        Checkpoints.
    """

    loop = set_rounds

    def __init__(
        self,
        environment: SubsetEnvironment,
        num_runs: int,
        grid: Int[np.ndarray, " C"],
    ) -> None:
        self._revenues, self._grid = environment.revenues, grid
        self._world = world = set_world(environment)
        num_arms, checkpoints = environment.num_arms, (num_runs, len(grid))
        self._offers = np.zeros((*checkpoints, num_arms), dtype=np.int64)
        self._regret = np.zeros((*checkpoints, len(world.forms)))
        self._best = np.zeros((num_runs, num_arms), dtype=bool)
        least, most = world.least_size, world.most_size
        sizes = f"{least} to {most}" if least < most else f"{most}"
        length = f"returned a set with {{wrong}} entries; there are {num_arms} arms"
        self.faults = {
            set_rounds.BAD_LENGTH: f"choose {length}",
            set_rounds.BAD_SIZE: f"choose offered {{wrong}} arms; offer {sizes}",
            set_rounds.BAD_ROUNDS: "choose asked for {wrong} rounds; ask for 1 or more",
            set_rounds.BAD_RECOMMENDATION: f"recommend {length}",
        }

    def start(
        self, policy: Any, order: Int[np.ndarray, " n"], rng: np.random.Generator
    ) -> Any:
        """Return the state of a policy before the first round."""
        revenues = np.array(self._revenues[order], dtype=np.float64)
        horizon = int(self._grid[-1])
        return policy.start(len(order), self._world.most_size, horizon, revenues, rng)

    def tables(
        self, row: int, order: Int[np.ndarray, " n"], progress: Int[np.ndarray, " 8"]
    ) -> tuple[Any, ...]:
        """Return world, lane, checkpoints, ledger and progress of a run."""
        ledger = SetLedger(
            offers=np.zeros(len(order), dtype=np.int64),
            regret=np.zeros(len(self._world.forms)),
            offers_at=self._offers[row],
            regret_at=self._regret[row],
            best=self._best[row],
        )
        lane = new_lane(self._world, order)
        return self._world, lane, self._grid, ledger, progress

    def found(
        self, progress: Int[np.ndarray, "run 8"]
    ) -> tuple[dict[str, Shaped[np.ndarray, "run ..."]], Shaped[np.ndarray, "run ..."]]:
        """Return offers, regret and recommended sets."""
        done = len(progress)
        found = {"offers": self._offers[:done], "regret": self._regret[:done]}
        return found, self._best[:done]
