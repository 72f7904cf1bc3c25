"""The modules that go with an array: NumPy and SciPy, or the same functions in JAX.

What is written with them runs on NumPy arrays without JAX, which takes longer to import
than most fits take, and on traced arrays inside a program.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from theory._arrays import is_concrete

type Values = Any
"""An array of NumPy or of JAX."""


def namespace(values: Values) -> Any:
    """Return the array-API namespace of an array; NumPy for anything else."""
    if is_concrete(values) or not hasattr(values, "__array_namespace__"):
        return np
    return values.__array_namespace__()


def scipy_module(values: Values, name: str) -> Any:
    """Return ``scipy.linalg`` or ``scipy.special``, or JAX's functions of that name."""
    package = "scipy" if namespace(values) is np else "jax.scipy"
    return import_module(f"{package}.{name}")


def log_sigmoids(values: Values) -> tuple[Values, Values]:
    """Return log(1 / (1 + exp(-x))) and log(1 / (1 + exp(x))), by one exponential."""
    if namespace(values) is not np:
        return _traced_log_sigmoids()(values)
    # Many times as fast as SciPy's, which goes from number to number.
    rest = np.log1p(np.exp(-np.abs(values)))
    return np.minimum(values, 0.0) - rest, np.minimum(-values, 0.0) - rest


@lru_cache(maxsize=1)
def _traced_log_sigmoids() -> Any:
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def logs(values: Values) -> tuple[Values, Values]:
        # log(1 + x) for x from 0 to 1 is 2 artanh(x / (2 + x)), by its series: XLA
        # vectorizes that, but no logarithm.
        small = jnp.exp(-jnp.abs(values))
        share = small / (2.0 + small)
        square = share * share
        total = 0.0 * square + 1.0 / _SERIES[0]
        for odd in _SERIES[1:]:
            total = total * square + 1.0 / odd
        rest = 2.0 * share * total
        return jnp.minimum(values, 0.0) - rest, jnp.minimum(-values, 0.0) - rest

    @logs.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (values,), (tangent,) = primals, tangents
        slopes = sigmoid(-values) * tangent, -sigmoid(values) * tangent
        return logs(values), slopes

    return logs


# Terms of artanh; the rest is below 1e-17 if x / (2 + x) is at most 1 / 3.
_SERIES = range(31, 0, -2)


def sigmoid(values: Values) -> Values:
    """Return 1 / (1 + exp(-x)), accurate where it is small."""
    return scipy_module(values, "special").expit(values)


def sigmoids(values: Values) -> tuple[Values, Values]:
    """Return 1 / (1 + exp(-x)) and 1 / (1 + exp(x)), by one exponential."""
    xp = namespace(values)
    small = xp.exp(-abs(values))
    large = 1.0 / (1.0 + small)
    small = small * large
    return xp.where(values > 0, large, small), xp.where(values > 0, small, large)


def row_sum(values: Values) -> Values:
    """Return the sum of rows (row,) of which each is worked out on the way."""
    # As a product with ones: XLA works out several rows at a time for it.
    xp = namespace(values)
    return xp.sum(values) if xp is np else values @ xp.ones_like(values)


def log_softmax(values: Values) -> Values:
    """Return x - log(sum of exp(x)) along the first axis."""
    if namespace(values) is not np:
        from jax import nn

        return nn.log_softmax(values, axis=0)
    shifted = values - np.max(values, axis=0)
    return shifted - np.log(np.sum(np.exp(shifted), axis=0))


def cholesky(matrix: Values) -> Values:
    """Return the lower Cholesky factor; all nan where there is none."""
    xp = namespace(matrix)
    if xp is not np:
        return xp.linalg.cholesky(matrix)
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


def sums_at(index: Values, values: Values, size: int) -> Values:
    """Return the sum of the values at each index from 0 to ``size - 1``."""
    xp = namespace(values)
    if xp is np and is_concrete(index):
        return np.bincount(index, weights=values, minlength=size)
    return xp.zeros(size, dtype=values.dtype).at[index].add(values)


def covariate_units(covariates: Values) -> Values:
    """Return the standard deviation over arms of each covariate, 1 for a constant."""
    xp = namespace(covariates)
    mean = xp.mean(covariates, axis=0, keepdims=True)
    spread = xp.sqrt(xp.mean(xp.square(covariates - mean), axis=0))
    # Rounding may leave a remainder of a constant.
    size = xp.max(xp.abs(covariates), axis=0)
    return xp.where(spread > 1e-12 * size, spread, 1.0)
