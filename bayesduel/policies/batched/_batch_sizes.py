"""The sizes of batches in compiled code: floor(T^(r/B)), without rounding.

``theory.batch_sizes`` finds them in integers of any length. Horizon, batch and number
of batches are traced here, so that a sweep shares one program; what replaces the long
integers is powers with 96 leading bits.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float, Int, UInt64

from bayesduel.types import RoundCount

_LIMB = 32
_LOW = 2**_LIMB - 1

_NEAR = 2.0**-20
"""c^B is at least as close to T^r, relatively, where c has the 46 bits that T^(r/B) has
in float64 and is still not the nearest integer."""


class Scaled(NamedTuple):
    """A positive number: 96 leading bits, rounded down, times a power of 2."""

    high: UInt64[Array, ""]
    middle: UInt64[Array, ""]
    low: UInt64[Array, ""]
    """32 bits each, as uint64; the first bit of ``high`` is 1."""

    exponent: Int[Array, ""]


def batch_size(
    horizon: RoundCount, level: Int[Array, ""], num_batches: Int[Array, ""] | int
) -> RoundCount:
    """Compute floor(T^(r/B)) for r from 1 to B; T from there on.

    The number of ``theory.batch_sizes``, unless c^B and T^r agree in their first 26
    digits for an integer c and still differ. Powers come so close to integers so rarely
    that this is to be expected of no horizon below 10^13, and never where r divides B.

    Parameters
    ----------
    horizon : int64
        T, from 1 to 2^62.
    level : int32
        r >= 1.
    num_batches : int64
        B, from 1 to T and 2^20.

    Returns
    -------
    int64
    """
    batches = jnp.asarray(num_batches).astype(jnp.int64)
    level = jnp.minimum(level.astype(jnp.int64), batches)
    share = level.astype(jnp.float64) / batches.astype(jnp.float64)
    size = jnp.round(horizon.astype(jnp.float64) ** share).astype(jnp.int64)
    size = jnp.clip(size, 1, horizon)
    goal = _power(horizon, level)
    # Where the nearest integer needs more bits than a float64 has, one step of Newton's
    # method finds them. Elsewhere it is known, and may be far away for a power.
    ahead = _relative_excess(_power(size, batches), goal)
    step = size.astype(jnp.float64) * ahead / batches.astype(jnp.float64)
    step = jnp.where(jnp.abs(ahead) < _NEAR, jnp.round(step), 0.0)
    size = jnp.clip(size - step.astype(jnp.int64), 1, horizon)
    ahead = _relative_excess(_power(size, batches), goal)
    # Rounding down makes a power too small by less than this.
    rounding = batches.astype(jnp.float64) * 2.0**-92
    size = jnp.where(ahead > rounding, size - 1, size)
    return jnp.where(level == batches, horizon, jnp.maximum(size, 1))


def _power(base: RoundCount, exponent: Int[Array, ""]) -> Scaled:
    """Multiply bit by bit of the exponent, from the first one on."""
    factor = _scaled(base)

    def step(loop: tuple[Int[Array, ""], Scaled]) -> tuple[Int[Array, ""], Scaled]:
        bit, power = loop
        power = _product(power, power)
        more = _product(power, factor)
        odd = (exponent >> (bit - 1)) & 1 == 1
        power = Scaled(
            *(jnp.where(odd, a, b) for a, b in zip(more, power, strict=True))
        )
        return bit - 1, power

    bits = 63 - lax.clz(exponent)
    return lax.while_loop(lambda loop: loop[0] > 0, step, (bits, factor))[1]


def _scaled(number: RoundCount) -> Scaled:
    shift = lax.clz(number)
    bits = (number << shift).astype(jnp.uint64)
    return Scaled(bits >> _LIMB, bits & _LOW, jnp.zeros_like(bits), -32 - shift)


def _product(one: Scaled, other: Scaled) -> Scaled:
    """Multiply, with the lower 96 of 192 bits cut off."""
    a, b = one[:3], other[:3]
    # Columns of 32 bits from the last but one on; the last cannot carry into the first.
    carry = jnp.uint64(0)
    columns = []
    for place in range(5):
        pairs = [a[2 - i] * b[2 - (place - i)] for i in range(3) if 0 <= place - i <= 2]
        total = carry
        carry = jnp.uint64(0)
        for pair in pairs:
            total = total + (pair & _LOW)
            carry = carry + (pair >> _LIMB)
        carry = carry + (total >> _LIMB)
        columns.append(total & _LOW)
    high, middle, low, below = carry, columns[4], columns[3], columns[2]
    # The product of two numbers of 96 bits has 191 or 192.
    short = high < 2**31
    high, middle, low = (
        jnp.where(short, ((x << 1) & _LOW) | (y >> 31), x)
        for x, y in ((high, middle), (middle, low), (low, below))
    )
    exponent = one.exponent + other.exponent + jnp.where(short, 95, 96)
    return Scaled(high, middle, low, exponent)


def _relative_excess(one: Scaled, other: Scaled) -> Float[Array, ""]:
    """Compute one / other - 1 for numbers that are close."""
    apart = jnp.clip(one.exponent - other.exponent, -2, 2)
    left, right = jnp.maximum(apart, 0), jnp.maximum(-apart, 0)
    difference = jnp.float64(0)
    size = jnp.float64(0)
    for place in range(3):
        mine = (one[place] << left.astype(jnp.uint64)).astype(jnp.int64)
        yours = (other[place] << right.astype(jnp.uint64)).astype(jnp.int64)
        weight = 2.0 ** (-_LIMB * place)
        # From the leading bits on, so that what cancels has cancelled exactly.
        difference = difference + (mine - yours).astype(jnp.float64) * weight
        size = size + yours.astype(jnp.float64) * weight
    return difference / size
