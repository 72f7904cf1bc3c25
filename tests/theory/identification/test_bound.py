"""The least cost of naming a winner: enumeration, closed forms, and distributions."""

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from tests.theory.brute_force import quantities, solve_cover
from tests.theory.matrices import (
    ALL_WIN,
    CYCLIC,
    GAP,
    MSLR5,
    MULTISOL,
    from_upper,
    random_matrix,
)
from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    ProgramError,
    TieError,
    copeland_lower_bound,
    identification_bound,
    sensitivity,
)
from theory.copeland_program import candidate_slack, constants

UNEQUAL = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]


def information(matrix):
    """KL(P, 1/2) of every pair, by its definition."""
    p = np.asarray(matrix, dtype=float)
    terms = [
        np.where(q > 0, q * np.log(2 * np.where(q > 0, q, 1)), 0) for q in (p, 1 - p)
    ]
    d = terms[0] + terms[1]
    d[np.abs(p - 0.5) < 1e-8] = 0.0
    return d


def enumerated(matrix, winner, prices=None):
    """Least cost of excluding every tournament in which an arm is no Copeland winner.

    Knows of no losses, levels or sets: all 2^(K (K - 1) / 2) tournaments, and for each
    the pairs on which it differs from the matrix. Pairs that tie or cannot be asked
    differ from none.
    """
    p = np.asarray(matrix, dtype=float)
    num_arms = len(p)
    prices = np.ones_like(p) if prices is None else np.asarray(prices, dtype=float)
    d = information(p)
    d[np.isinf(prices)] = 0.0
    pairs = list(combinations(range(num_arms), 2))
    sets = set()
    for signs in product((True, False), repeat=len(pairs)):
        wins = [0] * num_arms
        for (i, j), first in zip(pairs, signs, strict=True):
            wins[i if first else j] += 1
        if wins[winner] == max(wins):
            continue
        sets.add(
            frozenset(
                pair
                for pair, first in zip(pairs, signs, strict=True)
                if d[pair] > 0 and (p[pair] > 0.5) != first
            )
        )
    if frozenset() in sets:
        return math.inf
    minimal = [s for s in sets if not any(other < s for other in sets)]
    costs = np.divide(prices, d, out=np.zeros_like(p), where=d > 0)
    return solve_cover(costs, minimal, num_arms)


def check(result, matrix, prices=None):
    """Check the promises of every result, from the matrix alone."""
    d = information(matrix)
    prices = 1.0 - np.eye(len(d)) if prices is None else np.asarray(prices)
    x, certificate = result.evidence, result.certificate
    assert np.array_equal(x, x.T) and x.min() >= 0 and x.max() <= 1
    assert result.duels * d == pytest.approx(x, rel=1e-6)
    paid = np.where(x > 0, np.where(x > 0, prices, 0.0) * result.duels, 0.0)
    assert np.triu(paid).sum() == pytest.approx(result.value, rel=1e-9, abs=1e-12)
    assert certificate.primal_value == result.value == float(result)
    assert certificate.dual_bound <= result.value * (1 + 1e-12)
    assert abs(certificate.relative_gap) <= 1e-8
    assert certificate.slack >= 1 - 1e-9
    assert result.value == result.value_by_winner[result.winner]
    # The dual solution: ways to be wrong that are barely excluded, worth the value.
    for part in result.active:
        assert part.multiplier > 0 and part.rival != result.winner
        assert sum(x[pair] for pair in part.flips) == pytest.approx(1.0, abs=1e-8)
    total = sum(part.multiplier for part in result.active)
    assert total == pytest.approx(result.value, rel=1e-7, abs=1e-12)
    for part in result.active:
        # The rival wins all of its open pairs, the arm that is named none.
        turned = np.where(d > 0, np.sign(np.asarray(matrix, dtype=float) - 0.5), 0)
        turned[np.isinf(prices)] = 0
        for i, j in part.flips:
            assert turned[i, j] == 1
            turned[i, j], turned[j, i] = -1, 1
        wins = (turned > 0).sum(axis=1)
        wins[part.rival] += (turned[part.rival] == 0).sum() - 1
        assert wins[part.rival] > wins[result.winner]


def random_prices(rng, num_arms, *, special=0.0):
    prices = np.triu(10 ** rng.uniform(-1, 1, (num_arms, num_arms)), 1)
    rare = np.triu(rng.random((num_arms, num_arms)) < special, 1)
    prices[rare] = rng.choice([0.0, np.inf], (num_arms, num_arms))[rare]
    return prices + prices.T


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cyclic", 78.6),
        ("gap", 41.5),
        ("mslr5", 460.6),
    ],
)
def test_published_constants(name, value):
    bound = identification_bound({"cyclic": CYCLIC, "gap": GAP, "mslr5": MSLR5}[name])
    assert bound.value == pytest.approx(value, abs=0.05)
    assert bound.winner == 0


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_agrees_with_enumeration(num_arms):
    rng = np.random.default_rng(1800 + num_arms)
    several = 0
    for number in range(12 if num_arms < 5 else 6):
        matrix = random_matrix(
            rng, num_arms, grid=[0.05, 0.2, 0.5] if number % 3 == 0 else None
        )
        prices = random_prices(rng, num_arms) if number % 2 else None
        bound = identification_bound(matrix, prices)
        check(bound, matrix, prices)
        several += len(bound.value_by_winner) > 1
        for arm, value in bound.value_by_winner.items():
            truth = enumerated(matrix, arm, prices)
            assert value == pytest.approx(truth, rel=1e-7)
    assert several or num_arms == 2


@pytest.mark.parametrize("num_arms", [3, 4, 5])
def test_open_and_free_pairs_agree_with_enumeration(num_arms):
    rng = np.random.default_rng(1850 + num_arms)
    finite = refused = mine = 0
    for number in range(30 if num_arms < 5 else 10):
        matrix = random_matrix(rng, num_arms, noise=[0.2, 10.0][number % 2])
        tied = np.triu(rng.random(matrix.shape) < 0.12, 1)
        matrix[tied | tied.T] = 0.5
        prices = random_prices(rng, num_arms, special=0.2)
        truth = [enumerated(matrix, arm, prices) for arm in range(num_arms)]
        if math.isinf(min(truth)):
            refused += 1
            with pytest.raises(InvalidPreferenceError, match="infinite"):
                identification_bound(matrix, prices)
            continue
        finite += 1
        bound = identification_bound(matrix, prices)
        check(bound, matrix, prices)
        assert set(bound.value_by_winner) == {
            arm for arm, value in enumerate(truth) if math.isfinite(value)
        }
        for arm, value in bound.value_by_winner.items():
            mine += (tied | tied.T | np.isinf(prices))[arm].any()
            assert value == pytest.approx(truth[arm], rel=1e-7, abs=1e-12)
    assert finite >= 3 and refused >= 1 and mine >= 1


@pytest.mark.parametrize("matrix", [GAP, MULTISOL, ALL_WIN])
def test_regret_as_the_price_gives_the_regret_program(matrix):
    checked = PreferenceMatrix(matrix)
    regret = checked.regret_per_pair("copeland_losses")
    bound = identification_bound(checked, regret)
    optimum = copeland_lower_bound(checked)
    assert bound.value == pytest.approx(optimum.value, rel=1e-12, abs=1e-15)
    assert bound.winner == optimum.winner


def test_prices_of_any_size():
    rng = np.random.default_rng(1890)
    for matrix in (CYCLIC, random_matrix(rng, 7)):
        prices = random_prices(rng, len(matrix))
        value = identification_bound(matrix, prices).value
        for factor in (1e-12, 1e12):
            scaled = identification_bound(matrix, factor * prices).value
            assert scaled == pytest.approx(factor * value, rel=1e-9)


def test_sensitivity_to_the_preferences():
    rng = np.random.default_rng(1896)
    matrix = random_matrix(rng, 5)
    prices = random_prices(rng, 5)
    duals = sensitivity(matrix, program="identify", prices=prices)
    value = identification_bound(matrix, prices).value
    assert duals.value == pytest.approx(value, rel=1e-12)
    for i, j in combinations(range(5), 2):
        moved = matrix.copy()
        shift = 1e-7 * (1 if matrix[i, j] > 0.5 else -1)
        moved[i, j] += shift
        moved[j, i] -= shift
        slope = (identification_bound(moved, prices).value - value) / 1e-7
        assert slope == pytest.approx(duals.derivative[i, j], rel=1e-3, abs=1e-2)
    assert duals.share.sum() / 2 == pytest.approx(1.0)
    with pytest.raises(InvalidPreferenceError, match="prices must be None"):
        sensitivity(matrix, prices=prices)
    with pytest.raises(TieError):
        sensitivity([[0.5, 0.5], [0.5, 0.5]], program="identify")


def test_many_arms_and_small_gaps():
    rng = np.random.default_rng(1898)
    matrix = random_matrix(rng, 40, noise=1.0, exponent=3.0)
    prices = random_prices(rng, 40) ** 4
    bound = identification_bound(matrix, prices)
    check(bound, matrix, prices)
    gaps = quantities(matrix)[0]
    assert candidate_slack(bound.evidence, gaps, bound.winner) >= 1 - 1e-9


def test_verify_compares_with_the_program_as_it_reads(monkeypatch):
    value = identification_bound(GAP, verify=True).value
    assert value == identification_bound(GAP).value
    true = constants._solve_with_cvxpy

    def wrong(instance, winner):
        result = true(instance, winner)
        value = result.certificate.primal_value * (1 + 3e-7)
        return replace(
            result, certificate=replace(result.certificate, primal_value=value)
        )

    monkeypatch.setattr(constants, "_solve_with_cvxpy", wrong)
    with pytest.raises(ProgramError, match="winner 0"):
        identification_bound(GAP, verify=True)


def test_the_arm_asked_for_is_reported():
    bound = identification_bound(MULTISOL, winner=2)
    assert bound.winner == 2
    assert bound.value == pytest.approx(enumerated(MULTISOL, 2), rel=1e-9)
    with pytest.raises(InvalidPreferenceError, match=r"winner must .* \[0\], got 1"):
        identification_bound(UNEQUAL, winner=1)


def test_free_pairs_are_known():
    free = np.ones((3, 3))
    free[0, 1] = free[1, 0] = 0.0
    bound = identification_bound(UNEQUAL, free)
    assert bound.value == pytest.approx(enumerated(UNEQUAL, 0, free), rel=1e-9)
    nothing = identification_bound(UNEQUAL, np.zeros((3, 3)))
    assert nothing.value == 0.0 and nothing.active == ()


def test_sensitivity_of_several_winners():
    # Every winner of the cycle is as cheap as the two cheapest of its three pairs.
    matrix = from_upper([[0, 0.1, -0.2], [0, 0, 0.2], [0, 0, 0]])
    duals = sensitivity(matrix, program="identify")
    # The dearest pair, of arms 0 and 1, is left out, whether its gap grows or not.
    assert duals.derivative[0, 1] == 0
    assert duals.derivative[0, 2] == pytest.approx(duals.derivative[1, 2], rel=1e-12)
    assert duals.derivative[0, 2] < 0


# Where a formula gives it.


def test_two_arms_cost_one_test():
    for p in (0.6, 0.9999, 1.0):
        bound = identification_bound([[0.5, p], [1 - p, 0.5]], [[0, 3], [3, 0]])
        d = information([[0.5, p], [1 - p, 0.5]])[0, 1]
        assert bound.value == pytest.approx(3 / d, rel=1e-9)
    assert identification_bound([[0.5, 0.0], [1.0, 0.5]]).value == pytest.approx(
        1 / math.log(2), rel=1e-14
    )


def closed_form(matrix, winner):
    """A Condorcet winner and an arm that loses to it alone: see the theory note."""
    d = information(matrix)
    spared = []
    total = 0.0
    for arm in range(len(d)):
        if arm == winner:
            continue
        others = [j for j in range(len(d)) if matrix[arm, j] < 0.5 and j != winner]
        mine = 1 / d[winner, arm]
        total += mine
        spared.append(max(mine - min((1 / d[arm, j] for j in others), default=mine), 0))
    return total - max(sum(spared) / 2, max(spared))


def test_closed_form_under_a_condorcet_winner():
    rng = np.random.default_rng(1870)
    half = single = 0
    for _ in range(40):
        num_arms = int(rng.integers(3, 9))
        signs = np.triu(np.ones((num_arms, num_arms)), 1)
        # Below the first two arms anything goes.
        signs[2:, 2:] *= np.where(rng.random((num_arms - 2,) * 2) < 0.5, 1, -1)
        matrix = from_upper(signs * 10 ** rng.uniform(-1.5, np.log10(0.5), signs.shape))
        bound = identification_bound(matrix)
        assert bound.winner == 0
        assert bound.value == pytest.approx(closed_form(matrix, 0), rel=1e-9)
        x = bound.evidence[0, 1:]
        half += bool((np.abs(x - 0.5) < 1e-9).any())
        single += bool((x < 1e-9).any())
    assert half >= 5 and single >= 5
