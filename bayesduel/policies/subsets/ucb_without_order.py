"""UCB without total order of the arms (Yang et al. 2021)."""

import warnings
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.errors import AssumptionWarning
from bayesduel.policies.base import check_above, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._index_stretches import index_values, safe_rounds
from bayesduel.policies.subsets._reward_counts import (
    IndexPolicy,
    RewardCounts,
    best_outside,
)
from bayesduel.types import RoundCount
from theory import choice_table_bounds

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld


@register("ucb-no-order", acronym="UCB-no-order", theorems=(choice_table_bounds,))
@policy_class
class UCBWithoutOrder(IndexPolicy):
    """The index rule that needs no total order of the arms.

    Offers the k arms with the largest C_i/N_i + Bmax sqrt(alpha log T / N_i), C_i the
    rewards of arm i in all sets so far; ties at random, arms never offered first. Only
    indices of offered arms move: the horizon is in them, not the round (Algorithm 1).
    Natural logarithm.

    With ``look_ahead`` a set is offered for as many rounds at once as it surely stays
    the set of the largest indices, whatever the rewards; sets have the same law.

    Theory: alpha >= 2, and an arm of the best set is chosen at least as often in every
    other set (a warning names a set in which it is not). Recommends the k arms with the
    largest indices.

    Parameters
    ----------
    alpha : float
        Width of the index; 2 in the paper.
    largest_reward : float
        Bmax (Section 6.2).
    look_ahead : bool
        Play rounds that cannot change the set in one go.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi, "Combinatorial Bandits without Total Order for
    Arms", arXiv:2103.02741, 2021, Algorithm 1 and Section 6.2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ucb-no-order").label
    'UCB-no-order'
    """

    alpha: float = 2.0
    largest_reward: float = 1.0
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "UCB without total order"
    needs_horizon: ClassVar[bool] = True
    assumes_consistency: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)
        check_above("largest_reward", self.largest_reward, 0.0)

    def warn_about(self, world: "ChoiceWorld") -> None:
        """Warn outside the theory, and where rewards exceed Bmax."""
        super().warn_about(world)
        if world.largest_reward > self.largest_reward:
            warnings.warn(
                f"{self.label} assumes rewards up to {self.largest_reward:g}; those of "
                f"{world.name or 'this world'} reach {world.largest_reward:g}: set "
                "largest_reward",
                AssumptionWarning,
                stacklevel=2,
            )

    def _width(self, state: RewardCounts) -> Float[Array, ""]:
        return self.largest_reward * jnp.sqrt(self.alpha * state.log_horizon)

    def merits(self, state: RewardCounts) -> Float[Array, " n"]:
        """Return the indices: they do not depend on the round."""
        return index_values(state.totals, state.plays, self._width(state))

    def indices(self, state: RewardCounts, round_: RoundCount) -> Float[Array, " n"]:
        """Return C_i/N_i + Bmax sqrt(alpha log T / N_i)."""
        return self.merits(state)

    def stretch(
        self,
        state: RewardCounts,
        round_: RoundCount,
        subset: Bool[Array, " n"],
        indices: Float[Array, " n"],
    ) -> RoundCount:
        """Return for how many rounds ``subset`` surely has the largest indices."""
        outside = best_outside(subset, indices)
        return safe_rounds(
            state.totals, state.plays, subset, self._width(state), outside
        )
