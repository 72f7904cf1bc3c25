"""JAX's generator of random numbers over lanes, with the lane axis last.

The bits are those of ``jax.random``, which its documentation fixes: the hash
:func:`~bayesduel.ops.threefry.threefry` of the place of a number in its array. On a
CPU, JAX writes the rounds as a loop of five trips, each of which XLA compiles with
loops of its own, and lanes come first. Here the 20 rounds are one expression along the
lanes.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Shaped

from bayesduel.ops.threefry import Word, threefry


@jax.jit
def _hashed(key: tuple[Word, Word], count: tuple[Word, Word]) -> tuple[Word, Word]:
    """Return the hash, computed once: XLA would repeat it for everything that reads it.

    A program of its own, which is traced once for all calls of one shape.
    """
    return lax.optimization_barrier(threefry(key, count))


def rule_of(equation: Any, inputs: Sequence[tuple[Any, bool]]) -> Callable | None:
    """Return the rule for an operation of the generator, or None.

    None for other generators than the default one, and where JAX is asked to count as
    it did before 2025 (``jax_threefry_partitionable``).
    """
    found = _RULES.get(equation.primitive.name)
    if found is None or not jax.config.jax_threefry_partitionable:
        return None
    return found if jax.random.key_impl(inputs[0][0]) == "threefry2x32" else None


def _random_bits(
    equation: Any, inputs: Sequence[tuple[Any, bool]], num_lanes: int
) -> list[Shaped[Array, "..."]]:
    high, low = _hashed_places(*inputs[0], equation.params["shape"])
    width = equation.params["bit_width"]
    if width == 64:
        wide = lax.convert_element_type(high, np.uint64)
        return [wide << np.uint64(32) | lax.convert_element_type(low, np.uint64)]
    return [lax.convert_element_type(high ^ low, np.dtype(f"uint{width}"))]


def _random_split(
    equation: Any, inputs: Sequence[tuple[Any, bool]], num_lanes: int
) -> list[Shaped[Array, "..."]]:
    return [_keys(_hashed_places(*inputs[0], equation.params["shape"]))]


def _random_fold_in(
    equation: Any, inputs: Sequence[tuple[Any, bool]], num_lanes: int
) -> list[Shaped[Array, "..."]]:
    (keys, keys_batched), (data, data_batched) = inputs
    rank = len(equation.outvars[0].aval.shape)
    key = tuple(_fit(word, keys_batched, rank) for word in _words(keys))
    low = _fit(jnp.asarray(data, np.uint32), data_batched, rank)
    return [_keys(_hashed(key, (jnp.zeros_like(low), low)))]


def _hashed_places(
    keys: Any, batched: bool, shape: tuple[int, ...]
) -> tuple[Word, Word]:
    """Return two words per key and place in an array of a shape, lanes last."""
    own = keys.ndim - batched
    words = [
        lax.expand_dims(_fit(word, batched, own), range(own, own + len(shape)))
        for word in _words(keys)
    ]
    low = lax.iota(np.uint32, prod(shape)).reshape(*(1,) * own, *shape, 1)
    return _hashed((words[0], words[1]), (jnp.zeros_like(low), low))


def _words(keys: Any) -> list[Word]:
    data = jax.random.key_data(keys)
    return [data[..., 0], data[..., 1]]


def _keys(words: tuple[Word, Word]) -> Shaped[Array, "..."]:
    return jax.random.wrap_key_data(jnp.stack(words, axis=-1), impl="threefry2x32")


def _fit(word: Word, batched: bool, rank: int) -> Word:
    """Give a word so many axes before that of the lanes."""
    word = word if batched else word[..., None]
    return lax.expand_dims(word, range(rank + 1 - word.ndim))


_RULES = {
    "random_bits": _random_bits,
    "random_fold_in": _random_fold_in,
    "random_split": _random_split,
}
