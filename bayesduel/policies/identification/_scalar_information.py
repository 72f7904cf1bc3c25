"""The kernel of expected information with a Beta distribution per pair."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Real
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.ops.scalar.digamma import digamma
from bayesduel.policies import scalar_kernel
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.scalar_choices import (
    count_win,
    recommend_most_beaten,
    takes_over,
)
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel
from bayesduel.posteriors.scalar_betas import prior_in_order

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("prior", np.float64),
        ("gain", np.float64),  # [i, j], i < j: what a duel is expected to teach.
    ]
)


class InformationKernel(NamedTuple):
    """The state of one run."""

    pairs: Records
    """K x K of ``_PAIR``."""


def kernel(prior: Real[np.ndarray, "*shape"]) -> ScalarKernel:
    """Return the kernel; the prior is one number or a table."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> InformationKernel:
        pairs = np.zeros((len(order), len(order)), dtype=_PAIR)
        pairs["prior"] = prior_in_order(prior, order)
        return InformationKernel(pairs)

    return ScalarKernel("expected_information", initial_state)


@compiled
def init(state: InformationKernel, rng: Generator) -> None:
    """Find what a first duel of each pair teaches."""
    for i in range(len(state.pairs)):
        for j in range(i + 1, len(state.pairs)):
            _refresh(state.pairs, i, j)


@compiled
def _refresh(pairs: Records, i: int, j: int) -> None:
    """Find H(E[p]) - E[H(p)], p the probability of the pair (i, j), i < j."""
    one = pairs[i, j].wins + pairs[i, j].prior
    other = pairs[j, i].wins + pairs[j, i].prior
    total = one + other
    whole = digamma(total + 1.0) - math.log(total)
    forward = digamma(one + 1.0) - math.log(one)
    backward = digamma(other + 1.0) - math.log(other)
    pairs[i, j].gain = (one * forward + other * backward) / total - whole


@inlined
def choose(state: InformationKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Take the pair that teaches most, at random among equal ones."""
    num_arms, most = len(state.pairs), -math.inf
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            most = max(most, state.pairs[i, j].gain)
    least = most - EQUAL_GAINS * abs(most)
    first, second, number = 0, 1, 0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            if state.pairs[i, j].gain >= least:
                number += 1
                if takes_over(rng, number):
                    first, second = i, j
    return ScalarDuel(first, 0, first, second, True)


@inlined
def update(
    state: InformationKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome."""
    count_win(state, rng, round_, first, second, won)
    _refresh(state.pairs, min(first, second), max(first, second))


scalar_kernel.implement(
    InformationKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend_most_beaten,
)
