"""Features of arms on the command line and in files of experiments."""

import json
import re

import numpy as np
import pytest
import xarray as xr

from bayesduel import Experiment
from bayesduel.experiments.toml import arguments_in_file
from bayesduel.instances import generators
from bayesduel.models import LinearUtilities
from bayesduel.studies import Study
from tests.command_line import invoke

FEATURES = np.array([[1.0, 0.2], [0.3, -1.0], [-1.0, 0.1]])
MADE = generators.linear_utilities(None, FEATURES, [1.0, 0.5], shuffle=False).matrix


@pytest.fixture
def files(tmp_path):
    """Write a matrix of named arms, and their features in another order."""
    lines = [",".join(("tea", "milk", "cola"))]
    lines += [",".join(map(repr, row)) for row in MADE.values.tolist()]
    (tmp_path / "drinks.csv").write_text("\n".join(lines))
    rows = [("cola", 2), ("tea", 0), ("milk", 1)]
    arms = [f"{name},{FEATURES[at, 0]},{FEATURES[at, 1]}" for name, at in rows]
    (tmp_path / "arms.csv").write_text("\n".join(["arm,quality,price", *arms]))
    return tmp_path


@pytest.mark.slow
def test_compare_reads_features(files):
    run = ["compare", "-i", str(files / "drinks.csv"), "-p", "d-ts:posterior=linear"]
    run += ["--runs", "2", "--horizon", "50", "--quiet", "--out", str(files / "out")]
    without = invoke(run)
    assert without.exit_code != 0
    assert "features must be given" in without.stderr.replace("\n", " ")
    found = invoke([*run, "--features", str(files / "arms.csv")])
    assert found.exit_code == 0, found.stderr
    with xr.open_datatree(files / "out" / "results.nc") as tree:
        node = next(each for each in tree.subtree if "features" in each.data_vars)
        np.testing.assert_array_equal(node["features"], FEATURES)
    again = arguments_in_file(files / "out" / "experiment.toml")
    np.testing.assert_array_equal(again["instances"][0].features, FEATURES)


def test_files_of_experiments_hold_features(files):
    text = 'instances = {file = "drinks.csv", features = "arms.csv"}\n'
    (files / "in.toml").write_text(text + 'policies = "d-ts:posterior=linear"\n')
    matrix = arguments_in_file(files / "in.toml")["instances"]
    np.testing.assert_array_equal(matrix.features, FEATURES)
    np.testing.assert_array_equal(matrix.values, MADE.values)
    written = Experiment(matrix, "d-ts:posterior=linear", horizon=10).to_toml()
    (files / "out.toml").write_text(written)
    (again,) = arguments_in_file(files / "out.toml")["instances"]
    assert again == matrix and again.checksum == matrix.checksum
    # A random instance is named where that says all.
    named = Experiment("linear-utilities:seed=3", "d-ts", horizon=10).to_toml()
    assert '"linear-utilities:seed=3"' in named


def test_bounds_under_features():
    name = "linear-utilities:num_arms=6,num_features=2,seed=3"
    found = invoke(["bounds", name, "--model", "linear", "--json"])
    assert found.exit_code == 0, found.stderr
    known = json.loads(found.stdout)
    free = json.loads(
        invoke(["bounds", name, "--model", "bradley-terry", "--json"]).stdout
    )
    assert 0 < known["lower_bound"] < free["lower_bound"]
    refused = invoke(["bounds", "gap", "--model", "linear"])
    assert refused.exit_code != 0
    assert re.search("must have features for the model", refused.stderr)


def test_a_study_is_made_with_features(files):
    path = files / "drinks.study"
    made = ["study", "new", str(path), "--arms", "milk,tea,cola"]
    done = invoke([*made, "--features", str(files / "arms.csv")])
    assert done.exit_code == 0, done.stderr
    with Study.open(path) as study:
        assert study.status().model == repr(LinearUtilities(FEATURES[[1, 0, 2]]))
