"""The normal distribution at the mode of a density, followed from an earlier mode."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float, Int

from bayesduel.models.closed_forms.newton import Search, Surface, advance, damped_factor
from bayesduel.posteriors.pair_models import AutomaticDensity, PointDensity
from bayesduel.posteriors.rays import Falling, points_on_rays
from bayesduel.types import RunKey

_LONGEST_STEP = 1.0
"""No coordinate moves by more in one step of Newton's method in closed form.

Longer ones end beyond what votes tell of, where the prior alone bends the density.
"""

_SETTLED = 1e-5
"""A step that changes no coordinate by more was the last one: it squares the error."""


class NormalApproximation(NamedTuple):
    """A normal distribution in unconstrained coordinates: mode and curvature there."""

    mode: Float[Array, " D"]
    # L, lower triangular; L L^T is minus the Hessian of the log density.
    factor: Float[Array, "D D"]


def follow(
    density: PointDensity, distribution: NormalApproximation, newton_steps: int
) -> NormalApproximation:
    """Take Newton steps from the last mode; return the distribution where they end."""
    if isinstance(density, AutomaticDensity):
        return _follow_rising(density, distribution, newton_steps)

    def going(search: _Way) -> Array:
        return (search.steps < newton_steps) & (search.change > _SETTLED)

    def step(search: _Way) -> _Way:
        mode, change = _step(density, search.mode)
        return _Way(mode, change, search.steps + 1)

    start = _Way(
        distribution.mode, jnp.full((), jnp.inf, dtype=jnp.float64), jnp.int32(0)
    )
    mode = lax.while_loop(going, step, start).mode
    _, hessian = density.gradient_and_hessian(mode)
    factor = lax.linalg.cholesky(-hessian, symmetrize_input=False)
    return NormalApproximation(mode=mode, factor=factor)


class _Way(NamedTuple):
    """A search for a mode on its way."""

    mode: Float[Array, " D"]
    change: Float[Array, ""]  # How far the last step went.
    steps: Int[Array, ""]


def _step(density: PointDensity, mode: Array) -> tuple[Array, Array]:
    """Take a Newton step; return where it ends and the largest change."""
    gradient, hessian = density.gradient_and_hessian(mode)
    factor = lax.linalg.cholesky(-hessian, symmetrize_input=False)
    step = _solve(factor, gradient)
    longest = density.coordinates.reach(step)  # pyright: ignore
    step = step * (_LONGEST_STEP / jnp.maximum(longest, _LONGEST_STEP))
    return mode + step, longest


def _follow_rising(
    density: AutomaticDensity, distribution: NormalApproximation, newton_steps: int
) -> NormalApproximation:
    """Take steps that are halved until they rise: nothing is known of the density."""
    surface = Surface(
        slope=jax.value_and_grad(density.log_density),
        hessian=density.hessian,
        heights=jax.vmap(density.log_density),
    )

    def going(search: Search) -> Array:
        return jnp.asarray(search.going & (search.iterations < newton_steps))

    step = partial(advance, surface, tolerance=1e-14)
    search = lax.while_loop(going, step, Search.at(distribution.mode))
    mode = jnp.asarray(search.point)
    negative = -density.hessian(mode)
    factor = lax.linalg.cholesky(negative, symmetrize_input=False)
    concave = jnp.all(jnp.isfinite(factor))
    identity = jnp.eye(distribution.mode.shape[0], dtype=distribution.mode.dtype)
    factor = jnp.where(concave, factor, damped_factor(negative, identity))
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
    rng_key: RunKey, density: Falling, distribution: NormalApproximation, num_draws: int
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


def _solve(factor: Float[Array, "D D"], right: Float[Array, " D"]) -> Array:
    """Solve L L^T x = b."""
    options = {"left_side": True, "lower": True}
    half = lax.linalg.triangular_solve(factor, right[:, None], **options)
    full = lax.linalg.triangular_solve(factor, half, transpose_a=True, **options)
    return full[:, 0]
