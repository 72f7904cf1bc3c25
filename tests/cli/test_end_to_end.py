"""The command line over the real simulator, from the matrix to the figure."""

import csv
import json

import numpy as np
import pytest

import bayesduel
from bayesduel import analysis
from tests.cli.test_compare import KEYS
from tests.command_line import invoke
from tests.compiling import play_in_python
from tests.folders import WHOLE, visible


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
        assert rows[0][key] == (
            pytest.approx(value) if isinstance(value, float) else value
        )
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
    other = run(*arguments, "--resume", "--seed", "5", code=2)
    assert "seed" in other.stderr


def test_list_knows_every_policy(run):
    listed = json.loads(run("list", "policies", "--json").stdout)["policies"]
    assert [row["name"] for row in listed] == list(bayesduel.policies.names())
    for row in listed:
        assert row["about"]
        text = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
        policy = bayesduel.policies.parse_policy(f"{row['name']}:{text}")
        assert policy.label == row["label"]
