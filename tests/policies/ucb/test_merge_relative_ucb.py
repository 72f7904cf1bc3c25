"""MergeRUCB: every duel against the twin, merges of many groups, check values."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.rules import record
from bayesduel.policies.policy import Problem
from bayesduel.policies.ucb.merge_relative_ucb import (
    REMOVED,
    ArmGroups,
    merge_when_few,
    random_groups,
)
from tests.policies.distributions import chi_square, pair_table
from tests.policies.instances import random_outcomes
from tests.policies.replaying import first_impossible_duel
from tests.policies.rule_driving import play_rule
from tests.reference.merge_relative_ucb import (
    MergeRUCB,
    bonus_rounds,
    merge_once,
    merges_again,
)

FALSE_ALARM = 1e-5

ARMS = 18
HORIZON = 4000


def strong_matrix(rng, cycle):
    """Many arms with strong preferences, ordered up to one reversed pair."""
    gaps = np.triu(rng.uniform(0.3, 0.48, (ARMS, ARMS)), 1)
    if cycle:
        gaps[1, -2] = -gaps[1, -2]
    order = rng.permutation(ARMS)
    return (0.5 + gaps - gaps.T)[np.ix_(order, order)]


def matrices():
    rng = np.random.default_rng(93)
    return [strong_matrix(rng, cycle) for cycle in (False, True)]


def groups_of(label):
    return [np.flatnonzero(label == g).tolist() for g in range(label.max() + 1)]


def follow(policy, seed, **twin_options):
    """Return the first impossible duel and the wrong answers of every run."""
    rng = np.random.default_rng(seed)
    strays, wrong, played = [], [], []
    for number, matrix in enumerate(matrices()):
        forced = random_outcomes(matrix, 1200, rng)
        start = policy.start(Problem(ARMS, HORIZON), np.random.default_rng(number))
        groups = groups_of(start.groups.label)
        assert sorted(map(len, groups)) == [2, 4, 4, 4, 4]
        twin = MergeRUCB(ARMS, np.random.default_rng(0), groups=groups, **twin_options)
        run = play_rule(policy, forced, HORIZON, seed=number)
        strays.append(first_impossible_duel(twin, run.duels, forced))
        wrong.append(run.recommendation not in twin.recommendations())
        played.append(run)
    return strays, wrong, played


@pytest.mark.parametrize(
    "look_ahead", [True, pytest.param(False, marks=pytest.mark.slow)]
)
def test_duels_and_answers_are_those_of_the_twin(look_ahead):
    """From five groups to the last arm, which is one stretch."""
    policy = policies.get("merge-rucb", look_ahead=look_ahead)
    strays, wrong, played = follow(policy, 94)
    assert strays == [None] * 2
    assert not any(wrong)
    assert min(run.state.groups.now.stage for run in played) >= 3
    assert (max(run.longest_stretch for run in played) > 100) == look_ahead


def test_another_constant_is_noticed():
    """Negative control of the comparison with the twin."""
    strays, _, _ = follow(policies.get("merge-rucb"), 94, delta=0.5)
    assert any(strays)


@pytest.mark.parametrize(
    ("num_arms", "expected"), [(5, 6256), (16, 61204), (136, 4066005)]
)
def test_clock_is_ahead_by_the_check_value(num_arms, expected):
    assert bonus_rounds(num_arms, 1.01, 0.01) == expected
    assert policies.MergeRUCB()._delay(num_arms) == expected


def test_the_clock_of_the_narrowest_bounds_does_not_overflow():
    delay = policies.MergeRUCB(alpha=0.51)._delay(500)
    assert np.int64(2**62) + np.int64(delay) == 2**62 + 2**61


def test_groups_merge_as_told():
    """Take 40 arms, with groups of all sizes, against lists; ties given."""
    rng = np.random.default_rng(95)
    most, cases = 10, 150
    merged = twice = 0
    for _ in range(cases):
        number, ties = rng.integers(1, most + 1), rng.random((2, most))
        label = rng.integers(0, number, 40)
        label[: int(rng.integers(0, 36))] = REMOVED
        remaining = np.unique(label[label != REMOVED])
        label = np.where(label == REMOVED, REMOVED, np.searchsorted(remaining, label))
        stage = int(rng.integers(1, 3))
        now = record(number=int(label.max()) + 1, stage=stage, turn=1)
        after = ArmGroups(label.copy(), now)
        merge_when_few(Given(ties), after, 4)
        groups = groups_of(label)
        left = sum(map(len, groups))
        if left <= 40 / 2**stage + 1 and len(groups) > 1:
            stage, merged = stage + 1, merged + 1
            groups = _merge_by(groups, ties[0])
            if merges_again(groups, 4):
                twice += 1
                groups = _merge_by(groups, ties[1])
            assert now.turn == 0
        assert groups_of(after.label) == [sorted(group) for group in groups]
        assert now.number == len(groups)
        assert now.stage == stage
    assert merged > 40 and twice > 10 and merged < cases - 20


class Given:
    """A generator of given numbers."""

    def __init__(self, rows):
        self.rows = iter(rows)

    def random(self, size):
        return next(self.rows)[:size]


def _merge_by(groups, ties):
    keys = [(len(group), ties[i]) for i, group in enumerate(groups)]
    order = sorted(range(len(groups)), key=lambda i: keys[i])
    return merge_once(groups, order, 4)


def test_groups_are_random():
    """The groups of two given arms are those of two random places."""
    rng = np.random.default_rng(96)
    label = np.array([random_groups(rng, 10, 4).label for _ in range(3000)])
    assert np.all(np.sort(label, axis=1) == [0] * 4 + [1] * 4 + [2] * 2)
    counts = pair_table(label[:, 3], label[:, 7], 4)[:3, :3]
    probabilities = np.array([[12, 16, 8], [16, 12, 8], [8, 8, 2]]) / 90
    assert chi_square(counts, probabilities) > FALSE_ALARM


def test_first_pair_is_uniform_within_a_group():
    policy, rng = policies.get("merge-rucb"), np.random.default_rng(97)
    state = policy.start(Problem(10, 100), rng)
    duels = []
    for _ in range(2000):
        state.groups.now.turn = 0
        duels.append(policy.choose(state, rng, 1)[2:4])
    here = state.groups.label == 0
    probabilities = np.where(
        np.outer(here, here) & ~np.eye(10, dtype=bool), 1 / 12, 0.0
    )
    counts = pair_table(*np.array(duels).T, 10)
    assert chi_square(counts, probabilities) > FALSE_ALARM
