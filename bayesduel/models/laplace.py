"""The Laplace approximation: Newton's method on the log density of a NumPyro model.

Pure functions of arrays, for ``jit`` and ``vmap``; nothing here raises. A proper prior
keeps the mode finite, also where votes alone would send a utility to infinity, and the
damping keeps every step an ascent. Open the 64-bit scope (``jax.enable_x64(True)``)
around the outermost call: in 32 bits Newton's last steps drown in rounding.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Bool, Float, Int
from scipy.special import gammaln

from bayesduel.models.base import PreferenceModel
from bayesduel.models.latent import latent_of
from bayesduel.types import RunKey

_HALVINGS = 16
"""Lengths of a step that are tried at once: 1, 1/2, 1/4, ..."""

_LONGEST_STEP = 5.0
"""No coordinate moves by more in one iteration."""

_FREEDOM = 5.0
"""Degrees of freedom of Student's law."""


class Status(IntEnum):
    """How the search for a mode ended."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    """Out of iterations: the point is the best one so far."""

    NOT_CONCAVE = 2
    """The log density is not concave there: no maximum, and no normal law fits."""

    NOT_FINITE = 3
    """The log density is not finite where the search started."""


class LaplaceState(NamedTuple):
    """A normal law in unconstrained coordinates: mode and curvature."""

    mode: Float[Array, " D"]
    factor: Float[Array, "D D"]
    """L, lower triangular; L L^T is minus the Hessian of the log density at the mode.
    The identity where that is not positive definite."""

    log_density: Float[Array, ""]
    """Log joint density at the mode."""

    status: Int[Array, ""]
    """A :class:`Status`."""

    iterations: Int[Array, ""]


class _Search(NamedTuple):
    point: Float[Array, " D"]
    value: Float[Array, ""]
    factor: Float[Array, "D D"]
    status: Int[Array, ""]
    going: Bool[Array, ""]
    iterations: Int[Array, ""]


def laplace(
    model: PreferenceModel,
    arrays: Any,
    start: Float[Array, " D"] | None = None,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-14,
) -> LaplaceState:
    """Approximate the posterior of a model by a normal law.

    Parameters
    ----------
    model : PreferenceModel
        A NumPyro model with its prior.
    arrays : pytree
        ``model.arrays(data)``, or arrays of those shapes made by a program.
    start : float64 (D,), optional
        Where to start, in unconstrained coordinates ordered by name; 0 by default. A
        policy passes the last mode, and then needs very few iterations.
    max_iterations, tolerance
        As in :func:`newton_mode`.

    Returns
    -------
    LaplaceState
        Never nan: see its ``status``.
    """
    latent = latent_of(model, arrays)
    origin = jnp.zeros(latent.size) if start is None else start
    return newton_mode(
        latent.log_density,
        origin,
        hessian=model.hessian(arrays),
        max_iterations=max_iterations,
        tolerance=tolerance,
    )


def newton_mode(
    log_density: Callable[[Array], Array],
    start: Float[Array, " D"],
    *,
    hessian: Callable[[Array], Array] | None = None,
    max_iterations: int = 100,
    tolerance: float = 1e-14,
) -> LaplaceState:
    """Maximize a smooth log density by Newton steps that are halved until they rise.

    Parameters
    ----------
    log_density : callable
        Of a point (D,).
    start : float (D,)
        First point.
    hessian : callable, optional
        Its Hessian in closed form; by automatic differentiation otherwise.
    max_iterations : int
        Evaluations of the Hessian at most. When they run out, ``mode`` is one step
        ahead of ``factor`` and ``log_density``.
    tolerance : float
        Stop when g' (-H)^-1 g, twice the height that a quadratic promises still to
        gain, is below this share of 1 + |log density|.

    Returns
    -------
    LaplaceState
        The best point; the status says whether it is a maximum.
    """
    second = hessian or jax.hessian(log_density)
    identity = jnp.eye(start.shape[0], dtype=start.dtype)
    shares = jnp.asarray(2.0 ** -np.arange(_HALVINGS), dtype=start.dtype)

    def advance(search: _Search) -> _Search:
        value, gradient = jax.value_and_grad(log_density)(search.point)
        negative = -second(search.point)
        factor = jnp.linalg.cholesky(negative)
        concave = jnp.all(jnp.isfinite(factor))
        # Elsewhere a multiple of the identity makes it so: Gershgorin's circles bound
        # the eigenvalues.
        diagonal = jnp.diagonal(negative)
        radius = jnp.sum(jnp.abs(negative), axis=1) - jnp.abs(diagonal)
        shift = jnp.maximum(-jnp.min(diagonal - radius), 0.0)
        shift = shift + 1e-3 * jnp.max(jnp.abs(diagonal))
        damped = jnp.linalg.cholesky(negative + shift * identity)
        step = cho_solve((jnp.where(concave, factor, damped), True), gradient)
        promise = jnp.dot(gradient, step)
        # Far from the mode of a logistic likelihood full steps overshoot by far.
        longest = jnp.maximum(jnp.max(jnp.abs(step)), _LONGEST_STEP)
        step = step * (_LONGEST_STEP / longest)

        trials = search.point[None, :] + shares[:, None] * step[None, :]
        rises = jax.vmap(log_density)(trials) - value
        # Concave functions need no more of a condition than a share of the promise.
        enough = rises >= 1e-4 * shares * jnp.dot(gradient, step)
        accepted = jnp.argmax(enough)
        share = jnp.where(jnp.any(enough), shares[accepted], 0.0)
        height = 1.0 + jnp.abs(value)
        settled = concave & (promise <= tolerance * height)
        # At the top, rounding decides whether a step goes up: no step is an end too.
        stuck = ~jnp.any(enough)
        near = concave & stuck & (promise <= 1e-10 * height)
        finite = jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
        status = jnp.where(settled | near, Status.CONVERGED, Status.NOT_CONVERGED)
        status = jnp.where(concave, status, Status.NOT_CONCAVE)
        status = jnp.where(finite, status, Status.NOT_FINITE)
        over = settled | stuck | ~finite
        return _Search(
            point=jnp.where(over, search.point, search.point + share * step),
            value=value,
            factor=jnp.where(concave, factor, identity),
            status=status.astype(jnp.int32),
            going=~over,
            iterations=search.iterations + 1,
        )

    def going(search: _Search) -> Array:
        return search.going & (search.iterations < max_iterations)

    search = _Search(
        point=start,
        value=jnp.zeros((), dtype=start.dtype),
        factor=identity,
        status=jnp.int32(Status.NOT_CONVERGED),
        going=jnp.bool_(True),
        iterations=jnp.int32(0),
    )
    end = lax.while_loop(going, advance, search)
    return LaplaceState(
        mode=end.point,
        factor=end.factor,
        log_density=end.value,
        status=end.status,
        iterations=end.iterations,
    )


def draw_points(
    rng_key: RunKey, state: LaplaceState, num_draws: int
) -> Float[Array, "draw D"]:
    """Draw from the normal law; consumes ``rng_key``."""
    shape = (num_draws, state.mode.shape[0])
    normal = jax.random.normal(rng_key, shape, dtype=state.mode.dtype)
    return points_of(state, normal)


def draw_heavy_points(
    rng_key: RunKey, state: LaplaceState, num_draws: int
) -> Float[Array, "draw D"]:
    """Draw from Student's law of the same mode and curvature; consumes ``rng_key``."""
    key_normal, key_scale = jax.random.split(rng_key)
    shape = (num_draws, state.mode.shape[0])
    normal = jax.random.normal(key_normal, shape, dtype=state.mode.dtype)
    half = jax.random.gamma(key_scale, _FREEDOM / 2.0, shape[:1], state.mode.dtype)
    return points_of(state, normal * jnp.sqrt(_FREEDOM / (2.0 * half))[:, None])


def points_of(
    state: LaplaceState, white: Float[Array, "draw D"]
) -> Float[Array, "draw D"]:
    """Return mode + L^-T z for rows z: standard normal ones get the normal law."""
    moved = solve_triangular(state.factor, white.T, trans="T", lower=True)
    return state.mode[None, :] + moved.T


def log_normal_density(
    state: LaplaceState, points: Float[Array, "draw D"]
) -> Float[Array, " draw"]:
    """Return the log density of the normal law at each point."""
    size = state.mode.shape[0]
    height = _log_volume(state) - 0.5 * size * np.log(2.0 * np.pi)
    return height - 0.5 * _square_distance(state, points)


def log_heavy_density(
    state: LaplaceState, points: Float[Array, "draw D"]
) -> Float[Array, " draw"]:
    """Return the log density of Student's law of :func:`draw_heavy_points`."""
    size = state.mode.shape[0]
    power = 0.5 * (_FREEDOM + size)
    height = gammaln(power) - gammaln(0.5 * _FREEDOM)
    height = float(height) - 0.5 * size * np.log(np.pi * _FREEDOM)
    rim = jnp.log1p(_square_distance(state, points) / _FREEDOM)
    return _log_volume(state) + height - power * rim


def _log_volume(state: LaplaceState) -> Array:
    return jnp.sum(jnp.log(jnp.diagonal(state.factor)))


def _square_distance(state: LaplaceState, points: Array) -> Array:
    scaled = (points - state.mode[None, :]) @ state.factor
    return jnp.sum(jnp.square(scaled), axis=1)
