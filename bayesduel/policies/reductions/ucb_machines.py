"""An ordinary bandit algorithm (UCB, "machine") that reductions build upon.

Ailon, Karnin and Joachims (2014) turn a dueling bandit into one or several ordinary
ones. A machine advances (names an arm) and is fed a reward of 0 or 1 for that arm.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.rules import among_largest


class UCBState(NamedTuple):
    """Plays and wins of each arm in a machine."""

    pulls: Int[np.ndarray, " K"]
    gains: Int[np.ndarray, " K"]


def new_ucb_state(num_arms: int) -> UCBState:
    """Return a machine that has seen nothing."""
    nothing = np.zeros(num_arms, dtype=np.int64)
    return UCBState(pulls=nothing, gains=nothing.copy())


def advance(rng: Generator, machine: UCBState, alpha: float) -> int:
    """Return the arm with the largest gain + sqrt((alpha + 2) log s / (2 pulls))."""
    # ``s``: the number of the pull to be made. Arms that were never pulled come first,
    # ties at random (Ailon et al. 2014, Algorithm 4).
    pull = 1
    for pulls in machine.pulls:
        pull += pulls
    numerator = 0.5 * (alpha + 2.0) * math.log(pull)
    best, largest, number = 0, -1.0, 0
    for arm in range(len(machine.pulls)):
        pulls, index = machine.pulls[arm], np.inf
        if pulls > 0:
            index = machine.gains[arm] / pulls + math.sqrt(numerator / pulls)
        largest, number, leads = among_largest(rng, index, largest, number)
        if leads:
            best = arm
    return best


def feed(machine: UCBState, arm: int, gain: bool) -> None:
    """Count a reward."""
    machine.pulls[arm] += 1
    machine.gains[arm] += gain
