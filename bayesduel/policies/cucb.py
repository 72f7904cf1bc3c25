"""CUCB (Chen et al. 2013) and CombUCB1 (Kveton et al. 2015)."""

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.base import check_above, policy_class
from bayesduel.policies.index_stretches import index_values, safe_rounds
from bayesduel.policies.subset_base import (
    SubsetPolicy,
    one_offer,
    tie_breakers,
    top,
    warn_above_one,
)
from bayesduel.policies.ucb_without_order import IndexState, add_rewards
from bayesduel.types import Offer, Rewards, RoundCount, RunKey

if TYPE_CHECKING:
    from bayesduel.datasets.worlds import SubsetWorld


@policy_class
class CombinatorialUCB(SubsetPolicy):
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
    """

    scale: float = 1.5
    previous_round: bool = field(default=False, metadata={"static": True})
    cap: bool = field(default=False, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Combinatorial UCB"

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore
        """Whether an offer may be for many rounds."""
        return self.look_ahead

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("scale", self.scale, 0.0)

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> IndexState:
        """Return the state before the first round."""
        return IndexState(
            plays=jnp.zeros(num_arms, dtype=jnp.int64),
            totals=jnp.zeros(num_arms, dtype=jnp.float64),
            log_horizon=jnp.log(jnp.asarray(horizon).astype(jnp.float64)),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def warn_about(self, world: "SubsetWorld") -> None:
        """Warn where rewards exceed 1."""
        super().warn_about(world)
        warn_above_one(self.label, world)

    def _width(self, round_: RoundCount) -> Float[Array, ""]:
        time = round_ - 1 if self.previous_round else round_
        return jnp.sqrt(self.scale * jnp.log(jnp.maximum(time, 1).astype(jnp.float64)))

    def _indices(
        self, state: IndexState, width: Float[Array, ""]
    ) -> Float[Array, " n"]:
        values = index_values(state.totals, state.plays, width)
        if self.cap:
            values = jnp.where(state.plays > 0, jnp.minimum(values, 1.0), values)
        return values

    def choose(
        self, rng_key: RunKey, state: IndexState, round_: RoundCount
    ) -> tuple[Offer, IndexState]:
        """Offer the k largest indices, as long as they surely stay the largest."""
        width = self._width(round_)
        values = self._indices(state, width)
        subset = top(
            values, tie_breakers(rng_key, values.shape[0]), state.slots.shape[0]
        )
        offer = one_offer(subset)
        if not self.look_ahead:
            return offer, state

        def stays(outside: Float[Array, ""]) -> RoundCount:
            return safe_rounds(state.totals, state.plays, subset, width, outside)

        def best_outside(width: Float[Array, ""]) -> Float[Array, ""]:
            return jnp.max(jnp.where(subset, -jnp.inf, self._indices(state, width)))

        # The others grow with log t: allow them as long as the set could last at most.
        longest = stays(best_outside(width))
        highest = best_outside(self._width(round_ + longest))
        rounds = stays(highest)
        if self.cap:  # At the cap arms inside and outside are equal.
            rounds = jnp.where(highest < 1.0, rounds, 1)
        return offer._replace(rounds=rounds), state

    def update(
        self,
        rng_key: RunKey,
        state: IndexState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> IndexState:
        """Count offers and rewards."""
        return add_rewards(state, offer, rewards)

    def recommend(self, rng_key: RunKey, state: IndexState) -> Bool[Array, " n"]:
        """Return the k arms with the largest means."""
        means = index_values(state.totals, state.plays, jnp.float64(0.0))
        uniforms = tie_breakers(rng_key, means.shape[0])
        return top(means, uniforms, state.slots.shape[0])
