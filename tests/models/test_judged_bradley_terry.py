"""Judges who favor the arm shown first, each in a way of their own."""

import numpy as np
import pytest
from scipy.special import log_expit

from bayesduel.diagnostics import loo
from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary
from bayesduel.inference.numpyro_models import log_probabilities_of
from bayesduel.models import BradleyTerry, JudgedBradleyTerry
from bayesduel.posteriors import Laplace
from tests.command_line import invoke
from tests.models.test_own_models import votes_of_judges


def test_the_likelihood_is_that_of_a_numpy_twin():
    votes = votes_of_judges()
    rng = np.random.default_rng(4)
    values = {
        "utility": rng.normal(size=4),
        "first_advantage": np.array(0.3),
        "judge_spread": np.array(0.7),
        "standard_bias": rng.normal(size=5),
    }
    arrays = JudgedBradleyTerry().arrays(votes)
    draws = {name: each[None] for name, each in values.items()}
    (logs,) = log_probabilities_of(JudgedBradleyTerry(), arrays, draws)
    bias = 0.3 + 0.7 * values["standard_bias"]
    odds = values["utility"][votes.first] - values["utility"][votes.second]
    odds = odds + bias[votes.columns["judge"]]
    twin = np.stack([log_expit(odds), log_expit(-odds)], axis=1)
    np.testing.assert_allclose(logs, twin, rtol=1e-10)
    # Columns that it does not read are no part of its arrays.
    assert set(arrays.columns) == {"judge"} and arrays.sizes == (("judge", 5),)


def test_judges_are_told_apart_and_votes_better_predicted():
    votes = votes_of_judges()
    found = fit(JudgedBradleyTerry(), votes, num_draws=150, num_chains=2)
    assert found.method == "nuts"
    plain = fit(BradleyTerry(order_effect=True), votes)
    assert loo(found).elpd > loo(plain).elpd + 10.0
    rows = {row["parameter"]: row for row in parameter_summary(found)}
    assert rows["judge_spread"]["lower"] > 0.3
    means = [rows[f"judge_bias[j{each}]"]["mean"] for each in range(5)]
    assert np.argmax(means) == 0 and np.argmin(means) == 2
    assert "judges" in rows["judge_spread"]["meaning"]


def test_what_does_not_fit_is_refused():
    votes = votes_of_judges()
    with pytest.raises(FitError, match="reads the column 'judge'"):
        JudgedBradleyTerry().arrays(votes.without_columns())
    with pytest.raises(FitError, match="order_effect"):
        JudgedBradleyTerry(order_effect=False).arrays(votes)
    with pytest.raises(FitError, match="spread_scale"):
        JudgedBradleyTerry(spread_scale=0.0).arrays(votes)
    with pytest.raises(FitError, match="order_known"):
        JudgedBradleyTerry().arrays(votes.without_order())
    Laplace(JudgedBradleyTerry()).check(3)  # A policy may hold it.


def test_the_command_reads_judges_and_neutral_rows(tmp_path):
    path = tmp_path / "votes.csv"
    lines = [f"a,b,{'left' if row % 3 else 'right'},j{row % 2},{row % 2}"
             for row in range(24)]  # fmt: skip
    path.write_text("\n".join(["left,right,winner,by,away", *lines]))
    said = invoke(["fit", str(path), "--judge", "by", "--draws", "50"])
    assert said.exit_code == 0
    for words in ("judge_spread", "judge_bias[j1]", "first_advantage"):
        assert words in said.output
    said = invoke(["fit", str(path), "--neutral", "away", "--order-effect", "--json"])
    assert said.exit_code == 0 and '"first_advantage"' in said.output
    said = invoke(["fit", str(path), "--judge", "by", "--model", "thurstone"])
    assert said.exit_code == 2 and "--judge: thurstone has none" in said.output
