"""How runs begin: their keys and the order of their arms, whatever the policy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Int, UInt32

from bayesduel.simulation.compiler_options import HARDLY_OPTIMIZED
from bayesduel.simulation.environment import Environment
from bayesduel.types import RunKey

_INIT = 2**32 - 1
"""What is folded in instead of an event number when a run starts."""

_AT_ONCE = 256
"""Runs whose beginnings are computed together."""


def run_keys(key: RunKey, number: UInt32[Array, ""]) -> tuple[RunKey, RunKey, RunKey]:
    """Return the key of a run by its number, and those of its start.

    These are for the environment and for the policy.
    """
    key_run = jax.random.fold_in(key, number)
    key_environment, key_policy = jax.random.split(jax.random.fold_in(key_run, _INIT))
    return key_run, key_environment, key_policy


def orders_and_words(
    environment: Environment, runs: range, seed: int
) -> tuple[Int[np.ndarray, "run K"], UInt32[np.ndarray, "run W"]]:
    """Return the order of the arms in every run, and the words of its key.

    One program serves all policies, and any number of runs.
    """
    with jax.enable_x64(True):
        traced, key = jax.tree.map(jnp.asarray, environment), jax.random.key(seed)
        numbers = np.arange(_AT_ONCE, dtype=np.uint32)
        blocks = [
            _of_runs(traced, key, numbers + np.uint32(first))
            for first in runs[::_AT_ONCE]
        ]
    orders, words = map(np.concatenate, zip(*blocks, strict=True))
    return orders[: len(runs)], words[: len(runs)]


@partial(jax.jit, compiler_options=HARDLY_OPTIMIZED)
def _of_runs(
    environment: Environment, key: Array, numbers: Array
) -> tuple[Array, Array]:
    def of_run(number: Array) -> tuple[Array, Array]:
        key_run, key_environment, _ = run_keys(key, number)
        return environment.init(key_environment).order, jax.random.key_data(key_run)

    return jax.vmap(of_run)(numbers)
