"""The Laplace approximation: Newton's method on the log density of a NumPyro model.

Pure functions of arrays, for ``jit`` and ``vmap``; nothing here raises. A proper prior
keeps the mode finite, also where votes alone would send a utility to infinity, and the
damping keeps every step an ascent. Open the 64-bit scope (``jax.enable_x64(True)``)
around the outermost call: in 32 bits Newton's last steps drown in rounding.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float

from bayesduel.inference.normal_distribution import log_normal_density, points_of
from bayesduel.models.base import PreferenceModel
from bayesduel.models.closed_forms.newton import (
    LaplaceState,
    Search,
    Status,
    Surface,
    advance,
)
from bayesduel.types import RunKey

__all__ = [
    "LaplaceState",
    "Status",
    "draw_points",
    "laplace",
    "log_normal_density",
    "newton_mode",
    "points_of",
]


def laplace(
    model: PreferenceModel,
    arrays: Any,
    start: Float[Array, " D"] | None = None,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-14,
) -> LaplaceState:
    """Approximate the posterior of a model by a normal distribution.

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
    # NumPyro takes long to import, and a closed form does without.
    from bayesduel.inference.latent import latent_of

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
    log_density: Callable[[Float[Array, " D"]], Float[Array, ""]],
    start: Float[Array, " D"],
    *,
    gradient: Callable[[Float[Array, " D"]], Float[Array, " D"]] | None = None,
    hessian: Callable[[Float[Array, " D"]], Float[Array, "D D"]] | None = None,
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
    gradient, hessian : callable, optional
        Its derivatives in closed form; by automatic differentiation otherwise.
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

    def slope(point: Float[Array, " D"]) -> tuple[Array, Array]:
        if gradient is None:
            return jax.value_and_grad(log_density)(point)
        return log_density(point), gradient(point)

    surface = Surface(
        slope=slope,
        hessian=hessian or jax.hessian(log_density),
        heights=jax.vmap(log_density),
    )

    def going(search: Search) -> Array:
        return jnp.asarray(search.going & (search.iterations < max_iterations))

    step = partial(advance, surface, tolerance=tolerance)
    return lax.while_loop(going, step, Search.at(start)).found()


def draw_points(
    rng_key: RunKey, state: LaplaceState, num_draws: int
) -> Float[Array, "draw D"]:
    """Draw from the normal distribution; consumes ``rng_key``."""
    shape = (num_draws, state.mode.shape[0])
    normal = jax.random.normal(rng_key, shape, dtype=state.mode.dtype)
    return points_of(state, normal)
