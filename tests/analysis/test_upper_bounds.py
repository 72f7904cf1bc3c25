"""Mean regret beside the bounds that claim to hold at every horizon."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesduel
import theory
from bayesduel.instances import choice
from tests.theory.matrices import from_upper, random_matrix

FALSE_ALARM = 1e-5
"""The rate for one policy that any mean on any instance is called above its bound."""

NUM_RUNS = 40
ROUNDS = (100, 1000, 10**4, 10**5)


def pair(probability):
    return from_upper([[0, probability - 0.5], [0, 0]])


def condorcet(seed, smallest, largest):
    """Arm 2 of five beats the others by gaps from smallest to largest."""
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, 5)
    gaps = np.geomspace(smallest, largest, 4)
    others = np.array([0, 1, 3, 4])
    matrix[2, others], matrix[others, 2] = 0.5 + gaps, 0.5 - gaps
    return matrix


def lopsided():
    """All arms but one lose to the winner for sure; that one nearly ties with it."""
    matrix = from_upper(np.triu(np.full((5, 5), 0.02), 1))
    matrix[0, 2:], matrix[2:, 0] = 1.0, 0.0
    return matrix


MATRICES = {
    "mslr5-condorcet": "mslr5-condorcet",
    "pair 0.51": pair(0.51),
    "pair 0.99": pair(0.99),
    "pair 1": pair(1.0),
    "lopsided": lopsided(),
    "close": condorcet(1, 0.01, 0.05),
    "far": condorcet(2, 0.4, 0.5),
    "wide": condorcet(3, 0.005, 0.499),
}

WORLDS = {
    "camera": choice.camera(),
    "pairs": choice.preference_pairs(),
    "independent": choice.independent_gap(6, 3, 0.05, special=2),
    "near 1/2": choice.independent_rewards([0.51, 0.5, 0.5, 0.49], 1),
    "near 1": choice.independent_rewards([1.0, 1.0, 0.99, 0.98], 2),
    "lopsided": choice.independent_rewards([1.0, 0.0, 0.0, 0.01, 0.0], 2),
    "one arm": choice.independent_rewards([0.3, 0.6], 1),
    "large sets": choice.independent_rewards(np.linspace(0.9, 0.1, 9), 7),
    "logit": choice.multinomial_logit([0.9, 0.7, 0.4, 0.3, 0.1], 2),
}


def quantile(comparisons):
    return stats.norm.isf(FALSE_ALARM / comparisons)


def mean_and_error(instance, policy, rounds, notion, num_runs=NUM_RUNS):
    result = bayesduel.simulate(
        instance,
        policy,
        num_runs=num_runs,
        horizon=rounds[-1],
        checkpoints=rounds,
        seed=8,
        regret=[notion],
    )
    regret = result["regret"].sel(notion=notion).values
    assert regret.shape == (num_runs, len(rounds))
    return regret.mean(axis=0), regret.std(axis=0, ddof=1) / math.sqrt(num_runs)


def assert_below(bound, rounds, mean, error, z):
    """Hold the means that are surely above the bound against it."""
    assert bound.kind == "upper"
    answered = np.asarray(rounds, dtype=float)
    covered = answered >= bound.minimum_horizon
    assert covered.any()
    limits = bound(answered[covered])
    lowest = (mean - z * error)[covered]
    assert (lowest <= limits).all(), (bound.name, mean[covered], limits)


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
def test_rucb_stays_below_its_bound(name):
    matrix = MATRICES[name]
    loaded = bayesduel.load(matrix) if isinstance(matrix, str) else matrix
    bound = theory.theorems.rucb_bound(loaded, alpha=2.0)
    mean, error = mean_and_error(loaded, "rucb:alpha=2", ROUNDS, bound.regret)
    assert_below(bound, ROUNDS, mean, error, quantile(len(MATRICES) * len(ROUNDS)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
def test_pcomp_stays_below_its_bound(name):
    matrix = MATRICES[name]
    loaded = bayesduel.load(matrix) if isinstance(matrix, str) else matrix
    cases = [(4, 1000), (4, 10**5), (10, 10**5)]
    for num_batches, horizon in cases:
        policy = f"pcomp:num_batches={num_batches},elimination=hoeffding"
        # The sizes of the batches depend on T: only the end of a run counts.
        mean, error = mean_and_error(loaded, policy, (horizon,), "condorcet_mean")
        for worst_case in (False, True):
            bound = theory.theorems.pcomp_bound(
                loaded, num_batches, worst_case=worst_case
            )
            assert bound.regret == "condorcet_mean"
            z = quantile(len(MATRICES) * len(cases) * 2)
            assert_below(bound, (horizon,), mean, error, z)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_ucb_without_order_stays_below_its_bounds(name):
    world = WORLDS[name]
    forms = ("lemmas", "printed") if world.subset_size <= 6 else ("lemmas",)
    table = world.table()
    assert theory.choice.find_inconsistency(table) is None
    bounds = [
        theory.theorems.subset_gap_bound(
            table.num_arms, table.set_size, table.gap, form=form
        )
        for form in forms
        if table.gap
    ]
    bounds.append(theory.theorems.subset_gap_free_bound(table.num_arms, table.set_size))
    for horizon in (150, 10**4):
        # The horizon is in the index: only the end of a run counts.
        mean, error = mean_and_error(
            world, "ucb-no-order", (horizon,), "expected_reward"
        )
        for bound in bounds:
            z = quantile(len(WORLDS) * 2 * 3)
            assert_below(bound, (horizon,), mean, error, z)


@pytest.mark.slow
def test_an_asymptotic_upper_bound_is_no_bound_at_finite_horizons():
    matrix = pair(0.6)
    bound = theory.theorems.rmed1_bound(matrix)
    assert bound.kind == "asymptotic upper"
    mean, error = mean_and_error(matrix, "rmed1", (10**4,), bound.regret, 6000)
    assert mean - quantile(1) * error > bound(10**4)
