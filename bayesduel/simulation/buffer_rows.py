"""Writing the results of some lanes into the rows of their runs."""

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Int, Shaped


def write_rows(
    buffer: Shaped[Array, "run ..."],
    values: Shaped[Array, "lane ..."],
    *,
    which: Bool[Array, " lane"],
    index: tuple[Int[Array, " lane"], ...],
) -> Shaped[Array, "run ..."]:
    """Write the rows of some lanes, each at its own leading indices.

    On a CPU one lane after the other: a scatter keeps XLA from compiling the loop
    around it as one function, and each operation of an event is then called.
    """
    if jax.default_backend() == "cpu":
        return _write_in_turn(buffer, values, which, index)
    return _scatter(buffer, values, which, index)


def _write_in_turn(
    buffer: Array, values: Array, which: Array, index: tuple[Array, ...]
) -> Array:
    single = (1,) * len(index)
    rest = (jnp.int32(0),) * (buffer.ndim - len(index))

    def write(lane: Int[Array, ""], buffer: Array) -> Array:
        start = (*(axis[lane] for axis in index), *rest)
        new = values[lane].reshape(single + buffer.shape[len(index) :])
        old = lax.dynamic_slice(buffer, start, new.shape)
        return lax.dynamic_update_slice(buffer, jnp.where(which[lane], new, old), start)

    return lax.fori_loop(0, which.shape[0], write, buffer)


def _scatter(
    buffer: Array, values: Array, which: Array, index: tuple[Array, ...]
) -> Array:
    # What is past the end is dropped.
    row = jnp.where(which, index[0], buffer.shape[0])
    return buffer.at[(row, *index[1:])].set(values, mode="drop")
