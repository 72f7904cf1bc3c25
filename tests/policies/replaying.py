"""Playing a policy with forced outcomes and asking its twin whether it might do so.

Where a rule draws only among equals, its twin says between which pairs. Then every duel
of the fast policy can be checked, although the two draw different numbers.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from tests.policies.driving import play
from tests.policies.instances import random_outcomes

HORIZON = 300
EVENTS = 700
RUNS = 3


@cache
def _program(num_events):
    """Compile for runs side by side; the policy is an argument."""

    def one(policy, outcomes, key, horizon):
        return play(policy, outcomes, key, horizon, num_events=num_events)

    return jax.vmap(one, in_axes=(None, 0, 0, None))


def play_forced(policy, matrices, seed, horizon=HORIZON, num_events=EVENTS):
    """Play one run per matrix; return the results and the outcomes."""
    rng = np.random.default_rng(seed)
    outcomes = np.stack([random_outcomes(each, 1200, rng) for each in matrices])
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), len(matrices))
        program = _program(num_events)
        played = program(policy, jnp.asarray(outcomes), keys, jnp.int64(horizon))
        return jax.tree.map(np.asarray, played), outcomes


def runs_of(played):
    """Split what was played side by side."""
    for index in range(len(played.rounds)):
        yield jax.tree.map(lambda leaf, i=index: leaf[i], played)


def first_impossible_duel(twin, duels, outcomes):
    """Let the twin follow; return round, duel and alternatives of the first stray."""
    seen = np.zeros(outcomes.shape[:2], dtype=int)
    for index, (first, second) in enumerate(duels):
        allowed = twin.admissible()
        if (first, second) not in allowed:
            return index + 1, (first, second), allowed
        low, high = min(first, second), max(first, second)
        low_won = low == high or bool(outcomes[low, high, seen[low, high]])
        twin.update(first, second, low_won == (first == low))
        seen[low, high] += 1
    return None
