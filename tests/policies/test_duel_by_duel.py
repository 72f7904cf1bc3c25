"""Rules without chance, duel by duel, against slow twins."""

from functools import cache, partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.policies.driving import duels_round_by_round, play
from tests.policies.forms import is_in_jax
from tests.policies.instances import random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.reference import (
    RMED1,
    RMED2,
    RMED2FH,
    CopelandRMED,
    EfficientCopelandRMED,
    simulate,
)

HORIZON = 3000
INSTANCES = 8
"""Of every number of arms."""

TWINS = {
    "rmed1": RMED1,
    "rmed2": RMED2,
    "rmed2fh": partial(RMED2FH, horizon=HORIZON),
    "cw-rmed": CopelandRMED,
    "ecw-rmed": EfficientCopelandRMED,
}

ARMS = [4, *(pytest.param(each, marks=pytest.mark.slow) for each in (3, 5))]

QUICK = {("cw-rmed", True, 4, 3)}
"""Of the form in JAX, on every third instance, for its twin solves programs for
seconds. The kernels are all compared."""

FORMS = [
    pytest.param(*case, marks=[pytest.mark.slow] * (case not in QUICK))
    for case in (
        *product(filter(is_in_jax, TWINS), (True, False), (3, 4, 5), (1,)),
        ("cw-rmed", True, 4, 3),
    )
]


@cache
def instances(num_arms, every=1):
    """Random matrices and outcomes: total orders, tournaments, strong and weak gaps.

    All of them, or every so many.
    """
    rng = np.random.default_rng([40, num_arms])
    matrices, outcomes = [], []
    for index in range(INSTANCES):
        widest = (0.05, 0.15, 0.3, 0.5)[index % 4]
        gaps = np.triu(rng.uniform(0.01, widest, (num_arms, num_arms)), 1)
        if index >= INSTANCES // 2:
            gaps = gaps * rng.choice([-1, 1], gaps.shape)
        preference = 0.5 + gaps - gaps.T
        order = rng.permutation(num_arms)
        matrices.append(preference[np.ix_(order, order)])
        outcomes.append(random_outcomes(matrices[-1], HORIZON + 2, rng))
    return np.stack(matrices[::every]), np.stack(outcomes[::every])


@cache
def played(policy, num_arms, every=1):
    """Return the events of all instances."""
    with jax.enable_x64(True):
        outcomes = jnp.asarray(instances(num_arms, every)[1])
        keys = jax.random.split(jax.random.key(41), len(outcomes))
        batched = jax.vmap(
            lambda each, key: play(
                policy,
                each,
                key,
                jnp.int64(HORIZON),
                num_events=HORIZON,
            )
        )
        return jax.tree.map(np.asarray, batched(outcomes, keys))


def duels_of(policy, num_arms, **options):
    """Return the list of duels of each instance, one pair per round."""
    result = played(policy, num_arms, **options)
    assert np.all(result.rounds == HORIZON)
    return [
        duels_round_by_round(jax.tree.map(lambda leaf, i=i: leaf[i], result.events))
        for i in range(len(result.rounds))
    ]


@cache
def twin_duels(name, num_arms, every):
    """Return the duels of the twin, and its recommendation, per instance."""
    found = []
    for preference, outcomes in zip(*instances(num_arms, every), strict=True):
        twin = TWINS[name](num_arms, np.random.default_rng(0))
        _, duels = simulate(
            twin,
            preference,
            HORIZON,
            [HORIZON],
            np.random.default_rng(0),
            outcomes,
            return_duels=True,
        )
        found.append((duels, twin.recommend()))
    return found


def first_difference(one, other):
    """Return round and duels of the first disagreement, or None."""
    for index, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b:
            return index + 1, a, b
    return None


def differences(policy, num_arms, every=1):
    """Compare with the twin; return the first disagreement of each instance."""
    twins = [duels for duels, _ in twin_duels(policy.name, num_arms, every)]
    ours = duels_of(policy, num_arms, every=every)
    return [first_difference(a, b) for a, b in zip(ours, twins, strict=True)]


@pytest.mark.parametrize(("name", "look_ahead", "num_arms", "every"), FORMS)
def test_duels_are_those_of_the_twin(name, look_ahead, num_arms, every):
    policy = policies.get(name, look_ahead=look_ahead)
    expected = [arm for _, arm in twin_duels(name, num_arms, every)]
    assert differences(policy, num_arms, every) == [None] * len(expected)
    ours = played(policy, num_arms, every=every)
    assert ours.recommendation.tolist() == expected
    if look_ahead:  # It is not the step form in disguise.
        events = ours.events
        asked = np.count_nonzero(events.exploit_rounds + events.explore_rounds, axis=1)
        assert asked.min() < HORIZON / 2
        assert events.exploit_rounds.max() > 100


KERNELS = {
    "rmed1": {"f_scale": 0.4},
    "rmed2": {"numerator_floor": 0.1},
    "rmed2fh": {"alpha": 2.0},
    "ecw-rmed": {"alpha": 3.3},
}
"""Policies with a kernel, and numbers with which they play other duels."""


@cache
def played_by_kernel(policy, num_arms):
    """Play all instances by the kernel of the policy."""
    kernel = policy.scalar_kernel()
    return [play_kernel(kernel, each, HORIZON) for each in instances(num_arms)[1]]


@pytest.mark.parametrize("look_ahead", [True, False], ids=["look-ahead", "step"])
@pytest.mark.parametrize("num_arms", ARMS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_play_the_duels_of_the_twin(name, num_arms, look_ahead):
    ours = played_by_kernel(policies.get(name, look_ahead=look_ahead), num_arms)
    differences = [
        first_difference(run.duels, duels)
        for run, (duels, _) in zip(ours, twin_duels(name, num_arms, 1), strict=True)
    ]
    assert differences == [None] * INSTANCES
    expected = [arm for _, arm in twin_duels(name, num_arms, 1)]
    assert [run.recommendation for run in ours] == expected
    longest = max(run.longest_stretch for run in ours)
    assert longest > 100 if look_ahead else longest == 0


@pytest.mark.parametrize("name", KERNELS)
def test_other_numbers_of_a_kernel_are_noticed(name):
    """Negative control of the comparison with the twins."""
    ours = played_by_kernel(policies.get(name, **KERNELS[name]), 4)
    twins = [duels for duels, _ in twin_duels(name, 4, 1)]
    found = [first_difference(a.duels, b) for a, b in zip(ours, twins, strict=True)]
    assert sum(each is not None for each in found) >= INSTANCES / 2, found


@pytest.mark.slow
def test_a_stale_program_is_noticed():
    """Negative control: a basis that is kept unproved asks for other duels."""
    lazy = policies.get("cw-rmed", resolve_every=1000)
    found = differences(lazy, 4)
    assert sum(each is not None for each in found) >= INSTANCES / 2, found
