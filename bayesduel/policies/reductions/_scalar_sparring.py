"""The kernel of Sparring; bounds of UCB machines are kept as share and width.

Every round feeds both machines, so that the number of the pull is that of the round.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.ops.scalar.draws import draw_beta
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_choices import among_largest
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel

_LEFT, _RIGHT = 0, 1

_NOW = np.dtype(
    [
        ("samples", np.int64),  # By Thompson sampling, and not by UCB.
        ("numerator", np.float64),  # Pulls times the square of the width.
        ("prior", np.float64),  # Pseudo-gains and pseudo-losses of each arm.
    ]
)
"""What stands still in a run."""

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

    now: Records
    """One of ``_NOW``."""


def kernel(*, samples: bool, alpha: float, prior: float) -> ScalarKernel:
    """Return the kernel; ``samples`` says that the machines are not UCB."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> SparringKernel:
        state = SparringKernel(
            machines=np.zeros((2, len(order)), dtype=_ARM),
            now=np.zeros(1, dtype=_NOW),
        )
        state.now["samples"], state.now["prior"] = samples, prior
        state.now["numerator"] = 0.5 * (alpha + 2.0)
        # Arms that were never pulled come first.
        state.machines["share"] = np.inf
        return state

    return ScalarKernel("sparring", initial_state)


@inlined
def choose(state: SparringKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Let each machine name an arm."""
    root = math.sqrt(math.log(float(round_)))
    if state.now[0].samples:
        first = _largest_draw(state, rng, _LEFT)
        second = _largest_draw(state, rng, _RIGHT)
    else:
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


@compiled
def _largest_draw(state: SparringKernel, rng: Generator, side: int) -> int:
    """Return the arm with the largest draw; some may be rounded to 1."""
    best, largest, number, prior = 0, -1.0, 0, state.now[0].prior
    for arm in range(state.machines.shape[1]):
        own = state.machines[side, arm]
        draw = draw_beta(rng, prior + own.gains, prior + own.pulls - own.gains)
        largest, number, leads = among_largest(rng, draw, largest, number)
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
    arm.width = math.sqrt(state.now[0].numerator / arm.pulls)


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
