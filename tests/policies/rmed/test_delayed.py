"""The RMED family told late: duel by duel against twins, and what must not happen."""

from functools import cache, partial

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies import DelayedFeedback
from tests.policies.driving import simulate_runs
from tests.policies.instances import random_matrices, random_outcomes
from tests.policies.kernel_driving import play_policy
from tests.policies.replaying import first_difference
from tests.reference import duels_of
from tests.reference import matrices as published
from tests.reference.delayed_rmed import (
    DelayedCopelandRMED,
    DelayedEfficientCopelandRMED,
    DelayedRMED1,
    DelayedRMED2,
    DelayedRMED2FH,
)

HORIZON = 1500
INSTANCES = 6

CERTAIN = [[0.5, 1, 1, 0.8], [0, 0.5, 1, 0], [0, 0, 0.5, 0.6], [0.2, 1, 0.4, 0.5]]

TWINS = {
    "rmed1": DelayedRMED1,
    "rmed2": DelayedRMED2,
    "rmed2fh": partial(DelayedRMED2FH, horizon=HORIZON),
    "cw-rmed": DelayedCopelandRMED,
    "ecw-rmed": DelayedEfficientCopelandRMED,
}


@cache
def instances():
    """Outcomes of random matrices of four arms: total orders and tournaments.

    And one with preferences of 0 and 1, where lists often end with nothing admitted.
    """
    rng = np.random.default_rng(50)
    matrices = random_matrices(rng, INSTANCES - 1, 4, (0.08, 0.2, 0.5))
    matrices.append(np.array(CERTAIN))
    return [random_outcomes(matrix, HORIZON + 2, rng) for matrix in matrices]


def duels_of_policy(policy):
    """Return the list of duels of each instance, and what was recommended."""
    runs = [play_policy(policy, instance, HORIZON) for instance in instances()]
    return [run.duels for run in runs], [run.recommendation for run in runs]


@cache
def twin_duels(name, every):
    """Return the same of the twin."""
    results = []
    for outcomes in instances():
        twin = TWINS[name](4, np.random.default_rng(0), every=every)
        results.append((duels_of(twin, outcomes, HORIZON), twin.recommend()))
    duels, best = zip(*results, strict=True)
    return list(duels), list(best)


def first_differences(ours, theirs):
    """Return round and duels of the first disagreement of each instance, or None."""
    return list(map(first_difference, ours, theirs))


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("rmed1", 40),
        ("ecw-rmed", 40),
        # 7 cuts the initial sweep and most passes, 400 is more than many of them.
        *(slow(name, every) for name in ("rmed1", "ecw-rmed") for every in (7, 400)),
        *(slow(name, 40) for name in ("rmed2", "rmed2fh", "cw-rmed")),
    ],
)
def test_late_duels_are_those_of_the_late_twin(name, every):
    policy = DelayedFeedback(policies.get(name), every)
    duels, best = duels_of_policy(policy)
    theirs, their_best = twin_duels(name, every)
    assert first_differences(duels, theirs) == [None] * INSTANCES
    assert best == their_best


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ecw-rmed", "rmed2"])
def test_no_pair_fills_a_block(name):
    """Told every 500 rounds: a rare pair is drawn until it is not rare any more.

    And where outcomes asked for a single pair, their winner meets itself in between.
    """
    matrix, every = np.array(published.ARITHMETIC), 500
    policy = DelayedFeedback(policies.get(name), every)
    records = simulate_runs(
        policy,
        matrix,
        runs=range(4),
        checkpoints=(every, 2 * every, 3 * every, 4 * every),
    )
    pairs = np.triu_indices(len(matrix), 1)
    blocks = np.diff(records.ledger["plays"], axis=1, prepend=0)[:, :, *pairs]
    assert blocks.max() <= every / 2
    # Nothing is known before the first block is over.
    first = blocks[:, 0]
    assert first.min() >= 1
    if name != "rmed2":  # Its list has arms: all meet the one that it takes for best.
        assert first.max() <= first.min() + 1


def test_a_pair_near_one_half_is_drawn_out_of_turn_once_until_it_is_told():
    """Arms 0 and 1 tie, so their estimate is close to 1/2 in block after block."""
    matrix = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.9], [0.1, 0.1, 0.5]])
    every = 500
    policy = DelayedFeedback(policies.get("ecw-rmed", beta=0.4), every)
    outcomes = random_outcomes(matrix, HORIZON + 2, np.random.default_rng(52))
    duels = play_policy(policy, outcomes, HORIZON).duels
    for begin in range(every, HORIZON, every):
        # The margin 0.4 / log log t is about 0.2: only this pair is that close.
        assert duels[begin] == (0, 1)
        assert duels[begin + 1 : begin + every].count((0, 1)) <= every / 2
