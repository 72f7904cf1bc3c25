"""``plot``, ``list``, ``demo``, help and version."""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from matplotlib.lines import Line2D
from typer.testing import CliRunner

from bayesduel import plots
from bayesduel.cli.app import make_group
from tests import fake_results as fake
from tests.cli.conftest import install
from tests.figures import all_text
from tests.folders import visible

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def saved(monkeypatch, tmp_path):
    """Return a folder of saved results, read by a fake."""
    tree = fake.comparison(
        {"mslr5-condorcet": fake.CONDORCET, "arxiv": fake.TIED},
        notions=("copeland", "borda"),
    )
    install(monkeypatch, "results", load=lambda path: tree)
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


@pytest.mark.usefixtures("drawn")
def test_plot_draws_beside_the_results(run, saved):
    result = run("plot", saved)
    assert {path.name for path in saved.iterdir()} == {"regret.png", "regret.svg"}
    assert "regret.png" in result.stderr


def test_plot_options(run, saved, tmp_path):
    result = run(
        "plot", saved, "--notion", "borda", "--band", "quantiles", "--width", "column",
        "-f", "pdf", "--out", tmp_path / "figure.pdf", "-i", "arxiv", "--log-y",
        "--from", "1e4", "--quiet",
    )  # fmt: skip
    assert (tmp_path / "figure.pdf").exists()
    assert result.stderr == ""
    for kind in ("slopes", "slope-ratios", "survival"):
        run("plot", saved, "--kind", kind, "-i", "mslr5-condorcet", "-f", "svg")
        assert (saved / f"{kind}.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--notion", "weak"], "must be one that was recorded"),
        (["-i", "arxiw"], "did you mean arxiv"),
        (["--from", "12345"], "one of the checkpoints"),
        (["--kind", "slopes"], "pick one, as with -i "),
        (["--bounds", "d-tz"], "did you mean d-ts"),
        (["--bounds", "lower,rmed1"], "(--regret condorcet_mean) draws it"),
        (["--bounds", "lower", "--kind", "survival"], "not go with --kind survival"),
        (["--color", "rmed2=red"], "--color: must be by policies that are shown"),
        (["--color", "d-ts=reddish"], "--color: must hold colors of matplotlib"),
        (["--color", "d-ts"], "--color: must be POLICY=COLOR"),
        (["--name", "d-ts"], "--name: must be POLICY=TEXT"),
        (["--name", "d-ts= "], "--name: must hold texts that are not empty"),
        (["--name", "d-ts=RUCB"], "--name: must give every policy another name"),
    ],
)
def test_wrong_plots(refused, saved, arguments, words):
    refused("plot", saved, *arguments, words=words)
    assert not list(saved.iterdir())


@pytest.mark.parametrize("kind", ["regret", "slopes", "slope-ratios", "survival"])
def test_colors_and_names_of_a_plot(run, saved, monkeypatch, kind):
    drawn = []
    monkeypatch.setattr(
        plots.StyledFigure, "savefig", lambda figure, *_, **__: drawn.append(figure)
    )
    words = ("--color", "d-ts = #123456", "--name", "d-ts=A = B", "--name", "rucb=UCB")
    run("plot", saved, "--kind", kind, "-i", "mslr5-condorcet", "-f", "svg", *words)
    (figure,) = drawn
    lines = [x for x in figure.findobj(Line2D) if x.get_color() == "#123456"]
    assert lines
    text = all_text(figure)
    assert "A = B" in text and "UCB" in text and "D-TS+" in text


@pytest.mark.usefixtures("drawn")
def test_bounds_of_a_plot(run, saved):
    arguments = ("-i", "mslr5-condorcet", "-f", "svg", "--bounds", "d-ts")
    run("plot", saved, *arguments)
    drawn = " ".join((saved / "regret.svg").read_text().split())
    assert "slope 66.8" not in drawn and "asymptotic upper" in drawn


def test_list_names_everything(run, engine):
    result = run("list")
    for words in ("mslr5-condorcet", "d-ts+", "alpha=0.51", "condorcet_mean"):
        assert words in result.stdout
    record = json.loads(run("list", "--json").stdout)
    assert list(record) == [
        "instances", "families", "pair-worlds", "policies", "regrets",
        "worlds", "subset-policies", "subset-regrets",
    ]  # fmt: skip
    gap = next(row for row in record["instances"] if row["name"] == "gap")
    assert gap["num_arms"] == 5
    assert gap["copeland_winners"] == [0]
    only = json.loads(run("list", "regrets", "--json").stdout)
    assert list(only) == ["regrets"]


def fake_demo(monkeypatch):
    saved = {}

    def save(tree, path, **options):
        saved[path] = tree

    install(monkeypatch, "results", FILE_NAME="results.nc", save=save)
    return saved


def test_demo_measures_prints_and_saves(run, engine, monkeypatch, tmp_path):
    saved = fake_demo(monkeypatch)
    out = tmp_path / "demo"
    result = run("demo", "--out", out, "--runs", 10, "--seed", 5)
    horizons = defaultdict(set)
    for call in engine.calls:
        for policy in call.policies:
            horizons[call.instances[0].name, policy.name].add(call.horizon)
    for name in ("d-ts", "d-ts+", "ecw-rmed", "rmed1", "rucb"):
        assert horizons["mslr5-condorcet", name] == {10**12}
        assert horizons["mslr5-non-condorcet", name] == {10**6}
    assert {call.num_runs for call in engine.calls} == {10}
    assert {call.seed for call in engine.calls} == {5}
    for words in ("mslr5-non-condorcet", "ECW-RMED", "66.8", "ratio", "seed"):
        assert words in result.stdout
    assert visible(out) == {"regret.png", "regret.svg", "slopes.png", "slopes.svg"}
    assert sorted(path.name for path in saved) == ["results.nc", "slopes.nc"]
    assert "slopes.png" in result.stderr
    near, beyond = saved[out / "results.nc"], saved[out / "slopes.nc"]
    for label in ("D-TS", "RUCB"):
        for name in ("mslr5-non-condorcet", "mslr5-condorcet"):
            node = near[f"{name}/{label}"]
            assert int(node["checkpoint"][-1]) == node.attrs["horizon"] == 10**6
        assert int(beyond[f"mslr5-condorcet/{label}"]["checkpoint"][-1]) == 10**12
    engine.calls.clear()
    whole = run("demo", "--out", out)
    # A first look, the matrix with one winner, and fewer runs where arms tie.
    counts = [(call.instances[0].name, call.num_runs) for call in engine.calls]
    assert counts == [
        ("mslr5-condorcet", 20), ("mslr5-condorcet", 100),
        ("mslr5-non-condorcet", 15), ("mslr5-non-condorcet", 60),
    ]  # fmt: skip
    assert [policy.name for policy in engine.calls[-1].policies] == ["ecw-rmed"]
    assert "fewer runs on mslr5-non-condorcet" in whole.stderr
    near = saved[out / "results.nc"]
    for name, usual, rare in (
        ("mslr5-condorcet", 100, 100), ("mslr5-non-condorcet", 15, 60),
    ):  # fmt: skip
        assert [*near[name].children] == ["D-TS", "D-TS+", "ECW-RMED", "RMED1", "RUCB"]
        assert near[name]["RUCB"].sizes["run"] == usual
        assert near[name]["ECW-RMED"].sizes["run"] == rare
    again = run("demo", "--out", out, "--runs", 2, "--scale", "small", "--quiet")
    assert again.stderr == ""


def test_an_interrupted_demo(run, engine, tmp_path):
    engine.error = KeyboardInterrupt()
    result = run("demo", "--out", tmp_path / "demo", code=130)
    assert "interrupted" in result.stderr


def test_what_many_arms_will_cost_is_said_before(run, monkeypatch):
    def cut(*_, **__):
        raise SystemExit(0)

    monkeypatch.setattr("bayesduel.analysis.lower_bound", cut)
    said = run("bounds", "zoghi500:num_arms=500").stderr
    assert said.startswith("500 arms: the constants take about 2 s")
    assert "arms: the" not in run("bounds", "zoghi500:num_arms=500", "-q").stderr
    assert "arms: the" not in run("bounds", "zoghi500:num_arms=499").stderr


def test_a_file_in_the_folder_of_commands_is_a_command(tmp_path, monkeypatch):
    """As CONTRIBUTING shows it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = text.split("## Add a command")[1].split("```python\n")[1].split("```")[0]
    folder = tmp_path / "folder_of_commands"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Ours."""\n', encoding="utf-8")
    (folder / "winners.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    group = make_group("folder_of_commands")
    result = CliRunner().invoke(group, ["winners", "cyclic", "--json"])
    assert json.loads(result.stdout) == {"winners": [0]}, result.output
    result = CliRunner().invoke(group, ["winners", "cyclic", "--least", "0.65"])
    assert re.search(r"^ *0 +0$", result.stdout, re.MULTILINE), result.output
    wrong = CliRunner().invoke(group, ["winners", "cyclic", "--least", "x"])
    assert wrong.exit_code == 2 and "--least" in wrong.stderr
    near = CliRunner().invoke(group, ["winner", "cyclic"])
    assert "Did you mean 'winners'?" in near.stderr
    assert "Print the arms" in CliRunner().invoke(group, ["--help"]).stdout


def test_version_and_unknown_commands(run):
    result = run("--version")
    assert result.stdout.startswith("bayesduel ")
    wrong = run("compar", code=2)
    assert "compare" in wrong.stderr
    for line in (["--nonsense"], ["bounds"], ["fit", "a", "--ties", "x\ny"]):
        wrong = run(*line, code=2)
        assert wrong.stderr.startswith("error: ")
        assert wrong.stderr.count("\n") == 1
        assert "--help" in wrong.stderr
    run(code=2)


@pytest.mark.parametrize(
    ("missing", "extra", "words"),
    [
        ("cvxpy", "verify", "bounds cyclic --verify"),
        ("distributed", "distributed", "compare -i gap -p rucb --dask x"),
    ],
)
def test_what_an_extra_brings_is_asked_for_by_its_name(
    run, monkeypatch, missing, extra, words
):
    monkeypatch.setitem(sys.modules, missing, None)
    result = run(*words.split(), code=2)
    assert f"extra '{extra}'" in result.stderr
    assert len(result.stderr.splitlines()) == 1
