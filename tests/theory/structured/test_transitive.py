"""All orders of the arms: isotonic regressions, their certificate, the bound."""

import itertools

import cvxpy
import numpy as np
import pytest
from scipy.special import expit

from tests.theory.structured.test_bounds import check_proof
from theory import PreferenceMatrix, structured_lower_bound
from theory.divergences import bernoulli_kl
from theory.structured.transitive import OrderOracle, upper_sets
from theory.structured.truth import truth_of

CERTAIN = np.array([[0.5, 0.7, 1.0], [0.3, 0.5, 0.9], [0.0, 0.1, 0.5]])


def transitive_matrix(rng, num_arms):
    """Draw a matrix that grows with the distance in the order, then shuffle it."""
    p = np.full((num_arms, num_arms), 0.5)
    for width in range(1, num_arms):
        for i in range(num_arms - width):
            j = i + width
            least = max(p[i, j - 1], p[i + 1, j])
            p[i, j] = least + rng.uniform(0.02, 0.3) * (1 - least)
            p[j, i] = 1 - p[i, j]
    order = rng.permutation(num_arms)
    return p[np.ix_(order, order)]


def oracle_of(matrix, prices=None):
    checked = PreferenceMatrix(matrix)
    if prices is None:
        prices = np.ones_like(checked.values)
    return OrderOracle(truth_of([checked], prices[None]))


@pytest.mark.parametrize(("num_arms", "number"), [(2, 2), (5, 42), (6, 132)])
def test_upper_sets_are_counted_by_catalan(num_arms, number):
    sets = upper_sets(num_arms)
    assert len(np.unique(sets, axis=0)) == len(sets) == number
    first, second = np.triu_indices(num_arms, 1)
    for a, b in itertools.permutations(range(first.size), 2):
        if first[b] <= first[a] and second[a] <= second[b]:
            assert (sets[:, b] >= sets[:, a]).all()


@pytest.mark.parametrize("none", [0.0, 0.5])
def test_every_order_is_solved_and_proved(none):
    rng = np.random.default_rng(0)
    oracle = oracle_of(transitive_matrix(rng, 5))
    weights = rng.exponential(size=10) * (rng.random(10) >= none)
    q = oracle.solve(weights)
    value, lower = oracle.values(weights, q)
    assert (value - lower <= 1e-12 * (1 + value)).all()
    assert (value >= lower - 1e-12).all()
    first, second = np.triu_indices(5, 1)
    index = {pair: k for k, pair in enumerate(zip(first, second, strict=True))}
    assert q.min() >= 0.5 and q.max() <= 1
    for s, m, t in itertools.combinations(range(5), 3):
        wide = q[:, index[s, t]]
        assert (wide >= q[:, index[s, m]]).all() and (wide >= q[:, index[m, t]]).all()


def nearest_in_order(preferences, weights, order):
    """Find the matrix nearest to P that is strongly transitive along an order.

    As the definition reads, in CVXPY; nearest by the weighted sum of divergences.
    """
    num_arms = len(weights)
    above = cvxpy.Variable((num_arms, num_arms))  # P'(i beats j), i before j.
    rules, divergence = [], 0.0
    for i, j in itertools.combinations(order, 2):
        p = preferences[i, j]
        rules += [above[i, j] >= 0.5, above[i, j] <= 1.0]
        divergence -= weights[i, j] * p * cvxpy.log(above[i, j])
        divergence -= weights[i, j] * (1 - p) * cvxpy.log(1 - above[i, j])
    for i, j, k in itertools.combinations(order, 3):
        rules += [above[i, k] >= above[i, j], above[i, k] >= above[j, k]]
    problem = cvxpy.Problem(cvxpy.Minimize(divergence), rules)
    problem.solve(solver=cvxpy.CLARABEL)
    assert problem.status in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE)
    values = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(order, 2):
        values[i, j] = float(np.asarray(above.value)[i, j])
        values[j, i] = 1.0 - values[i, j]
    return values


def test_an_order_as_it_reads():
    rng = np.random.default_rng(0)
    matrix = transitive_matrix(rng, 4)
    oracle = oracle_of(matrix)
    weights = rng.exponential(size=6)
    value, _ = oracle.values(weights, oracle.solve(weights))
    best = oracle.truth.best
    orders = [o for o in itertools.permutations(range(4)) if o[0] != best]
    full = oracle.truth.table(weights)
    pairs = np.triu_indices(4, 1)
    for k in (0, 7, 17):
        world = nearest_in_order(matrix, full, orders[k])
        cost = full[pairs] @ np.asarray(bernoulli_kl(matrix[pairs], world[pairs]))
        assert value[k] == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 2, 3])
@pytest.mark.parametrize("cost", ["copeland", "duels"])
def test_both_sides_are_proved(seed, cost):
    rng = np.random.default_rng(seed)
    bound = structured_lower_bound(
        transitive_matrix(rng, 2 + seed), "transitive", cost=cost
    )
    check_proof(bound)
    for world in bound.alternatives:
        assert PreferenceMatrix(world).satisfies_sst()
    oracle = oracle_of(bound.preferences)
    weights = bound.duels[oracle.truth.behind, oracle.truth.ahead]
    assert oracle.values(weights, oracle.solve(weights))[1].min() >= 1 - 1e-9


def test_a_sure_win_is_allowed():
    bound = structured_lower_bound(CERTAIN, "transitive")
    check_proof(bound)
    # Duels with arm 1 or arm 0 test arm 2, the latter at log 2 a duel.
    assert bound.value > 0.25 / float(bernoulli_kl(0.7, 0.5))


@pytest.mark.parametrize(
    "matrix", [CERTAIN, transitive_matrix(np.random.default_rng(1), 4)]
)
def test_a_pair_that_cannot_be_asked_is_the_limit_of_a_dear_one(matrix):
    best, other = np.argsort(-(matrix > 0.5).sum(axis=1))[[0, -1]]
    prices = np.ones_like(matrix)
    prices[best, other] = prices[other, best] = np.inf
    bound = structured_lower_bound(matrix, "transitive", cost=prices)
    check_proof(bound)
    assert bound.duels[best, other] == 0
    prices[np.isinf(prices)] = 1e4
    dear = structured_lower_bound(matrix, "transitive", cost=prices)
    assert dear.value == pytest.approx(bound.value, rel=3e-6)


def test_six_arms_cost_no_less_than_a_logistic_model():
    matrix = expit(np.subtract.outer(*2 * [np.array([2.0, 1.2, 0.1, -0.3, -1.0, -2])]))
    order = structured_lower_bound(matrix, "transitive")
    assert order.value > structured_lower_bound(matrix).value * (1 + 1e-5)


@pytest.mark.parametrize("share", [0.50317, 0.6, 0.97])
def test_two_arms_at_any_price(share):
    # Both sides are equal, and rounding may put either first.
    matrix = [[0.5, share], [1 - share, 0.5]]
    for price in np.geomspace(1e-3, 1e3, 12):
        prices = price * (1 - np.eye(2))
        bound = structured_lower_bound(matrix, "transitive", cost=prices)
        assert bound.value == pytest.approx(price / float(bernoulli_kl(share, 0.5)))
        check_proof(bound)
