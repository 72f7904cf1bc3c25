"""Values, chains of classes, limits, and both halves of the proof."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, ndtri

from theory import copeland_lower_bound, identification_bound, structured_lower_bound
from theory.divergences import bernoulli_kl

SQRT2 = np.sqrt(2.0)
LINKS = {
    "bradley-terry": (expit, logit),
    "thurstone": (lambda x: ndtr(x / SQRT2), lambda p: SQRT2 * ndtri(p)),
}
"""F of each model, and its inverse."""


def table(utilities, link=expit):
    return link(np.subtract.outer(utilities, utilities))


def falling(rng, scale, num_arms):
    return np.sort(rng.normal(0, scale, num_arms))[::-1]


def published():
    rng = np.random.default_rng(5)
    return [falling(rng, scale, k) for scale, k in ((1, 3), (1, 4), (2, 5))]


@pytest.mark.parametrize(
    ("case", "regret", "duels", "free_regret", "free_duels"),
    [
        (0, 10.73288, 33.36187, 10.74036, 35.03598),
        (1, 7.51045, 26.22701, 7.56237, 29.08065),
        (2, 1.66816, 6.28065, 2.31375, 8.78729),
    ],
)
def test_values_of_two_other_programs(case, regret, duels, free_regret, free_duels):
    # Cutting planes with Newton oracles, and a linear program with BFGS oracles.
    utilities = published()[case]
    by_regret = structured_lower_bound(utilities)
    by_duels = structured_lower_bound(utilities, cost="duels")
    assert float(by_regret) == pytest.approx(regret, abs=2e-5)
    assert float(by_duels) == pytest.approx(duels, abs=5e-5)
    matrix = by_regret.preferences
    assert float(copeland_lower_bound(matrix)) == pytest.approx(free_regret, abs=2e-5)
    assert float(identification_bound(matrix)) == pytest.approx(free_duels, abs=2e-5)


def test_features_of_sixteen_arms():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(16, 3))
    features /= np.linalg.norm(features, axis=1)[:, None]
    beta = rng.normal(size=3)
    utilities = features @ (3 * beta / np.linalg.norm(beta))
    bound = structured_lower_bound(utilities, features=features)
    assert bound.value == pytest.approx(4.66, abs=0.005)
    assert float(copeland_lower_bound(bound.preferences)) == pytest.approx(
        12.11, abs=0.005
    )
    free = structured_lower_bound(utilities)
    assert bound.value < free.value


def extended_kl(p, q):
    """Compute KL in extended precision, in which 1 - p is exact."""
    p, q = (np.asarray(value, dtype=np.longdouble) for value in (p, q))
    total = np.zeros_like(p)
    for a, b in ((p, q), (1 - p, 1 - q)):
        total += np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / b), 0)
    return np.asarray(total, dtype=float)


def check_obeys(world, inverse, basis, first, second):
    """Verify that pairs of a matrix have utilities that the features span."""
    low = inverse(np.minimum(world, world.T))
    gaps = np.where(world < 0.5, low, -low)[first, second]
    contrasts = basis[first] - basis[second]
    beta = np.linalg.lstsq(contrasts, gaps)[0]
    np.testing.assert_allclose(contrasts @ beta, gaps, atol=1e-7)


def check_proof(result, model=None, features=None):
    """Verify both sides with what the result holds, and with another optimizer."""
    p, prices = result.preferences, result.prices
    link, inverse = LINKS.get(model, (None, None))
    basis = np.eye(len(p)) if features is None else features
    pairs = np.triu_indices(len(p), 1)
    questions = np.isfinite(prices[pairs])
    cost = prices[pairs][questions] @ result.duels[pairs][questions]
    assert cost == pytest.approx(result.value, rel=1e-12)
    assert (result.duels >= 0).all() and not result.duels[pairs][~questions].any()
    # From below: multipliers on matrices in which a rival is level.
    load = np.zeros_like(p)
    for world, rival, amount in zip(
        result.alternatives, result.rivals, result.multipliers, strict=True
    ):
        np.testing.assert_allclose(world + world.T, 1, atol=1e-15)
        assert amount >= 0 and rival != result.winner
        assert world[rival, result.winner] >= 0.5 - 1e-12
        if inverse is not None:
            check_obeys(world, inverse, basis, *(pair[questions] for pair in pairs))
        load += amount * extended_kl(p, world)
    assert (load[pairs][questions] <= prices[pairs][questions] * (1 + 1e-9)).all()
    bound = result.multipliers.sum()
    assert bound == pytest.approx(result.certificate.dual_bound)
    assert -1e-12 <= (result.value - bound) / result.value <= 1.01e-6
    # From above: no alternative costs less than 1.
    if link is not None:
        # Only some of many rivals, because each takes time.
        for rival in np.delete(np.arange(len(p)), result.winner)[:6]:
            least = least_cost(result, basis, link, rival)
            assert 1 - 1e-7 <= least


def least_cost(result, basis, link, rival):
    """Minimize by BFGS with numeric derivatives; any value is an upper bound."""
    p, best = result.preferences, result.winner
    pairs = np.triu_indices(len(p), 1)
    duels, shares = result.duels[pairs], p[pairs]
    fixed = basis[rival] - basis[best]
    free = np.linalg.svd(fixed[None, :])[2][1:].T

    def cost(x):
        theta = basis @ free @ x
        q = link(theta[pairs[0]] - theta[pairs[1]])
        return duels @ np.asarray(bernoulli_kl(shares, np.clip(q, 1e-12, 1 - 1e-12)))

    return minimize(cost, np.zeros(free.shape[1]), method="BFGS", tol=1e-9).fun


@pytest.mark.parametrize("model", LINKS)
@pytest.mark.parametrize(
    ("cost", "num_arms"), [("copeland", 3), ("gap", 5), ("duels", 5)]
)
def test_both_sides_are_proved(model, cost, num_arms):
    utilities = np.random.default_rng(num_arms).normal(0, 1.2, num_arms)
    bound = structured_lower_bound(utilities, model, cost=cost)
    assert bound.winner == utilities.argmax()
    check_proof(bound, model)


def test_both_sides_are_proved_with_features():
    rng = np.random.default_rng(8)
    features = rng.normal(size=(7, 2))
    bound = structured_lower_bound(features @ [1.5, -1.0], features=features)
    check_proof(bound, "bradley-terry", features)


def test_both_sides_are_proved_with_prices():
    rng = np.random.default_rng(0)
    prices = 10 ** rng.uniform(-2, 2, (4, 4))
    prices = prices + prices.T
    utilities = rng.normal(size=4)
    best, other = np.argsort(-utilities)[[0, 2]]
    prices[best, other] = prices[other, best] = np.inf
    bound = structured_lower_bound(utilities, cost=prices)
    assert bound.cost == "prices" and bound.bound is None
    check_proof(bound, "bradley-terry")


def test_two_arms_have_a_closed_form():
    for model, (link, _) in LINKS.items():
        for gap in (1e-4, 0.3, 5.0):
            bound = structured_lower_bound([gap, 0.0], model, cost="duels")
            kl = float(bernoulli_kl(link(-gap), 0.5))
            assert bound.value == pytest.approx(1 / kl, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_smaller_classes_cost_less(seed):
    rng = np.random.default_rng(seed)
    matrix = table(rng.normal(0, rng.uniform(0.3, 2), 3 + seed % 2))
    cost = ("copeland", "duels")[seed % 2]
    every = copeland_lower_bound if cost == "copeland" else identification_bound
    order = float(structured_lower_bound(matrix, "transitive", cost=cost))
    logistic = float(structured_lower_bound(matrix, cost=cost))
    assert float(every(matrix)) >= order * (1 - 2e-6) >= logistic * (1 - 4e-6)


def test_features_that_span_everything_change_nothing():
    utilities = np.random.default_rng(1).normal(size=6)
    free = structured_lower_bound(utilities, tolerance=1e-8)
    features = np.random.default_rng(2).normal(size=(6, 6))
    same = structured_lower_bound(utilities, features=features, tolerance=1e-8)
    assert same.value == pytest.approx(free.value, rel=2e-8)
    assert same.model == "bradley-terry with features"


def test_the_order_of_the_arms_and_the_form_of_the_input_do_not_matter():
    utilities = published()[2]
    order = np.array([3, 0, 4, 1, 2])
    bound = structured_lower_bound(utilities, tolerance=1e-8)
    turned = structured_lower_bound(table(utilities[order] + 7.0), tolerance=1e-8)
    assert turned.value == pytest.approx(bound.value, rel=2e-8)
    assert turned.winner == 1
    np.testing.assert_allclose(
        turned.duels, bound.duels[np.ix_(order, order)], atol=1e-3
    )


def test_ties_of_other_arms_are_allowed():
    utilities = [1.0, 0.0, 0.0, -1.0]
    for result in (
        structured_lower_bound(utilities),
        structured_lower_bound(table(np.array(utilities)), "transitive"),
    ):
        check_proof(result)
        assert result.bound is not None and result.bound.regret == "copeland_losses"


def test_the_bound_says_what_it_is():
    bound = structured_lower_bound([1.0, 0.0], cost="gap")
    assert bound.bound is not None
    assert bound.bound.regret == "condorcet_mean"
    assert bound.bound.kind == "asymptotic lower"
    assert bound.bound.log_coefficient == float(bound) == bound.value
    assert repr(bound).startswith("StructuredBound(value=")


def test_near_ties_keep_their_digits():
    bound = structured_lower_bound([1e-5, 0.0, -0.5], cost="duels")
    # The pair next to a tie pays for almost all of it.
    assert bound.value == pytest.approx(8e10, rel=0.05)
    check_proof(bound, "bradley-terry")


def test_wide_utilities():
    bound = structured_lower_bound([20.0, 3.0, 0.0, -2.0])
    check_proof(bound, "bradley-terry")


@pytest.mark.slow
def test_twenty_arms():
    utilities = np.random.default_rng(5).normal(0, 1, 20)
    check_proof(structured_lower_bound(utilities), "bradley-terry")


def test_the_three_costs_are_the_prices_they_stand_for():
    utilities = published()[1]
    bound = structured_lower_bound(utilities)
    for i, j in itertools.combinations(range(4), 2):
        assert bound.prices[i, j] == pytest.approx((i + j) / 6)
    gaps = structured_lower_bound(utilities, cost="gap").prices
    p = bound.preferences
    assert gaps[1, 2] == pytest.approx((p[0, 1] + p[0, 2] - 1) / 2)
