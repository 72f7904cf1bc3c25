"""Offers of subsets: what answers them, and what runs of them read and write."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped

from bayesduel.instances.choice import ChoiceRule, ChoiceWorld
from bayesduel.policies.policy import Problem
from bayesduel.simulation import set_rounds
from bayesduel.simulation.set_rounds import SetLedger
from bayesduel.simulation.set_worlds import new_lane, set_world


class SubsetCosts(NamedTuple):
    """The numbers of every notion of regret; see ``theory.choice.subset_cost``."""

    best: Float[np.ndarray, " N"]
    values: Float[np.ndarray, "N n"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SubsetEnvironment:
    """Answers to offers of subsets, with fixed probabilities.

    Made by :meth:`from_world`.

    Parameters
    ----------
    rule : ChoiceRule
        P(i|s).
    costs : SubsetCosts
        The notions of regret that are recorded.
    revenues : float64 (n,)
        What a choice of each arm earns; told to the policies.
    largest_reward : float64 ()
        Largest reward of an arm in one round.
    subset_size, feedback, levels, places
        As in :class:`bayesduel.instances.choice.ChoiceWorld`.
    forms : tuple of str
        Form of each notion.
    shuffle : bool
        Relabel the arms at random in each run.
    features : float64 (n, d), optional
        What policies know of the arms.
    """

    rule: ChoiceRule
    costs: SubsetCosts
    revenues: Any
    largest_reward: Any
    subset_size: int
    feedback: str
    forms: tuple[str, ...]
    levels: int
    places: int
    shuffle: bool
    features: Any = None

    @classmethod
    def from_world(
        cls, world: ChoiceWorld, notions: tuple[str, ...], *, shuffle: bool = True
    ) -> "SubsetEnvironment":
        """Return the environment of a world that records some notions of regret.

        Raises
        ------
        ChoiceWorldError
            If a notion does not exist in this world.
        """
        costs = [world.cost(notion) for notion in notions]
        revenues = world.revenues
        return cls(
            rule=world.rule,
            costs=SubsetCosts(
                best=np.array([cost.best for cost in costs]),
                values=np.stack([cost.values for cost in costs]),
            ),
            revenues=np.ones(world.num_arms)
            if revenues is None
            else np.array(revenues),
            largest_reward=np.array(world.largest_reward, dtype=np.float64),
            subset_size=world.subset_size,
            feedback=world.feedback,
            forms=tuple(cost.form for cost in costs),
            levels=world.levels,
            places=world.places,
            shuffle=shuffle,
            features=world.features,
        )

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.revenues.shape[0]

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
    """What runs of offers read and write: parameters as of :class:`PairTables`."""

    play = staticmethod(set_rounds.play)

    def __init__(
        self, environment: SubsetEnvironment, num_runs: int, grid: Int[np.ndarray, " C"]
    ) -> None:
        self._revenues, self.grid = environment.revenues, grid
        self._features = environment.features
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
        features = None if self._features is None else self._features[order]
        problem = Problem(
            num_arms=len(order),
            horizon=int(self.grid[-1]),
            features=features,
            subset_size=self._world.most_size,
            revenues=np.array(self._revenues[order], dtype=np.float64),
        )
        return policy.start(problem, rng)

    def of_run(
        self, place: int, order: Int[np.ndarray, " n"], progress: Int[np.ndarray, " 12"]
    ) -> tuple[Any, ...]:
        """Return what the loop is given of a run, in its order."""
        ledger = SetLedger(
            offers=np.zeros(len(order), dtype=np.int64),
            regret=np.zeros(len(self._world.forms)),
            offers_at=self._offers[place],
            regret_at=self._regret[place],
            best=self._best[place],
        )
        lane = new_lane(self._world, order)
        return self._world, lane, self.grid, ledger, progress

    def best_of(
        self, progress: Int[np.ndarray, "run 12"]
    ) -> Shaped[np.ndarray, "run ..."]:
        """Return where recommended sets are written."""
        return self._best

    def found(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return offers and regret of the first runs, by positions."""
        return {"offers": self._offers[:done], "regret": self._regret[:done]}
