"""Ordinary bandit algorithms ("machines") that the reductions build upon.

Ailon, Karnin and Joachims (2014) turn a dueling bandit into one or several ordinary
ones. A machine advances (names an arm) and is fed a reward of 0 or 1 for that arm.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import mark_largest
from bayesduel.ops.sampling import choose_among
from bayesduel.types import Arm, RoundCount, RunKey


class Machine(NamedTuple):
    """What a machine has seen of each arm."""

    pulls: Int[Array, " K"]
    gains: Int[Array, " K"]


def fresh_machine(num_arms: int) -> Machine:
    """Return a machine that has seen nothing."""
    nothing = jnp.zeros(num_arms, dtype=jnp.int32)
    return Machine(pulls=nothing, gains=nothing)


def advance_ucb(
    uniform: Float[Array, ""], machine: Machine, alpha: Float[Array, ""] | float
) -> Arm:
    """Return the arm with the largest gain + sqrt((alpha + 2) log s / (2 pulls)).

    ``s`` is the number of the pull about to be made, from 1; natural logarithm. Arms
    that were never pulled come first. ``uniform`` breaks ties at random (Ailon et al.
    2014, Algorithm 4).
    """
    unpulled = machine.pulls == 0
    pulls = jnp.maximum(machine.pulls, 1).astype(jnp.float64)
    pull = jnp.sum(machine.pulls, dtype=jnp.int32) + 1
    log_pull = jnp.log(pull.astype(jnp.float64))
    width = jnp.sqrt(0.5 * (alpha + 2.0) * log_pull / pulls)
    means = machine.gains.astype(jnp.float64) / pulls
    index = jnp.where(unpulled, jnp.inf, means + width)
    return choose_among(uniform, mark_largest(index))


def feed(machine: Machine, arm: Arm, pulls: RoundCount, gains: RoundCount) -> Machine:
    """Count ``pulls`` rewards of an arm, ``gains`` of which were 1."""
    here = jnp.arange(machine.pulls.shape[0], dtype=jnp.int32) == arm
    return Machine(
        pulls=machine.pulls + jnp.where(here, pulls, 0).astype(jnp.int32),
        gains=machine.gains + jnp.where(here, gains, 0).astype(jnp.int32),
    )


def most_pulled(rng_key: RunKey, pulls: Int[Array, " K"]) -> Arm:
    """Return the arm with the most pulls; ties at random."""
    uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
    return choose_among(uniform, pulls == jnp.max(pulls))
