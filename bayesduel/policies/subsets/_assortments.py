"""Sets that earn the most under multinomial logit."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float

from bayesduel.policies.subsets._in_jax import ranks


class _Search(NamedTuple):
    revenue: Float[Array, ""]
    subset: Bool[Array, " n"]
    begins: Bool[Array, ""]
    going: Bool[Array, ""]


def best_assortment(
    weights: Float[Array, " n"],
    revenues: Float[Array, " n"],
    uniforms: Float[Array, " n"],
    size: int,
) -> Bool[Array, " n"]:
    """Return the set of at most ``size`` arms with the largest expected revenue.

    The revenue of a set is sum r_i v_i / (1 + sum v_i). A revenue z can be reached
    exactly if the largest positive v_i (r_i - z) add up to z or more; z is replaced
    with the revenue of the set that these arms form until it no longer grows, which is
    exact (Dinkelbach 1967). With equal revenues: the ``size`` largest weights.

    Arms with an infinite weight come first; if there are some, the others follow by
    v_i r_i. Ties go to the larger of ``uniforms``.

    Parameters
    ----------
    weights, revenues, uniforms : float64 (n,)
        v_i >= 0 and r_i >= 0.
    size : int
        Most arms of a set.
    """
    known = jnp.isfinite(weights)
    finite = jnp.where(known, weights, 0.0)

    def suggested(revenue: Float[Array, ""]) -> Bool[Array, " n"]:
        gain = jnp.where(known, finite * (revenues - revenue), jnp.inf)
        place = ranks(gain, uniforms)
        return (place < size) & ((gain > 0.0) | (place == 0))

    def advance(search: _Search) -> _Search:
        subset = suggested(search.revenue)
        chosen = jnp.where(subset, finite, 0.0)
        value = jnp.sum(chosen * revenues) / (1.0 + jnp.sum(chosen))
        grows = value > search.revenue * (1.0 + 1e-12)
        return _Search(
            revenue=jnp.where(grows, value, search.revenue),
            # The first set counts even if it earns nothing.
            subset=jnp.where(grows | search.begins, subset, search.subset),
            begins=jnp.bool_(False),
            going=grows & jnp.all(known) & (size > 0),
        )

    start = _Search(
        revenue=jnp.float64(0.0),
        subset=jnp.zeros(weights.shape, dtype=bool),
        begins=jnp.bool_(True),
        going=jnp.bool_(True),
    )
    return lax.while_loop(lambda search: search.going, advance, start).subset
