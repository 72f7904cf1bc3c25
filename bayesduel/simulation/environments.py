"""Who answers: a preference matrix, or a world of subset choice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int, Num

from bayesduel.instances.world import World

if TYPE_CHECKING:
    from bayesduel.simulation.subset_environment import SubsetEnvironment

type Environment = "PairwiseEnvironment | WorldEnvironment | SubsetEnvironment"
"""What a policy is simulated in: duels, or offers of sets, with what only they need."""


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
        ledger: dict[str, Num[np.ndarray, "run C ..."]],
        recommendation: Int[np.ndarray, " run"],
        order: Int[np.ndarray, "run K"],
    ) -> tuple[dict[str, Num[np.ndarray, "run C ..."]], Int[np.ndarray, " run"]]:
        """Turn positions into arms, in what was recorded and recommended.

        Rounds of {i, j} go to [min(i, j), max(i, j)]; self-duels stay on the diagonal.
        """
        best = np.take_along_axis(order, recommendation[:, None], axis=1)[:, 0]
        plays = plays_by_arm(ledger["plays"], order)
        return ledger | {"plays": plays}, best.astype(np.int64)


@dataclass(frozen=True)
class WorldEnvironment:
    """A world other than a preference matrix, which adds up regret itself.

    Parameters
    ----------
    world : World
        The world.
    num_notions : int
        Number of its notions of regret.
    shuffle : bool
        Relabel the arms at random in each run.
    """

    world: World
    num_notions: int
    shuffle: bool = True

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.world.num_arms  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def features(self) -> Float[np.ndarray, "K d"] | None:
        """Features of the arms that hold in all rounds."""
        return self.world.arm_features

    with_original_labels = PairwiseEnvironment.with_original_labels


def plays_by_arm(
    plays: Int[np.ndarray, "run C K K"], order: Int[np.ndarray, "run K"]
) -> Int[np.ndarray, "run C K K"]:
    """Return plays by arms, in the upper triangle, from plays by positions."""
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
