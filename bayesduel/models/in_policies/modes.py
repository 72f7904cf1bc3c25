"""Modes that follow votes inside a policy, and draws along rays from them.

The tails of draws along rays are those of the posterior. Let U be minus the log
posterior and m its minimum. A standard normal z points into the direction w = L^-T z,
and is moved to the share s of the way at which the posterior holds as much beyond as
the normal distribution would. With the fall F(s) = U(m + s w) - U(m) and
R = sqrt(2 F), the draw at which the fall is |z|^2 / 2 would weigh

    v(s) = (s |z| / R)^(D - 1) / (dR / d(s |z|)),

posterior over density, and where the tail of a posterior begins it holds exp(-F) v, but
for factors that it shares with a normal distribution. So s solves

    F(s) = |z|^2 / 2 + log v(s).

Of a half space that does not hold the mode, the probability decays at the right rate
and with the right factor. With a single coordinate this is the expansion of
Barndorff-Nielsen (1990), r + log(v) / r, to first order: what Lugannani and Rice (1980)
give for a tail. Of a normal posterior s is 1.

References
----------
O. E. Barndorff-Nielsen, "Approximate interval probabilities", Journal of the Royal
Statistical Society B 52 (1990). R. Lugannani and S. Rice, "Saddle point approximation
for the distribution of the sum of independent random variables", Advances in Applied
Probability 12 (1980).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float

from bayesduel.models.fit.proposals import log_ray_weight
from bayesduel.models.in_policies.pair_models import AutomaticDensity, PointDensity
from bayesduel.models.newton import Surface, damped_factor, maximize
from bayesduel.types import RunKey

_STEPS = 3
"""Steps to the right share. They leave a thousandth of the fall where the posterior is
log-concave; of a Student prior without votes 3 %."""

_LONGEST = 1.1  # By how much the logarithm of a share changes in a step, at most.
_SURE = 1.03  # A fall of so many times the one that is wanted is not mistaken for it.
_FAR = 1e3  # Shares that no ray reaches in three steps.
_LEAST_POWER = 0.5  # Least dlog F / dlog s; of a convex fall it is at least 1.


_LONGEST_STEP = 1.0
"""No coordinate moves by more in one step of Newton's method in closed form.

Longer ones end beyond what votes tell of, where the prior alone bends the density.
"""

# A step that changes no coordinate by more was the last one: it squares the error.
_SETTLED = 1e-5

_TOLERANCE = 1e-13
"""A step to a level world that promises no more of the height, as a share of it, was
the last one."""


def points_on_rays(
    density: PointDensity,
    mode: Float[Array, " D"],
    normal: Float[Array, "draw D"],
    depth: Float[Array, " draw"],
) -> Float[Array, "draw D"]:
    """Move draws of the normal distribution on their rays from the mode."""
    # How far to go on a way is found by Newton's method for log F as a function of
    # log s, which is nearly a line.

    def moved(point: Array, depth: Array) -> Array:
        way = point - mode
        fall = density.fall(mode, way)

        def nearer(_: int, share: Array) -> Array:
            fallen, slope = fall(share)
            wanted, loss = _wanted_at(share, depth, fallen, slope, mode.shape[0])
            power = jnp.maximum(share * slope / fallen, _LEAST_POWER)
            # Near the mode the weight grows with the root of the fall.
            power = power * (1.0 - 0.5 * loss)
            step = (jnp.log(wanted) - jnp.log(fallen)) / power
            # Beyond what is finite a shorter way is tried, and a longer one while the
            # fall drowns in rounding.
            step = jnp.where(jnp.isnan(step), jnp.where(fallen <= 0, 1.0, -1.0), step)
            return share * jnp.exp(jnp.clip(step, -_LONGEST, _LONGEST))

        return mode + lax.fori_loop(0, _STEPS, nearer, jnp.ones_like(depth)) * way

    return jax.vmap(moved)(normal, depth)


def surely_before(
    density: PointDensity,
    mode: Float[Array, " D"],
    normal: Float[Array, "draw D"],
    depth: Float[Array, " draw"],
    limit: Float[Array, " draw"],
    rounding: Float[Array, ""],
) -> Bool[Array, " draw"]:
    """Say of which draws it is sure that they go less than some share of their ways."""
    # Up to the solution the fall is below what the equation asks for, and above beyond.

    def sure(point: Array, depth: Array, limit: Array) -> Array:
        share = jnp.minimum(limit, _FAR)
        fallen, slope = density.fall(mode, point - mode)(share)
        wanted, _ = _wanted_at(share, depth, fallen, slope, mode.shape[0])
        return (limit >= _FAR) | (fallen > _SURE * wanted + rounding)

    return jax.vmap(sure)(normal, depth, limit)


def _wanted_at(
    share: Array, depth: Array, fallen: Array, slope: Array, size: int
) -> tuple[Array, Array]:
    """Return |z|^2 / 2 + log v, and log v times the derivative of its logarithm.

    Near the mode that may be negative: from half of |z|^2 / 2 on it decays to 0, and
    has the same value and the same derivative there.
    """
    half, root = 0.5 * jnp.square(depth), jnp.sqrt(2.0 * fallen)
    weight = log_ray_weight(size, root, share * depth, slope / (root * depth))
    # Where the density is not log-concave, no weight is known.
    weight = jnp.where(jnp.isfinite(weight), weight, 0.0)
    below = weight < -0.5 * half
    decayed = 0.5 * half * jnp.exp(jnp.minimum(2.0 * weight / half + 1.0, 0.0))
    wanted = jnp.where(below, decayed, half + weight)
    return wanted, jnp.where(below, 2.0 / half, 1.0 / (half + weight)) * weight


class NormalApproximation(NamedTuple):
    """A normal distribution in unconstrained coordinates: mode and curvature there."""

    mode: Float[Array, " D"]
    # L, lower triangular; L L^T is minus the Hessian of the log density.
    factor: Float[Array, "D D"]


def follow(
    density: PointDensity, distribution: NormalApproximation, newton_steps: int
) -> NormalApproximation:
    """Take Newton steps from the last mode; return the distribution where they end."""
    # In closed form a step is of limited length; of a density of which nothing is known
    # steps are halved until they rise.
    if isinstance(density, AutomaticDensity):
        surface = Surface(
            slope=jax.value_and_grad(density.log_density),
            hessian=density.hessian,
            heights=jax.vmap(density.log_density),
        )
        state = maximize(surface, distribution.mode, max_iterations=newton_steps)
        mode = jnp.asarray(state.mode)
        negative = -density.hessian(mode)
        factor = lax.linalg.cholesky(negative, symmetrize_input=False)
        identity = jnp.eye(mode.shape[0], dtype=mode.dtype)
        damped = damped_factor(negative, identity)
        concave = jnp.all(jnp.isfinite(factor))
        return NormalApproximation(mode, jnp.where(concave, factor, damped))

    def going(search: tuple[Array, Array, Array]) -> Array:
        _, change, steps = search
        return (steps < newton_steps) & (change > _SETTLED)

    def step(search: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        mode, _, steps = search
        gradient, hessian = density.gradient_and_hessian(mode)
        factor = lax.linalg.cholesky(-hessian, symmetrize_input=False)
        options = {"left_side": True, "lower": True}
        half = lax.linalg.triangular_solve(factor, gradient[:, None], **options)
        way = lax.linalg.triangular_solve(factor, half, transpose_a=True, **options)
        way = way[:, 0]
        longest = density.coordinates.reach(way)  # pyright: ignore
        way = way * (_LONGEST_STEP / jnp.maximum(longest, _LONGEST_STEP))
        return mode + way, longest, steps + 1

    never = jnp.full((), jnp.inf, dtype=jnp.float64)
    start = distribution.mode, never, jnp.int32(0)
    mode, _, _ = lax.while_loop(going, step, start)
    factor = lax.linalg.cholesky(-density.hessian(mode), symmetrize_input=False)
    return NormalApproximation(mode=mode, factor=factor)


def normal_draws(
    rng_key: RunKey, distribution: NormalApproximation, num_draws: int
) -> tuple[Float[Array, "draw D"], Float[Array, " draw"]]:
    """Draw from a normal distribution, m + L^-T z; return |z| too. Consumes the key."""
    shape = (distribution.mode.shape[0], num_draws)
    white = jax.random.normal(rng_key, shape, dtype=jnp.float64)
    depth = jnp.sqrt(jnp.sum(jnp.square(white), axis=0))
    return points_at(distribution, white), depth


def draw_on_rays(
    rng_key: RunKey,
    density: PointDensity,
    distribution: NormalApproximation,
    num_draws: int,
) -> Float[Array, "draw D"]:
    """Draw from a normal distribution, then along its rays; consumes ``rng_key``."""
    drawn = normal_draws(rng_key, distribution, num_draws)
    return points_on_rays(density, distribution.mode, *drawn)


def points_at(
    distribution: NormalApproximation, white: Float[Array, "D draw"]
) -> Float[Array, "draw D"]:
    """Return mode + L^-T z for columns z."""
    options = {"left_side": True, "lower": True, "transpose_a": True}
    moved = lax.linalg.triangular_solve(distribution.factor, white, **options)
    return (distribution.mode[:, None] + moved).T


class LevelWorld(NamedTuple):
    """The likeliest world in which two arms have the same utility."""

    preference: Float[Array, "K K"]  # P(i beats j) there, nobody shown first.
    # By how much the log density is below that of the mode, at least 0.
    fall: Float[Array, ""]


def level_point(
    density: PointDensity,
    log_density: Callable[[Float[Array, " D"]], Float[Array, ""]],
    mode: Float[Array, " D"],
    gaps: Callable[[Float[Array, "draw D"]], Float[Array, " draw"]],
    differ: Bool[Array, ""],
    most_steps: int,
) -> Float[Array, " D"]:
    """Return the point where a log density is largest and a gap is 0."""
    surface = Surface(
        slope=jax.value_and_grad(log_density),
        hessian=density.hessian,
        heights=jax.vmap(log_density),
        level=jax.value_and_grad(lambda point: gaps(point[None])[0]),
        levels=gaps,
    )
    state = maximize(
        surface, mode, max_iterations=most_steps, tolerance=_TOLERANCE, going=differ
    )
    return jnp.asarray(state.mode)
