"""The command ``bounds``, of one matrix and of many random submatrices."""

import csv
import json

import numpy as np
import pytest

import theory
from bayesduel.cli.output import version
from bayesduel.papers import random_submatrices
from tests.folders import visible

BOUND_KEYS = [
    "num_arms", "copeland_winners", "copeland_lower_bound",
    "copeland_lower_bound_winner", "ecw_rmed", "ecw_rmed_winner",
]  # fmt: skip


def test_bounds_of_a_tied_matrix_are_null_with_the_reason_elsewhere(run):
    result = run("bounds", "arxiv", "--json")
    record = json.loads(result.stdout)
    assert record["num_arms"] == 6
    assert record["copeland_winners"] == [0]
    assert [record[key] for key in BOUND_KEYS[2:]] == [None] * 4
    assert "not defined (tie between 3 and 5)" in result.stderr


def test_bounds_tables(run):
    short = run("bounds", "gap").stdout
    assert short.index("lower bound C*") < short.index("Allocations that attain")
    assert "CCB" not in short and "--all prints" in short
    result = run("bounds", "gap", "--all")
    printed = " ".join(result.stdout.split())
    for words in ("11.0249", "1252.51", "winner", "duels", "natural log T",
                  "CCB", "150000", "order only", "bayesduel",
                  "RMED1; RUCB", ": the theorem needs an arm"):  # fmt: skip
        assert words in printed
    condorcet = run("bounds", "mslr5-condorcet", "--all").stdout
    assert "11.1531" in condorcet
    assert "condorcet_mean" in condorcet
    missing = [x for x in condorcet.splitlines() if "not defined" in x]
    names = [x.partition(":")[0] for x in missing]
    assert names == ["SCOMP", "SCOMP2", "WS-S, total order"]
    # Duels of the pair (0, 1): 1 / KL(0.535, 1/2).
    assert "407.83" in condorcet


def test_bounds_of_naming_a_winner(run, tmp_path):
    plain = json.loads(run("bounds", "cyclic", "--identify", "--json").stdout)
    assert plain["identification_bound"] == pytest.approx(78.5706, rel=1e-5)
    assert plain["winner"] == 0 and abs(plain["relative_gap"]) <= 1e-8
    bound = pytest.approx(plain["identification_bound"])
    assert sum(row["cost"] for row in plain["allocation"]) == bound
    assert sum(way["multiplier"] for way in plain["active"]) == bound
    path = tmp_path / "prices.csv"
    path.write_text("a,b,c,d\n0,1,1,5\n1,0,1,1\n1,1,0,inf\n5,1,inf,0\n")
    result = run("bounds", "cyclic", "--identify", "--verify", "--prices", path)
    printed = " ".join(result.stdout.split())
    assert "Naming arm 0 costs T* = 300.698 at least" in printed
    assert "0 3 0.600 5 49.66 82.6%" in printed
    assert "certified: relative gap" in printed and "log(1/delta)" in printed


@pytest.fixture
def logistic(tmp_path):
    """A file with a Bradley-Terry matrix, and its utilities."""
    utilities = np.array([3.0, 2.0, -1.0, -1.5, -2.0])
    path = tmp_path / "logistic.csv"
    matrix = 1 / (1 + np.exp(np.subtract.outer(utilities, utilities).T))
    np.savetxt(path, matrix, delimiter=",", fmt="%.17g")
    return path, utilities


def test_bounds_under_a_model(run, logistic):
    path, utilities = logistic
    record = json.loads(
        run("bounds", path, "--model", "bradley-terry", "--json").stdout
    )
    assert record["lower_bound"] == pytest.approx(2.411, abs=5e-4)
    assert record["unstructured_lower_bound"] == pytest.approx(2.900, abs=5e-4)
    assert record["winner"] == 0 and 0 <= record["relative_gap"] <= 1e-6
    costs = sum(row["cost"] for row in record["allocation"])
    assert costs == pytest.approx(record["lower_bound"])
    result = run("bounds", path, "--model", "bradley-terry")
    printed = " ".join(result.stdout.split())
    for words in ("nothing 2.89", "bradley-terry 2.41", "83.1%", "certified"):
        assert words in printed
    named = run("bounds", path, "--model", "bradley-terry", "--identify", "--json")
    expected = theory.structured_lower_bound(utilities, cost="duels").value
    assert json.loads(named.stdout)["lower_bound"] == pytest.approx(expected, rel=2e-6)


ESTIMATED = np.array(
    [[0.5, 0.62, 0.70, 0.65], [0.38, 0.5, 0.66, 0.68],
     [0.30, 0.34, 0.5, 0.57], [0.35, 0.32, 0.43, 0.5]]
)  # fmt: skip
"""Obeys none of the models: arm 3 loses to arm 1 too seldom."""


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "transitive"])
@pytest.mark.parametrize("cost", ["copeland", "duels"])
def test_an_estimated_matrix_is_projected_on_the_model(run, tmp_path, model, cost):
    path = tmp_path / "estimated.csv"
    np.savetxt(path, ESTIMATED, delimiter=",", fmt="%.17g")
    options = ["bounds", path, "--model", model]
    options += ["--identify"] if cost == "duels" else []
    refused = run(*options, code=2).stderr
    assert "bounds --project" in " ".join(refused.split())
    record = json.loads(run(*options, "--project", "--json").stdout)
    nearest = theory.project_on_model(ESTIMATED, model)
    of_all = {"copeland": theory.copeland_lower_bound,
              "duels": theory.identification_bound}[cost]  # fmt: skip
    given, free = float(of_all(ESTIMATED)), float(of_all(nearest.matrix))
    known = float(theory.structured_lower_bound(nearest.matrix, model, cost=cost))
    assert record["projection"]["matrix_lower_bound"] == pytest.approx(given, rel=1e-6)
    assert record["unstructured_lower_bound"] == pytest.approx(free, rel=1e-6)
    assert record["lower_bound"] == pytest.approx(known, rel=3e-6)
    assert record["model_saves"] == pytest.approx(1 - known / free, abs=5e-6)
    changed = record["projection"]["projection_changes"]
    assert changed == pytest.approx(free / given - 1, abs=1e-6)
    projected = record["projection"]["preferences"]
    np.testing.assert_allclose(projected, nearest.matrix.values, atol=1e-12)
    printed = " ".join(run(*options, "--project").stdout.split())
    for value in (given, free, known):
        assert f"{value:.6g}"[:4] in printed
    words = f"projection alone: {changed:+.1%}; the model buys {1 - known / free:.1%}"
    assert words in printed


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("bradley-terry", "no single best arm once it is projected on 'bradley-terry'"),
        ("transitive", "no single best arm once it is projected on 'transitive'"),
        ("linear", "must have features"),
    ],
)
def test_a_matrix_without_features_or_a_best_arm_is_not_projected(
    refused, tmp_path, model, words
):
    path = tmp_path / "cycle.csv"
    np.savetxt(path, [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]], delimiter=",")
    refused("bounds", path, "--model", model, "--project", words=words)


def test_a_linear_matrix_is_projected_on_its_features(run):
    options = ["bounds", "linear-utilities:seed=3", "--model", "linear", "--json"]
    plain, fitted = (
        json.loads(run(*options, *more).stdout) for more in ([], ["--project"])
    )
    assert fitted["lower_bound"] == pytest.approx(plain["lower_bound"], rel=3e-6)
    assert fitted["projection"]["projection_changes"] == pytest.approx(0, abs=1e-6)


def test_bounds_by_the_program_as_it_reads(run):
    plain = json.loads(run("bounds", "gap", "--json").stdout)
    result = run("bounds", "gap", "--solver", "cvxpy", "--verify", "--json")
    record = json.loads(result.stdout)["copeland_lower_bound"]
    assert record == pytest.approx(plain["copeland_lower_bound"], rel=1e-8)


def test_bound_that_grows_with_a_power_of_t_says_so(run, monkeypatch):
    steep = theory.RegretBound(
        name="steep", log_coefficient=0.0, kind="upper", regret="copeland",
        power_terms=(theory.PowerTerm(2.0, 0.25, 1.0),),
    )  # fmt: skip
    theorem = theory.theorems.Theorem(
        "steep", "", lambda matrix: steep, {}, theory.PreferenceMatrix
    )
    monkeypatch.setattr("theory.theorems.catalog._CATALOG", {"steep": theorem})
    printed = run("bounds", "gap", "--all").stdout.splitlines()
    (row,) = [x for x in printed if "steep" in x]
    assert "2 T^0.25 log T" in row


def test_bounds_of_long_allocations(run):
    short = run("bounds", "sushi").stdout
    assert "left out: 1 of 21 pairs" in short
    assert "CW regret" in short
    whole = run("bounds", "sushi", "--all").stdout
    assert "left out" not in whole
    pairs = short.partition("Allocations")[2].partition("\nper unit")[0].splitlines()
    whole = whole.partition("Allocations")[2].partition("\nper unit")[0].splitlines()
    assert whole[: len(pairs)] == pairs and len(whole) == len(pairs) + 1


@pytest.mark.parametrize("columns", [60, 200])
def test_allocations_fit_the_terminal(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = run("bounds", "sushi").stdout
    assert max(map(len, printed.splitlines())) <= columns
    allocations = printed.partition("Allocations that attain")[2]
    assert "…" not in allocations
    heads = next(x for x in allocations.splitlines() if x.startswith("arm "))
    assert ("ECW regret" in heads) == (columns == 200)
    missing = f"no room in {columns} columns for:"
    assert (missing in allocations) == (columns < 200)
    # The pair (0, 3) duels half as often under the optimal program.
    assert "10.24" in allocations and "20.47" in allocations


def test_theorems_fit_an_ordinary_terminal_with_what_they_assume(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = run("bounds", "cyclic", "--all").stdout.partition("Other bounds")[2]
    table, _, notes = printed.partition("\na: ")
    (row,) = [x for x in table.splitlines() if x.startswith("D-TS, refined")]
    assert row.split()[-2:] == ["copeland", "bdefgh"]
    assert "condorcet_mean  abc" in table and "\nh: beta > 2" in notes


@pytest.mark.slow
def test_bounds_are_saved_as_json_csv_and_figure(run, tmp_path):
    out = tmp_path / "out"
    result = run("bounds", "gap", "--json", "--out", out)
    names = visible(out)
    assert names == {"bounds.json", "allocation.csv", "allocation.png",
                     "allocation.svg"}  # fmt: skip
    printed = json.loads(result.stdout)
    assert list(printed) == BOUND_KEYS
    assert list(printed.values()) == [
        5, [0], pytest.approx(11.024943, rel=1e-6), 0,
        pytest.approx(1252.510763, rel=1e-6), 0,
    ]  # fmt: skip
    saved = json.loads((out / "bounds.json").read_text())
    tables = saved.pop("allocations")
    assert saved == printed
    with (out / "allocation.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for program, key in (("CW", "copeland_lower_bound"), ("ECW", "ecw_rmed")):
        results = [row for row in rows if row["program"] == program]
        assert len(results) == len(tables[program]) == 10
        total = sum(float(row["regret_per_log_round"]) for row in results)
        assert total == pytest.approx(printed[key], rel=1e-9)
        for row, record in zip(results, tables[program], strict=True):
            assert float(row["evidence"]) == record["evidence"]
            for name in ("first", "second"):
                assert row[name] == str(record[name])
    run("bounds", "gap", "--out", out, code=2)
    assert run("bounds", "gap", "--out", out, "--overwrite", "-q").stderr == ""
    run("bounds", "arxiv", "--out", tmp_path / "tied")
    assert visible(tmp_path / "tied") == {"bounds.json"}
    tied = json.loads((tmp_path / "tied" / "bounds.json").read_text())
    assert tied["allocations"] == {}


def test_repair_of_a_file_is_offered_and_works(run, tmp_path):
    path = tmp_path / "rounded.csv"
    path.write_text("0.5,0.7004\n0.3,0.5\n")
    refused = run("bounds", path, "--json", code=2)
    assert "--repair" in refused.stderr
    repaired = run("bounds", path, "--json", "--repair")
    assert json.loads(repaired.stdout)["num_arms"] == 2


MEANS = [
    "matrices", "size", "cw_mean", "cw_se", "ecw_mean", "ecw_se", "ccb_mean", "ccb_se",
    "seconds",
]  # fmt: skip
SUSHI = ("bounds", "sushi", "--submatrices", 12, "--size", 4, "--min-gap", "0.01",
         "--seed", 3, "--jobs", 1)  # fmt: skip


def without_seconds(text):
    record = json.loads(text)
    assert list(record) == MEANS
    assert record.pop("seconds") > 0
    return record


def test_json_has_exactly_the_promised_keys(run, tmp_path):
    result = run(*SUSHI, "--json")
    outcome = without_seconds(result.stdout)
    assert (outcome["matrices"], outcome["size"]) == (12, 4)
    assert 0 < outcome["cw_mean"] <= outcome["ecw_mean"] < outcome["ccb_mean"]
    assert 0 < outcome["cw_se"] < outcome["cw_mean"]
    assert without_seconds(run(*SUSHI, "--json", "-q").stdout) == outcome
    single = run("bounds", "gap", "--submatrices", 1, "--size", 5, "--json")
    outcome = without_seconds(single.stdout)
    assert outcome["cw_mean"] == pytest.approx(11.024943, rel=1e-6)
    assert outcome["ecw_mean"] == pytest.approx(1252.510763, rel=1e-6)
    assert outcome["ccb_mean"] == pytest.approx(150000, rel=1e-9)
    assert outcome["cw_se"] is outcome["ecw_se"] is outcome["ccb_se"] is None


def test_table(run):
    result = run(*SUSHI)
    for words in ("12 random submatrices of 4 of 16 arms", "CW-RMED", "ECW-RMED",
                  "CCB", "natural log T", "seed 3", "gaps at least 0.01",
                  f"bayesduel {version()}"):  # fmt: skip
        assert words in result.stdout


def test_the_folder_keeps_what_is_finished(run, tmp_path, monkeypatch):
    out = tmp_path / "out"
    plain, calls = random_submatrices.submatrix_rows, []

    def interrupted(sampler, numbers, on_progress=None):
        calls.append(numbers)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(sampler, numbers)

    monkeypatch.setattr(random_submatrices, "PER_JOB", 5)
    monkeypatch.setattr(random_submatrices, "submatrix_rows", interrupted)
    result = run(*SUSHI, "--json", "--out", out, code=130)
    assert result.stdout == ""
    assert f"kept 5 of 12 submatrices in {out}" in result.stderr
    assert "--resume" in result.stderr
    resumed = run(*SUSHI, "--json", "--out", out, "--resume")
    record = json.loads((out / "submatrices.json").read_text())
    assert without_seconds(resumed.stdout).items() <= record.items()
    calls.clear()
    nothing = run(*SUSHI, "--json", code=130)
    assert "nothing was kept" in nothing.stderr
