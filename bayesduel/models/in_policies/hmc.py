"""The exact posterior of any model of pairs, by Markov chains that move every round."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.laplace import Laplace, LaplaceBeliefs
from bayesduel.models.in_policies.modes import NormalApproximation, normal_draws
from bayesduel.models.in_policies.pair_models import PointDensity, check_count
from bayesduel.types import Arm, Outcome, RunKey

_LEAPS = 3
"""Leapfrog steps of one Hamiltonian trajectory."""

_SHORTEST_LEAP = 0.4
_LONGEST_LEAP = 0.6
"""Three leaps of about 1/2 take a quarter of a period of a standard normal
distribution, after which nothing is left of the start; the length varies, so that no
distribution is met in step."""

_WARM_UP = 64
"""Trajectories before the first vote, where the prior is no normal distribution."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class HMC(Laplace):
    """The exact posterior of a model, by Hamiltonian Monte Carlo; slow.

    Independent chains follow the posterior. At every update, whether there was a vote
    or not, each moves a few trajectories, in coordinates in which Laplace's normal
    distribution is a standard one: that distribution decides how fast the chains mix,
    not where they go. Draws of one state are where the chains are, and there are as
    many as chains.

    Parameters
    ----------
    model : PreferenceModel
        As for :class:`~bayesduel.posteriors.Laplace`.
    mcmc_steps : int
        Trajectories per update, at least 1.
    chains : int
        At least 2, as many as D-TS has samples in a round.
    newton_steps, covariates
        As for :class:`~bayesduel.posteriors.Laplace`.

    References
    ----------
    R. M. Neal, "MCMC using Hamiltonian dynamics", in: Handbook of Markov Chain Monte
    Carlo, 2011.

    Examples
    --------
    >>> import jax
    >>> posterior = HMC(chains=3)
    >>> with jax.enable_x64(True):
    ...     key_start, key_draw = jax.random.split(jax.random.key(0))
    ...     state = posterior.init(key_start, 4)
    ...     posterior.sample(key_draw, state, 3).shape
    (3, 4, 4)
    """

    mcmc_steps: int = field(default=4, metadata={"static": True})
    chains: int = field(default=2, metadata={"static": True})

    independent_draws: ClassVar[bool] = False
    utilities_by_number: ClassVar[None] = None  # pyright: ignore

    @property
    def name(self) -> str:
        """That of the model, and "hmc"."""
        return f"{super().name}-hmc"

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` where a field or the model does not fit."""
        check_count("mcmc_steps", self.mcmc_steps, 1)
        check_count("chains", self.chains, 2)
        super().check(num_arms)

    def init(self, rng_key: RunKey, num_arms: int) -> LaplaceBeliefs:
        """Return the state before any vote; consumes ``rng_key``."""
        state = super().init(rng_key, num_arms)
        if state.order is None:  # The prior is that normal distribution.
            walkers = normal_draws(rng_key, state.distribution, self.chains)[0]
            return state._replace(walkers=walkers)
        key_start, key_walk = jax.random.split(rng_key)
        walkers = normal_draws(key_start, state.distribution, self.chains)[0]
        return self._moved(key_walk, state, walkers, _WARM_UP)

    def update(
        self,
        rng_key: RunKey,
        state: LaplaceBeliefs,
        first: Arm,
        second: Arm,
        votes: Outcome,
    ) -> LaplaceBeliefs:
        """Count votes, and move the chains; consumes ``rng_key``."""
        counted = super().update(rng_key, state, first, second, votes)
        return self._moved(rng_key, counted, state.walkers, self.mcmc_steps)

    def _moved(
        self, rng_key: RunKey, state: LaplaceBeliefs, walkers: Any, steps: int
    ) -> LaplaceBeliefs:
        density = self.pairs(state.votes.won.shape[0]).density(state.votes)
        walkers = _walk(rng_key, density, walkers, state.distribution, steps)
        return state._replace(walkers=walkers)

    def _points(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int
    ) -> Float[Array, "draw D"]:
        # Where the chains are.
        if num_draws > self.chains:
            raise PolicyParameterError(
                "chains",
                f"must be at least {num_draws}, as many as draws are asked for",
                self.chains,
            )
        assert state.walkers is not None
        return state.walkers[:num_draws]


def _walk(
    rng_key: RunKey,
    density: PointDensity,
    points: Float[Array, "chain D"],
    distribution: NormalApproximation,
    steps: int,
) -> Float[Array, "chain D"]:
    """Move Markov chains that leave the exact posterior as it is; consumes the key.

    By NumPyro's kernel, in coordinates z in which ``distribution`` is a standard normal
    one, x = mode + L^-T z: it is close to the posterior, and independent of ``points``,
    where the chains are. Each of them, independent of the others, moves ``steps``
    trajectories.
    """
    # NumPyro takes long to import, and Laplace's method does without.
    from numpyro.infer.hmc import hmc

    size = distribution.mode.shape[0]
    inverse = lax.linalg.triangular_solve(
        distribution.factor,
        jnp.eye(size, dtype=jnp.float64),
        left_side=True,
        lower=True,
    )

    def point_of(white: Float[Array, " D"]) -> Float[Array, " D"]:
        return distribution.mode + white @ inverse

    start, move = hmc(lambda white: -density.log_density(point_of(white)), algo="HMC")

    def trajectory(state: Any, leap: Array) -> tuple[Any, None]:
        return move(state._replace(trajectory_length=_LEAPS * leap)), None

    def chain(rng_key: RunKey, point: Float[Array, " D"]) -> Float[Array, " D"]:
        key_start, key_leaps = jax.random.split(rng_key)
        state = start(
            (point - distribution.mode) @ distribution.factor,
            num_warmup=0,
            num_steps=_LEAPS,
            adapt_step_size=False,
            adapt_mass_matrix=False,
            inverse_mass_matrix=jnp.ones(size, dtype=jnp.float64),
            rng_key=key_start,
        )
        leaps = jax.random.uniform(
            key_leaps,
            (steps,),
            dtype=jnp.float64,
            minval=_SHORTEST_LEAP,
            maxval=_LONGEST_LEAP,
        )
        state, _ = lax.scan(trajectory, state, leaps)
        return point_of(state.z)

    return jax.vmap(chain)(jax.random.split(rng_key, points.shape[0]), points)
