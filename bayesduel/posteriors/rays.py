"""Draws along rays from the mode, whose tails are those of the posterior.

Let U be minus the log posterior and m its minimum. A standard normal z points into the
direction w = L^-T z, and is moved to the share s of the way at which the posterior
holds as much beyond as the normal distribution would. With the fall F(s) = U(m + s w) -
U(m) and R = sqrt(2 F), the draw at which the fall is |z|^2 / 2 would weigh

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
from typing import Protocol

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float

from bayesduel.inference.proposals.ray_weights import log_ray_weight

_STEPS = 3
"""Steps to the right share. They leave a thousandth of the fall where the posterior is
log-concave; of a Student prior without votes 3 %."""

_LONGEST = 1.1
"""By how much the logarithm of a share changes in a step, at most."""

_SURE = 1.03
"""A fall of so many times the one that is wanted is not mistaken for it."""

_FAR = 1e3
"""Shares that no ray reaches in three steps."""

_LEAST_POWER = 0.5
"""Of a convex fall dlog F / dlog s is 1 at least."""


class Falling(Protocol):
    """What is asked of a log density."""

    def fall(
        self, point: Float[Array, " D"], way: Float[Array, " D"], /
    ) -> Callable[[Float[Array, ""]], tuple[Float[Array, ""], Float[Array, ""]]]:
        """Return how far it falls, and how steeply, after a share of a way."""
        ...


def points_on_rays(
    density: Falling,
    mode: Float[Array, " D"],
    normal: Float[Array, "draw D"],
    depth: Float[Array, " draw"],
) -> Float[Array, "draw D"]:
    """Move draws of the normal distribution on their rays from the mode.

    ``normal`` is m + L^-T z, and ``depth`` |z|. The points are finite for any density.
    """
    size = mode.shape[0]

    def moved(point: Array, depth: Array) -> Array:
        way = point - mode
        return mode + _share_of_way(density.fall(mode, way), depth, size) * way

    return jax.vmap(moved)(normal, depth)


def surely_before(
    density: Falling,
    mode: Float[Array, " D"],
    normal: Float[Array, "draw D"],
    depth: Float[Array, " draw"],
    limit: Float[Array, " draw"],
    rounding: Float[Array, ""],
) -> Bool[Array, " draw"]:
    """Say of which draws it is sure that they go less than some share of their ways.

    Up to the solution the fall is below what the equation asks for, and above it
    beyond: one look at the share tells. What Newton's steps and ``rounding``, by which
    a fall may be off, leave open is not sure. Where the ``limit`` is infinite it is. As
    in :func:`points_on_rays`, but in float32.
    """

    def sure(point: Array, depth: Array, limit: Array) -> Array:
        share = jnp.minimum(limit, _FAR)
        fallen, slope = density.fall(mode, point - mode)(share)
        wanted, _ = _wanted_at(share, depth, fallen, slope, mode.shape[0])
        return (limit >= _FAR) | (fallen > _SURE * wanted + rounding)

    return jax.vmap(sure)(normal, depth, limit)


def _share_of_way(
    fall: Callable[[Array], tuple[Array, Array]], depth: Float[Array, ""], size: int
) -> Float[Array, ""]:
    """Return how far to go on a way.

    By Newton's method for log F as a function of log s, which is a line for a normal
    posterior and nearly one where the fall grows in proportion to the distance.
    """

    def nearer(_: int, share: Array) -> Array:
        fallen, slope = fall(share)
        wanted, loss = _wanted_at(share, depth, fallen, slope, size)
        power = jnp.maximum(share * slope / fallen, _LEAST_POWER)
        # Near the mode the weight grows with the root of the fall.
        power = power * (1.0 - 0.5 * loss)
        step = (jnp.log(wanted) - jnp.log(fallen)) / power
        # Beyond what is finite a shorter way is tried, and a longer one while the
        # fall drowns in rounding.
        step = jnp.where(jnp.isnan(step), jnp.where(fallen <= 0, 1.0, -1.0), step)
        return share * jnp.exp(jnp.clip(step, -_LONGEST, _LONGEST))

    return lax.fori_loop(0, _STEPS, nearer, jnp.ones_like(depth))


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
