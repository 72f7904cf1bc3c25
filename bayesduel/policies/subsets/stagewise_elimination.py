"""Stagewise Elimination for best-of-K bandits (Simchowitz et al. 2016)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import check_choice, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    one_offer,
    ranks,
    tie_breakers,
)
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


class StageState(NamedTuple):
    """Where a run stands in its stages."""

    undecided: Bool[Array, " n"]
    accepted: Bool[Array, " n"]
    stage: Int[Array, ""]
    """s, from 1 on."""

    repetition: Int[Array, ""]
    """Finished repetitions of this stage, of 2^s."""

    block: Int[Array, ""]
    """Block of the permutation that is played next."""

    order: Float[Array, " n"]
    """Uniforms whose order is the permutation of this repetition."""

    counted: Bool[Array, " n"]
    """The arms of the block that was offered last, without those that fill it up."""

    totals: Float[Array, " n"]
    """Rewards of this stage, in an arm's own blocks."""

    last_means: Float[Array, " n"]
    """Mean rewards of the last finished stage of each arm."""

    log_horizon: Float[Array, ""]
    slots: Int[Array, " k"]


@register("stagewise", acronym="Stagewise Elimination")
@policy_class
class StagewiseElimination(JaxSubsetPolicy):
    """Uniform play in stages, accepting and rejecting arms by confidence intervals.

    In stage s, 2^s times: the undecided arms in random order, cut into blocks of k. A
    last block that is too short is filled up with accepted arms, then rejected ones,
    then other undecided ones, at random. Rewards of a block's own arms are counted.
    After the stage, with k' places left, mean m_i of 2^s rewards and radius
    rho_i = sqrt(log(4 n s^2/delta)/(2 2^s)), arms with m_i - rho_i > m_j + rho_j are
    accepted, j being the arm with the (k' + 1)-th largest mean, and arms with
    m_i + rho_i < m_j - rho_j rejected, j that with the k'-th largest. When k arms are
    accepted, or no more than k' undecided ones are left, these are played forever.
    Natural logarithm.

    The structure is the paper's; the radii and the order in which blocks are filled up
    are choices made here. The theory asks for independent arms or random utilities; in
    worlds without total order an arm of the best set can be rejected, and the regret is
    then linear.

    With ``look_ahead`` the rounds after the last decision are one event. Recommends the
    accepted arms, filled up by the means of the last stage.

    Parameters
    ----------
    delta : float
        Probability of a wrong decision; 0 stands for 1/T (needs T).
    radius : {"hoeffding", "bernstein"}
        "bernstein": sqrt(2 v L/M) + 7 L/(3 (M - 1)) with L = log(8 n s^2/delta),
        M = 2^s and v = m (1 - m).
    look_ahead : bool
        Play the rounds after the last decision in one go.

    References
    ----------
    M. Simchowitz, K. Jamieson, B. Recht, "Best-of-K-bandits", COLT 2016.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("stagewise", delta=1.0).label
    'Stagewise Elimination:delta=1.0'
    """

    delta: float = 0.0
    radius: str = field(default="hoeffding", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Stagewise Elimination"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        if not 0.0 <= self.delta < 1.0:
            raise PolicyParameterError(
                "delta must be above 0 and below 1, or 0 for 1/horizon, got "
                f"{self.delta!r}"
            )
        check_choice("radius", self.radius, ("hoeffding", "bernstein"))

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> StageState:
        """Return the state before the first round; consumes ``rng_key``."""
        everybody = jnp.full(num_arms, num_arms == subset_size)
        return StageState(
            undecided=~everybody,
            accepted=everybody,
            stage=jnp.int32(1),
            repetition=jnp.int64(0),
            block=jnp.int32(0),
            order=tie_breakers(rng_key, num_arms),
            counted=jnp.zeros(num_arms, dtype=bool),
            totals=jnp.zeros(num_arms, dtype=jnp.float64),
            last_means=jnp.zeros(num_arms, dtype=jnp.float64),
            log_horizon=jnp.log(jnp.asarray(horizon).astype(jnp.float64)),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def choose(
        self, rng_key: RunKey, state: StageState, round_: RoundCount
    ) -> tuple[Offer, StageState]:
        """Offer the next block, or the accepted arms once all is decided."""
        size = state.slots.shape[0]
        place = ranks(jnp.where(state.undecided, state.order, -1.0), state.order)
        first = state.block * size
        block = state.undecided & (place >= first) & (place < first + size)
        missing = size - jnp.sum(block, dtype=jnp.int32)
        group = jnp.where(state.accepted, 2.0, jnp.where(state.undecided, 0.0, 1.0))
        uniforms = tie_breakers(rng_key, block.shape[0])
        group = jnp.where(block, -1.0, group)
        subset = block | (ranks(group, uniforms) < missing)
        over = ~jnp.any(state.undecided)
        offer = one_offer(jnp.where(over, state.accepted, subset))
        if self.look_ahead:
            offer = offer._replace(rounds=jnp.where(over, NEVER, offer.rounds))
        return offer, state._replace(counted=block)

    def update(
        self,
        rng_key: RunKey,
        state: StageState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> StageState:
        """Count the block; decide at the end of a stage."""
        size = state.slots.shape[0]
        totals = state.totals + jnp.where(state.counted, rewards.rewards, 0.0)
        block = state.block + 1
        members = jnp.sum(state.undecided, dtype=jnp.int32)
        last_block = block * size >= members
        repetition = state.repetition + jnp.where(last_block, 1, 0)
        plays = jnp.left_shift(jnp.int64(1), state.stage.astype(jnp.int64))
        ends = last_block & (repetition >= plays) & (members > 0)
        means = totals / plays.astype(jnp.float64)
        accepted, undecided = self._decide(state, means, plays)
        fresh = tie_breakers(rng_key, totals.shape[0])
        return state._replace(
            undecided=jnp.where(ends, undecided, state.undecided),
            accepted=jnp.where(ends, accepted, state.accepted),
            stage=state.stage + jnp.where(ends, 1, 0),
            repetition=jnp.where(ends, 0, repetition),
            block=jnp.where(last_block, 0, block),
            order=jnp.where(last_block, fresh, state.order),
            totals=jnp.where(ends, 0.0, totals),
            last_means=jnp.where(ends & state.undecided, means, state.last_means),
        )

    def _decide(
        self, state: StageState, means: Float[Array, " n"], plays: RoundCount
    ) -> tuple[Bool[Array, " n"], Bool[Array, " n"]]:
        """Return who is accepted and who is undecided after this stage."""
        size = state.slots.shape[0]
        left = size - jnp.sum(state.accepted, dtype=jnp.int32)
        own = jnp.where(state.undecided, means, -jnp.inf)
        place = ranks(own, state.order)
        radius = self._radii(state, means, plays)

        def of_place(wanted: Int[Array, ""], values: Array) -> Array:
            return jnp.sum(jnp.where(place == wanted, values, 0.0))

        next_best = of_place(left, means + radius)
        last_place = of_place(left - 1, means - radius)
        good = state.undecided & (means - radius > next_best)
        bad = state.undecided & (means + radius < last_place)
        accepted = state.accepted | good
        undecided = state.undecided & ~good & ~bad
        left = size - jnp.sum(accepted, dtype=jnp.int32)
        over = jnp.sum(undecided, dtype=jnp.int32) <= left
        accepted = accepted | (undecided & over)
        return accepted, undecided & ~over & (left > 0)

    def _radii(
        self, state: StageState, means: Float[Array, " n"], plays: RoundCount
    ) -> Float[Array, " n"]:
        number = plays.astype(jnp.float64)
        stage = state.stage.astype(jnp.float64)
        delta = jnp.where(
            self.delta > 0.0,
            jnp.log(jnp.maximum(self.delta, 1e-300)),
            -state.log_horizon,
        )
        bernstein = self.radius == "bernstein"
        factor = (8.0 if bernstein else 4.0) * means.shape[0]
        log = jnp.log(factor * stage * stage) - delta
        if not bernstein:
            return jnp.broadcast_to(jnp.sqrt(log / (2.0 * number)), means.shape)
        variance = jnp.maximum(means * (1.0 - means), 0.0)
        last = 7.0 * log / (3.0 * (number - 1.0))
        return jnp.sqrt(2.0 * variance * log / number) + last

    def recommend(self, rng_key: RunKey, state: StageState) -> Bool[Array, " n"]:
        """Return the accepted arms, filled up by the means of the last stage."""
        uniforms = tie_breakers(rng_key, state.totals.shape[0])
        value = jnp.where(state.undecided, state.last_means, -1.0)
        value = jnp.where(state.accepted, jnp.inf, value)
        return ranks(value, uniforms) < state.slots.shape[0]
