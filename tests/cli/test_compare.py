"""``compare`` over a fake simulator, and experiments in files: options win."""

import json
import os
import signal
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import bayesduel
from bayesduel import Experiment, results
from bayesduel.cli.commands.compare import Report
from bayesduel.errors import ArgumentError, DamagedPartWarning, SimulationError
from tests import fake_results as fake
from tests.folders import visible

KEYS = [
    "instance", "policy", "notion", "num_runs", "horizon", "regret_mean",
    "regret_standard_error", "regret_std", "regret_median", "regret_quantile_10",
    "regret_quantile_90", "slope", "slope_standard_error", "slope_from_round",
    "slope_to_round", "slope_num_runs", "lower_bound", "lower_bound_winner", "ratio",
    "note", "error", "look_ahead", "stopped_runs", "stopped_at_mean", "wrong_names",
    "run_seconds", "compile_seconds",
]  # fmt: skip
BASIC = ("compare", "-i", "cyclic", "-p", "d-ts", "--horizon", "1e4")


def test_json_has_exactly_the_promised_keys(run, engine):
    result = run(*BASIC, "-i", "gap", "-p", "rucb", "--runs", 7, "--seed", 3, "--json")
    rows = json.loads(result.stdout)
    assert [list(row) for row in rows] == [KEYS] * 4
    assert [(row["instance"], row["policy"]) for row in rows] == [
        ("cyclic", "D-TS"), ("cyclic", "RUCB"), ("gap", "D-TS"), ("gap", "RUCB"),
    ]  # fmt: skip
    for name, value in (("num_runs", 7), ("notion", "copeland"), ("horizon", 10_000),
                        ("look_ahead", True)):  # fmt: skip
        assert {row[name] for row in rows} == {value}
    (call,) = engine.calls
    assert (call.num_runs, call.horizon, call.seed) == (7, 10_000, 3)
    assert [matrix.name for matrix in call.instances] == ["cyclic", "gap"]


def test_json_numbers_are_those_of_the_last_checkpoint():
    tree = fake.comparison(labels=("D-TS",))
    report = Report(bayesduel.Experiment("mslr5-condorcet", "d-ts"))
    report.read(tree)
    (row,) = report.json_rows()
    final = tree["mslr5-condorcet/D-TS"]["regret"].values[0, :, -1]
    deviation = final.std(ddof=1)
    for name, value in (
        ("mean", final.mean()), ("standard_error", deviation / np.sqrt(final.size)),
        ("quantile_90", np.quantile(final, 0.9)), ("std", deviation),
        ("median", np.median(final)),
    ):  # fmt: skip
        assert row[f"regret_{name}"] == pytest.approx(value)
    assert row["lower_bound"] == pytest.approx(66.77, abs=0.01)
    assert row["ratio"] == pytest.approx(row["slope"] / row["lower_bound"])
    assert row["policy"] == "D-TS"
    assert (row["run_seconds"], row["compile_seconds"]) == (0.5, 2.5)


def test_json_has_every_recorded_regret(run, engine):
    plain = json.loads(run(*BASIC, "--json").stdout)
    more = json.loads(run(*BASIC, "--regret", "borda", "--json").stdout)
    assert [row["notion"] for row in more] == ["copeland", "borda"]
    assert plain == more[:1]
    assert engine.calls[1].regret == ("copeland", "borda")
    run(*BASIC, "--regret", "copeland-losses", "--regret", "copeland")
    assert engine.calls[2].regret == ("copeland", "copeland_losses")


def test_table_has_slope_bound_seed_and_version(run, engine):
    result = run("compare", "-i", "mslr5-condorcet", "-p", "d-ts", "-p", "rucb")
    for words in ("mslr5-condorcet", "D-TS", "RUCB", "slope", "66.8", "ratio", "seed 1",
                  "bayesduel 0.1.0", "40 runs"):  # fmt: skip
        assert words in result.stdout.replace("100 runs", "40 runs")
    assert "nothing was saved" in result.stderr


def test_the_ranking_never_is_a_bare_order(run, engine, tmp_path):
    arguments = ("-p", "d-ts", "-p", "rucb", "--runs", 40, "--regret", "borda")
    result = run("compare", "-i", "cyclic", *arguments)
    ranks = [x for x in result.stdout.splitlines() if "ranks in the runs seen" in x]
    assert ranks == ["cyclic at 10^5, ranks in the runs seen: 1 D-TS, 2 RUCB"] * 2
    assert result.stdout.count("--ranking prints the intervals") == 2
    assert "above the first" not in result.stdout
    arguments = (*arguments, "--ranking")
    result = run("compare", "-i", "cyclic", *arguments, "--out", tmp_path / "out")
    for words in ("cyclic: ranking at 10^5 by copeland regret", "by borda regret",
                  "above the first", "40 paired runs with a 95% bootstrap interval",
                  "better in", "clearly different"):  # fmt: skip
        assert words in " ".join(result.stdout.split())
    saved = json.loads((tmp_path / "out" / "rankings.json").read_text())
    assert [row["notion"] for row in saved] == ["copeland", "borda"]
    (difference,) = saved[0]["differences"]
    assert difference["low"] < difference["mean"] < difference["high"]
    few = run("compare", "-i", "cyclic", *arguments[:4], "--runs", 2,
              "--out", tmp_path / "few")  # fmt: skip
    assert "2 runs cannot tell policies apart" in few.stdout
    saved = json.loads((tmp_path / "few" / "rankings.json").read_text())
    assert saved[0]["differences"][0]["low"] is None


def test_quantiles_have_no_ranking(run, engine):
    assert "no ranking" in run(*BASIC, "--record", "quantiles").stdout
    assert "no ranking" not in run(*BASIC).stdout


def test_quiet_says_nothing_on_standard_error(run, engine):
    assert run(*BASIC, "--quiet").stderr == ""
    run(*BASIC)
    assert [call.progress for call in engine.calls] == [False, True]


def test_a_tie_leaves_the_bound_undefined_and_the_run_whole(run, engine):
    result = run("compare", "-i", "arxiv", "-p", "d-ts")
    assert "lower bound: not defined (tie between 3 and 5)" in result.stdout


def test_options_reach_the_simulator(run, engine, tmp_path):
    run(
        *BASIC, "--checkpoints", "100,1e3", "--jobs", 2, "--no-shuffle",
        "--no-look-ahead", "--out", tmp_path / "new", "-p", "d-ts:alpha=0.6",
        "--format", "zarr", "--shared", "--record", "regret",
    )  # fmt: skip
    (call,) = engine.calls
    assert call.checkpoints == (100, 1000, 10_000)
    assert (call.jobs, call.shuffle, call.out) == (2, False, tmp_path / "new")
    policies = [(policy.look_ahead, policy.alpha) for policy in call.policies]
    assert policies == [(False, 0.51), (False, 0.6)]
    assert (call.resume, call.overwrite) == (False, False)
    assert (call.format, call.shared, call.record) == ("zarr", True, "regret")
    assert {"regret.png", "regret.svg"} <= visible(tmp_path / "new")


def test_folders(run, engine, tmp_path):
    full = tmp_path / "full"
    run(*BASIC, "--out", full)
    del engine.calls[:]
    refused = run(*BASIC, "--out", full, code=2)
    assert "is not empty" in refused.stderr
    for words in ("--out: ", "go on from what it holds (--resume)", "(--overwrite)"):
        assert words in refused.stderr
    assert not engine.calls
    run(*BASIC, "--out", full, "--resume")
    assert engine.calls[0].resume is True
    run(*BASIC, "--out", full, "--overwrite")
    assert engine.calls[1].overwrite is True
    run(*BASIC, "--out", full, "--overwrite", "--resume", code=2)
    below_a_file = run(*BASIC, "--out", full / "regret.png" / "below", code=2)
    assert "--out" in below_a_file.stderr


def test_a_part_says_how_all_are_joined(run, engine, tmp_path):
    part = run(*BASIC, "--out", tmp_path / "out", "--part", "1/2", "--json")
    assert f"join all with: bayesduel merge {tmp_path / 'out'}" in part.stderr
    assert part.stdout == ""


def test_a_failed_policy_keeps_the_others_and_exits_with_1(run, engine, tmp_path):
    engine.failed = {("cyclic", "RUCB"): "it broke"}
    result = run(*BASIC, "-p", "rucb", "--out", tmp_path / "out", code=1)
    assert "failed" in result.stdout and "D-TS" in result.stdout
    assert "RUCB on cyclic failed: it broke" in result.stderr
    assert (tmp_path / "out" / "regret.png").exists()
    rows = json.loads(run(*BASIC, "-p", "rucb", "--json", code=1).stdout)
    assert [list(row) for row in rows] == [KEYS] * 2
    assert rows[0]["regret_mean"] > 0 and rows[1]["regret_mean"] is None


def test_interruption_says_what_was_kept_and_exits_with_130(run, engine, tmp_path):
    engine.error = KeyboardInterrupt()
    result = run(*BASIC, "--json", code=130)
    assert result.stdout == ""
    assert "nothing was kept" in result.stderr
    engine.error = KeyboardInterrupt()
    engine.error.finished = [SimpleNamespace(runs=range(20))] * 2
    result = run(*BASIC, "--out", tmp_path / "out", code=130)
    assert f"kept 40 finished runs in {tmp_path / 'out'}" in result.stderr
    assert "--resume" in result.stderr
    engine.error.finished = []
    result = run(*BASIC, "--out", tmp_path / "other", code=130)
    assert "kept nothing yet in" in result.stderr
    result = run(*BASIC, "--out", tmp_path / "parts", "--part", "1/2", code=130)
    assert "kept what was finished in" in result.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_to_end_say_how_to_go_on(run, engine, tmp_path, name):
    number = signal.Signals[name]
    before = signal.signal(number, signal.SIG_DFL)
    engine.happens = lambda: os.kill(os.getpid(), number)
    try:
        result = run(*BASIC, "--out", tmp_path / "out", code=128 + number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert f"ended by {name}: kept what was finished in {tmp_path}" in result.stderr
    assert "--resume" in result.stderr


@pytest.mark.parametrize("error", [ImportError, TypeError, ValueError])
def test_an_error_that_comes_of_a_signal_is_the_signal(run, engine, error):
    """Libraries raise many things where an interrupt meets them half imported."""

    def happens():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise error("cannot import") from None

    engine.happens = happens
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        assert run(*BASIC, code=130).stderr == "interrupted\n"
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted" not in run("compare", "--nonsense", code=2).stderr


def test_a_damaged_part_is_said(run, engine):
    engine.happens = lambda: warnings.warn(DamagedPartWarning("a.nc"), stacklevel=1)
    assert "warning: a.nc" in run(*BASIC).stderr


def test_an_unexpected_error_keeps_its_traceback(run, engine):
    for happens, kind in (
        (lambda: 1 / 0, ZeroDivisionError), (lambda: np.linspace(0, 1, -1), ValueError),
    ):  # fmt: skip
        engine.happens = happens
        assert isinstance(run(*BASIC, code=1).exception, kind)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SimulationError("run 3 stopped"), 1, "error: run 3 stopped\n"),
        (PermissionError(13, "Denied", "/where"), 2, "error: /where: Denied\n"),
        (ArgumentError("alpha", "must be odd", 4), 2, ": alpha must be odd, got 4\n"),
    ],
)
def test_errors_after_the_start_are_one_line(run, engine, error, code, said):
    """The words about an argument that is no option stay as they are."""
    engine.error = error
    assert run(*BASIC, code=code).stderr.endswith(said)


@pytest.mark.parametrize("columns", [40, 80])
def test_tables_fit_the_terminal(run, engine, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = run("compare", "-i", "mslr5-condorcet", "-p", "d-ts", "-p", "ecw-rmed")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert "…" not in result.stdout
    assert "regret ± se" in result.stdout
    heads = next(line for line in lines if line.startswith("policy "))
    assert ("10-90 %" in heads) == (columns >= 80)
    said = " ".join(lines).partition(f"no room in {columns} columns for: ")[2]
    assert ("10-90 %" in said) == (columns < 80)


@pytest.mark.parametrize("name", ["instances", "num_runs", "shuffle", "seed"])
def test_an_error_of_any_argument_names_its_option(run, engine, name):
    """By the field of the error: what its text says besides stays as it is."""
    rule = f"must be odd, whatever {name} or num_runs is"
    remedy = "ask for less {horizon}, or {resume=True}"
    engine.error = ArgumentError(name, rule, 4, index=1, remedy=remedy)
    result = run(*BASIC, code=2)
    options = {"instances": "instance", "num_runs": "runs", "shuffle": "no-shuffle"}
    assert result.stderr.splitlines()[-1] == (
        f"error: --{options.get(name, name)}: {rule}, got 4; ask for less --horizon, "
        "or --resume"
    )


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
    experiment = resolved(run, tmp_path, *typed)
    expected = Experiment(
        "gap", "d-ts:alpha=0.6|1&every=1|10", horizon=10**4, shuffle=False,
        record="regret",
    )  # fmt: skip
    assert experiment.labels == expected.without_look_ahead().labels
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
    refused, engine, tmp_path, command, text, words
):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    refused(command, "--config", file, words=words)
    refused(command, "--config", file, words=f"error: {file}")
    assert not engine.calls


def test_errors_of_what_was_typed_name_the_option(refused, sweep, tmp_path):
    refused(
        "config", "--config", sweep, "--runs", 0, words="--runs: must be an integer"
    )
    for path, words in (("nowhere.toml", "nowhere.toml does not exist"),
                        ("", "is a folder")):  # fmt: skip
        refused("config", "--config", tmp_path / path, words=words)


def test_repair_mends_files_beside_grids(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0.5,0.7\n0.3001,0.5\n")
    arguments = ("-i", path, "-i", "equal-gap:gap=0.1|0.2,num_arms=3", "-p", "d-ts")
    run("config", *arguments, code=2)
    mended = resolved(run, tmp_path, *arguments, "--repair")
    assert mended.names[0] == "mine"
    assert len(mended.instances) == 3


def test_a_sweep_is_drawn(run, refused, tmp_path):
    tree = fake.swept({f"D-TS:alpha={a}": {"alpha": a} for a in (0.51, 1.0, 2.0)})
    results.save(tree, tmp_path / "results.nc")
    arguments = ("plot", tmp_path / "results.nc", "--kind", "sweep", "-f", "svg")
    run(*arguments, "--parameter", "alpha", "--at", "1e3", "--at", "1e5")
    assert (tmp_path / "sweep.svg").exists()
    for wrong, words in (
        (("--parameter", "beta"), "parameter: must be one that takes several"),
        (("--at", "7"), "at: must be one of the checkpoints; the nearest is 100"),
    ):
        refused(*arguments, *wrong, words=words)
