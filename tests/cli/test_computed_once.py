"""What one command works out of a matrix and of results, it works out once."""

import sys
from collections import Counter
from importlib import import_module

import pytest

from tests.command_line import invoke
from theory import PreferenceMatrix

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
    found = Counter()

    def counted(name, function):
        def call(*arguments, **options):
            found[name] += 1
            return function(*arguments, **options)

        return call

    # Whoever uses them is imported before they are replaced.
    for each in ("experiments.experiment", "analysis.summary_files", "plots"):
        import_module(f"bayesduel.{each}")
    for name, home in COUNTED.items():
        function = getattr(import_module(home), name)
        instead = counted(name, function)
        for module in [*sys.modules.values()]:
            own = (getattr(module, "__name__", "") or "").partition(".")[0]
            if own in ("bayesduel", "theory"):
                if vars(module).get(name) is function:
                    monkeypatch.setattr(module, name, instead)
    plain = PreferenceMatrix.__init__
    monkeypatch.setattr(PreferenceMatrix, "__init__", counted("matrix", plain))
    return found


@pytest.mark.usefixtures("uncompiled")
def test_a_comparison_works_everything_out_once(calls, tmp_path):
    matrix = tmp_path / "own.csv"
    matrix.write_text("0.5,0.7,0.8\n0.3,0.5,0.6\n0.2,0.4,0.5\n")
    result = invoke(
        ["compare", "-i", str(matrix), "-p", "d-ts", "-p", "rucb", "--runs", "4",
         "--horizon", "200", "--jobs", "1", "--quiet",
         "--out", str(tmp_path / "out")]
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert calls["lower_slope"] == calls["copeland_lower_bound"] == 1
    assert calls["_measurement"] == calls["_summary_row"] == 2  # Of two policies.
    assert calls["_ranking"] == 1
    # From the file, and from the results.
    assert calls["matrix"] == 2
    assert calls["read_instance"] == 1
    names = {"rankings.json", "regret.png", "summary.csv", "summary.json"}
    assert names <= {path.name for path in (tmp_path / "out").iterdir()}
