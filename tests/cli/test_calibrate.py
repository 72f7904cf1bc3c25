"""``bayesduel calibrate``: coverage of intervals, and what is refused."""

import json

import numpy as np
import pytest

from bayesduel.diagnostics import Calibration
from bayesduel.models import BradleyTerry, PairwiseBeta

VOTES = """left,right,winner,times
tea,milk,left,2
milk,water,tie,3
water,tea,right,1
tea,water,left,2
"""


def written(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


@pytest.mark.slow
def test_coverage_of_the_default_of_fit(run, tmp_path):
    """100 data sets: resampled Laplace intervals hold what they promise."""
    result = run("calibrate", written(tmp_path), "--weight", "times", "--json",
                 "--simulations", "100", "--quiet")  # fmt: skip
    found = json.loads(result.stdout)
    assert found["fit"] == "Bradley-Terry by laplace" and found["simulations"] == 100
    rows = {row["quantity"]: row for row in found["quantities"]}
    assert set(rows) == {"utility", "log_tie", "log_likelihood"}
    # A standard error of 0.03 for one quantity.
    assert abs(rows["log_tie"]["coverage_90"] - 0.9) < 0.15
    assert found["smallest_p_value"] > 1e-5


@pytest.fixture
def simulated(monkeypatch):
    """Stand for the simulations; say what was asked for."""
    calls = []

    def calibrate(model, data, **options):
        calls.append((model, data, options))
        return Calibration(ranks={"utility": np.arange(40) % 20}, num_draws=19)

    monkeypatch.setattr("bayesduel.diagnostics.calibrate", calibrate)
    return calls


def test_a_table_for_people(run, simulated, tmp_path):
    result = run("calibrate", written(tmp_path), "--model", "beta", "--weight", "times",
                 "--simulations", "40", "--out", tmp_path / "out")  # fmt: skip
    assert json.loads((tmp_path / "out" / "calibration.json").read_text())["calibrated"]
    assert (tmp_path / "out" / "ranks.svg").exists()
    assert "utility" in result.stdout and "in 90%" in result.stdout
    assert "smallest p-value" in result.stdout
    ((model, data, options),) = simulated
    assert (model, data.num_votes) == (PairwiseBeta(ties=True), 8)
    assert options["method"] == "exact" and options["resample"]


def test_options_reach_the_simulations(run, simulated, tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text("left,right,winner,longer\ntea,milk,left,2\nmilk,tea,left,-1\n")
    words = "--contest-covariate longer --contest-scale 0.5"
    assert f"bayesduel calibrate votes.csv {words}" in run("calibrate", "-h").stdout
    more = "--plain --prior-scale 3 --seed 7 --simulations 20 --order-effect"
    run("calibrate", path, *words.split(), *more.split(), "--json")
    ((model, data, options),) = simulated
    assert model == BradleyTerry(
        prior_scale=3.0, zero_sum=True, order_effect=True, contest_covariates=True,
        contest_scale=0.5,
    )  # fmt: skip
    assert data.contest_covariates == ("longer",)
    del options["on_progress"]
    assert options == {
        "method": "laplace", "num_simulations": 20, "resample": False, "rng_key": 7,
    }  # fmt: skip


def test_what_is_refused(run, tmp_path):
    path = written(tmp_path)
    for words, said in (
        (("--model", "beta", "--order-effect"), "--order-effect: a Beta per pair"),
        (("--contest-scale", "1"), "--contest-scale: is that of a --contest-covar"),
        (("--prior-scale", "-1"), "--prior-scale: must be a number from 1e-6 to"),
        (("--model", "thurstone", "--method", "exact"), "--method: must be one of"),
    ):
        result = run("calibrate", path, *words, code=2)
        assert said in result.stderr
    missing = run("calibrate", tmp_path / "no.csv", code=2)
    assert "does not exist" in missing.stderr
