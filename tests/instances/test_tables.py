"""Tables in memory: data frames through `load`, `simulate`, `compare` and votes."""

import logging

import numpy as np
import pandas as pd
import pytest

import bayesduel
from bayesduel.analysis import lower_bound
from bayesduel.errors import ComparisonDataError
from bayesduel.instances import load
from bayesduel.votes import Comparisons
from theory import PreferenceMatrix

NAMES = ["tea", "coffee", "water"]
FRAME = pd.DataFrame(
    [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]], index=NAMES, columns=NAMES
)
MIXED = FRAME[["water", "tea", "coffee"]]


def test_load_takes_a_frame_and_repairs_it(caplog):
    assert load(MIXED).arm_names == tuple(NAMES)
    assert load(MIXED) == PreferenceMatrix(FRAME.to_numpy())
    rounded = MIXED.copy()
    rounded.loc["tea", "water"] = 0.9004
    with pytest.raises(ValueError, match=r"\(0, 2\): 0.9004 .* repair=True"):
        load(rounded)
    with caplog.at_level(logging.WARNING):
        repaired = load(rounded, repair=True)
    assert repaired.values[0, 2] == pytest.approx(0.9004 / 1.0004)
    assert repaired.source in caplog.text and "repaired" in (repaired.source or "")
    with pytest.raises(ValueError, match="key must be left out: it is for NPZ files"):
        load(FRAME, key="x")
    assert load(FRAME.to_numpy()).arm_names is None
    matrix = load("cyclic")
    assert load(matrix) is matrix


def test_results_carry_the_names_of_a_frame(tmp_path):
    options = {"num_runs": 2, "horizon": 60}
    alone = bayesduel.simulate(MIXED, "d-ts", **options)
    assert alone["arm"].values.tolist() == NAMES
    both = bayesduel.compare([MIXED], ["d-ts"], out=tmp_path / "out", **options)
    node = both["3-arms/D-TS"]
    assert node["arm"].values.tolist() == NAMES
    plain = bayesduel.simulate(FRAME.to_numpy(), "d-ts", **options)
    for result in (alone, node):
        np.testing.assert_array_equal(result["plays"].values, plain["plays"].values)
    with pytest.raises(ValueError, match="instance: values must name the same arms"):
        bayesduel.simulate(FRAME.rename(index={"tea": "mate"}), "d-ts", **options)


def test_votes_are_read_by_name():
    wins = pd.DataFrame([[0, 7, 9], [2, 0, 4], [1, 3, 0]], index=NAMES, columns=NAMES)
    ties = pd.DataFrame([[0, 1, 2], [1, 0, 3], [2, 3, 0]], index=NAMES, columns=NAMES)
    straight = Comparisons.from_wins(wins.to_numpy(), ties=ties.to_numpy())
    result = Comparisons.from_wins(
        wins[NAMES[::-1]], ties=ties.loc[NAMES[::-1], ["tea", "water", "coffee"]]
    )
    assert result.arm_names == tuple(NAMES)
    np.testing.assert_array_equal(result.counts, straight.counts)
    with pytest.raises(ComparisonDataError, match="ties must name the arms tea"):
        Comparisons.from_wins(wins, ties=ties.rename({"tea": "x"}).rename(
            columns={"tea": "x"}))  # fmt: skip
    with pytest.raises(ComparisonDataError, match="wins must name the same arms"):
        Comparisons.from_wins(wins.rename({"tea": "x"}))


def test_covariates_are_read_by_name():
    votes = Comparisons.from_wins([[0, 7, 9], [2, 0, 4], [1, 3, 0]], arm_names=NAMES)
    table = pd.DataFrame({"heat": [1.0, 2.0, 3.0], "price": [4.0, 5.0, 6.0]}, NAMES)
    result = votes.with_covariates(table.loc[NAMES[::-1]])
    assert result.covariates.tolist() == table.to_numpy().tolist()
    assert result.covariate_names == ("heat", "price")
    one = votes.with_covariates(table["heat"][::-1])
    assert one.covariates.tolist() == [[1.0], [2.0], [3.0]]
    counted = votes.with_covariates(table.reset_index(drop=True), names=["a", "b"])
    assert counted.covariates.tolist() == table.to_numpy().tolist()
    assert counted.covariate_names == ("a", "b")
    with pytest.raises(ComparisonDataError, match="covariates must have one row for"):
        votes.with_covariates(table.rename({"tea": "mate"}))


def test_the_lower_bound_of_a_frame_is_that_of_its_names():
    straight, _ = lower_bound(FRAME.to_numpy())
    result, note = lower_bound(MIXED)
    assert straight is not None and result is not None and note == ""
    assert result.value == straight.value
    tied = FRAME.copy()
    tied.loc["tea", "coffee"] = tied.loc["coffee", "tea"] = 0.5
    assert lower_bound(tied)[1] == (
        "lower bound: not defined (tie between tea and coffee)"
    )
