"""Tables that name their arms: names are kept, and never taken by position."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import theory
from theory import PreferenceMatrix
from theory.errors import InvalidPreferenceError
from theory.preferences import as_preference_matrix

VALUES = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
NAMES = ("tea", "coffee", "water")
FRAME = pd.DataFrame(VALUES, index=NAMES, columns=NAMES)


def test_every_order_of_rows_and_columns_is_the_same_matrix():
    for rows, columns in itertools.product(itertools.permutations(NAMES), repeat=2):
        matrix = as_preference_matrix(FRAME.loc[list(rows), list(columns)])
        assert matrix.arm_names == rows
        places = [NAMES.index(name) for name in rows]
        assert matrix == PreferenceMatrix(VALUES).submatrix(places)


def test_labels_that_count_are_no_names():
    assert PreferenceMatrix(pd.DataFrame(VALUES)).arm_names is None
    numbers = pd.DataFrame(VALUES, index=[1, 2, 3], columns=["1", "2", "3"])
    assert PreferenceMatrix(numbers).arm_names == ("1", "2", "3")
    # A file that is read again: text in the header, numbers in the first column.
    turned = numbers[["3", "1", "2"]]
    assert PreferenceMatrix(turned).values.tolist() == VALUES.tolist()
    counted = pd.DataFrame(VALUES)[[2, 0, 1]]
    assert PreferenceMatrix(counted).values.tolist() == VALUES.tolist()
    rows = PreferenceMatrix(pd.DataFrame(VALUES, index=NAMES))
    columns = PreferenceMatrix(pd.DataFrame(VALUES, columns=NAMES))
    assert rows.arm_names == columns.arm_names == NAMES
    assert rows == columns == PreferenceMatrix(VALUES)


def test_other_names_are_refused_with_both_sides():
    other = FRAME.rename(columns={"tea": "milk"})
    with pytest.raises(InvalidPreferenceError, match="rows have 'tea', only .* 'milk'"):
        PreferenceMatrix(other)
    twice = FRAME.rename(columns={"tea": "coffee"})
    with pytest.raises(
        InvalidPreferenceError, match="once in its columns, got 'coffee'"
    ):
        PreferenceMatrix(twice)
    with pytest.raises(InvalidPreferenceError, match="square"):
        PreferenceMatrix(FRAME[["tea", "coffee"]])


def test_given_names_win_over_labels():
    renamed = PreferenceMatrix(FRAME[[*NAMES[::-1]]], arm_names=["x", "y", "z"])
    assert renamed.arm_names == ("x", "y", "z")
    assert renamed == PreferenceMatrix(VALUES)


def test_theory_reads_a_frame_by_its_names():
    turned = FRAME[["water", "tea", "coffee"]]
    straight = theory.copeland_lower_bound(VALUES)
    assert theory.copeland_lower_bound(turned).value == straight.value
    counts = pd.DataFrame(
        [[0, 5, 9], [5, 0, 2], [9, 2, 0]], index=NAMES, columns=NAMES
    )  # fmt: skip
    from theory.validation import symmetric_amounts

    mixed = counts[["coffee", "water", "tea"]]
    result = symmetric_amounts(mixed, 3, "counts")
    assert result.tolist() == counts.to_numpy().tolist()


def test_an_array_of_a_result_keeps_its_names_and_its_orientation():
    array = xr.DataArray(
        VALUES, dims=("arm", "opponent"), coords={"arm": [*NAMES], "opponent": [*NAMES]}
    )
    for value in (array, array.transpose("opponent", "arm")):
        matrix = PreferenceMatrix(value)
        assert matrix == PreferenceMatrix(VALUES) and matrix.arm_names == NAMES
    assert PreferenceMatrix(xr.DataArray(VALUES)).arm_names is None
