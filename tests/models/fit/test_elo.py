"""Scores on Elo's scale, with an anchor."""

import csv
import json

import numpy as np
import pytest

from bayesduel.errors import FitError
from bayesduel.inference import fit, standings
from bayesduel.models import BradleyTerry, PairwiseBeta, Thurstone
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.figures import saved_undrawn  # noqa: F401

ARMS = ("tea", "milk", "water")
VOTES = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]], arm_names=ARMS)


def test_400_points_are_odds_of_10_to_1():
    posterior = fit(BradleyTerry(), VOTES, num_draws=50)
    draws = posterior.flat_draws()["utility"]
    table = standings(posterior, 0.8, scale="elo", anchor=("milk", 1000.0))
    points = 1000.0 + 400.0 * np.log10(np.exp(draws - draws[:, 1:2]))
    low, high = np.quantile(points, [0.1, 0.9], axis=0)
    for index, arm in enumerate(ARMS):
        row = table.sel(arm=arm)
        assert float(row["score"]) == pytest.approx(points[:, index].mean())
        assert float(row["score_lower"]) == pytest.approx(low[index])
        assert float(row["score_upper"]) == pytest.approx(high[index])
    milk = table.sel(arm="milk")
    assert float(milk["score_lower"]) == float(milk["score_upper"]) == 1000.0
    free = standings(posterior, scale="elo")
    assert float(free["score"].mean()) == pytest.approx(1500.0)
    shifted = standings(posterior, anchor=("water", 0.0))
    assert float(shifted["score"].sel(arm="water")) == 0.0
    assert shifted.attrs["score"] == "utility" and free.attrs["score"] == "elo"


def test_what_has_no_such_scale_is_refused():
    result = fit(BradleyTerry(), VOTES, num_draws=20)
    for words, posterior, options in (
        ("scale", result, {"scale": "logit"}),
        ("anchor", result, {"anchor": ("wine", 1.0)}),
        ("anchor", result, {"anchor": "tea"}),
        ("anchor", result, {"anchor": ("tea", np.nan)}),
        ("no utilities", fit(PairwiseBeta(), VOTES, num_draws=20), {"scale": "elo"}),
        ("logistic", fit(Thurstone(), VOTES, num_draws=20), {"scale": "elo"}),
    ):
        with pytest.raises(FitError, match=words):
            standings(posterior, **options)


def test_the_command_and_its_files_are_on_that_scale(tmp_path):
    path, out = tmp_path / "votes.csv", tmp_path / "out"
    path.write_text("a,b,wins_a,wins_b\ntea,milk,7,3\ntea,water,9,1\nmilk,water,6,4\n")
    words = ["fit", str(path), "--scale", "elo", "--anchor", "milk=1000"]
    said = invoke([*words, "--draws", "50", "--out", str(out)])
    assert said.exit_code == 0, said.output
    assert "Elo" in said.output and "milk, which has 1000" in said.output
    record = json.loads((out / "standings.json").read_text())
    assert record["score"] == "elo" and record["anchor"] == ["milk", 1000.0]
    scores = {row["arm"]: row["score"] for row in record["arms"]}
    with (out / "standings.csv").open(newline="") as file:
        rows = {row["arm"]: float(row["score"]) for row in csv.DictReader(file)}
    assert rows == pytest.approx(scores) and rows["milk"] == 1000.0
    assert rows["tea"] > 1100.0 > 900.0 > rows["water"]
    assert "| milk | " in (out / "standings.md").read_text()
    said = invoke([*words[:-1], "milk"])
    assert said.exit_code == 2 and "--anchor" in said.output
