"""Preference matrices of many draws at once, by a model's distribution of a vote."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from bayesduel.models.array_modules import Values, namespace


def pairwise_preferences(model: Any, utility: Values, tie: Values) -> Values:
    """Return P(i beats j in a vote that is no tie) by a model's distribution of a vote.

    The diagonal is 1/2 exactly. Inside a program the arrays are traced ones.
    """
    if namespace(utility) is not np:
        return _preferences(model, utility, jnp.asarray(tie))
    with jax.enable_x64(True):
        return np.array(_preferences(model, jnp.asarray(utility), jnp.asarray(tie)))


@partial(jax.jit, static_argnums=0)
def _preferences(model: Any, utility: Array, tie: Array) -> Array:
    differences = utility[:, :, None] - utility[:, None, :]
    each = jax.vmap(jax.vmap(model.logs_of_rows, in_axes=(0, None)))
    logs = each(differences, tie)
    found = jax.nn.sigmoid(logs[..., 0] - logs[..., 1])
    return jnp.where(np.eye(utility.shape[1], dtype=bool), 0.5, found)
