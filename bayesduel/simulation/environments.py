"""Who answers: a preference matrix, or a world of subset choice."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from bayesduel.instances.choice import ChoiceRule, ChoiceWorld


@dataclass(frozen=True)
class PairwiseEnvironment:
    """Independent answers with fixed probabilities.

    Parameters
    ----------
    preference : float64 (K, K)
        P(arm i is preferred to arm j).
    shuffle : bool
        Relabel the arms at random in each run, so that no policy profits from their
        order.
    features : float64 (K, d), optional
        What policies know of the arms.
    """

    preference: Float[np.ndarray, "K K"]
    shuffle: bool = True
    features: Float[np.ndarray, "K d"] | None = None

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.preference.shape[0]

    def with_original_labels(
        self,
        ledger: dict[str, Int[np.ndarray, "run C K K"]],
        recommendation: Int[np.ndarray, " run"],
        order: Int[np.ndarray, "run K"],
    ) -> tuple[dict[str, Int[np.ndarray, "run C K K"]], Int[np.ndarray, " run"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        best = np.take_along_axis(order, recommendation[:, None], axis=1)[:, 0]
        plays = self.unshuffle(ledger["plays"], order)
        return {"plays": plays}, best.astype(np.int64)

    @staticmethod
    def unshuffle(
        plays: Int[np.ndarray, "run C K K"], order: Int[np.ndarray, "run K"]
    ) -> Int[np.ndarray, "run C K K"]:
        """Give recorded plays their original labels.

        Rounds of {i, j} go to [min(i, j), max(i, j)]; self-duels stay on the diagonal.
        """
        num_arms = plays.shape[-1]
        position = np.argsort(order, axis=1)
        run = np.arange(len(plays))[:, None, None, None]
        checkpoint = np.arange(plays.shape[1])[None, :, None, None]
        row = position[:, None, :, None]
        column = position[:, None, None, :]
        own = plays[run, checkpoint, row, column]
        both = own + np.swapaxes(own, 2, 3)
        upper = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
        diagonal = np.eye(num_arms, dtype=bool)
        return np.where(upper, both, np.where(diagonal, own, 0))


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


Environment = PairwiseEnvironment | SubsetEnvironment
"""What a policy is simulated in."""
