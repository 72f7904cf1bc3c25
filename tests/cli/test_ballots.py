"""``bayesduel fit`` of ballots: whole rankings, as PrefLib writes them."""

import json

import pytest
import xarray as xr

from bayesduel.inference import fit, standings
from bayesduel.models import PlackettLuce
from bayesduel.votes import read_preflib
from tests.folders import visible

BALLOTS = """# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
# ALTERNATIVE NAME 3: water
7: 1,2,3
3: 2,1,3
2: 3,1,2
"""


@pytest.fixture
def ballots(tmp_path):
    path = tmp_path / "drinks.soc"
    path.write_text(BALLOTS, encoding="utf-8")
    return path


def test_the_table_is_that_of_python(run, ballots):
    options = ["--prior-scale", "1.5", "--seed", "3", "--draws", "200"]
    found = json.loads(run("fit", str(ballots), *options, "--json").stdout)
    model = PlackettLuce(prior_scale=1.5)
    ours = standings(fit(model, read_preflib(ballots), rng_key=3, num_draws=200))
    assert [row["arm"] for row in found["arms"]] == ours["arm"].values.tolist()
    assert [row["score"] for row in found["arms"]] == ours["score"].values.tolist()
    assert found["votes"] == 12 and found["model"] == repr(model)
    table = run("fit", str(ballots), *options).stdout
    assert "P(best)" in table and "won" not in table


def test_everything_but_pairs_is_saved(run, ballots, tmp_path):
    out = tmp_path / "out"
    options = ["--log-likelihood", "--check", "--reference", "tea", "--draws", "50"]
    assert run("fit", str(ballots), "--out", str(out), *options).exit_code == 0
    assert visible(out) >= {"standings.csv", "contrasts.csv", "fit.nc", "forest.png"}
    assert not visible(out) & {"preferences.png", "best-two.png"}
    with xr.open_datatree(out / "fit.nc") as tree:
        assert tree["log_likelihood"].to_dataset().sizes["chain"] == 4


@pytest.mark.parametrize(
    "options",
    [("--judge", "x"), ("--by", "x"), ("--winner", "w"), ("--model", "thurstone"),
     ("--ties", "drop"), ("--method", "mode"), ("--order-effect",), ("--dry-run",)],
)  # fmt: skip
def test_what_is_about_pairs_is_refused(run, ballots, options):
    result = run("fit", str(ballots), *options)
    assert result.exit_code == 2
    assert f"{options[0]}: is for a table of votes" in result.stderr


def test_ties_above_the_end_are_said(run, ballots):
    ballots.write_text(BALLOTS + "1: {1,2},3\n", encoding="utf-8")
    toc = ballots.rename(ballots.with_suffix(".toc"))
    result = run("fit", str(toc))
    assert result.exit_code == 2 and "has a tie above its end" in result.stderr
