"""Judges who favor the arm shown first, each in a way of their own."""

import numpy as np
import pytest
from scipy.special import log_expit

from bayesduel.cli.voting import preference_model
from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary
from bayesduel.models import JudgedBradleyTerry
from bayesduel.models.fit.numpyro_models import log_probabilities_of
from bayesduel.posteriors import Laplace
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.models.test_own_models import votes_of_judges


@pytest.mark.parametrize("discrimination", [False, True])
def test_the_likelihood_is_that_of_a_numpy_twin(discrimination):
    votes = votes_of_judges()
    model = JudgedBradleyTerry(discrimination=discrimination)
    rng = np.random.default_rng(4)
    values = {
        "utility": rng.normal(size=4),
        "first_advantage": np.array(0.3),
        "judge_spread": np.array(0.7),
        "standard_bias": rng.normal(size=5),
    }
    clearly = np.ones(5)
    if discrimination:
        values["discrimination_spread"] = np.array(0.4)
        values["standard_discrimination"] = np.array([0.5, -1.0, 0.2, 1.3, -1.0])
        clearly = np.exp(0.4 * values["standard_discrimination"])
    arrays = model.arrays(votes)
    draws = {name: value[None] for name, value in values.items()}
    (logs,) = log_probabilities_of(model, arrays, draws)
    bias = 0.3 + 0.7 * values["standard_bias"]
    odds = values["utility"][votes.first] - values["utility"][votes.second]
    odds = odds * clearly[votes.columns["judge"]] + bias[votes.columns["judge"]]
    twin = np.stack([log_expit(odds), log_expit(-odds)], axis=1)
    np.testing.assert_allclose(logs, twin, rtol=1e-10)
    # Columns that it does not read are no part of its arrays.
    assert set(arrays.columns) == {"judge"} and arrays.sizes == (("judge", 5),)


@pytest.mark.slow
def test_discrimination_of_judges_is_recovered():
    """A judge who guesses, one who is sure, and biases; 100 votes of each of six."""
    rng = np.random.default_rng(8)
    utility = np.array([1.2, 0.4, -0.4, -1.2])
    clearly = np.array([0.1, 0.5, 1.0, 1.0, 1.6, 2.5])
    bias = np.array([0.8, -0.6, 0.0, 0.5, -0.9, 0.2])
    judge = np.repeat(np.arange(6), 100)
    first = rng.integers(4, size=600)
    second = (first + rng.integers(1, 4, size=600)) % 4
    odds = clearly[judge] * (utility[first] - utility[second]) + bias[judge]
    won = rng.random(600) < 1.0 / (1.0 + np.exp(-odds))
    votes = Comparisons.from_rows(
        "abcd", first, second, np.stack([won, ~won, 0 * won], axis=1), order_known=True,
        columns={"judge": [f"j{item}" for item in judge]},
    )  # fmt: skip
    model = JudgedBradleyTerry(zero_sum=True, discrimination=True)
    posterior = fit(model, votes, num_draws=1000, num_chains=2)
    assert posterior.method == "nuts" and not posterior.doubts
    flat = posterior.flat_draws()
    logs, against = np.log(flat["discrimination"]), np.log(clearly)
    np.testing.assert_allclose(logs.sum(axis=1), 0.0, atol=1e-9)
    favors = flat["first_advantage"][:, None] + flat["judge_bias"]
    seen = utility * np.exp(against.mean())
    pairs = (logs, against - against.mean()), (favors, bias), (flat["utility"], seen)
    for draws, truth in pairs:
        assert np.all(np.abs(draws.mean(axis=0) - truth) < 4.0 * draws.std(axis=0))
    assert np.quantile(logs[:, 0], 0.95) < np.log(0.5)  # Who guesses is found out,
    assert np.quantile(logs[:, 5] - logs[:, 1], 0.05) > 0.3  # and who is sure.
    rows = {row["parameter"]: row["meaning"] for row in parameter_summary(posterior)}
    assert {"discrimination[j0]", "judge_bias[j5]"} < {*rows}
    assert "standard_discrimination[j0]" not in rows
    assert "judges" in rows["judge_spread"]


def test_what_does_not_fit_is_refused():
    votes = votes_of_judges()
    for model, data, words in (
        (JudgedBradleyTerry(), votes.without_columns(), "reads the column 'judge'"),
        (JudgedBradleyTerry(), votes.without_order(), "order_known"),
        (JudgedBradleyTerry(order_effect=False), votes, "order_effect"),
    ):
        with pytest.raises(FitError, match=words):
            model.arrays(data)
    for item in (False, True):  # A policy may hold it.
        Laplace(JudgedBradleyTerry(discrimination=item)).check(3)


@pytest.mark.slow
def test_the_command_reads_judges_and_neutral_rows(tmp_path):
    path = tmp_path / "votes.csv"
    lines = [f"a,b,{'left' if row % 3 else 'right'},j{row % 2},{row % 2}"
             for row in range(24)]  # fmt: skip
    path.write_text("\n".join(["left,right,winner,by,away", *lines]))
    quick = ["--draws", "50", "--method", "laplace"]
    said = invoke(["fit", str(path), "--judge", "by", *quick])
    assert said.exit_code == 0
    for words in ("judge_spread", "judge_bias[j1]", "first_advantage"):
        assert words in said.output
    said = invoke(["fit", str(path), "--neutral", "away", "--order-effect", "--json"])
    assert said.exit_code == 0 and '"first_advantage"' in said.output
    model = preference_model(
        "bradley-terry", votes_of_judges(), 3.0, order_effect=False,
        discrimination=True,
    )  # fmt: skip
    assert model == JudgedBradleyTerry(
        zero_sum=True, discrimination=True, prior_scale=3.0
    )
    said = invoke(["fit", str(path), "--discrimination"])
    assert said.exit_code == 2 and "--discrimination: is one of judges" in said.output
    said = invoke(["fit", str(path), "--judge", "by", "--model", "thurstone"])
    assert said.exit_code == 2 and "--judge: thurstone has none" in said.output
