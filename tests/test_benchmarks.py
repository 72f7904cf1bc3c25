"""Scripts that write what pages of the documentation show."""

import ast
import json

import numpy as np
import pytest
from scipy import stats

from tests.conftest import ROOT

if not (ROOT / "benchmarks").is_dir():
    pytest.skip("not part of the distribution", allow_module_level=True)

import theory.arguments
from benchmarks import curves, function_calls, sizes, table


@pytest.mark.slow
def test_a_row_has_the_cells_of_those_that_are_stored(monkeypatch):
    for name, value in {"RUNS": 3, "HORIZON": 1000, "AT": 100}.items():
        monkeypatch.setattr(table, name, value)
    (stored, *_) = json.loads(table.RESULTS.read_text())["rows"].values()
    row = table.measured("random")
    one, other = ({name: [*cell] for name, cell in x.items()} for x in (row, stored))
    assert one == other
    assert all(0 < cell["regret"] < cell["final"] <= 1000 for cell in row.values())


@pytest.mark.slow
def test_every_policy_has_a_curve(monkeypatch):
    entries = curves.described_policies()
    stored = json.loads(curves.CURVES.read_text())["curves"]
    assert {*stored} == {entry["name"] for entry in entries}
    monkeypatch.setattr(curves, "RUNS", 3)
    random = next(entry for entry in entries if entry["name"] == "random")
    short = {"instance": "mslr5-condorcet", "horizon": 100}
    monkeypatch.setitem(curves.SETTINGS, "policy", short)
    curve = curves.measured(random, curves.kind_of(random))
    assert {*curve} == {*stored["random"]}
    for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True):
        assert 0 <= low <= mean <= high


def test_policies_for_weak_regret_are_measured_by_it(monkeypatch):
    stored = json.loads(curves.CURVES.read_text())
    kinds = {each["name"]: curves.kind_of(each) for each in curves.described_policies()}
    assert kinds == {name: each["kind"] for name, each in stored["curves"].items()}
    weak = [name for name, kind in kinds.items() if kind == curves.WEAK]
    assert sorted(weak) == ["btw", "btwr", "ws-s", "ws-w"]
    assert stored["settings"] == curves.SETTINGS | {
        "runs": curves.RUNS,
        "seed": curves.SEED,
    }
    short = curves.SETTINGS[curves.WEAK] | {"horizon": 100, "runs": 3}
    monkeypatch.setitem(curves.SETTINGS, curves.WEAK, short)
    entry = next(each for each in curves.described_policies() if each["name"] == "btw")
    mean = np.array(curves.measured(entry, curves.WEAK)["mean"])
    # A sum over rounds of 0 or 1, of three runs: of Copeland regret it would not be.
    assert mean[-1] > 0
    assert np.allclose(3 * mean, np.round(3 * mean), atol=0.01)


def test_functions_are_counted_by_file():
    def call():
        theory.arguments.whole_number(3)
        json.dumps([each for each in (1, 2)])

    found = function_calls.called_functions(call)
    assert {*found} == {"theory/arguments.py"}
    assert "whole_number" in found["theory/arguments.py"]


@pytest.mark.usefixtures("uncompiled")
def test_the_way_of_a_comparison_is_counted():
    found = function_calls.compare_functions()
    assert "compare" in found["bayesduel/experiments/experiment.py"]
    assert "chunk_arrays" in found["bayesduel/experiments/chunk.py"]
    assert all(path.startswith(("bayesduel/", "theory/")) for path in found)


def test_sizes_are_counted_from_the_source():
    sources = {
        "a": "from b import c\n",
        "a.used": "def one():\n    '''Say.'''\n    return 1\n",
        "a.user": "from a.used import one\nclass Base: ...\nclass Sub(Base): ...\n",
        "b.user": "import a\nclass Twice: ...\nclass X(Twice): ...\nTwice()\n",
    }
    trees = {name: ast.parse(source) for name, source in sources.items()}
    assert sizes.single_importers(trees) == ["a.used"]
    assert sizes.single_subclasses(trees) == ["Base"]
    one, *_ = trees["a.used"].body
    assert isinstance(one, ast.FunctionDef)
    assert sizes.single_statement(one)
    found = sizes.sizes()
    assert found["files"] > 300
    assert found["functions of a single statement"] < found["functions"]


@pytest.mark.slow
def test_next_pairs_alone_need_as_many_votes_as_a_study():
    """Recorded votes used up by either: the same law of the votes until a name.

    The seed is fixed; a false alarm has probability 1e-4.
    """
    from benchmarks import recorded_votes, replay

    strength = np.array([0.5, 0.12, 0.2, 0.08])
    share = strength[:, None] / (strength[:, None] + strength)
    wins = np.round(300 * share).astype(np.int64) * (1 - np.eye(4, dtype=np.int64))
    ties = 10 * (1 - np.eye(4, dtype=np.int64))
    recorded = recorded_votes.Recorded("drinks", (*"abcd",), wins, ties)
    grid = np.arange(20, 500, 16)

    def named(counts):
        said = replay.first_name(replay.by_evidence, grid, counts, {0})
        assert said.is_right
        return said.votes

    loop, stateless = [], []
    for run in range(12):
        loop.append(named(recorded_votes.played(recorded, "d-ts+", grid, run)))
        counts = recorded_votes.played_by_next_pairs(
            recorded, "d-ts+", grid, run, 1, lambda wins: replay.by_evidence(wins)[0]
        )
        used = counts.sum(axis=(1, 2))
        assert (used <= grid[: len(used)]).all() and len(used) < len(grid)
        assert (counts <= wins).all()
        stateless.append(named(counts))
    assert stats.mannwhitneyu(loop, stateless).pvalue > 1e-4
    assert 20 < np.median(stateless) < 400
