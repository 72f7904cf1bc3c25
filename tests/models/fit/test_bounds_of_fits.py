"""Utilities have one unit: models, posteriors of policies, instances, bounds."""

import numpy as np
import pytest

from bayesduel.inference import fit
from bayesduel.instances import generators
from bayesduel.models import BradleyTerry, LinearUtilities, Thurstone
from bayesduel.models.in_policies.names import posterior_named
from bayesduel.votes import Comparisons
from theory import structured_lower_bound
from theory.structured.links import LINKS

MODELS = {"bradley-terry": BradleyTerry(), "thurstone": Thurstone()}
FEATURES = np.array([[2.0, 0.3], [1.0, -0.5], [0.2, 0.9], [-1.0, 0.1]])
VOTES = Comparisons.from_wins(
    [[0, 40, 70, 80], [20, 0, 60, 70], [10, 30, 0, 50], [5, 12, 34, 0]]
)


def predicted(model):
    """Return utilities of one draw of a fit, and the matrix that it predicts."""
    drawn = fit(model, VOTES, method="laplace", num_draws=10).flat_draws()
    one = {name: values[:1] for name, values in drawn.items()}
    return model.utilities(one)[0], model.preference_matrices(one)[0]


@pytest.mark.parametrize("cost", ["copeland", "gap", "duels"])
@pytest.mark.parametrize("name", LINKS)
def test_utilities_of_a_fit_have_the_bound_of_the_matrix_that_it_predicts(name, cost):
    utilities, matrix = predicted(MODELS[name])
    of_utilities = structured_lower_bound(utilities, name, cost=cost)
    np.testing.assert_allclose(of_utilities.preferences, matrix, atol=1e-12)
    of_matrix = structured_lower_bound(matrix, name, cost=cost)
    assert of_utilities.value == pytest.approx(of_matrix.value, rel=1e-6)


def test_utilities_of_a_fit_with_features_have_the_bound_of_its_matrix():
    utilities, matrix = predicted(LinearUtilities(FEATURES))
    of_utilities = structured_lower_bound(utilities, features=FEATURES)
    np.testing.assert_allclose(of_utilities.preferences, matrix, atol=1e-12)
    of_matrix = structured_lower_bound(matrix, features=FEATURES)
    assert of_utilities.value == pytest.approx(of_matrix.value, rel=1e-6)


@pytest.mark.parametrize("name", LINKS)
def test_posteriors_of_policies_have_the_same_unit(name):
    utilities = np.array([1.3, 0.4, -0.6])
    model = posterior_named(name).model
    expected = structured_lower_bound(utilities, name).preferences
    matrix = model.preference_matrices({"utility": utilities[None]})[0]
    np.testing.assert_allclose(matrix, expected, atol=1e-12)


def test_instances_with_normal_utilities_have_the_same_unit():
    means = [1.3, 0.4, -0.6]
    result = generators.rum_gaussian(None, means, shuffle=False).matrix.values
    expected = structured_lower_bound(means, "thurstone").preferences
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_the_bound_of_a_difference_in_thurstone_s_unit():
    # KL(0.2397501, 1/2) = 0.1423555 nats, with Phi(-1 / sqrt 2) = 0.2397501.
    result = structured_lower_bound([1.0, 0.0], "thurstone", cost="duels")
    assert result.value == pytest.approx(1 / 0.1423555, rel=2e-6)
