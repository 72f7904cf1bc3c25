"""The command line over the real simulator, from the matrix to the figure."""

import csv
import json

import pytest

import bayesduel
from tests.command_line import invoke
from tests.folders import REQUEST, WHOLE, visible


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder that ``bayesduel compare`` has filled, and what it printed."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    arguments = ["compare", "-i", "cyclic", "-p", "rucb", "--runs", "6", "--horizon",
                 "3000", "--seed", "4", "--jobs", "1", "--regret", "weak", "--json",
                 "--out", str(folder)]  # fmt: skip
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    return folder, arguments, json.loads(result.stdout)


def test_json_is_what_python_says(saved):
    _, _, (row,) = saved
    node = bayesduel.simulate("cyclic", "rucb", num_runs=6, horizon=3000, seed=4)
    final = node["regret"].values[0, :, -1]
    assert row["regret_mean"] == pytest.approx(final.mean(), rel=1e-12)
    assert row["regret_std"] == pytest.approx(final.std(ddof=1), rel=1e-12)
    assert (row["instance"], row["policy"]) == ("cyclic", "rucb")
    assert (row["horizon"], row["runs"], row["look_ahead"]) == (3000, 6, True)
    assert row["run_seconds"] > 0


def test_the_folder_holds_results_and_figures(saved):
    folder, _, _ = saved
    names = visible(folder)
    assert names == {"regret.png", "regret.svg", *WHOLE}
    tree = bayesduel.results.load(folder)
    assert list(tree["cyclic/RUCB"]["notion"].values) == ["copeland", "weak"]


def test_the_saved_summaries_are_what_was_measured(saved):
    folder, _, (row,) = saved
    with (folder / "summary.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    objects = json.loads((folder / "summary.json").read_text())
    for found in (table, objects):
        assert [each["notion"] for each in found] == ["copeland", "weak"]
        assert float(found[0]["regret_mean"]) == pytest.approx(row["regret_mean"])
        assert float(found[0]["regret_std"]) == pytest.approx(row["regret_std"])
        assert {(each["instance"], each["policy"]) for each in found} == {
            ("cyclic", "RUCB")
        }


def test_parts_are_joined_to_the_same_file(run, saved, tmp_path):
    folder, arguments, _ = saved
    place = arguments.index("--out") + 1
    asked = [*arguments[:place], tmp_path / "parts", *arguments[place + 1 :]]
    for number in (2, 1):
        part = run(*asked, "--part", f"{number}/2")
        assert part.exit_code == 0, part.output
        assert part.stdout == ""
    assert visible(tmp_path / "parts") == {REQUEST}
    joined = run(*asked, "--resume")
    assert joined.exit_code == 0, joined.output
    one, other = (path / "results.nc" for path in (tmp_path / "parts", folder))
    assert one.read_bytes() == other.read_bytes()


def test_resume_gives_the_same_numbers(run, saved):
    folder, arguments, rows = saved
    again = run(*arguments, "--resume")
    assert again.exit_code == 0, again.output
    drop = {"run_seconds", "compile_seconds"}
    assert [
        {key: value for key, value in row.items() if key not in drop}
        for row in json.loads(again.stdout)
    ] == [{key: value for key, value in row.items() if key not in drop} for row in rows]
    other = run(*arguments, "--resume", "--seed", "5")
    assert other.exit_code == 2
    assert "seed" in other.stderr
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "is not empty" in refused.stderr


def test_plot_redraws_what_was_saved(run, saved, tmp_path):
    folder, _, _ = saved
    for source in (folder, folder / "results.nc"):
        result = run("plot", source, "--notion", "weak", "--out", tmp_path / "weak",
                     "-f", "png")  # fmt: skip
        assert result.exit_code == 0, result.output
        assert (tmp_path / "weak.png").exists()
    slopes = run("plot", folder, "--kind", "slopes", "--out", tmp_path / "slopes")
    assert slopes.exit_code == 0, slopes.output


def test_list_knows_every_policy(run):
    listed = json.loads(run("list", "policies", "--json").stdout)["policies"]
    assert [row["name"] for row in listed] == list(bayesduel.policies.names())
    for row in listed:
        assert row["about"]
        text = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
        policy = bayesduel.policies.parse_policy(f"{row['name']}:{text}")
        assert policy.label == row["label"]
