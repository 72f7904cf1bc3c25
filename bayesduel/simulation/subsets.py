"""A world of subset choice, as the simulator knows it; ``set_worlds`` answers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from bayesduel.instances.choice import ChoiceRule, ChoiceWorld


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
