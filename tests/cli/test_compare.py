"""``bayesduel compare`` over a fake simulator."""

import json
import os
import signal
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import bayesduel
from bayesduel.cli.commands.compare import Report
from bayesduel.errors import ArgumentError, DamagedPartWarning, SimulationError
from tests import fake_results as fake

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
    assert {row["num_runs"] for row in rows} == {7}
    assert {row["notion"] for row in rows} == {"copeland"}
    assert {row["horizon"] for row in rows} == {10_000}
    assert {row["look_ahead"] for row in rows} == {True}
    (call,) = engine.calls
    assert (call.num_runs, call.horizon, call.seed) == (7, 10_000, 3)
    assert [matrix.name for matrix in call.instances] == ["cyclic", "gap"]


def test_json_numbers_are_those_of_the_last_checkpoint():
    tree = fake.comparison(labels=("D-TS",))
    report = Report(bayesduel.Experiment("mslr5-condorcet", "d-ts"))
    report.read(tree)
    (row,) = report.json_rows()
    final = tree["mslr5-condorcet/D-TS"]["regret"].values[0, :, -1]
    assert row["regret_mean"] == pytest.approx(final.mean())
    error = final.std(ddof=1) / np.sqrt(final.size)
    assert row["regret_standard_error"] == pytest.approx(error)
    assert row["regret_quantile_90"] == pytest.approx(np.quantile(final, 0.9))
    assert row["lower_bound"] == pytest.approx(66.77, abs=0.01)
    assert row["ratio"] == pytest.approx(row["slope"] / row["lower_bound"])
    assert row["regret_std"] == pytest.approx(final.std(ddof=1))
    assert row["regret_median"] == pytest.approx(np.median(final))
    assert row["policy"] == "D-TS"
    assert row["run_seconds"] == 0.5
    assert row["compile_seconds"] == 2.5


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
                  "better in", "told apart"):  # fmt: skip
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
    result = run(*BASIC, "--quiet")
    assert result.stderr == ""
    assert engine.calls[0].progress is False
    run(*BASIC)
    assert engine.calls[1].progress is True


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
    assert call.jobs == 2
    assert call.shuffle is False
    assert [policy.look_ahead for policy in call.policies] == [False, False]
    assert [policy.alpha for policy in call.policies] == [0.51, 0.6]
    assert call.out == tmp_path / "new"
    assert (call.resume, call.overwrite) == (False, False)
    assert (call.format, call.shared, call.record) == ("zarr", True, "regret")
    assert (tmp_path / "new" / "regret.png").exists()
    assert (tmp_path / "new" / "regret.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--horizon", "abc"], "--horizon: must be a whole number of rounds"),
        (["--runs", "0"], "--runs: must be an integer of at least 1, got 0"),
        (["--checkpoints", "5,3"], "--checkpoints: must be above the one before it, 5"),
        (["--regret", "copland"], "did you mean copeland"),
        (["--record", "all"], "--record: must be one of plays, regret"),
        (["--dask", "somewhere"], "--dask: must be 'local' or the address"),
        (["-i", "cyclik"], "did you mean cyclic"),
        (["-i", "cyclic"], "'cyclic' is given twice"),
        (["-p", "d-tss"], "did you mean d-ts"),
        (["-p", "d-ts:alpha=0.4"], "--policy 'D-TS:alpha=0.4': alpha must be"),
        (["-i", "nowhere.csv"], "nowhere.csv does not exist"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(run, engine, arguments, words):
    result = run(*BASIC, *arguments, code=2)
    assert words in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not engine.calls


@pytest.mark.parametrize(
    ("part", "words"),
    [("3", "error: --part: must be a number of a number"), ("1/3", "--out")],
)
def test_a_part_is_one_of_several_and_needs_a_folder(run, part, words):
    result = run(*BASIC, "--part", part, code=2)
    assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "--policy"), (["-p", "d-ts", "--hroizon", "5"], "--horizon")],
)
def test_wrong_usage_is_exit_code_2(run, engine, arguments, words):
    result = run("compare", "-i", "cyclic", *arguments, code=2)
    assert words in result.stderr
    assert not engine.calls


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
    assert "failed" in result.stdout
    assert "D-TS" in result.stdout
    assert "RUCB on cyclic failed: it broke" in result.stderr
    assert (tmp_path / "out" / "regret.png").exists()
    rows = json.loads(run(*BASIC, "-p", "rucb", "--json", code=1).stdout)
    assert [list(row) for row in rows] == [KEYS] * 2
    assert rows[0]["regret_mean"] > 0
    assert rows[1]["regret_mean"] is None


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


def test_a_damaged_part_is_said(run, engine, tmp_path):
    engine.happens = lambda: warnings.warn(DamagedPartWarning("a.nc"), stacklevel=1)
    result = run(*BASIC)
    assert "warning: a.nc" in result.stderr


def test_an_unexpected_error_keeps_its_traceback(run, engine):
    engine.error = ZeroDivisionError("a bug")
    assert isinstance(run(*BASIC, code=1).exception, ZeroDivisionError)
    engine.error = None

    engine.happens = lambda: np.linspace(0, 1, num=-1)
    assert isinstance(run(*BASIC, code=1).exception, ValueError)


def test_errors_of_ours_after_the_start_are_one_line(run, engine):
    engine.error = SimulationError("run 3 stopped at round 17")
    result = run(*BASIC, code=1)
    assert result.stderr == "error: run 3 stopped at round 17\n"


def test_an_operating_system_error_is_one_line(run, engine):
    engine.error = PermissionError(13, "Permission denied", "/some/where")
    result = run(*BASIC, code=2)
    assert result.stderr == "error: /some/where: Permission denied\n"


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
    options = {"instances": "instance", "policies": "policy", "num_runs": "runs",
               "shuffle": "no-shuffle"}  # fmt: skip
    assert result.stderr.splitlines()[-1] == (
        f"error: --{options.get(name, name)}: {rule}, got 4; ask for less --horizon, "
        "or --resume"
    )


def test_an_error_of_what_is_no_option_is_left_as_it_is(run, engine):
    engine.error = ArgumentError("alpha", "must be odd", 4)
    assert "error: alpha must be odd, got 4\n" in run(*BASIC, code=2).stderr
