"""SCOMP: batches in which a few seeds meet all arms (Agarwal et al. 2022)."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool

from bayesduel.policies.base import check_at_least, policy_class
from bayesduel.policies.batched._batches import (
    PAIRWISE,
    SEEDED,
    BatchedPolicy,
    BatchedState,
    new_batch,
    where_state,
    without,
)
from bayesduel.policies.registry import register
from bayesduel.types import RoundCount, RunKey
from theory import scomp_order


@policy_class
class SeededPolicy(BatchedPolicy):
    """What SCOMP and SCOMP2 share."""

    seed_power: float = 0.5

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_at_least(
            "seed_power", self.seed_power, 0.0, why="an arm is a seed with K^-power"
        )

    def _draw_seeds(self, rng_key: RunKey, num_arms: int) -> Bool[Array, " K"]:
        power = -jnp.asarray(self.seed_power, dtype=jnp.float64)
        chance = jnp.asarray(float(num_arms), dtype=jnp.float64) ** power
        return jax.random.uniform(rng_key, (num_arms,), dtype=jnp.float64) < chance

    def _after_batch(
        self, rng_key: RunKey, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        """Go on with the seeds, or with PCOMP once it has taken over."""
        return where_state(
            state.phase == PAIRWISE,
            self._after_pairwise(state),
            self._after_seeded(rng_key, state, rounds_left),
        )

    def _after_seeded(
        self, rng_key: RunKey, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        raise NotImplementedError


@register("scomp", acronym="SCOMP", theorems=(scomp_order,))
@policy_class
class SeededComparisons(SeededPolicy):
    """Batched dueling bandits under SST and STI, SCOMP.

    Every arm is a seed with probability 1 / sqrt(K), independently. In batch r every
    seed meets every remaining arm c_r = floor(T^(r/B)) times; arms that a seed beats by
    3 gamma_r are removed, seeds included. Once some arm beats all seeds that are left
    by 3 gamma_r, the arms that beat all of them by gamma_r go to PCOMP, with the rounds
    that are left and the same exponent r. Without a seed PCOMP begins at once. At most
    B + 1 batches.

    With ``elimination="kl"`` a lead of m gamma_r is replaced by m^2/9 of the threshold
    log(T K^2), so that removals happen at the threshold itself; the paper does not
    restate these rules for its experiments. Everything else is as in
    :class:`PairwiseComparisons`.

    Parameters
    ----------
    num_batches : int
        B, from 1 to the horizon; 16 in the paper.
    elimination : {"kl", "hoeffding"}
        The test.
    overflow : {"truncate", "commit"}
        What happens to a batch that would pass the horizon.
    seed_power : float
        Seeds have probability K^-seed_power: 1/2 in Theorem 1.2, 2/3 in Theorem 3.3.

    References
    ----------
    A. Agarwal, R. Ghuge, V. Nagarajan, "Batched Dueling Bandits", ICML 2022,
    Algorithm 2, Theorems 1.2 and 3.3, Section 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scomp", seed_power=0.75).label
    'SCOMP:seed_power=0.75'
    """

    title: ClassVar[str] = "Batched seeded comparisons"

    def _first_round(self, state: BatchedState) -> BatchedState:
        seeded = state._replace(
            phase=jnp.int32(SEEDED), batch=new_batch(state.seeds, state.active)
        )
        return where_state(jnp.any(state.seeds), seeded, state)

    def _after_seeded(
        self, rng_key: RunKey, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        ahead = self._surely_ahead(state, hoeffding=3.0, kl=1.0)
        beaten = jnp.any(ahead & state.seeds[:, None], axis=0)
        active = without(state.active, beaten)
        seeds = state.seeds & active
        # Nobody beats itself, so no seed can be among those that beat all seeds.
        superior = active & jnp.all(ahead | ~seeds[None, :], axis=1)
        clearly = self._surely_ahead(state, hoeffding=1.0, kl=1.0 / 9.0)
        chosen = active & jnp.all(clearly | ~seeds[None, :], axis=1)
        onward = state._replace(
            active=active,
            seeds=seeds,
            level=state.level + 1,
            batch=new_batch(seeds, active),
        )
        return where_state(
            jnp.any(superior),
            self._start_pairwise(state, chosen, rounds_left),
            onward,
        )
