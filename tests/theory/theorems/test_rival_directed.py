"""The bound of RD-TS*, and the two lemmas on programs that its proof begins with."""

import numpy as np
import pytest

import theory
from tests.theory.brute_force import dethroning_sets, quantities, solve_cover
from tests.theory.matrices import CYCLIC, GAP, MSLR5, MULTISOL
from theory.copeland_program.efficient import ecw_costs
from theory.theorems import rival_directed_star_bound


def random_matrix(num_arms, seed, *, sure=0.2):
    """Return preferences without ties, some of them 0 or 1."""
    rng = np.random.default_rng([44, num_arms, seed])
    values = rng.uniform(0.52, 0.98, (num_arms, num_arms))
    values[rng.random(values.shape) < sure] = 1.0
    values = np.where(rng.random(values.shape) < 0.5, values, 1 - values)
    upper = np.triu(values, 1)
    matrix = upper + np.tril(1 - upper.T, -1)
    np.fill_diagonal(matrix, 0.5)
    return matrix


def cover_of_dethroning_sets(matrix, winner, costs):
    """Return the optimum over x >= 0 with sum >= 1 on every set that dethrones."""
    signs = np.sign(quantities(matrix)[0])
    sets = [chosen for _, _, chosen in dethroning_sets(signs, winner)]
    return solve_cover(costs, [{tuple(sorted(e)) for e in x} for x in sets], len(costs))


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_lemma_0_the_program_is_that_of_dethroning_sets(num_arms):
    """For every Copeland winner, one or several."""
    several = 0
    for seed in range(20):
        matrix = random_matrix(num_arms, seed)
        costs = quantities(matrix)[2]
        result = theory.copeland_lower_bound(matrix).value_by_winner
        several += len(result) > 1
        for winner, value in result.items():
            expected = cover_of_dethroning_sets(matrix, winner, costs)
            assert value == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert several > 2 or num_arms == 2


@pytest.mark.parametrize("num_arms", [3, 4, 5])
def test_lemma_0_prime_the_closed_form_is_exact_at_any_costs(num_arms):
    """With two winners or more; with one it is too large."""
    larger = several = 0
    for seed in range(30):
        matrix = random_matrix(num_arms, seed)
        gaps = quantities(matrix)[0]
        rng = np.random.default_rng([45, num_arms, seed])
        upper = np.triu(rng.exponential(size=gaps.shape), 1)
        costs = upper + upper.T
        winners = np.flatnonzero(np.isfinite(ecw_costs(gaps)))
        for winner in winners:
            closed = closed_form(gaps, winner, costs)
            exact = cover_of_dethroning_sets(matrix, winner, costs)
            if len(winners) > 1:
                several += 1
                assert closed == pytest.approx(exact, rel=1e-7)
            else:
                assert closed >= exact * (1 - 1e-7)
                larger += closed > 1.01 * exact
    assert several > 5
    assert larger > 3 or num_arms == 3


def closed_form(gaps, winner, costs):
    """Return the optimum of the efficient program at any costs (Theorem 5 there)."""
    losses = (gaps < 0).sum(axis=1)
    total = costs[winner, gaps[winner] > 0].sum()
    for rival in range(len(gaps)):
        pool = [j for j in np.flatnonzero(gaps[rival] < 0) if j != winner]
        spare = losses[winner] - 1 - (gaps[winner, rival] > 0)
        if rival != winner and spare >= 0:
            sums = np.cumsum(np.sort(costs[rival, pool]))
            total += min(
                sums[h - 1] / (h - spare) for h in range(spare + 1, len(pool) + 1)
            )
    return total


@pytest.mark.parametrize(
    ("matrix", "value"),
    [(CYCLIC, 27.5487), (GAP, 11.0249), (MULTISOL, 3.2426), (MSLR5, 66.7693)],
)
def test_the_bound_is_the_constant_of_the_lower_bound(matrix, value):
    bound = rival_directed_star_bound(matrix)
    assert bound.log_coefficient == pytest.approx(value, abs=5e-5)
    assert bound.log_coefficient == theory.copeland_lower_bound(matrix).value
    assert (bound.kind, bound.regret) == ("asymptotic upper", "copeland")


def test_the_catalog_has_it_for_the_cost_of_the_theorem():
    named, other = (
        theory.all_bounds(CYCLIC, policy="rd-ts*", parameters={"cost": cost})
        for cost in ("regret", "duels")
    )
    assert [item.bounds[0].policy for item in named] == ["RD-TS*"]
    assert not other[0].bounds and "cost='regret'" in other[0].reason


def test_ties_are_refused():
    with pytest.raises(theory.TieError):
        rival_directed_star_bound([[0.5, 0.5], [0.5, 0.5]])
