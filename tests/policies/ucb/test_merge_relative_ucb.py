"""MergeRUCB: every duel against the twin, merges of many groups, check values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.ucb._arm_groups import (
    REMOVED,
    ArmGroups,
    merge_when_few,
    random_groups,
)
from tests.compiling import quick_jit
from tests.policies.driving import duels_round_by_round
from tests.policies.laws import chi_square, pair_table
from tests.policies.replaying import first_impossible_duel, play_forced, runs_of
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
    return [strong_matrix(rng, cycle) for cycle in (False, True, False)]


def groups_of(label):
    return [np.flatnonzero(label == g).tolist() for g in range(label.max() + 1)]


def follow(policy, seed, **twin_options):
    """Return the first impossible duel and the wrong answers of every run."""
    played, outcomes = play_forced(
        policy, matrices(), seed, horizon=HORIZON, num_events=HORIZON
    )
    keys = jax.random.split(jax.random.key(seed), 3)
    strays, wrong = [], []
    for run, forced, key in zip(runs_of(played), outcomes, keys, strict=True):
        with jax.enable_x64(True):
            start = policy.init(jax.random.split(key, 3)[0], ARMS, jnp.int64(HORIZON))
        groups = groups_of(np.asarray(start.groups.label))
        assert sorted(map(len, groups)) == [2, 4, 4, 4, 4]
        twin = MergeRUCB(ARMS, np.random.default_rng(0), groups=groups, **twin_options)
        duels = duels_round_by_round(run.events)
        strays.append(first_impossible_duel(twin, duels, forced))
        wrong.append(int(run.recommendation) not in twin.recommendations())
    return strays, wrong, played


def test_duels_and_answers_are_those_of_the_twin():
    """From five groups to the last arm, which is one stretch."""
    strays, wrong, played = follow(policies.get("merge-rucb"), 94)
    assert strays == [None] * 3
    assert not any(wrong)
    assert played.state.groups.stage.min() >= 3
    assert played.events.exploit_rounds.max() > 100


def test_another_constant_is_noticed():
    """Negative control of the comparison with the twin."""
    strays, _, _ = follow(policies.get("merge-rucb"), 94, delta=0.5)
    assert any(strays)


@pytest.mark.parametrize(
    ("num_arms", "expected"), [(5, 6256), (16, 61204), (136, 4066005)]
)
def test_clock_is_ahead_by_the_check_value(num_arms, expected):
    assert bonus_rounds(num_arms, 1.01, 0.01) == expected
    with jax.enable_x64(True):
        assert int(policies.MergeRUCB()._delay(num_arms)) == expected


def test_the_clock_of_the_narrowest_bounds_does_not_overflow():
    policy = policies.MergeRUCB(alpha=0.51)
    with jax.enable_x64(True):
        late = jnp.int64(2**62) + policy._delay(500)
    assert int(late) == 2**62 + 2**61


def test_groups_merge_as_told():
    """Of 40 arms, with groups of all sizes, against lists; ties given."""
    rng = np.random.default_rng(95)
    most, cases = 10, 150
    labels, ties, stages = [], rng.random((cases, 2, most)), []
    for _ in range(cases):
        number = rng.integers(1, most + 1)
        label = rng.integers(0, number, 40)
        label[: int(rng.integers(0, 36))] = REMOVED
        kept = np.unique(label[label != REMOVED])
        label = np.where(label == REMOVED, REMOVED, np.searchsorted(kept, label))
        labels.append(label)
        stages.append(rng.integers(1, 3))
    with jax.enable_x64(True):

        def merge(label, number, stage, ties):
            return merge_when_few(ties, ArmGroups(label, number, stage), 4)

        numbers = np.array([label.max() + 1 for label in labels], dtype=np.int32)
        after = jax.tree.map(
            np.asarray,
            quick_jit(jax.vmap(merge))(
                jnp.asarray(np.array(labels, dtype=np.int32)),
                jnp.asarray(numbers),
                jnp.asarray(np.array(stages, dtype=np.int32)),
                jnp.asarray(ties),
            ),
        )
    merged = twice = 0
    for index, label in enumerate(labels):
        groups = groups_of(label)
        stage = stages[index]
        left = sum(map(len, groups))
        if left <= 40 / 2**stage + 1 and len(groups) > 1:
            stage, merged = stage + 1, merged + 1
            groups = _merge_by(groups, ties[index, 0])
            if merges_again(groups, 4):
                twice += 1
                groups = _merge_by(groups, ties[index, 1])
        found = groups_of(after.label[index])
        assert found == [sorted(group) for group in groups]
        assert after.number[index] == len(groups)
        assert after.stage[index] == stage
    assert merged > 40 and twice > 10 and merged < cases - 20


def _merge_by(groups, ties):
    keys = [(len(group), ties[i]) for i, group in enumerate(groups)]
    order = sorted(range(len(groups)), key=lambda i: keys[i])
    return merge_once(groups, order, 4)


def test_groups_are_random():
    """The groups of two given arms are those of two random places."""
    with jax.enable_x64(True):
        uniforms = jax.random.uniform(jax.random.key(96), (3000, 10), dtype=jnp.float64)
        label = np.asarray(jax.vmap(lambda u: random_groups(u, 4).label)(uniforms))
    assert np.all(np.sort(label, axis=1) == [0] * 4 + [1] * 4 + [2] * 2)
    counts = pair_table(label[:, 3], label[:, 7], 4)[:3, :3]
    chances = np.array([[12, 16, 8], [16, 12, 8], [8, 8, 2]]) / 90
    assert chi_square(counts, chances) > FALSE_ALARM


def test_first_pair_is_uniform_within_a_group():
    policy = policies.get("merge-rucb")
    with jax.enable_x64(True):
        state = policy.init(jax.random.key(97), 10, jnp.int64(100))
        keys = jax.random.split(jax.random.key(98), 2000)
        choose = quick_jit(jax.vmap(policy.choose, in_axes=(0, None, None)))
        duels, _ = choose(keys, state, jnp.int64(1))
    here = np.asarray(state.groups.label) == 0
    chances = np.where(np.outer(here, here) & ~np.eye(10, dtype=bool), 1 / 12, 0.0)
    counts = pair_table(np.asarray(duels.first), np.asarray(duels.second), 10)
    assert chi_square(counts, chances) > FALSE_ALARM


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("merge-rucb:alpha=0.5", "alpha"),
        ("merge-rucb:delta=0", "delta"),
        ("merge-rucb:delta=1", "delta"),
        ("merge-rucb:group_size=3", "group_size"),
    ],
)
def test_parameters_are_checked(text, word):
    with pytest.raises(PolicyParameterError, match=word):
        policies.parse(text).check(4, 100)
