"""CUCB (Chen et al. 2013) and CombUCB1 (Kveton et al. 2015)."""

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.base import check_above, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import warn_above_one
from bayesduel.policies.subsets._index_stretches import index_values, safe_rounds
from bayesduel.policies.subsets._reward_counts import (
    IndexPolicy,
    RewardCounts,
    best_outside,
)
from bayesduel.types import RoundCount

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld


@register("combucb1", acronym="CombUCB1", previous_round=True)
@register("cucb", acronym="CUCB")
@policy_class
class CombinatorialUCB(IndexPolicy):
    """UCB for sets of independent arms, CUCB and CombUCB1.

    Offers the k arms with the largest C_i/N_i + sqrt(scale log t / N_i); ties at
    random, arms never offered first (which is the initialization of both papers). t
    counts all rounds; CombUCB1 has log(t - 1) in its place (``previous_round``), never
    below log 1. With ``cap`` an index is at most 1, as in the journal version of CUCB.
    Rewards in [0, 1] are assumed. Natural logarithm.

    With ``look_ahead`` a set is offered for as many rounds at once as it surely stays
    the set of the largest indices, whatever the rewards. Recommends the k arms with the
    largest means.

    Parameters
    ----------
    scale : float
        3/2 in both papers.
    previous_round : bool
        log(t - 1) in place of log t: CombUCB1.
    cap : bool
        Cap indices at 1 (ties at random).
    look_ahead : bool
        Play rounds that cannot change the set in one go.

    References
    ----------
    W. Chen, Y. Wang, Y. Yuan, "Combinatorial Multi-Armed Bandit: General Framework and
    Applications", ICML 2013, Algorithm 1. B. Kveton, Z. Wen, A. Ashkan, C. Szepesvari,
    "Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits", AISTATS 2015,
    Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("cucb", scale=2.25).label
    'CUCB:scale=2.25'
    """

    scale: float = 1.5
    previous_round: bool = field(default=False, metadata={"static": True})
    cap: bool = field(default=False, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Combinatorial UCB"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("scale", self.scale, 0.0)

    def warn_about(self, world: "ChoiceWorld") -> None:
        """Warn where rewards exceed 1."""
        super().warn_about(world)
        warn_above_one(self.label, world)

    def _width(self, round_: RoundCount) -> Float[Array, ""]:
        time = round_ - 1 if self.previous_round else round_
        return jnp.sqrt(self.scale * jnp.log(jnp.maximum(time, 1).astype(jnp.float64)))

    def indices(self, state: RewardCounts, round_: RoundCount) -> Float[Array, " n"]:
        """Return C_i/N_i + sqrt(scale log t / N_i), capped if asked for."""
        values = index_values(state.totals, state.plays, self._width(round_))
        if self.cap:
            values = jnp.where(state.plays > 0, jnp.minimum(values, 1.0), values)
        return values

    def stretch(
        self,
        state: RewardCounts,
        round_: RoundCount,
        subset: Bool[Array, " n"],
        indices: Float[Array, " n"],
    ) -> RoundCount:
        """Return for how many rounds ``subset`` surely has the largest indices."""
        width = self._width(round_)

        def stays(outside: Float[Array, ""]) -> RoundCount:
            return safe_rounds(state.totals, state.plays, subset, width, outside)

        # The others grow with log t: allow them as long as the set could last at most.
        longest = stays(best_outside(subset, indices))
        highest = best_outside(subset, self.indices(state, round_ + longest))
        rounds = stays(highest)
        if self.cap:  # At the cap arms inside and outside are equal.
            rounds = jnp.where(highest < 1.0, rounds, 1)
        return rounds
