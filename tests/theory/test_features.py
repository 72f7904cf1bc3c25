"""Features of a preference matrix: kept, checked, and part of what it is."""

import copy
import pickle

import numpy as np
import pytest

from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix

UTILITIES = np.array([0.8, 0.1, -0.4])
FEATURES = np.column_stack([UTILITIES, [1.0, -2.0, 0.5]])
VALUES = 1.0 / (1.0 + np.exp(UTILITIES[None, :] - UTILITIES[:, None]))
MATRIX = PreferenceMatrix(VALUES, arm_names=list("abc"), features=FEATURES)


def test_features_are_kept():
    assert PreferenceMatrix(VALUES).features is None
    for value in (copy.deepcopy(MATRIX), pickle.loads(pickle.dumps(MATRIX))):
        assert value == MATRIX and value.checksum == MATRIX.checksum
        np.testing.assert_array_equal(value.features, FEATURES)
        assert not value.features.flags.writeable
    some = MATRIX.submatrix([2, 0])
    np.testing.assert_array_equal(some.features, FEATURES[[2, 0]])
    assert PreferenceMatrix(VALUES).submatrix([0, 1]).features is None


def test_features_tell_matrices_apart():
    plain = PreferenceMatrix(VALUES)
    other = PreferenceMatrix(VALUES, features=2 * FEATURES)
    assert len({MATRIX.checksum, plain.checksum, other.checksum}) == 3
    assert MATRIX != plain and MATRIX != other and plain != MATRIX
    assert plain == PreferenceMatrix(VALUES)


@pytest.mark.parametrize(
    ("features", "text"),
    [
        (FEATURES[:2], r"features must have one row per arm, shape \(3, d\)"),
        (UTILITIES, r"features must have one row per arm, shape \(3, d\)"),
        (np.zeros((3, 0)), r"features must have one row per arm"),
        (
            FEATURES * np.array([1.0, np.inf]),
            r"features\[0, 1\] must be finite, at most 1e\+09",
        ),
    ],
)
def test_bad_features_are_refused(features, text):
    with pytest.raises(InvalidPreferenceError, match=text):
        PreferenceMatrix(VALUES, features=features)
