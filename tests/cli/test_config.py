"""Experiments in files on the command line: options win, and what is wrong is said."""

import json

import pytest

from bayesduel import Experiment
from tests import fake_results as fake

SWEEP = """
instances = ["cyclic", {name = "equal-gap", num_arms = 4, gap = [0.1, 0.2]}]
policies = ["d-ts:alpha=0.6|1", {name = "rucb", every = 10}]
num_runs = 7
horizon = 1e4
checkpoints = [10, 1_000]
seed = 3
regret = ["copeland", "borda"]
shuffle = false
record = "regret"
"""


@pytest.fixture
def sweep(tmp_path):
    """Return a file with an experiment."""
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    return file


def resolved(run, tmp_path, *arguments):
    result = run("config", *arguments)
    assert result.stderr == ""
    file = tmp_path / "resolved.toml"
    file.write_text(result.stdout)
    return Experiment.from_file(file)


def test_the_file_is_what_is_simulated(run, engine, sweep):
    result = run("compare", "--config", sweep, "--json")
    (call,) = engine.calls
    expected = Experiment.from_file(sweep)
    for name, value in vars(expected).items():
        assert getattr(call, name) == value
    # Two regrets of each.
    rows = json.loads(result.stdout)[::2]
    assert [row["policy"] for row in rows[:3]] == [
        "D-TS:alpha=0.6", "D-TS:alpha=1.0", "RUCB, told every 10 rounds",
    ]  # fmt: skip
    assert rows[3]["instance"] == "equal-gap:num_arms=4,gap=0.1"


def test_options_win_over_the_file(run, sweep, tmp_path):
    plain = resolved(run, tmp_path, "--config", sweep)
    assert plain == Experiment.from_file(sweep)
    changed = resolved(
        run, tmp_path, "--config", sweep, "-p", "rcs", "--runs", 100, "--seed", 0,
        "--horizon", "1e5", "-i", "mslr5-condorcet", "--regret", "weak",
    )  # fmt: skip
    # Also where what was typed is what an option is without being typed.
    assert changed == Experiment(
        "mslr5-condorcet", "rcs", num_runs=100, horizon=10**5, seed=0,
        checkpoints=[10, 1000], regret=["copeland", "weak"], shuffle=False,
        record="regret",
    )  # fmt: skip
    decades = resolved(run, tmp_path, "--config", sweep, "--checkpoints", 1)
    assert decades.checkpoints == (10, 100, 1000, 10000)


def test_no_file_is_what_is_typed(run, tmp_path):
    typed = ("-i", "gap", "-p", "d-ts:alpha=0.6|1&every=1|10", "--no-look-ahead",
             "--no-shuffle", "--horizon", "10^4", "--record", "regret")  # fmt: skip
    found = resolved(run, tmp_path, *typed)
    expected = Experiment(
        "gap", "d-ts:alpha=0.6|1&every=1|10", horizon=10**4, shuffle=False,
        record="regret",
    )  # fmt: skip
    assert found.labels == expected.without_look_ahead().labels
    stopped = resolved(run, tmp_path, "-i", "gap", "-p", "d-ts", "--stopping",
                       "anytime:delta=0.05|budget:duels=9")  # fmt: skip
    assert str(stopped.stopping).startswith("FirstOf")


@pytest.mark.parametrize("command", ["compare", "config"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SWEEP.replace("7", '"x"'), "num_runs must be an integer of at least 1, got"),
        ("0.5,0.6", "is not TOML: "),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line(
    run, engine, tmp_path, command, text, words
):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    result = run(command, "--config", file, code=2)
    assert result.stderr.startswith(f"error: {file}")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not engine.calls


def test_errors_of_what_was_typed_name_the_option(run, sweep, tmp_path):
    wrong = run("config", "--config", sweep, "--runs", 0, code=2)
    assert wrong.stderr.startswith("error: --runs: must be an integer of at least 1")
    for path, said in (("nowhere.toml", "nowhere.toml does not exist"),
                       ("", "is a folder")):  # fmt: skip
        missing = run("config", "--config", tmp_path / path, code=2)
        assert said in missing.stderr
    none = run("config", "-p", "d-ts", code=2)
    assert none.stderr.startswith("error: --instance: name at least one, or give")


def test_repair_mends_files_beside_grids(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0.5,0.7\n0.3001,0.5\n")
    asked = ("-i", path, "-i", "equal-gap:gap=0.1|0.2,num_arms=3", "-p", "d-ts")
    run("config", *asked, code=2)
    mended = resolved(run, tmp_path, *asked, "--repair")
    assert mended.names[0] == "mine"
    assert len(mended.instances) == 3


def test_a_sweep_is_drawn(run, tmp_path):
    from bayesduel import results

    tree = fake.swept({f"D-TS:alpha={a}": {"alpha": a} for a in (0.51, 1.0, 2.0)})
    results.save(tree, tmp_path / "results.nc")
    asked = ("plot", tmp_path / "results.nc", "--kind", "sweep", "-f", "svg")
    run(*asked, "--parameter", "alpha", "--at", "1e3", "--at", "1e5")
    assert (tmp_path / "sweep.svg").exists()
    for wrong, words in (
        (("--parameter", "beta"), "parameter: must be one that takes several"),
        (("--at", "7"), "at: must be one of the checkpoints; the nearest is 100"),
    ):
        refused = run(*asked, *wrong, code=2)
        assert words in refused.stderr
        assert refused.stderr.count("\n") == 1
