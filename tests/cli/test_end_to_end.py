"""The command line over the real simulator, from matrix and features to figures."""

import csv
import json
import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
import xarray as xr

import bayesduel
from bayesduel import Experiment, analysis
from bayesduel.experiments.toml import arguments_in_file
from bayesduel.instances import generators
from bayesduel.models import LinearUtilities
from bayesduel.studies import Study
from tests.cli.test_compare import KEYS
from tests.command_line import invoke
from tests.compiling import play_in_python
from tests.folders import WHOLE, visible
from theory import PreferenceMatrix


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder that ``bayesduel compare`` has filled, and what it printed."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    arguments = ["compare", "-i", "cyclic", "-p", "rucb", "--runs", "4", "--horizon",
                 "1000", "--seed", "4", "--jobs", "1", "--regret", "weak", "--json",
                 "--out", str(folder)]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        play_in_python(patch)
        result = invoke(arguments)
    assert result.exit_code == 0, result.output
    return folder, arguments, json.loads(result.stdout)


def test_json_and_the_saved_tables_have_the_same_rows(saved):
    """But for what the runs took, which is of this machine."""
    folder, _, printed = saved
    times = {"run_seconds": None, "compile_seconds": None}
    files = json.loads((folder / "summary.json").read_text("utf-8"))
    assert [row | times for row in printed] == files
    assert [list(row) for row in files] == [KEYS] * 2
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    texts = [{k: "" if v is None else str(v) for k, v in row.items()} for row in files]
    assert cells == texts
    tree = bayesduel.load_results(folder)
    rows = analysis.summary(tree, notion="weak").to_dicts()
    for key, value in files[1].items():
        value = printed[1][key] if key in times else value
        close = pytest.approx(value) if isinstance(value, float) else value
        assert rows[0][key] == close
    assert list(analysis.summary(tree).to_dataframe().columns) == KEYS


def test_json_is_what_python_says(saved, uncompiled):
    _, _, (row, weak) = saved
    assert (row["notion"], weak["notion"]) == ("copeland", "weak")
    node = bayesduel.simulate("cyclic", "rucb", num_runs=4, horizon=1000, seed=4)
    final = node["regret"].values[0, :, -1]
    assert row["regret_mean"] == pytest.approx(final.mean(), rel=1e-12)
    assert row["regret_std"] == pytest.approx(final.std(ddof=1), rel=1e-12)
    assert (row["instance"], row["policy"]) == ("cyclic", "RUCB")
    assert (row["horizon"], row["num_runs"], row["look_ahead"]) == (1000, 4, True)
    assert row["run_seconds"] > 0


def test_it_says_where_runs_stopped_and_how_many_named_a_wrong_arm(run, uncompiled):
    """A rule that hardly waits: some runs name the winner, some not, some none."""
    words = "intervals:level=0.6"
    rule = bayesduel.stopping.parse_rule(words)
    node = bayesduel.simulate(
        "gap", "random", num_runs=20, horizon=300, seed=2, stopping=rule
    )
    named, ended = node["answer"].values, node["stopped_at"].values
    stopped, wrong = np.count_nonzero(ended > 0), np.count_nonzero(named > 0)
    assert {*np.sign(named)} == {-1, 0, 1}
    options = ["-i", "gap", "-p", "random", "--runs", 20, "--horizon", 300, "--seed", 2,
               "--stopping", words, "--jobs", 1]  # fmt: skip
    mean = ended[ended > 0].mean()
    said = f"{stopped} of 20 runs stopped, after {mean:,.0f} rounds on average; "
    said += f"{wrong} named an arm that is no winner"
    assert said in " ".join(run("compare", *options).stdout.split())
    (row,) = json.loads(run("compare", *options, "--json").stdout)
    assert (row["stopped_runs"], row["wrong_names"]) == (stopped, wrong)
    assert row["stopped_at_mean"] == mean


def test_the_folder_holds_results_and_figures(saved):
    folder, _, _ = saved
    names = visible(folder)
    assert names == {"regret.png", "regret.svg", *WHOLE}
    tree = bayesduel.results.load(folder)
    assert list(tree["cyclic/RUCB"]["notion"].values) == ["copeland", "weak"]


def test_another_seed_does_not_go_on(run, saved):
    _, arguments, _ = saved
    result = run(*arguments, "--resume", "--seed", "5", code=2)
    assert "seed" in result.stderr


def test_list_knows_every_policy(run):
    listed = json.loads(run("list", "policies", "--json").stdout)["policies"]
    assert [row["name"] for row in listed] == list(bayesduel.policies.names())
    for row in listed:
        assert row["about"]
        text = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
        policy = bayesduel.policies.parse_policy(f"{row['name']}:{text}")
        assert policy.label == row["label"]


COUNTED = {
    "read_instance": "bayesduel.experiments.problems",
    "lower_slope": "bayesduel.analysis.anchored_bounds",
    "copeland_lower_bound": "theory.copeland_program.constants",
    "_measurement": "bayesduel.analysis.measured_nodes",
    "_summary_row": "bayesduel.analysis.summaries",
    "_ranking": "bayesduel.analysis.policy_rankings",
}
"""Functions that do the work, and their modules."""


@pytest.fixture
def calls(monkeypatch):
    """Count calls by the name of a function, wherever it was imported to."""
    result = Counter()

    def counted(name, function):
        def call(*arguments, **options):
            result[name] += 1
            return function(*arguments, **options)

        return call

    # Whoever uses them is imported before they are replaced.
    for word in ("experiments.experiment", "analysis.summaries", "plots"):
        import_module(f"bayesduel.{word}")
    for name, home in COUNTED.items():
        function = getattr(import_module(home), name)
        instead = counted(name, function)
        for module in [*sys.modules.values()]:
            given = (getattr(module, "__name__", "") or "").partition(".")[0]
            if given in ("bayesduel", "theory"):
                if vars(module).get(name) is function:
                    monkeypatch.setattr(module, name, instead)
    plain = PreferenceMatrix.__init__
    monkeypatch.setattr(PreferenceMatrix, "__init__", counted("matrix", plain))
    return result


@pytest.mark.usefixtures("uncompiled")
def test_a_comparison_works_everything_out_once(run, calls, tmp_path):
    matrix = tmp_path / "own.csv"
    matrix.write_text("0.5,0.7,0.8\n0.3,0.5,0.6\n0.2,0.4,0.5\n")
    run("compare", "-i", matrix, "-p", "d-ts", "-p", "rucb", "--runs", "4",
        "--horizon", "200", "--jobs", "1", "--quiet",
        "--out", tmp_path / "out")  # fmt: skip
    assert calls["lower_slope"] == calls["copeland_lower_bound"] == 1
    assert calls["_measurement"] == calls["_summary_row"] == 2  # One per policy.
    assert calls["_ranking"] == 1
    # From the file, and from the results.
    assert calls["matrix"] == 2
    assert calls["read_instance"] == 1
    names = {"rankings.json", "regret.png", "summary.csv", "summary.json"}
    assert names <= {path.name for path in (tmp_path / "out").iterdir()}


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
def test_compare_reads_features(run, files):
    line = ["compare", "-i", files / "drinks.csv", "-p", "d-ts:posterior=linear"]
    line += ["--runs", "2", "--horizon", "50", "--quiet", "--out", files / "out"]
    without = run(*line, code=2)
    assert "features must be given" in without.stderr.replace("\n", " ")
    run(*line, "--features", files / "arms.csv")
    with xr.open_datatree(files / "out" / "results.nc") as tree:
        node = next(item for item in tree.subtree if "features" in item.data_vars)
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


def test_bounds_under_features(run, refused):
    name = "linear-utilities:num_arms=6,num_features=2,seed=3"
    known, free = (
        json.loads(run("bounds", name, "--model", model, "--json").stdout)
        for model in ("linear", "bradley-terry")
    )
    assert 0 < known["lower_bound"] < free["lower_bound"]
    words = "must have features for the model"
    refused("bounds", "gap", "--model", "linear", words=words)


def test_a_study_is_made_with_features(run, files):
    path = files / "drinks.study"
    made = ["study", "new", path, "--arms", "milk,tea,cola"]
    run(*made, "--features", files / "arms.csv")
    with Study.open(path) as study:
        assert study.status().model == repr(LinearUtilities(FEATURES[[1, 0, 2]]))
