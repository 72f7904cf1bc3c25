"""Independent Beta posteriors of the arms: how often each wins, whoever it meets."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.ops.frozen_pytrees import frozen_pytree
from bayesduel.posteriors.beta_draws import draw_betas
from bayesduel.posteriors.priors import check_prior, normalized
from bayesduel.types import RunKey


class ArmCounts(NamedTuple):
    """What each arm has won and lost, without the prior."""

    gains: Float[Array, " K"]
    losses: Float[Array, " K"]


@frozen_pytree
class BetaArms:
    """A Beta law per arm, Beta(prior + gains, prior + losses), independent of others.

    The posterior of a rate of wins, where every arm meets the same opponents. That is
    what reductions to ordinary bandits assume; it holds for no preference matrix once
    the opponents change, so it is a belief of a policy and no model of votes.

    Parameters
    ----------
    prior : float
        Pseudo-gains and pseudo-losses of each arm, above 0, at most 1e8. 1: uniform,
        1/2: Jeffreys.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> posterior = BetaArms(prior=2)
    >>> with jax.enable_x64(True):
    ...     state = posterior.init(3)
    ...     first = jnp.array([True, False, False])
    ...     state = posterior.update(state, first, jnp.array(2.0), jnp.array(0.0))
    ...     print(posterior.mean(state).round(3))
    [0.667 0.5   0.5  ]
    """

    prior: Any = 1

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", normalized(self.prior))

    @property
    def name(self) -> str:
        """Return what it is called in the parameters of a policy."""
        return "beta"

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` for a bad prior; no table has a meaning."""
        check_prior(self.prior, num_arms, table=False)

    def init(self, num_arms: int) -> ArmCounts:
        """Return the state before any duel."""
        nothing = jnp.zeros(num_arms, dtype=jnp.float64)
        return ArmCounts(gains=nothing, losses=nothing)

    def update(
        self,
        state: ArmCounts,
        arm: Bool[Array, " K"],
        gains: Float[Array, ""],
        losses: Float[Array, ""],
    ) -> ArmCounts:
        """Add to the counts of the arm that the mask shows; they need not be whole."""
        return ArmCounts(
            gains=state.gains + jnp.where(arm, gains, 0.0),
            losses=state.losses + jnp.where(arm, losses, 0.0),
        )

    def sample(
        self, rng_key: RunKey, state: ArmCounts, num_draws: int
    ) -> Float[Array, "draw K"]:
        """Draw rates of all arms, independently; consumes ``rng_key``."""
        prior = jnp.asarray(self.prior)
        shape = (num_draws, state.gains.shape[0])
        first, second = (
            jnp.broadcast_to(each[None, :] + prior.astype(jnp.float64), shape)
            for each in state
        )
        if jnp.issubdtype(prior.dtype, jnp.integer):
            return draw_betas(rng_key, first, second)
        return jax.random.beta(rng_key, first, second, dtype=jnp.float64)

    def mean(self, state: ArmCounts) -> Float[Array, " K"]:
        """Return the means of the rates."""
        prior = jnp.asarray(self.prior, dtype=jnp.float64)
        return (state.gains + prior) / (state.gains + state.losses + 2.0 * prior)
