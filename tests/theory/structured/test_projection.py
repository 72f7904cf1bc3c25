"""The nearest matrix of a model: against other optimizers, and what it is not."""

import itertools

import cvxpy
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    project_on_model,
    structured_lower_bound,
)
from theory.divergences import bernoulli_kl

LINKS = {"bradley-terry": expit, "thurstone": lambda x: ndtr(x / np.sqrt(2.0))}


def estimated(rng, num_arms, votes=31):
    """Shares of wins out of equally many votes on every pair."""
    utilities = np.sort(rng.normal(0, 1.2, num_arms))[::-1]
    matrix = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(range(num_arms), 2):
        wins = rng.binomial(votes, expit(utilities[i] - utilities[j]))
        matrix[i, j] = np.clip(wins / votes, 0.02, 0.98)
        matrix[j, i] = 1 - matrix[i, j]
    return matrix


def loss(matrix, fitted):
    pairs = np.triu_indices(len(matrix), 1)
    return float(np.mean(np.asarray(bernoulli_kl(matrix[pairs], fitted[pairs]))))


@pytest.mark.parametrize("model", LINKS)
@pytest.mark.parametrize("features", [None, 2])
def test_the_nearest_utilities_are_those_of_another_optimizer(model, features):
    rng = np.random.default_rng(4)
    for _ in range(5):
        matrix = estimated(rng, 6)
        table = None if features is None else rng.normal(size=(6, features))
        projection = project_on_model(matrix, model, features=table)
        basis = np.eye(6) if table is None else table

        def cost(beta, basis=basis, matrix=matrix):
            fitted = LINKS[model](np.subtract.outer(basis @ beta, basis @ beta))
            return loss(matrix, np.clip(fitted, 1e-9, 1 - 1e-9))

        best = minimize(cost, np.zeros(basis.shape[1]), method="BFGS", tol=1e-10)
        assert projection.divergence == pytest.approx(best.fun, rel=1e-6)
        assert projection.divergence == pytest.approx(
            loss(matrix, projection.matrix.values)
        )
        gaps = np.subtract.outer(projection.utilities, projection.utilities)
        np.testing.assert_allclose(
            LINKS[model](gaps), projection.matrix.values, atol=1e-12
        )
        assert abs(projection.utilities.sum()) < 1e-9
        change = np.abs(projection.matrix.values - matrix)
        assert projection.largest_change == pytest.approx(change.max())
        assert change[projection.pair] == pytest.approx(change.max())
        # It obeys the model, as the matrix did not.
        with pytest.raises(InvalidPreferenceError, match="bounds --project"):
            structured_lower_bound(matrix, model, features=table)
        proof = structured_lower_bound(
            projection.utilities + 0.1, model, features=table
        )
        np.testing.assert_allclose(
            proof.preferences, projection.matrix.values, atol=1e-9
        )


def test_the_scores_of_the_nearest_bradley_terry_matrix_are_those_given():
    """The equations of its likelihood: expected wins of every arm are observed ones."""
    matrix = estimated(np.random.default_rng(1), 8)
    values = project_on_model(matrix).matrix.values
    np.testing.assert_allclose(values.sum(axis=1), matrix.sum(axis=1), atol=1e-10)


def nearest_by_cvxpy(matrix):
    """Solve the program of every order of the arms, and take the best one."""
    best, result, num_arms = np.inf, None, len(matrix)
    for order in itertools.permutations(range(num_arms)):
        p = matrix[np.ix_(order, order)]
        q = cvxpy.Variable((num_arms, num_arms))
        rules, cost = [], 0
        for i, j in itertools.combinations(range(num_arms), 2):
            rules.append(q[i, j] >= 0.5)
            if j > i + 1:
                rules += [q[i, j] >= q[i, j - 1], q[i, j] >= q[i + 1, j]]
            cost -= p[i, j] * cvxpy.log(q[i, j]) + p[j, i] * cvxpy.log(1 - q[i, j])
        value = cvxpy.Problem(cvxpy.Minimize(cost), rules).solve(solver=cvxpy.CLARABEL)
        if value < best:
            best, result = value, np.full((num_arms, num_arms), 0.5)
            for i, j in itertools.combinations(range(num_arms), 2):
                result[order[i], order[j]] = q.value[i, j]
                result[order[j], order[i]] = 1 - q.value[i, j]
    return result


def test_the_nearest_transitive_matrix_is_that_of_all_orders():
    rng = np.random.default_rng(3)
    for _ in range(2):
        matrix = estimated(rng, 4, votes=9)
        projection = project_on_model(matrix, "transitive")
        assert PreferenceMatrix(projection.matrix.values).satisfies_sst
        expected = nearest_by_cvxpy(matrix)
        np.testing.assert_allclose(projection.matrix.values, expected, atol=2e-4)
        assert projection.utilities is None


@pytest.mark.parametrize("model", [*LINKS, "transitive"])
def test_a_matrix_of_the_model_is_its_own_projection(model):
    utilities = [2.0, 0.7, 0.4, -0.5]
    link = LINKS.get(model, expit)
    matrix = link(np.subtract.outer(utilities, utilities))
    matrix = PreferenceMatrix(matrix, arm_names=("a", "b", "c", "d"))
    projection = project_on_model(matrix, model)
    np.testing.assert_allclose(projection.matrix.values, matrix.values, atol=1e-10)
    assert (
        projection.divergence < 1e-15
        and projection.matrix.arm_names == matrix.arm_names
    )
    assert float(structured_lower_bound(projection.matrix, model)) == pytest.approx(
        float(structured_lower_bound(matrix, model)), rel=2e-6
    )


def test_entries_of_0_and_1_have_a_projection_where_utilities_stay_finite():
    matrix = [[0.5, 0.8, 0.7, 1], [0.2, 0.5, 0.6, 0.9], [0.3, 0.4, 0.5, 0.8],
              [0, 0.1, 0.2, 0.5]]  # fmt: skip
    values = project_on_model(matrix).matrix.values
    assert 0.9 < values[0, 3] < 1.0
    never = [[0.5, 1, 1], [0, 0.5, 0.6], [0, 0.4, 0.5]]
    for model in LINKS:
        with pytest.raises(InvalidPreferenceError, match="never win or never lose"):
            project_on_model(never, model)
    order = project_on_model(never, "transitive").matrix.values
    np.testing.assert_array_equal(order, never)


def test_what_cannot_be_projected():
    seven = expit(np.subtract.outer(np.arange(7) / 4, np.arange(7) / 4))
    with pytest.raises(InvalidPreferenceError, match="at most 6 arms"):
        project_on_model(seven, "transitive")
    with pytest.raises(InvalidPreferenceError, match="does not go with 'transitive'"):
        project_on_model(seven[:3, :3], "transitive", features=[[1.0], [2.0], [0.0]])
    with pytest.raises(ValueError, match="model"):
        project_on_model(seven, "plackett-luce")
    with pytest.raises(ValueError, match="features"):
        project_on_model(seven, features=[[1.0], [2.0]])
