"""The kernel of Sparring between two UCB machines; bounds are kept as share and width.

Every round feeds both machines, so that the number of the pull is that of the round.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, inlined
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_choices import among_largest
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel

_LEFT, _RIGHT = 0, 1

_ARM = np.dtype(
    [
        ("pulls", np.int64),
        ("gains", np.int64),
        # Its index before pull s is share + width * sqrt(log s).
        ("share", np.float64),
        ("width", np.float64),
    ]
)


class SparringKernel(NamedTuple):
    """The state of one run."""

    machines: Records
    """2 x K of ``_ARM``."""

    numerator: np.ndarray
    """One number: pulls times the square of the width."""


def kernel(*, alpha: float) -> ScalarKernel:
    """Return the kernel."""

    def of_run(order: Int[np.ndarray, " K"], horizon: int) -> SparringKernel:
        state = SparringKernel(
            machines=np.zeros((2, len(order)), dtype=_ARM),
            numerator=np.full(1, 0.5 * (alpha + 2.0)),
        )
        # Arms that were never pulled come first.
        state.machines["share"] = np.inf
        return state

    return ScalarKernel("sparring", of_run)


@inlined
def choose(state: SparringKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Let each machine name an arm."""
    root = math.sqrt(math.log(float(round_)))
    first = _largest_index(state.machines[_LEFT], rng, root)
    second = _largest_index(state.machines[_RIGHT], rng, root)
    return ScalarDuel(first, 0, first, second, True)


@inlined
def _largest_index(arms: Records, rng: Generator, root: float) -> int:
    """Return the arm that a machine names; ties at random."""
    best, largest, number = 0, -1.0, 0
    for arm in range(arms.size):
        index = arms[arm].share + arms[arm].width * root
        largest, number, leads = among_largest(rng, index, largest, number)
        if leads:
            best = arm
    return best


@inlined
def update(
    state: SparringKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Feed both machines; of a self-duel toss the coin."""
    if first == second:
        won = rng.random() < 0.5
    _feed(state, state.machines[_LEFT, first], won)
    _feed(state, state.machines[_RIGHT, second], not won)


@inlined
def reads_self_duels(state: SparringKernel) -> bool:
    """Say that each machine learns from every round."""
    return True


@inlined
def _feed(state: SparringKernel, arm: Records, gain: bool) -> None:
    arm.pulls += 1
    arm.gains += gain
    arm.share = arm.gains / arm.pulls
    arm.width = math.sqrt(state.numerator[0] / arm.pulls)


@inlined
def recommend(state: SparringKernel, rng: Generator) -> int:
    """Return the arm with the most pulls over both machines; ties at random."""
    best, most, number = 0, -1, 0
    for arm in range(state.machines.shape[1]):
        pulls = state.machines[_LEFT, arm].pulls + state.machines[_RIGHT, arm].pulls
        most, number, leads = among_largest(rng, pulls, most, number)
        if leads:
            best = arm
    return best


scalar_kernel.implement(
    SparringKernel,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
)
