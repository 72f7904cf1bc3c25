"""Beta draws conditioned on being above 1/2, one rejection attempt at a time.

With w wins and l losses let theta ~ Beta(w + 1, l + 1) and theta = (1 + sin u) / 2: on
this scale the width of the law hardly depends on where it lies (variance-stabilizing;
Fisher information w + l). With a = w + 1/2 and b = l + 1/2 the log density of u on
(0, pi/2) is, up to a constant,

    h(u) = a log(1 + sin u) + b log(1 - sin u),

concave with curvature -h''(u) = a / (1 + sin u) + b / (1 - sin u). Let c be the least
curvature on that interval: (sqrt a + sqrt b)^2 / 2 if a > b, otherwise a + b, at 0. Let
p be the point at which h is largest, sin p = (a - b) / (a + b) or p = 0. Then

    h(u) <= h(p) + h'(p) (u - p) - c (u - p)^2 / 2,

so a normal density truncated to (0, pi/2) lies above the target. Proposals come from
its inverse distribution function. Of them 0.88 to 1 are accepted unless a pair is very
lopsided (0.77 at 200 : 2), and never less than 0.7: c is at least half of the curvature
a + b at an inner p.

Offsets sin(u) / 2 are returned, not theta: next to 1/2 a subtraction would lose digits.
"""

import math

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfc, ndtri
from jaxtyping import Bool, Float, Int

from bayesduel.posteriors._rejection import draw_until_accepted
from bayesduel.types import RunKey

UNIFORMS_PER_ATTEMPT = 2
"""Rows of uniforms that :func:`attempt` consumes."""

_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(12))
"""Taylor coefficients of sin(u) / u in u^2; up to pi/2 the next one adds 1e-20."""


def attempt(
    uniforms: Float[Array, "2 ..."],
    wins: Int[Array, "..."],
    losses: Int[Array, "..."],
) -> tuple[Float[Array, "..."], Bool[Array, "..."]]:
    """Propose offsets above 1/2 and say which are accepted.

    Parameters
    ----------
    uniforms : float64 (2, ...)
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
    a, b = wins.astype(uniforms.dtype) + 0.5, losses.astype(uniforms.dtype) + 0.5
    ahead = a > b
    total, product = a + b, jnp.sqrt(a * b)
    curvature = jnp.where(ahead, 0.5 * total + product, total)
    peak = jnp.where(ahead, jnp.arctan(0.5 * (a - b) / product), 0.0)
    slope = jnp.where(ahead, 0.0, a - b)

    root = jnp.sqrt(curvature)
    center = peak + slope / curvature
    # Work in the lower tail, where probabilities keep their digits.
    side = jnp.where(center < 0.0, -1.0, 1.0)
    ends = -side * center * root, side * (0.5 * math.pi - center) * root
    low, high = _normal_cdf(jnp.minimum(*ends)), _normal_cdf(jnp.maximum(*ends))
    angle = center + side * ndtri(low + uniforms[0] * (high - low)) / root
    inside = (angle > 0.0) & (angle < 0.5 * math.pi)
    sine = _sine(jnp.clip(angle, 1e-300, 0.5 * math.pi))

    step = angle - peak
    # 1 + sin p = 2a / (a + b) and 1 - sin p = 2b / (a + b) at an inner p.
    up = jnp.log((1.0 + sine) * jnp.where(ahead, 0.5 * total / a, 1.0))
    down = jnp.log((1.0 - sine) * jnp.where(ahead, 0.5 * total / b, 1.0))
    excess = a * up + b * down - slope * step + 0.5 * curvature * step * step
    return 0.5 * sine, inside & (1.0 - uniforms[1] <= jnp.exp(excess))


def _normal_cdf(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return P(N(0, 1) <= x); ``jax.scipy.special.ndtr`` costs four times as much."""
    return 0.5 * erfc(-math.sqrt(0.5) * x)


def _sine(angle: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return sin on [0, pi/2]; XLA's costs ten times as much on a CPU."""
    square = angle * angle
    value = jnp.full_like(angle, _SINE[-1])
    for coefficient in _SINE[-2::-1]:
        value = value * square + coefficient
    return angle * value


def offsets_above_half(
    rng_key: RunKey,
    wins: Int[Array, " n"],
    losses: Int[Array, " n"],
    needed: Bool[Array, " n"],
) -> Float[Array, " n"]:
    """Draw theta - 1/2 given theta > 1/2 where ``needed``, 0 elsewhere.

    Consumes ``rng_key``.
    """
    return draw_until_accepted(
        rng_key, attempt, UNIFORMS_PER_ATTEMPT, needed, wins, losses
    )
