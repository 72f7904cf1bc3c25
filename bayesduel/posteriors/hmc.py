"""The posterior of Bradley-Terry utilities inside a policy: its mode, and draws.

With B_ij wins of i over j, sigma the logistic function and w ~ Normal(0, I / precision)

    log posterior(w) = sum_ij B_ij log sigma(w_i - w_j) - precision |w|^2 / 2 + const,

which is concave. Written for lanes: whole tables of pairs, no gathers.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float, Int

from bayesduel.types import RunKey

_LONGEST_STEP = 2.0
"""No utility moves by more in one Newton step."""

_LEAPS = 3
"""Leapfrog steps of one Hamiltonian trajectory."""

_SHORTEST_LEAP = 0.4
_LONGEST_LEAP = 0.6
"""Three leaps of about 1/2 take a quarter of a period of a standard normal law, after
which nothing is left of the start; the length varies, so that no law is met in step."""


class UtilityLaw(NamedTuple):
    """A normal law: the mode of the posterior, and its curvature there."""

    mode: Float[Array, " K"]
    factor: Float[Array, "K K"]
    """L, lower triangular; L L^T is minus the Hessian of the log posterior."""


def follow_mode(
    wins: Int[Array, "K K"],
    mode: Float[Array, " K"],
    precision: Float[Array, ""],
    newton_steps: int,
) -> UtilityLaw:
    """Take damped Newton steps from the last mode; return the law where they end."""
    for _ in range(newton_steps):
        gradient, factor = _slope_and_factor(wins, mode, precision)
        step = _solve(factor, gradient)
        longest = jnp.max(jnp.abs(step))
        share = _LONGEST_STEP / jnp.maximum(longest, _LONGEST_STEP)
        mode = mode + share * step
    _, factor = _slope_and_factor(wins, mode, precision)
    return UtilityLaw(mode=mode, factor=factor)


def draw_utilities(
    rng_key: RunKey, law: UtilityLaw, number: int
) -> Float[Array, "K draw"]:
    """Draw from the normal law; consumes ``rng_key``."""
    shape = (law.mode.shape[0], number)
    white = jax.random.normal(rng_key, shape, dtype=jnp.float64)
    moved = lax.linalg.triangular_solve(
        law.factor, white, left_side=True, lower=True, transpose_a=True
    )
    return law.mode[:, None] + moved


def walk(
    rng_key: RunKey,
    wins: Int[Array, "K K"],
    points: Float[Array, "chain K"],
    law: UtilityLaw,
    precision: Float[Array, ""],
    steps: int,
) -> Float[Array, "chain K"]:
    """Move Markov chains that leave the exact posterior as it is.

    Hamiltonian Monte Carlo in coordinates z in which ``law`` is a standard normal one,
    w = mode + L^-T z, with Metropolis acceptance: ``law`` decides how fast the chains
    mix, not where they go. Chains are independent of one another.

    Parameters
    ----------
    rng_key : typed key
        Consumed.
    wins : int64 (K, K)
        Row beat column so often.
    points : float64 (chain, K)
        Where the chains are.
    law : UtilityLaw
        Close to the posterior, and independent of ``points``.
    precision : float64
        Of the prior of each utility.
    steps : int
        Trajectories.

    Returns
    -------
    float64 (chain, K)
    """
    num_arms = law.mode.shape[0]
    inverse = lax.linalg.triangular_solve(
        law.factor,
        jnp.eye(num_arms, dtype=jnp.float64),
        left_side=True,
        lower=True,
    )

    def utility_of(white: Array) -> Array:
        return law.mode[None, :] + jnp.sum(white[:, :, None] * inverse[None], axis=1)

    def height(white: Array) -> Array:
        return jax.vmap(_log_posterior, (None, 0, None))(
            wins, utility_of(white), precision
        )

    def slope(white: Array) -> Array:
        utility = utility_of(white)
        own = jax.vmap(_slope, (None, 0, None))(wins, utility, precision)
        return jnp.sum(own[:, None, :] * inverse[None], axis=2)

    def trajectory(
        white: Array, chance: tuple[Array, Array, Array]
    ) -> tuple[Array, None]:
        momentum, accept, jitter = chance
        leap = _SHORTEST_LEAP + (_LONGEST_LEAP - _SHORTEST_LEAP) * jitter[:, None]
        start = height(white) - 0.5 * jnp.sum(jnp.square(momentum), axis=1)
        moved = white
        momentum = momentum + 0.5 * leap * slope(moved)
        for index in range(_LEAPS):
            moved = moved + leap * momentum
            kick = 0.5 if index == _LEAPS - 1 else 1.0
            momentum = momentum + kick * leap * slope(moved)
        end = height(moved) - 0.5 * jnp.sum(jnp.square(momentum), axis=1)
        taken = jnp.log1p(-accept) < end - start
        return jnp.where(taken[:, None], moved, white), None

    key_momentum, key_accept, key_jitter = jax.random.split(rng_key, 3)
    shape = (steps, points.shape[0])
    chances = (
        jax.random.normal(key_momentum, (*shape, num_arms), dtype=jnp.float64),
        jax.random.uniform(key_accept, shape, dtype=jnp.float64),
        jax.random.uniform(key_jitter, shape, dtype=jnp.float64),
    )
    away = points - law.mode[None, :]
    white = jnp.sum(away[:, :, None] * law.factor[None], axis=1)
    white, _ = lax.scan(trajectory, white, chances)
    return utility_of(white)


def _log_posterior(
    wins: Int[Array, "K K"], utility: Float[Array, " K"], precision: Array
) -> Float[Array, ""]:
    """Return the log posterior, up to a constant."""
    won = wins.astype(jnp.float64)
    logs = jax.nn.log_sigmoid(utility[:, None] - utility[None, :])
    return jnp.sum(won * logs) - 0.5 * precision * jnp.sum(jnp.square(utility))


def _slope(
    wins: Int[Array, "K K"], utility: Float[Array, " K"], precision: Array
) -> Float[Array, " K"]:
    """Return its gradient."""
    won = wins.astype(jnp.float64)
    chance = jax.nn.sigmoid(utility[:, None] - utility[None, :])
    return jnp.sum(won - (won + won.T) * chance, axis=1) - precision * utility


def _slope_and_factor(
    wins: Int[Array, "K K"], mode: Float[Array, " K"], precision: Array
) -> tuple[Float[Array, " K"], Float[Array, "K K"]]:
    """Return the gradient of the log posterior, and the factor of minus its Hessian."""
    won = wins.astype(jnp.float64)
    total = won + won.T
    chance = jax.nn.sigmoid(mode[:, None] - mode[None, :])
    gradient = jnp.sum(won - total * chance, axis=1) - precision * mode
    weight = total * chance * (1.0 - chance)
    identity = jnp.eye(mode.shape[0], dtype=jnp.float64)
    diagonal = precision + jnp.sum(weight, axis=1)
    curvature = identity * diagonal[:, None] - weight * (1.0 - identity)
    return gradient, lax.linalg.cholesky(curvature, symmetrize_input=False)


def _solve(factor: Float[Array, "K K"], right: Float[Array, " K"]) -> Array:
    """Solve L L^T x = b."""
    options = {"left_side": True, "lower": True}
    half = lax.linalg.triangular_solve(factor, right[:, None], **options)
    full = lax.linalg.triangular_solve(factor, half, transpose_a=True, **options)
    return full[:, 0]
