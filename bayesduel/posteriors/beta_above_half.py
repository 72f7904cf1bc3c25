"""Beta draws conditioned on being above 1/2, one rejection attempt at a time.

Let theta ~ Beta(alpha, beta) and theta = (1 + sin u) / 2: on this scale the width of
the law hardly depends on where it lies (variance-stabilizing; Fisher information
alpha + beta - 2). With a = alpha - 1/2 and b = beta - 1/2 the log density of u on
(0, pi/2) is, up to a constant, for alpha and beta of at least 1,

    h(u) = a log(1 + sin u) + b log(1 - sin u),

concave with curvature -h''(u) = a / (1 + sin u) + b / (1 - sin u). Let c be the least
curvature on that interval: (sqrt a + sqrt b)^2 / 2 if a > b, otherwise a + b, at 0. Let
p be the point at which h is largest, sin p = (a - b) / (a + b) or p = 0. Then

    h(u) <= h(p) + h'(p) (u - p) - c (u - p)^2 / 2,

so a normal density truncated to (0, pi/2) lies above the target. Proposals come from
its inverse distribution function. Of them 0.88 to 1 are accepted unless a pair is very
lopsided (0.77 at 200 : 2), and never less than 0.7: c is at least half of the curvature
a + b at an inner p.

A parameter below 1 leaves a density of x = 1 - theta on (0, 1/2) that is unbounded or
not log-concave, x^(beta - 1) (1 - x)^(alpha - 1). For alpha < 1 the second factor is
between 1 and 2^(1 - alpha), and the first one, proposed alone, is accepted with 1/2 or
more. For alpha >= 1 > beta and c = alpha - 1 the proposal is x^(beta - 1) up to
x_0 = min(1/c, 1/2) and x_0^(beta - 1) exp(-c x) beyond (Ahrens and Dieter 1974); the
quotients are at most 1 as (1 - x)^c <= exp(-c x), and of the proposals more than 0.6
are accepted.

Offsets sin(u) / 2 are returned, not theta: next to 1/2 a subtraction would lose digits.
"""

import math

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfc, ndtri
from jaxtyping import Bool, Float, Num

from bayesduel.posteriors._rejection import draw_until_accepted
from bayesduel.types import RunKey

UNIFORMS_PER_ATTEMPT = 2
"""Rows of uniforms that :func:`attempt` consumes."""

_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(12))
"""Taylor coefficients of sin(u) / u in u^2; up to pi/2 the next one adds 1e-20."""


def attempt(
    uniforms: Float[Array, "2 ..."],
    first: Num[Array, "..."],
    second: Num[Array, "..."],
) -> tuple[Float[Array, "..."], Bool[Array, "..."]]:
    """Propose offsets above 1/2 and say which are accepted.

    Parameters
    ----------
    uniforms : float64 (2, ...)
        Independent uniforms on [0, 1).
    first, second : int or float64 (...)
        Parameters of the Beta laws. Integers are at least 1, which saves the case of
        smaller ones; others are above 0.

    Returns
    -------
    offset : float64 (...)
        Proposals for theta - 1/2, in (0, 1/2].
    accepted : bool (...)
        An accepted proposal has exactly the conditional law.
    """
    if jnp.issubdtype(first.dtype, jnp.integer):
        return _attempt_by_normal(uniforms, first, second)
    singular = (first < 1.0) | (second < 1.0)
    usual = _attempt_by_normal(
        uniforms, jnp.where(singular, 1.0, first), jnp.where(singular, 1.0, second)
    )
    other = _attempt_by_power(uniforms, first, jnp.where(singular, second, 0.5))
    offset, accepted = (
        jnp.where(singular, *each) for each in zip(other, usual, strict=True)
    )
    return offset, accepted


def _attempt_by_normal(
    uniforms: Float[Array, "2 ..."],
    first: Num[Array, "..."],
    second: Num[Array, "..."],
) -> tuple[Float[Array, "..."], Bool[Array, "..."]]:
    """Propose from the truncated normal law; parameters of at least 1."""
    a, b = first.astype(uniforms.dtype) - 0.5, second.astype(uniforms.dtype) - 0.5
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


def _attempt_by_power(
    uniforms: Float[Array, "2 ..."],
    first: Float[Array, "..."],
    second: Float[Array, "..."],
) -> tuple[Float[Array, "..."], Bool[Array, "..."]]:
    """Propose from powers of x = 1 - theta; one parameter is below 1."""
    slope = first - 1.0
    steep = slope > 2.0
    rate = jnp.where(steep, slope, 2.0)
    border = 1.0 / rate
    # Beyond the border: border^(beta - 1) (exp(-1) - exp(-rate / 2)) / rate; up to it
    # border^beta / beta. In units of border^beta / beta:
    tail = jnp.where(steep, second * (math.exp(-1.0) - jnp.exp(-0.5 * rate)), 0.0)
    place = (1.0 - uniforms[0]) * (1.0 + tail)
    inside = place <= 1.0
    log_share = jnp.log(jnp.minimum(place, 1.0)) / second
    share = jnp.clip((place - 1.0) / jnp.maximum(tail, 1e-300), 0.0, 1.0)
    low, high = math.exp(-1.0), jnp.exp(-0.5 * rate)
    beyond = -jnp.log(low - share * (low - high)) / rate
    x = jnp.clip(jnp.where(inside, border * jnp.exp(log_share), beyond), 0.0, 0.5)
    fall = slope * jnp.log1p(-x)
    ratio = jnp.where(
        inside,
        fall - jnp.where(slope < 0.0, slope * math.log(0.5), 0.0),
        fall + rate * x + (second - 1.0) * jnp.log(jnp.maximum(x / border, 1.0)),
    )
    # Next to 1/2 the difference would have no digits.
    offset = jnp.where(steep, 0.5 - x, -0.5 * jnp.expm1(log_share))
    return offset, (1.0 - uniforms[1] <= jnp.exp(ratio)) & (offset > 0.0)


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
    first: Num[Array, " n"],
    second: Num[Array, " n"],
    needed: Bool[Array, " n"],
) -> Float[Array, " n"]:
    """Draw theta - 1/2 given theta > 1/2 where ``needed``, 0 elsewhere.

    ``first`` and ``second`` are the parameters of the Beta laws. Consumes ``rng_key``.
    """
    return draw_until_accepted(
        rng_key, attempt, UNIFORMS_PER_ATTEMPT, needed, first, second
    )
