"""The kernel of random pairs: ``random_pairs`` one run at a time."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, inlined
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_choices import count_win, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel

_PAIR = np.dtype([("wins", np.int64)])


class RandomPairsKernel(NamedTuple):
    """The state of one run."""

    pairs: Records
    distinct: Int[np.ndarray, " 1"]


def kernel(*, distinct: bool) -> ScalarKernel:
    """Return the kernel."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> RandomPairsKernel:
        pairs = np.zeros((len(order), len(order)), dtype=_PAIR)
        return RandomPairsKernel(pairs, np.full(1, distinct, dtype=np.int64))

    return ScalarKernel("random_pairs", initial_state)


@inlined
def choose(state: RandomPairsKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Draw a pair."""
    num_arms = len(state.pairs)
    first = choose_index(rng, num_arms)
    if state.distinct[0]:
        second = (first + 1 + choose_index(rng, num_arms - 1)) % num_arms
    else:
        second = choose_index(rng, num_arms)
    return ScalarDuel(first, 0, first, second, True)


scalar_kernel.implement(
    RandomPairsKernel, choose=choose, update=count_win, recommend=recommend_most_beaten
)
