"""Votes for posteriors inside policies, and the same votes for a fit."""

from functools import partial

import jax
import numpy as np

from bayesduel.inference import fit
from bayesduel.types import Outcome
from bayesduel.votes import Comparisons
from tests.compiling import quick_jit


def table(entries, num_arms=4):
    """Return a square table with some entries."""
    result = np.zeros((num_arms, num_arms), dtype=np.int64)
    for index, value in entries.items():
        result[index] = value
    return result


CASES = {
    "none": (table({}), table({})),
    "lopsided": (
        table({(0, 1): 40, (1, 0): 3, (1, 2): 1, (2, 3): 1, (3, 0): 7}),
        table({(0, 1): 2, (1, 0): 30, (0, 2): 1, (2, 3): 2, (3, 2): 9}),
    ),
    "never lost": (
        table({(0, 1): 25, (0, 2): 4, (0, 3): 12, (1, 2): 2, (2, 1): 3}),
        table({(1, 0): 17, (3, 0): 8, (1, 3): 2, (3, 2): 1}),
    ),
}
"""Votes for the arm of the row, shown first, and for that of the column."""


@partial(quick_jit, static_argnums=2)
def init(posterior, key, num_arms):
    return posterior.init(key, num_arms)


@quick_jit
def update(posterior, key, state, first, second, votes):
    return posterior.update(key, state, first, second, votes)


@partial(quick_jit, static_argnums=3)
def sample(posterior, key, state, num_draws):
    return posterior.sample(key, state, num_draws)


@quick_jit
def mean(posterior, state):
    return posterior.mean(state)


def after_votes(posterior, won, lost, at_once=2, settle=0):
    """Tell a posterior all votes, a few at a time; return its state.

    After that, ``settle`` rounds bring no vote.
    """
    blocks = [
        (i, j, number, number * wins)
        for counts, wins in ((won, 1), (lost, 0))
        for i, j in np.argwhere(counts)
        for number in np.diff([*range(0, counts[i, j], at_once), counts[i, j]])
    ]
    with jax.enable_x64(True):
        key = jax.random.key(0)
        state = init(posterior, key, len(won))
        for i, j, *numbers in [*blocks, *[(0, 0, 0, 0)] * settle]:
            votes = Outcome(np.int64(0), *map(np.int64, numbers))
            key, key_update = jax.random.split(key)
            pair = np.int32(i), np.int32(j)
            state = update(posterior, key_update, state, *pair, votes)
        return jax.tree.map(np.asarray, state)


def comparisons(won, lost, **fields):
    """Return the same votes as data."""
    first, second = np.nonzero(~np.eye(len(won), dtype=bool))
    counts = [won[first, second], lost[first, second], np.zeros(len(first))]
    return Comparisons(
        tuple(str(arm) for arm in range(len(won))), first, second,
        np.stack(counts, axis=1).astype(np.float64), order_known=True, **fields,
    )  # fmt: skip


def normal_of_fit(model, data):
    """Return mode and factor that a fit to data finds by Laplace's method."""
    posterior = fit(model, data, method="laplace", num_draws=4, resample=False)
    return posterior.extras["laplace"]
