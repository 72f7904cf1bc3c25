"""Beta draws conditioned on being above 1/2, one rejection attempt at a time.

With w wins and l losses let theta ~ Beta(w + 1, l + 1) and y = theta - 1/2 > 0, so that

    log density(y) = w log(1 + 2y) + l log(1 - 2y) + constant.

* Behind by more than 0.7 standard deviations the density falls from y = 0 on and is
  log-concave: its tangent there, an exponential of rate 2 (l - w), lies above it.
  Acceptance 0.55 at 0.7 standard deviations, 0.96 at 5, for any counts.
* Otherwise theta itself is drawn, as a ratio of two gammas (Marsaglia and Tsang 2000),
  until it exceeds 1/2: acceptance at least 0.24.

Offsets y are returned, not theta: next to 1/2 a subtraction would lose digits.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.types import RunKey

UNIFORMS_PER_ATTEMPT = 4
"""Rows of uniforms that :func:`attempt` consumes."""

_TINY = 1e-300


def attempt(
    uniforms: Float[Array, "4 *shape"],
    wins: Int[Array, "*shape"],
    losses: Int[Array, "*shape"],
) -> tuple[Float[Array, "*shape"], Bool[Array, "*shape"]]:
    """Propose offsets above 1/2 and say which are accepted.

    Parameters
    ----------
    uniforms : float64 (4, ...)
        Independent uniforms on [0, 1).
    wins, losses : int (...)
        Counts of each pair; the prior is Beta(1, 1).

    Returns
    -------
    offset : float64 (...)
        Proposals for theta - 1/2, in (0, 1/2].
    accepted : bool (...)
        An accepted proposal has exactly the conditional law.
    """
    above = wins.astype(uniforms.dtype)
    below = losses.astype(uniforms.dtype)
    exponential = -jnp.log1p(-uniforms[0])
    slope = 2.0 * (below - above)
    far_behind = slope > 1.4 * jnp.sqrt(above + below + 2.0)

    y_tangent = exponential / jnp.maximum(slope, 1.0)
    inside = y_tangent < 0.5
    y_safe = jnp.where(inside, y_tangent, 0.25)
    log_ratio = (
        above * jnp.log1p(2.0 * y_safe)
        + below * jnp.log1p(-2.0 * y_safe)
        + slope * y_safe
    )
    tangent_accepted = inside & (jnp.log1p(-uniforms[1]) <= log_ratio)

    # Two gammas from one Box-Muller pair; shape a = w + 1 has d = a - 1/3.
    radius = jnp.sqrt(2.0 * exponential)
    angle = 2.0 * np.pi * uniforms[1]
    gamma_above, above_accepted = _gamma(above, radius * jnp.cos(angle), uniforms[2])
    gamma_below, below_accepted = _gamma(below, radius * jnp.sin(angle), uniforms[3])
    y_ratio = 0.5 * (gamma_above - gamma_below) / (gamma_above + gamma_below)
    ratio_accepted = above_accepted & below_accepted & (y_ratio > 0.0)

    return (
        jnp.where(far_behind, y_safe, y_ratio),
        jnp.where(far_behind, tangent_accepted, ratio_accepted),
    )


def _gamma(count: Array, normal: Array, uniform: Array) -> tuple[Array, Array]:
    """One Marsaglia-Tsang attempt at Gamma(count + 1)."""
    d = count + 2.0 / 3.0
    cube = (1.0 + normal / jnp.sqrt(9.0 * d)) ** 3
    positive = cube > 0.0
    cube = jnp.maximum(cube, _TINY)
    bound = 0.5 * normal * normal + d * (1.0 - cube + jnp.log(cube))
    return d * cube, positive & (jnp.log1p(-uniform) <= bound)


def offsets_above_half(
    rng_key: RunKey,
    wins: Int[Array, "*shape"],
    losses: Int[Array, "*shape"],
    needed: Bool[Array, "*shape"],
) -> Float[Array, "*shape"]:
    """Draw theta - 1/2 given theta > 1/2 where ``needed``, 0 elsewhere.

    Consumes ``rng_key``. The loop ends when the slowest entry of the slowest lane has
    been accepted, and costs nothing when no entry is needed.
    """

    def pending(carry: tuple[Array, Array, Array]) -> Array:
        return jnp.any(carry[2])

    def retry(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        index, offsets, missing = carry
        uniforms = jax.random.uniform(
            jax.random.fold_in(rng_key, index),
            (UNIFORMS_PER_ATTEMPT * wins.shape[0],),
            dtype=offsets.dtype,
        ).reshape(UNIFORMS_PER_ATTEMPT, -1)
        proposal, accepted = attempt(uniforms, wins, losses)
        accepted = accepted & missing
        return index + 1, jnp.where(accepted, proposal, offsets), missing & ~accepted

    start = (jnp.int32(0), jnp.zeros(wins.shape, dtype=jnp.float64), needed)
    return lax.while_loop(pending, retry, start)[1]
