"""Parts of the policies that offer subsets, against closed forms."""

import math
import sys

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.policies.policy import Problem
from bayesduel.policies.subsets import mnl_exploration, stagewise_elimination
from bayesduel.policies.subsets._reward_counts import no_counts, safe_rounds
from bayesduel.policies.subsets.mnl_thompson import correlated_weights
from tests.reference import subset_rivals as rivals

FALSE_ALARM = 1e-5


@pytest.mark.parametrize(
    ("text", "width", "cap"),
    [
        ("ucb-no-order:alpha=3,largest_reward=2", 2 * math.sqrt(3 * math.log(500)), 9),
        ("cucb", math.sqrt(1.5 * math.log(40)), 9),
        ("cucb:cap=true", math.sqrt(1.5 * math.log(40)), 1),
        ("combucb1:cap=true", math.sqrt(1.5 * math.log(39)), 1),
    ],
)
def test_indices_are_those_of_the_papers(text, width, cap):
    """In round 40 of 500; an arm that was never offered comes first."""
    plays, totals = np.array([0, 3, 20, 40, 7]), np.array([0, 1.0, 18.0, 2.0, 0.0])
    policy = policies.parse_policy(text)
    state = policy.start(Problem(5, 500, None, 3, np.ones(5)), np.random.default_rng(0))
    state = state._replace(plays=plays, totals=totals)
    module = sys.modules[type(policy).__module__]
    result = module.indices(policy, state, 40)
    assert result[0] == np.inf
    seen = totals[1:] / plays[1:] + width / np.sqrt(plays[1:])
    np.testing.assert_allclose(result[1:], np.minimum(seen, cap), rtol=1e-12)
    assert np.any(seen > cap) == (cap == 1)


def test_a_stretch_ends_exactly_where_two_arms_are_level():
    """An arm without a reward meets one with as many rewards of more offers.

    Rounding must not decide.
    """
    rng = np.random.default_rng(6)
    count = 300
    plays, lead = rng.integers(1, 5000, count), rng.integers(1, 300, count)
    totals = rng.integers(0, plays + 1).astype(float)
    width = rng.uniform(0.5, 6.0, count)
    outside = totals / (plays + lead) + width / np.sqrt(plays + lead)

    for total, number, wide, highest, rounds in zip(
        totals, plays, width, outside, lead, strict=True
    ):
        counts = no_counts(2, 1, 10**6)
        counts.totals[:], counts.plays[:] = total, number
        subset = np.array([True, False])
        assert safe_rounds(counts, subset, wide, highest) == rounds


def started(policy, num_arms, size, horizon=500):
    """Return the state of a policy before the first round."""
    rng = np.random.default_rng(0)
    return policy.start(Problem(num_arms, horizon, None, size, np.ones(num_arms)), rng)


@pytest.mark.parametrize("text", ["mnl-ee", "mnl-ee:scale=0.5,cap=true"])
def test_indices_of_exploration_exploitation(text):
    """Agrawal et al. 2019: m + sqrt(m L/n) + L/n after epoch 12."""
    policy = policies.parse_policy(text)
    state = started(policy, 4, 2)
    state.epochs.number[:] = 0, 4, 9, 11
    state.epochs.purchases[:] = 0, 1, 0, 10
    state.epochs.now.finished = 12
    result = mnl_exploration.indices(state, policy.scale)
    n = state.epochs.number[1:]
    m = state.epochs.purchases[1:] / n
    length = policy.scale * math.log(math.sqrt(4) * 12 + 1)
    expected = m + np.sqrt(m * length / n) + length / n
    if policy.cap:
        assert np.any(expected > 1) and np.any(expected < 1)
        expected = np.minimum(expected, 1)
    assert result[0] == np.inf
    np.testing.assert_allclose(result[1:], expected, rtol=1e-12)


def test_correlated_weights_share_the_largest_of_k_normal_numbers():
    """Agrawal et al. 2017: v_i = m_i + theta s_i, above 0 or below."""
    policy = policies.get("mnl-ts", variant="correlated")
    epochs, purchases = np.array([4, 9, 25, 1]), np.array([3.0, 2.0, 30.0, 0.0])
    horizon, size, draws = 500, 3, 4000
    state, rng = started(policy, 4, size, horizon), np.random.default_rng(3)
    state.epochs.number[:], state.epochs.purchases[:] = epochs, purchases
    weights = np.stack([correlated_weights(state, rng) for _ in range(draws)])
    mean = purchases / epochs
    spread = np.sqrt(50 * mean * (mean + 1) / epochs)
    spread = spread + 75 * math.sqrt(math.log(horizon * size)) / epochs
    theta = (weights - mean) / spread
    np.testing.assert_allclose(theta, theta[:, :1] + np.zeros(4), atol=1e-9)
    assert (weights < 0).any() and (weights > 0).any()
    largest = stats.kstest(theta[:, 0], lambda x: stats.norm.cdf(x) ** size)
    assert largest.pvalue > FALSE_ALARM


@pytest.mark.parametrize("radius", ["hoeffding", "bernstein"])
def test_decisions_of_a_stage_are_those_of_the_twin(radius):
    """Radii that depend on the means, and arms accepted before."""
    num_arms, size, horizon = 7, 3, 20
    policy = policies.get("stagewise", radius=radius)
    rng = np.random.default_rng(4)
    radii = {"hoeffding": rivals.hoeffding_radii, "bernstein": rivals.bernstein_radii}
    changed = 0
    for _ in range(80):
        stage = int(rng.integers(6, 13))
        twin = rivals.StagewiseElimination(num_arms, size, horizon, radii[radius])
        twin.accepted = [2] if rng.random() < 0.5 else []
        twin.undecided = [arm for arm in range(num_arms) if arm not in twin.accepted]
        twin.stage = stage
        share = rng.permutation([0.02, 0.05, 0.1, 0.3, 0.45, 0.6, 0.9])
        twin.totals = rng.binomial(2**stage, share).astype(float)
        twin.totals += np.arange(num_arms) / 64  # No ties.
        state = started(policy, num_arms, size, horizon)
        state.undecided[:] = np.isin(np.arange(num_arms), twin.undecided)
        state.accepted[:] = np.isin(np.arange(num_arms), twin.accepted)
        state.totals[:] = twin.totals
        state.now.stage = stage
        before = len(twin.undecided)
        stagewise_elimination.decide(state, rng)
        twin.decide()
        assert set(np.flatnonzero(state.accepted)) == set(twin.accepted)
        assert set(np.flatnonzero(state.undecided)) == set(twin.undecided)
        assert state.now.stage == twin.stage
        assert state.now.repetitions == twin.repetitions
        changed += 0 < len(twin.undecided) < before
    assert changed > 10


def test_an_arm_is_offered_alone_until_another_one_joins():
    """Arm 2 surely loses to arm 0 up to round 40, arm 1 longer."""
    step = policies.get("maxmin-ucb", look_ahead=False)
    state, rng = started(step, 3, 2), np.random.default_rng(0)
    state.wins[:] = [[0, 30, 25], [10, 0, 12], [9, 11, 0]]
    result = policies.get("maxmin-ucb").choose(state, rng, 20)
    assert result.subset.tolist() == [True, False, False] and result.rounds > 10
    alone, joined = (
        step.choose(state, rng, 20 + result.rounds + more) for more in (-1, 0)
    )
    assert np.array_equal(alone.subset, result.subset) and alone.rounds == 1
    assert joined.subset.tolist() == [True, False, True]
