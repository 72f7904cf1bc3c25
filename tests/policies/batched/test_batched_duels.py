"""PCOMP and SCOMP: the duels of the twins under the same outcomes."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.policies.driving import duels_round_by_round, play
from tests.policies.instances import random_outcomes
from tests.reference import simulate
from tests.reference.batched import TWINS

HORIZON = 2000
INSTANCES = 6


@cache
def instances():
    """Random matrices with outcomes: weak and strong gaps, with and without order."""
    rng = np.random.default_rng(50)
    found = []
    for index in range(INSTANCES):
        widest = (0.1, 0.3, 0.5)[index % 3]
        gaps = np.triu(rng.uniform(0.03, widest, (4, 4)), 1)
        if index >= INSTANCES // 2:
            gaps = gaps * rng.choice([-1, 1], gaps.shape)
        preference = 0.5 + gaps - gaps.T
        found.append((preference, random_outcomes(preference, HORIZON + 2, rng)))
    return found


def twin_of(policy, **options):
    chosen = {
        "horizon": HORIZON,
        "num_batches": policy.num_batches,
        "elimination": policy.elimination,
        "overflow": policy.overflow,
    }
    return TWINS[policy.name](4, np.random.default_rng(51), **(chosen | options))


def compare_duels(policy, num_batches):
    """Return, per instance, the rounds and duels of the first difference, or None.

    The arms that get one duel more in a batch cut at the horizon are random: there,
    only the totals per pair are compared.
    """
    found = []
    with jax.enable_x64(True):
        batched = jax.vmap(
            lambda outcomes, key: play(
                policy, outcomes, key, jnp.int64(HORIZON), num_events=300
            )
        )
        keys = jax.random.split(jax.random.key(52), INSTANCES)
        played = batched(jnp.asarray(np.stack([o for _, o in instances()])), keys)
        starts = [
            policy.init(jax.random.split(key, 3)[0], 4, jnp.int64(HORIZON))
            for key in keys
        ]
    played = jax.tree.map(np.asarray, played)
    assert played.rounds.tolist() == [HORIZON] * INSTANCES
    for index, (preference, outcomes) in enumerate(instances()):
        seeds = np.flatnonzero(np.asarray(starts[index].seeds)).tolist()
        options = {} if policy.name == "pcomp" else {"seeds": seeds}
        twin = twin_of(policy, **options)
        _, theirs = simulate(
            twin,
            preference,
            HORIZON,
            [HORIZON],
            np.random.default_rng(0),
            outcomes,
            return_duels=True,
        )
        events = jax.tree.map(lambda leaf, i=index: leaf[i], played.events)
        ours = duels_round_by_round(events)
        cut = HORIZON - len(twin.queue)
        last = [np.zeros((4, 4), dtype=int) for _ in range(2)]
        for table, duels in zip(last, (ours, theirs), strict=True):
            np.add.at(table, tuple(np.array(duels[cut:]).T), 1)
        same = ours[:cut] == theirs[:cut] and np.abs(last[0] - last[1]).max() <= 1
        same &= int(played.state.batches[index]) == twin.batches
        found.append(same)
    return found


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("elimination", "overflow"),
    [
        ("kl", "truncate"),
        pytest.param("hoeffding", "truncate", marks=SLOW),
        pytest.param("kl", "commit", marks=SLOW),
        pytest.param("hoeffding", "commit", marks=SLOW),
    ],
)
def test_duels_of_pcomp_are_those_of_the_twin(elimination, overflow):
    policy = policies.get("pcomp", elimination=elimination, overflow=overflow)
    assert compare_duels(policy, 16) == [True] * INSTANCES


@pytest.mark.parametrize("elimination", ["kl", pytest.param("hoeffding", marks=SLOW)])
def test_duels_of_scomp_are_those_of_the_twin(elimination):
    policy = policies.get("scomp", elimination=elimination)
    assert compare_duels(policy, 16) == [True] * INSTANCES
