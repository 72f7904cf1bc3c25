"""Thompson sampling for the MNL bandit (Agrawal et al. 2017)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.ops.masks import first_marked
from bayesduel.policies.base import check_choice, policy_class
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
from bayesduel.policies.subsets.mnl_exploration import best_by_means
from bayesduel.posteriors.beta_draws import draw_gammas
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


class SampledState(NamedTuple):
    """The epochs, and what the confidence radius of the correlated form needs."""

    known: EpochState
    log_scale: Float[Array, ""]
    """log(T k)."""


@register("mnl-ts", acronym="MNL-TS")
@policy_class
class MNLThompson(JaxSubsetPolicy):
    """Thompson sampling in epochs for multinomial logit, MNL-TS.

    A set is offered until nobody chooses; that is an epoch. Purchases of an arm per
    epoch are geometric with success probability 1/(1 + v_i), so that Beta laws are
    conjugate: with n_i = 1 + its epochs and V_i = 1 + its purchases,
    v_i = 1/theta_i - 1, theta_i ~ Beta(n_i, V_i), independently at the start of each
    epoch (``variant="beta"``, Algorithm 1). The set has the largest expected revenue
    under these weights, at most k arms (exactly k with equal revenues).

    ``variant="correlated"`` is the form with a regret bound: each arm is offered alone
    in one epoch, then v_i = m_i + theta s_i with one theta for all arms, the largest of
    k standard normal numbers, m_i = V_i/n_i and s_i = sqrt(50 m_i (m_i + 1)/n_i) +
    75 sqrt(log(T k))/n_i; negative weights count as 0. Needs T. Natural logarithm.

    With ``look_ahead`` an epoch is one event; both forms have the same law. Recommends
    the set of largest expected revenue under the mean purchases per epoch.

    Parameters
    ----------
    variant : {"beta", "correlated"}
        How weights are drawn.
    look_ahead : bool
        Play epochs in one go.

    References
    ----------
    S. Agrawal, V. Avadhanula, V. Goyal, A. Zeevi, "Thompson Sampling for the
    MNL-Bandit", COLT 2017 (arXiv:1706.00977), Algorithm 1 and the algorithm with
    correlated sampling.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("mnl-ts").label
    'MNL-TS'
    """

    variant: str = field(default="beta", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Thompson sampling for the MNL bandit"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)
    needs_no_choice: ClassVar[bool] = True
    reads_revenues: ClassVar[bool] = True

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore
        """Whether the rule reads the horizon."""
        return self.variant == "correlated"

    @property
    def offers_fewer(self) -> bool:  # pyright: ignore
        """Whether sets of fewer than k arms are offered, at the start at least."""
        return self.variant == "correlated"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_choice("variant", self.variant, ("beta", "correlated"))

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> SampledState:
        """Return the state before the first round."""
        rounds = jnp.asarray(horizon).astype(jnp.float64)
        return SampledState(
            known=no_epochs(num_arms, subset_size, revenues),
            log_scale=jnp.log(rounds * subset_size),
        )

    def choose(
        self, rng_key: RunKey, state: SampledState, round_: RoundCount
    ) -> tuple[Offer, SampledState]:
        """Begin an epoch with freshly drawn weights, or go on with the present one."""
        key_weights, key_ties = jax.random.split(rng_key)
        known = state.known
        num_arms, size = known.subset.shape[0], known.slots.shape[0]
        uniforms = tie_breakers(key_ties, num_arms)
        if self.variant == "beta":
            best = best_assortment(
                _beta_weights(key_weights, known), known.revenues, uniforms, size
            )
        else:
            weights = self._correlated_weights(key_weights, state)
            best = best_assortment(weights, known.revenues, uniforms, size)
            fresh = known.epochs == 0
            best = jnp.where(jnp.any(fresh), first_marked(fresh), best)
        known = begin_epoch(known, best)
        offer = offer_until_no_choice(known.subset, in_bulk=self.look_ahead)
        return offer, state._replace(known=known)

    def _correlated_weights(
        self, rng_key: RunKey, state: SampledState
    ) -> Float[Array, " n"]:
        known = state.known
        times = jnp.maximum(known.epochs, 1).astype(jnp.float64)
        mean = known.purchases / times
        spread = jnp.sqrt(50.0 * mean * (mean + 1.0) / times)
        spread = spread + 75.0 * jnp.sqrt(state.log_scale) / times
        normal = jax.random.normal(rng_key, known.slots.shape, dtype=jnp.float64)
        return jnp.maximum(mean + jnp.max(normal) * spread, 0.0)

    def update(
        self,
        rng_key: RunKey,
        state: SampledState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> SampledState:
        """Count purchases."""
        return state._replace(known=add_purchases(state.known, offer, rewards))

    def recommend(self, rng_key: RunKey, state: SampledState) -> Bool[Array, " n"]:
        """Return the best set under the mean purchases per epoch."""
        return best_by_means(rng_key, state.known)


def _beta_weights(rng_key: RunKey, known: EpochState) -> Float[Array, " n"]:
    """Draw v_i = 1/theta_i - 1: a quotient of two Gamma numbers."""
    epochs = known.epochs.astype(jnp.float64) + 1.0
    shapes = jnp.stack([known.purchases + 1.0, epochs])
    of_purchases, of_epochs = draw_gammas(rng_key, shapes)
    return of_purchases / of_epochs
