"""Classes whose numbers may change without a new program."""

from dataclasses import dataclass, fields
from typing import Any, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Shaped


@dataclass_transform(frozen_default=True)
def frozen_pytree[T: type](cls: T) -> T:
    """Turn a class into a frozen dataclass and a JAX pytree.

    Fields are leaves, or subtrees; those marked ``metadata={"static": True}`` change
    the program.

    Examples
    --------
    >>> import jax
    >>> @frozen_pytree
    ... class Bounds:
    ...     alpha: float = 0.5
    >>> jax.tree.leaves(Bounds())
    [0.5]
    """
    cls = dataclass(frozen=True)(cls)
    static = [field.name for field in fields(cls) if field.metadata.get("static")]
    data = [field.name for field in fields(cls) if field.name not in static]
    return jax.tree_util.register_dataclass(cls, data, static)


def as_leaf(value: Any) -> Shaped[Array, "..."]:
    """Give a hyperparameter one dtype, whatever Python number it came as.

    Examples
    --------
    >>> with jax.enable_x64(True):
    ...     as_leaf(0.5).dtype.name, as_leaf(3).dtype.name
    ('float64', 'int64')
    """
    value = np.asarray(value)
    return jnp.asarray(value, dtype=np.int64 if value.dtype.kind == "i" else np.float64)
