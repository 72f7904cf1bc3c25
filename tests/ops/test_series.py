"""Series of duels that are drawn at once, beside sums over all orders of duels."""

from functools import cache
from math import comb

import numpy as np
import pytest

from bayesduel.ops.scalar.series import draw_losses, losses_of_first, take_first_rounds
from tests.policies.distributions import chi_square, rejected, same_distribution

FALSE_ALARM = 1e-5
"""False-alarm rate of all p-values of one test together."""


@cache
def orders(series, lost):
    """Return in how many orders the last of so many series ends with the last duel.

    By recursion over the first duel: it is won, and a series is over, or lost, and
    there is one more to come.
    """
    if series == 0:
        return int(lost == 0)
    result = orders(series - 1, lost)
    return result + (orders(series + 1, lost - 1) if lost > 0 else 0)


def test_orders_are_those_of_the_ballot_theorem():
    for series in range(1, 6):
        for lost in range(6):
            duels = series + 2 * lost
            assert orders(series, lost) * duels == series * comb(duels, lost)


@pytest.mark.parametrize(("series", "chance"), [(1, 0.6), (3, 0.75), (60, 0.8)])
def test_losses_have_the_distribution_of_first_passages(series, chance):
    rng = np.random.default_rng(5)
    values = np.array([draw_losses(rng, series, chance) for _ in range(3000)])
    cells = np.arange(120)
    probabilities = [
        orders(series, lost) * chance ** (series + lost) * (1 - chance) ** lost
        for lost in cells.tolist()
    ]
    rest = max(0.0, 1 - sum(probabilities))
    counts = np.bincount(np.minimum(values, 120), minlength=121)
    assert chi_square(counts, np.append(probabilities, rest)) > FALSE_ALARM / 3


def test_sure_series_have_no_losses():
    assert draw_losses(np.random.default_rng(0), 10**6, 1.0) == 0


@pytest.mark.parametrize(
    ("series", "lost", "first"), [(2, 5, 1), (7, 4, 3), (30, 25, 15), (12, 16, 1)]
)
def test_losses_of_the_first_series_have_their_distribution(series, lost, first):
    keys = np.random.default_rng(6).integers(2**63, size=600).astype(np.uint64)
    with np.errstate(over="ignore"):
        results = [losses_of_first(series, lost, first, key)[0] for key in keys]
    weights = [
        orders(first, part) * orders(series - first, lost - part)
        for part in range(lost + 1)
    ]
    total = orders(series, lost)
    assert sum(weights) == total
    counts = np.bincount(results, minlength=lost + 1)
    probabilities = np.array([weight / total for weight in weights])
    assert chi_square(counts, probabilities) > FALSE_ALARM / 4


def one_by_one(rng, chances, arm, last, iterations):
    """Return the rivals that an arm meets, round by round."""
    met = []
    for _ in range(iterations):
        others = [x for x in range(len(chances)) if x not in (arm, last)]
        for rival in [last, *rng.permutation(others)]:
            behind = 1
            while behind > 0:
                met.append(int(rival))
                behind += -1 if rng.random() < chances[rival] else 1
            last = int(rival)
    return met


def at_once(rng, chances, arm, last, iterations, wanted):
    """Return the rounds with each rival among the first ones."""
    counts = np.zeros((4, len(chances)), dtype=np.int64)
    for rival, chance in enumerate(chances):
        if rival != arm:
            counts[0, rival] = draw_losses(rng, iterations, chance)
    key, result = np.uint64(rng.integers(2**63)), []
    with np.errstate(over="ignore"):
        for rounds in wanted:
            take_first_rounds(counts, arm, last, 0, iterations, rounds, key)
            result.append(counts[2].copy())
    return np.array(result)


@pytest.mark.parametrize(
    ("num_arms", "runs"), [(3, 30), pytest.param(4, 400, marks=pytest.mark.slow)]
)
def test_first_rounds_have_the_distribution_of_rounds_one_by_one(num_arms, runs):
    """With three arms two rivals take turns; with four the order is random."""
    chances, arm, last, wanted = [0.85, 0.5, 0.75, 0.9][:num_arms], 1, 2, (3, 40)
    rng = np.random.default_rng(7)
    step, jump = [], []
    for _ in range(runs):
        met = np.array(one_by_one(rng, chances, arm, last, 30))
        step.append(
            [np.bincount(met[:rounds], minlength=num_arms) for rounds in wanted]
        )
        jump.append(at_once(rng, chances, arm, last, 30, wanted))
    step, jump = np.array(step), np.array(jump)
    assert np.all(jump.sum(axis=2) == wanted)
    both = [
        {
            (index, rival): plays[:, index, rival]
            for index in range(len(wanted))
            for rival in range(num_arms)
            if rival != arm
        }
        for plays in (step, jump)
    ]
    assert not rejected(same_distribution(*both), FALSE_ALARM)


def test_parts_of_one_order_fit_together():
    rng, wanted = np.random.default_rng(8), range(0, 70)
    parts = at_once(rng, [0.5, 0.7, 0.8, 0.9], 0, 3, 24, wanted)
    steps = np.diff(parts, axis=0)
    assert np.all(steps.sum(axis=1) == 1) and np.all(steps >= 0)
