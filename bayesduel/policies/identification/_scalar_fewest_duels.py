"""The kernel of the balanced design: the pair with the fewest duels, ties at random."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel
from bayesduel.policies.scalar_choices import (
    count_win,
    recommend_most_beaten,
    takes_over,
)
from bayesduel.policies.scalar_kernel import ScalarKernel

_PAIR = np.dtype([("wins", np.int64)])

_MOST = 2**62


class FewestDuelsKernel(NamedTuple):
    """The state of one run."""

    pairs: Records


def kernel() -> ScalarKernel:
    """Return the kernel."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> FewestDuelsKernel:
        return FewestDuelsKernel(np.zeros((len(order), len(order)), dtype=_PAIR))

    return ScalarKernel("fewest_duels", initial_state)


@compiled
def choose(state: FewestDuelsKernel, rng: Generator, round_: int) -> Duel:
    """Return one of the pairs that have met least."""
    first, second, fewest, number = 0, 1, _MOST, 0
    for i in range(len(state.pairs)):
        for j in range(i):
            met = state.pairs[i, j].wins + state.pairs[j, i].wins
            if met < fewest:
                fewest, number = met, 0
            if met == fewest:
                number += 1
                if takes_over(rng, number):
                    first, second = i, j
    return Duel(first, 0, first, second, True)


scalar_kernel.implement(
    FewestDuelsKernel, choose=choose, update=count_win, recommend=recommend_most_beaten
)
