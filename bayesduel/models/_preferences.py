"""Preference matrices of many draws at once, by a model's law of a vote."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float


def pairwise_preferences(
    model: Any, utility: Float[np.ndarray, "draw K"], tie: Float[np.ndarray, " draw"]
) -> Float[np.ndarray, "draw K K"]:
    """Return P(i beats j in a vote that is no tie) by a model's law of a vote."""
    with jax.enable_x64(True):
        return np.array(_preferences(model, jnp.asarray(utility), jnp.asarray(tie)))


@partial(jax.jit, static_argnums=0)
def _preferences(model: Any, utility: Array, tie: Array) -> Array:
    differences = utility[:, :, None] - utility[:, None, :]
    each = jax.vmap(jax.vmap(model.logs_of_rows, in_axes=(0, None)))
    logs = each(differences, tie)
    return jax.nn.sigmoid(logs[..., 0] - logs[..., 1])
