"""Offers of subsets: what answers them, and what runs of them read and write."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped, UInt32

from bayesduel.instances.subset_world import SubsetWorld
from bayesduel.policies.policy import Problem, declared
from bayesduel.simulation import set_rounds
from bayesduel.simulation.set_rounds import SetLedger
from bayesduel.simulation.set_worlds import has_formulas, new_lane, set_world


@dataclass(frozen=True, eq=False)
class SubsetEnvironment:
    """A world of subset choice, and what is recorded there.

    Parameters
    ----------
    world : SubsetWorld
        Answers offers.
    notions : tuple of str
        The notions of regret that are recorded.
    shuffle : bool
        Relabel the arms at random in each run.
    """

    world: SubsetWorld
    notions: tuple[str, ...]
    shuffle: bool = True

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.world.num_arms

    @property
    def features(self) -> Float[np.ndarray, "n d"] | None:
        """Features of the arms that hold in all rounds."""
        table = self.world.arm_features
        return None if table is None else np.array(table, dtype=np.float64)

    def with_original_labels(
        self,
        ledger: dict[str, Num[np.ndarray, "run C ..."]],
        recommendation: Bool[np.ndarray, "run n"],
        order: Int[np.ndarray, "run n"],
    ) -> tuple[dict[str, Num[np.ndarray, "run C ..."]], Bool[np.ndarray, "run n"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        position = np.argsort(order, axis=1)
        offers = np.take_along_axis(ledger["offers"], position[:, None, :], axis=2)
        best = np.take_along_axis(recommendation, position, axis=1)
        return {"offers": offers, "regret": ledger["regret"]}, best


class SetTables:
    """What runs of offers read and write, ``words`` being those of their keys.

    Worlds of choice are played by their formulas, and all other worlds by the open
    loop; so are policies that read the features of rounds.
    """

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
        self.play: Any = set_rounds.play_open if self.is_open else set_rounds.play
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
            set_rounds.BAD_LENGTH: f"choose {length}",
            set_rounds.BAD_SIZE: f"choose offered {{wrong}} arms; offer {sizes}",
            set_rounds.BAD_ROUNDS: "choose asked for {wrong} rounds; ask for 1 or more",
            set_rounds.BAD_RECOMMENDATION: f"recommend {length}",
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
        )
        return policy.start(problem, rng)

    def of_run(
        self, place: int, order: Int[np.ndarray, " n"], progress: Int[np.ndarray, " 12"]
    ) -> tuple[Any, ...]:
        """Return what the loop is given of a run, in its order."""
        ledger = SetLedger(
            offers=np.zeros(len(order), dtype=np.int64),
            regret=np.zeros(len(self._environment.notions)),
            offers_at=self._offers[place],
            regret_at=self._regret[place],
            best=self._best[place],
        )
        lane = new_lane(self._world, order)
        if not self.is_open:
            return self._world, lane, self.grid, ledger, progress
        given = self._environment, self._world, lane, int(self.grid[-1])
        key = int(self._runs[place]), self._words[place]
        run = set_rounds.OpenRun(*given, *key, contextual=self._contextual)
        return run, self.grid, ledger, progress

    def best_of(
        self, progress: Int[np.ndarray, "run 12"]
    ) -> Shaped[np.ndarray, "run ..."]:
        """Return where recommended sets are written."""
        return self._best

    def found(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return offers and regret of the first runs, by positions."""
        return {"offers": self._offers[:done], "regret": self._regret[:done]}
