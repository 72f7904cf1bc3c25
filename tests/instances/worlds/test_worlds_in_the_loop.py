"""Built-in worlds played by policies: matrices as worlds, tables, corruption.

Tests of distributions raise a false alarm with a probability of at most 1e-4 each;
their seeds are fixed.
"""

import warnings

import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel.errors import AssumptionWarning
from bayesduel.instances.worlds import (
    Adversarial,
    Corrupted,
    Drifting,
    LinearContexts,
    Piecewise,
)
from bayesduel.policies import parse_policy
from tests.rules import Greedy
from theory import PreferenceMatrix

FALSE_ALARM = 1e-4
ORDER = np.array([[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]])
SURE = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 0.6], [0.0, 0.4, 0.5]])
POLICIES = ["d-ts", "d-ts+", "rucb", "rmed1", "ecw-rmed", "scomp", Greedy()]


def simulated(instance, policy, horizon=300, runs=40, seed=3, **options):
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return bayesduel.simulate(
            instance, policy, num_runs=runs, horizon=horizon, seed=seed, **options
        )


def label(policy):
    return policy if isinstance(policy, str) else type(policy).__name__


def check_one_segment(policy, values, **options):
    """Plays and recommendations agree, and regret with that of the matrix."""
    grid = [1, 2, 17, 40, 299, 300]
    notion = "condorcet_mean"
    fast = simulated(values, policy, checkpoints=grid, regret=notion, **options)
    world = Piecewise(matrices=[values])
    slow = simulated(world, policy, checkpoints=grid, **options)
    assert np.array_equal(fast["plays"], slow["plays"])
    assert np.array_equal(fast["recommendation"], slow["recommendation"])
    np.testing.assert_allclose(
        slow["regret"].sel(notion="dynamic"),
        fast["regret"].sel(notion=notion),
        atol=1e-9,
    )
    # Weak regret from the plays of each pair.
    costs = values[0] - 0.5
    weak = np.einsum("rcij,ij->rc", slow["plays"], np.minimum.outer(costs, costs))
    np.testing.assert_allclose(slow["regret"].sel(notion="weak"), weak, atol=1e-9)
    assert weak.max() > 0


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("values", [ORDER, SURE], ids=["order", "sure"])
@pytest.mark.parametrize("policy", POLICIES, ids=label)
def test_one_segment_is_its_matrix(policy, values):
    """To the last digit, at checkpoints inside of stretches too."""
    check_one_segment(policy, values, runs=8)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [*POLICIES, Greedy(compiled=True)], ids=label)
def test_one_segment_is_its_matrix_when_both_are_compiled(policy):
    check_one_segment(policy, ORDER)


def check_distribution(policy, runs):
    """A line that goes nowhere is asked anew in every round: other random numbers."""
    fast = simulated(ORDER, policy, regret="condorcet_mean", runs=runs)
    still = Drifting(matrix=ORDER, to=ORDER)
    slow = simulated(still, policy, runs=runs, seed=4)
    pairs = [
        (fast["regret"][0, :, -1], slow["regret"].sel(notion="dynamic")[:, -1]),
        *((fast["plays"][:, -1, i, i], slow["plays"][:, -1, i, i]) for i in range(3)),
    ]
    for one, two in pairs:
        # For numbers with ties this form is conservative.
        result = stats.ks_2samp(one, two, method="asymp")
        assert result.pvalue > FALSE_ALARM / 5
    named = [
        np.bincount(value["recommendation"], minlength=3) for value in (fast, slow)
    ]
    table = np.array(named)[:, np.sum(named, axis=0) > 0]
    if table.shape[1] > 1:
        assert stats.fisher_exact(table[:, :2]).pvalue > FALSE_ALARM / 5
    assert not np.array_equal(fast["plays"], slow["plays"])


@pytest.mark.slow
@pytest.mark.parametrize("policy", [*POLICIES, Greedy(compiled=True)], ids=label)
def test_a_matrix_has_the_same_distribution_round_by_round(policy):
    check_distribution(policy, runs=400)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("policy", ["rucb", "scomp"])
def test_few_runs_have_it_too(policy):
    check_distribution(policy, runs=60)


@pytest.mark.usefixtures("in_python")
def test_regret_of_a_table_is_that_of_its_rounds():
    """A policy that shows one pair for ever, against sums of the table."""
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(5):
        upper = np.triu(rng.random((3, 3)), 1)
        tables.append(upper + np.tril(1 - upper.T, -1) + np.eye(3) / 2)
    world = Adversarial(table=tables)
    grid = [1, 3, 5, 8, 23]
    result = simulated(
        world, FirstPair(), horizon=23, runs=2, checkpoints=grid, shuffle=False
    )
    best = world.best_arm(23)
    item = [
        (tables[t % 5][best, 0] + tables[t % 5][best, 1] - 1) / 2 for t in range(23)
    ]
    expected = np.cumsum(item)[np.array(grid) - 1]
    np.testing.assert_allclose(result["regret"][0], [expected, expected], atol=1e-12)
    assert result["notion"].values.tolist() == ["external"]


class FirstPair(bayesduel.Policy):
    """Shows arms 0 and 1, and counts what the first wins."""

    def start(self, problem, rng):
        return np.zeros(2)

    def choose(self, state, rng, round_):
        return 0, 1

    def update(self, state, rng, round_, first, second, won):
        state[0] += won
        state[1] += 1

    def recommend(self, state, rng):
        return 0

    def info(self, state):
        return {"wins": state[0], "duels": state[1]}


@pytest.mark.parametrize("budget", [0, 7, 50])
def test_the_first_wins_of_the_better_arm_are_turned(budget):
    """Where arm 0 beats arm 1 for sure, it loses exactly the first ``budget`` duels."""
    world = Corrupted(world=SURE, budget=budget)
    result = simulated(world, FirstPair(), horizon=60, runs=3, shuffle=False)
    assert result["wins"].values.tolist() == [60 - budget] * 3
    assert result["duels"].values.tolist() == [60] * 3


def test_answers_have_the_probabilities_of_the_round():
    """Wins in segments, against binomial distributions."""
    flipped = 1 - ORDER
    world = Piecewise(matrices=[ORDER, flipped, SURE], changes=[201, 401])
    result = simulated(world, Segments(), horizon=600, runs=50, shuffle=False)
    wins = [int(result[f"wins_{s}"].sum()) for s in range(3)]
    for count, share in zip(wins[:2], (0.7, 0.3), strict=True):
        assert stats.binomtest(count, 50 * 200, share).pvalue > FALSE_ALARM / 2
    assert wins[2] == 50 * 200


class Segments(FirstPair):
    """Counts wins by segments of 200 rounds."""

    def start(self, problem, rng):
        return np.zeros(3)

    def update(self, state, rng, round_, first, second, won):
        state[(round_ - 1) // 200] += won

    def info(self, state):
        return {f"wins_{s}": state[s] for s in range(3)}


def test_the_walk_of_a_run_is_the_same_for_all_policies():
    """Regret of a fixed pair differs from run to run, and not between two rules."""
    world = Drifting(speed=0.05, num_arms=3)
    one = simulated(world, FirstPair(), horizon=50, runs=4, shuffle=False)
    two = simulated(world, Noisy(), horizon=50, runs=4, shuffle=False)
    assert np.array_equal(one["regret"], two["regret"])
    assert len({*one["regret"].values[0, :, -1].tolist()}) == 4


class Noisy(FirstPair):
    """Draws numbers that it does not use."""

    def choose(self, state, rng, round_):
        rng.random(3)
        return 0, 1


def test_contextual_policies_are_given_the_features_of_the_round():
    """In the order of the run: the best arm of every round costs nothing."""
    world = LinearContexts(num_arms=5, seed=2)
    result = simulated(world, Oracle(), horizon=40, runs=3)
    assert result["regret"].values.shape[0] == 3
    np.testing.assert_allclose(result["regret"][..., -1], 0, atol=1e-12)
    blind = simulated(world, FirstPair(), horizon=40, runs=3)
    assert blind["regret"].values[0, :, -1].min() > 1


@pytest.mark.parametrize("inner", ["linear-contexts:contexts=fixed;num_arms=5;seed=2"])
@pytest.mark.parametrize("kind", ["world", "matrix"])
def test_corruption_passes_features_on(inner, kind):
    if kind == "matrix":
        world = bayesduel.load(inner.replace(";", ","))
        utility = world.arm_features @ world.theta
        inner = PreferenceMatrix(
            1 / (1 + np.exp(utility - utility[:, None])), features=world.arm_features
        )
    result = simulated(Corrupted(world=inner), Oracle(), horizon=40, runs=3)
    np.testing.assert_allclose(result["regret"][..., -1], 0, atol=1e-12)


class Oracle(FirstPair):
    """Knows the coefficients, and shows the arm of the largest utility."""

    contextual = True

    def choose(self, state, rng, round_, features):
        best = int((features @ LinearContexts(seed=2).theta).argmax())
        return best, best

    def update(self, state, rng, round_, first, second, won, features):
        """Learn nothing: all is known."""


@pytest.mark.parametrize(
    "instance",
    [
        pytest.param("drifting:num_arms=3", marks=pytest.mark.slow),
        "piecewise:segments=2",
    ],
)
def test_policies_say_what_their_theory_assumes(instance):
    with pytest.warns(AssumptionWarning, match="fixed preferences"):
        bayesduel.simulate(instance, "rucb", num_runs=1, horizon=50)
