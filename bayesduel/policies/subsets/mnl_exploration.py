"""Exploration-Exploitation for the MNL bandit (Agrawal et al. 2019)."""

from dataclasses import field
from typing import ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.base import check_above, check_choice, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._assortments import best_assortment
from bayesduel.policies.subsets._epochs import (
    EpochState,
    add_purchases,
    begin_epoch,
    no_epochs,
)
from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    offer_until_no_choice,
    tie_breakers,
)
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


@register("mnl-ee", acronym="MNL-EE")
@policy_class
class MNLExploration(JaxSubsetPolicy):
    """Optimistic assortments in epochs, for multinomial logit.

    A set is offered until nobody chooses; that is an epoch. With n_i epochs of arm i,
    V_i purchases in them and m_i = V_i/n_i, the index after epoch l is
    m_i + sqrt(m_i L/n_i) + L/n_i, L = scale log(sqrt(n) l + 1). The next set has the
    largest expected revenue sum r_i v_i/(1 + sum v_i) under the indices, at most k arms
    (exactly k with equal revenues); ties at random. Natural logarithm. Theory:
    multinomial logit with weights v_i <= 1 of that of choosing nothing.

    In the paper arms never offered keep the index 1, far below the indices of offered
    ones for about a thousand epochs: taken literally, the first k arms are repeated all
    that time. Here such arms come first, which leaves the argument by optimism intact;
    ``init_index="one"`` gives the published rule.

    With ``look_ahead`` an epoch is one event; both forms have the same law. Recommends
    the set of largest expected revenue under the means m_i.

    Parameters
    ----------
    scale : float
        48 in the paper.
    init_index : {"inf", "one"}
        Index of an arm never offered.
    cap : bool
        Cap indices at 1, which v_i <= 1 allows (not in the paper; ties at random).
    look_ahead : bool
        Play epochs in one go.

    References
    ----------
    S. Agrawal, V. Avadhanula, V. Goyal, A. Zeevi, "MNL-Bandit: A Dynamic Learning
    Approach to Assortment Selection", Operations Research 67(5), 2019, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("mnl-ee", scale=72.0).label
    'MNL-EE:scale=72.0'
    """

    scale: float = 48.0
    init_index: str = field(default="inf", metadata={"static": True})
    cap: bool = field(default=False, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Exploration-Exploitation for the MNL bandit"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)
    needs_no_choice: ClassVar[bool] = True
    reads_revenues: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("scale", self.scale, 0.0)
        check_choice("init_index", self.init_index, ("inf", "one"))

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> EpochState:
        """Return the state before the first round."""
        return no_epochs(num_arms, subset_size, revenues)

    def _indices(self, state: EpochState) -> Float[Array, " n"]:
        times = jnp.maximum(state.epochs, 1).astype(jnp.float64)
        mean = state.purchases / times
        root = jnp.sqrt(jnp.float64(state.epochs.shape[0]))
        width = self.scale * jnp.log1p(root * state.finished.astype(jnp.float64))
        upper = mean + jnp.sqrt(mean * width / times) + width / times
        if self.cap:
            upper = jnp.minimum(upper, 1.0)
        first = jnp.inf if self.init_index == "inf" else 1.0
        return jnp.where(state.epochs > 0, upper, jnp.float64(first))

    def choose(
        self, rng_key: RunKey, state: EpochState, round_: RoundCount
    ) -> tuple[Offer, EpochState]:
        """Begin an epoch, or go on with the present one."""
        uniforms = tie_breakers(rng_key, state.subset.shape[0])
        best = best_assortment(
            self._indices(state), state.revenues, uniforms, state.slots.shape[0]
        )
        state = begin_epoch(state, best)
        return offer_until_no_choice(state.subset, in_bulk=self.look_ahead), state

    def update(
        self,
        rng_key: RunKey,
        state: EpochState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> EpochState:
        """Count purchases."""
        return add_purchases(state, offer, rewards)

    def recommend(self, rng_key: RunKey, state: EpochState) -> Bool[Array, " n"]:
        """Return the best set under the mean purchases per epoch."""
        return best_by_means(rng_key, state)


def best_by_means(rng_key: RunKey, state: EpochState) -> Bool[Array, " n"]:
    """Return the set of largest expected revenue under V_i/n_i; ties at random.

    An arm without a purchase counts a little, so that sets are full.
    """
    times = jnp.maximum(state.epochs, 1).astype(jnp.float64)
    means = jnp.maximum(state.purchases / times, 1e-9)
    uniforms = tie_breakers(rng_key, means.shape[0])
    return best_assortment(means, state.revenues, uniforms, state.slots.shape[0])
