"""The lower bound of finitely many contexts with features."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from theory import InvalidPreferenceError, TieError, structured_lower_bound
from theory.divergences import bernoulli_kl
from theory.errors import ArgumentError


def drawn(seed, num_contexts, num_arms, size):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(num_contexts, num_arms, size))
    return features, rng.normal(size=size), np.full(num_contexts, 1 / num_contexts)


@pytest.mark.parametrize("cost", ["copeland", "gap", "duels"])
def test_one_context_is_no_context(cost):
    utilities = np.array([3.0, 2.0, -1.0, -1.5, -2.0])
    free = structured_lower_bound(utilities, cost=cost)
    bound = structured_lower_bound(
        utilities, features=np.eye(5)[None], contexts=[1.0], cost=cost
    )
    assert bound.value == pytest.approx(free.value, rel=2e-6)
    if cost == "copeland":
        assert bound.value == pytest.approx(2.411, abs=5e-4)
    np.testing.assert_allclose(bound.preferences[0], free.preferences, atol=1e-12)
    features, theta, _ = drawn(1, 1, 6, 3)
    single = structured_lower_bound(features[0] @ theta, features=features[0])
    bound = structured_lower_bound(theta, features=features, contexts=[1.0])
    assert bound.value == pytest.approx(single.value, rel=2e-6)
    assert bound.winner.tolist() == [single.winner]
    np.testing.assert_array_equal(bound.rivals[:, 1], single.rivals)


def test_coefficients_that_share_nothing_cost_the_sum():
    # Theta' must move across one difference, which only one pair shows.
    features = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]]]
    bound = structured_lower_bound(
        [1.0, 0.5, 0.0], features=features, contexts=[0.9, 0.1], cost="utility"
    )
    by_hand = [gap / 2 / bernoulli_kl(expit(gap), 0.5) for gap in (0.5, 1.0)]
    assert bound.value == pytest.approx(sum(by_hand), rel=2e-6)
    assert bound.bound.regret == "utility_mean"


def test_one_coefficient_is_learnt_in_the_cheapest_context():
    # The alternative is theta' = 0, whatever the context, so one pair is enough.
    features = np.array([[[0.0], [1.0], [2.5]], [[0.0], [0.2], [0.5]]])
    theta = 1.3
    bound = structured_lower_bound(
        [theta], features=features, contexts=[0.5, 0.5], cost="utility"
    )
    rates = []
    for rows in theta * features[..., 0]:
        for i in range(3):
            for j in range(i):
                regret = rows.max() - (rows[i] + rows[j]) / 2
                rates.append(regret / bernoulli_kl(expit(rows[i] - rows[j]), 0.5))
    assert bound.value == pytest.approx(min(rates), rel=2e-6)
    alone = [
        structured_lower_bound(rows @ [theta], features=rows, cost="utility").value
        for rows in features
    ]
    assert bound.value == pytest.approx(min(alone), rel=2e-6)
    assert max(alone) > 1.2 * min(alone)


@pytest.mark.parametrize("cost", ["utility", "duels", "table"])
def test_both_sides_of_the_proof(cost):
    features, theta, contexts = drawn(3, 4, 3, 2)
    prices = cost
    if cost == "table":
        prices = np.random.default_rng(0).uniform(0.5, 2.0, (4, 3, 3))
        prices = prices + np.swapaxes(prices, 1, 2)
    bound = structured_lower_bound(
        theta, features=features, contexts=contexts, cost=prices
    )
    utilities = features @ theta
    first, second = np.triu_indices(3, 1)
    p = expit(utilities[:, first] - utilities[:, second])
    price = bound.prices[:, first, second]
    if cost == "utility":
        mean = (utilities[:, first] + utilities[:, second]) / 2
        by_hand = utilities.max(axis=1, keepdims=True) - mean
        np.testing.assert_allclose(price, by_hand, atol=1e-12)
    duels = bound.duels[:, first, second]
    assert (duels * price).sum() == pytest.approx(bound.value, rel=1e-9)
    # From below: the alternatives obey the model, and a rival is level in each.
    load = np.zeros_like(p)
    for world, (context, arm), amount in zip(
        bound.alternatives, bound.rivals, bound.multipliers, strict=True
    ):
        assert world[context, arm, bound.winner[context]] >= 0.5 - 1e-9
        gaps = np.log(world / np.swapaxes(world, 1, 2))[:, first, second]
        contrasts = (features[:, first] - features[:, second]).reshape(-1, 2)
        beta = np.linalg.lstsq(contrasts, gaps.ravel())[0]
        np.testing.assert_allclose(contrasts @ beta, gaps.ravel(), atol=1e-6)
        load += amount * bernoulli_kl(p, world[:, first, second])
    assert (load <= price * (1 + 1e-9)).all()
    assert bound.multipliers.sum() == pytest.approx(bound.value, rel=1.1e-6)
    # From above: no theta' with a rival level in some context costs less than 1.
    for context in range(4):
        best = bound.winner[context]
        assert best == utilities[context].argmax()
        for rival in set(range(3)) - {best}:
            contrast = features[context, rival] - features[context, best]

            def cost_of(beta):
                u = features @ beta
                q = expit(u[:, first] - u[:, second])
                return float((duels * bernoulli_kl(p, q)).sum())

            level = theta - contrast * (contrast @ theta) / (contrast @ contrast)
            along = np.array([-contrast[1], contrast[0]])
            least = minimize(
                lambda x, start, way: cost_of(start + x[0] * way),
                [0.0],
                args=(level, along),
                tol=1e-12,
            ).fun
            assert least >= 1 - 1e-6


def test_contexts_that_never_come_are_left_out():
    features, theta, _ = drawn(5, 3, 4, 3)
    bound = structured_lower_bound(theta, features=features, contexts=[0.7, 0.0, 0.3])
    remaining = structured_lower_bound(
        theta, features=features[[0, 2]], contexts=[0.5, 0.5]
    )
    assert bound.value == pytest.approx(remaining.value, rel=1e-9)
    assert not bound.duels[1].any()
    assert np.isnan(bound.preferences[1]).all()
    np.testing.assert_allclose(
        bound.duels[[0, 2]], remaining.duels, rtol=1e-6, atol=1e-6
    )
    assert set(bound.rivals[:, 0]) == {0, 2}
    by_utilities = structured_lower_bound(
        features @ theta, features=features, contexts=[0.7, 0.0, 0.3]
    )
    assert by_utilities.value == pytest.approx(bound.value, rel=2e-6)


FEATURES, THETA, _ = drawn(7, 2, 3, 2)
TIED = FEATURES.copy()
TIED[1, 2] = TIED[1, 0] = THETA * 5


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"features": None}, InvalidPreferenceError, "needs a model of utilities"),
        ({"model": "transitive"}, InvalidPreferenceError, "needs a model of utilities"),
        ({"features": FEATURES[0]}, InvalidPreferenceError, r"shape \(C, K, d\)"),
        ({"contexts": [1.0]}, ArgumentError, "frequencies of the 2 contexts"),
        ({"contexts": [0.5, 0.6]}, ArgumentError, "with sum 1"),
        ({"contexts": [1.5, -0.5]}, ArgumentError, "not negative"),
        ({"preferences": [1.0, 2.0, 3.0]}, InvalidPreferenceError, r"\(2,\), or util"),
        ({"preferences": np.ones((2, 3))}, TieError, "tie in context 0"),
        ({"features": TIED}, TieError, "arms 0 and 2 tie in context 1"),
        (
            {"preferences": np.arange(6.0).reshape(2, 3) ** 2},
            InvalidPreferenceError,
            "must be spanned by the features in context",
        ),
        ({"cost": np.ones((3, 3, 3))}, InvalidPreferenceError, "each of the 2 context"),
        (
            {"features": np.ones((11, 10, 2)), "contexts": np.full(11, 1 / 11)},
            InvalidPreferenceError,
            "at most 100 arms",
        ),
    ],
)
def test_what_is_refused(change, error, match):
    given = {"preferences": THETA, "features": FEATURES, "contexts": [0.5, 0.5]}
    with pytest.raises(error, match=match):
        structured_lower_bound(**(given | change))


def test_regret_of_utility_needs_utilities():
    matrix = [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]]
    with pytest.raises(ArgumentError, match="must not be 'utility'"):
        structured_lower_bound(matrix, "transitive", cost="utility")
