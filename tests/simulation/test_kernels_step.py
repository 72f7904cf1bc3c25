"""Kernels round by round against kernels that jump over idle rounds.

Rules that draw nothing in the rounds that they jump over play the same duels in both
forms, run by run: the generator is asked for the same numbers in the same order. CCB
draws the length of a stretch, so its forms agree in distribution; round by round that
is held in the tests of its policy.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.simulation.driver import EVENT_LIMIT
from bayesduel.simulation.rule_runs import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.distributions import disagreements
from tests.policies.instances import CYCLIC, MATRICES
from tests.reference import CopelandConfidenceBound, plays_of_twins

SAME_DUELS = (
    "rucb", "rmed1", "rmed2", "rmed2fh", "ecw-rmed", "cw-rmed",
    "beat-the-mean:gamma=1,tight=true",
    "beat-the-mean:gamma=1,tight=true,self_duels=false", "savage", "savage-copeland",
    "savage-copeland:strict=false",
)  # fmt: skip
"""Rules whose forms agree duel by duel."""


def ordered(num_arms, probability):
    """Return a matrix in which every arm beats all later ones with this probability."""
    matrix = np.full((num_arms, num_arms), probability)
    matrix[np.tril_indices(num_arms, -1)] = 1.0 - probability
    np.fill_diagonal(matrix, 0.5)
    return matrix


def even_but_for_one(num_arms, probability):
    """Return a matrix of ties, but for one arm that beats all others."""
    matrix = np.full((num_arms, num_arms), 0.5)
    matrix[0, 1:], matrix[1:, 0] = probability, 1.0 - probability
    return matrix


WORLDS = {
    "two equal arms": ordered(2, 0.5),
    "ties": even_but_for_one(4, 0.8),
    "sure": ordered(3, 1.0),
    "cyclic": CYCLIC,
    "nine arms": ordered(9, 0.85),
}

HORIZONS = 41, 900
"""The first is within a stretch where there are few arms."""


def play(text, look_ahead, matrix, horizon, *, runs=1, seed=11, votes=None, grid=None):
    """Play runs by the kernel, by default with a checkpoint at every round."""
    policy = replace(policies.parse_policy(text), look_ahead=look_ahead)
    return run_chunk(
        PairwiseEnvironment(matrix),
        policy.scalar_kernel(),
        runs=range(runs),
        checkpoints=np.arange(1, horizon + 1) if grid is None else np.array(grid),
        seed=seed,
        event_limit=EVENT_LIMIT,
        segment_seconds=1.0,
        votes=votes,
    )


def assert_same_duels(text, matrix, horizon, **options):
    """Compare every round of the forms; return how many events the short one took."""
    step, jump = (
        play(text, flag, matrix, horizon, **options) for flag in (False, True)
    )
    np.testing.assert_array_equal(step.ledger["plays"], jump.ledger["plays"])
    # A stretch that the horizon cuts has drawn the duel of RUCB that follows it, so
    # that ties among arms to recommend are broken otherwise.
    if text != "rucb":
        np.testing.assert_array_equal(step.recommendation, jump.recommendation)
    reported = int("votes" in options)  # All duels from before are one event.
    assert step.events.tolist() == [horizon + reported] * len(step.events)
    return jump.events


@pytest.mark.parametrize("text", SAME_DUELS)
@pytest.mark.parametrize("world", WORLDS)
def test_both_forms_play_the_same_duels(world, text, in_python):
    for horizon in HORIZONS:
        events = assert_same_duels(text, WORLDS[world], horizon)
        assert events.max() <= horizon
    # Or the comparison were one of a form with itself.
    assert events.max() < 600 or world != "sure"


LOPSIDED = np.array(
    [[0, 1, 1]] * 300 + [[0, 2, 1], [0, 2, 1], [2, 1, 1]] + [[3, 1, 1]] * 40
)


@pytest.mark.parametrize("text", [item for item in SAME_DUELS if "savage" not in item])
def test_both_forms_go_on_alike_after_lopsided_counts(text, in_python):
    """SAVAGE takes in the duels that it has asked for, and no others."""
    assert_same_duels(text, MATRICES["condorcet"], 800, votes=LOPSIDED)


GRID = (50, 200, 1000)


@cache
def plays_of_ccb(world, look_ahead):
    matrix, seed = {**MATRICES, **WORLDS}[world], 12 + look_ahead
    options = {"runs": 400, "seed": seed, "grid": GRID}
    return play("ccb", look_ahead, matrix, GRID[-1], **options).ledger["plays"]


@pytest.mark.slow
@pytest.mark.parametrize("world", ["two winners", "two equal arms", "sure", "ties"])
def test_both_forms_of_ccb_have_one_distribution(world):
    matrix = {**MATRICES, **WORLDS}[world]
    one, other = (plays_of_ccb(world, flag) for flag in (False, True))
    assert not disagreements(one, other, matrix)


@pytest.mark.slow
def test_steps_of_ccb_have_the_distribution_of_the_twin():
    matrix = MATRICES["two winners"]
    theirs = plays_of_twins(
        partial(CopelandConfidenceBound, 4), matrix, GRID[:2], 80, 82
    )
    ours = plays_of_ccb("two winners", False)[:, :2]
    assert not disagreements(ours, theirs, matrix)
