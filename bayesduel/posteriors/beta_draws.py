"""Draws from Beta and gamma laws whose parameters are at least 1, many at a time.

A Beta is a quotient of gammas, and a gamma of shape a >= 1 comes from a normal x
(Marsaglia and Tsang 2000): with d = a - 1/3 and v = (1 + x / (3 sqrt d))^3, d v is
accepted with probability exp(x^2 / 2 + d - d v + d log v), which is 0.95 on average at
a = 1 and tends to 1.
"""

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import ndtri
from jaxtyping import Bool, Float

from bayesduel.posteriors._rejection import draw_until_accepted
from bayesduel.types import RunKey

_SMALLEST_UNIFORM = 2.0**-54


def draw_betas(
    rng_key: RunKey, first: Float[Array, "..."], second: Float[Array, "..."]
) -> Float[Array, "..."]:
    """Draw from Beta(first, second), entry by entry.

    Parameters
    ----------
    rng_key : key
        Consumed.
    first, second : float64, equal shapes
        Parameters, at least 1.

    Returns
    -------
    float64
        In (0, 1), of the same shape.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> with jax.enable_x64(True):
    ...     draws = draw_betas(
    ...         jax.random.key(0), jnp.full(999, 3.0), jnp.full(999, 1.0)
    ...     )
    ...     print(round(float(draws.mean()), 1))
    0.8
    """
    one, other = draw_gammas(rng_key, jnp.stack([first, second]))
    return one / (one + other)


def draw_gammas(
    rng_key: RunKey, shapes: Float[Array, "*entries"]
) -> Float[Array, "*entries"]:
    """Draw from gamma laws of scale 1, entry by entry; consumes ``rng_key``.

    Parameters
    ----------
    rng_key : key
        Consumed.
    shapes : float64
        Shape parameters, at least 1.

    Returns
    -------
    float64
        Positive, of the same shape.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> with jax.enable_x64(True):
    ...     draws = draw_gammas(jax.random.key(0), jnp.full(999, 3.0))
    ...     print(round(float(draws.mean())))
    3
    """
    flat = shapes.reshape(-1)
    everywhere = jnp.ones(flat.shape, dtype=bool)
    drawn = draw_until_accepted(rng_key, _attempt, 2, everywhere, flat)
    return drawn.reshape(shapes.shape)


def _attempt(
    uniforms: Float[Array, "2 n"], shape: Float[Array, " n"]
) -> tuple[Float[Array, " n"], Bool[Array, " n"]]:
    """Propose gammas and say which are accepted."""
    normal = ndtri(jnp.maximum(uniforms[0], _SMALLEST_UNIFORM))
    scale = shape - 1.0 / 3.0
    root = 1.0 + normal / (3.0 * jnp.sqrt(scale))
    cube = jnp.maximum(root, 1e-100) ** 3
    rise = 0.5 * normal * normal + scale * (1.0 - cube + jnp.log(cube))
    return scale * cube, (root > 0.0) & (jnp.log1p(-uniforms[1]) <= rise)
