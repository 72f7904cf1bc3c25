"""Fits as ArviZ reads them."""

import warnings
from functools import cache

import arviz_plots
import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesduel.diagnostics import to_datatree
from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta, PlackettLuce
from bayesduel.models.fit import datatree
from bayesduel.votes import Comparisons, Rankings

pytestmark = pytest.mark.usefixtures("hardly_optimized")

VOTES = Comparisons.from_rows(
    ["tea", "milk", "water"], [0, 2, 1], [1, 0, 2], [[3, 1, 2], [4, 0, 1], [0, 2, 0]],
    order_known=True,
)  # fmt: skip
GROUPS = {
    "posterior", "sample_stats", "log_likelihood", "log_prior", "prior",
    "prior_predictive", "posterior_predictive", "observed_data", "constant_data",
}  # fmt: skip


@cache
def tree(unit="vote"):
    model = BradleyTerry(ties=True, order_effect=True)
    posterior = fit(model, VOTES, method="laplace", num_draws=250)
    # The last seed there is.
    return posterior.to_datatree(unit=unit, num_prior_draws=400, rng_key=2**63 - 1)


def test_every_group_is_there_with_names():
    result = tree()
    assert set(result.children) == GROUPS
    posterior = result["posterior"]
    assert dict(posterior.sizes) == {"chain": 4, "draw": 250, "arm": 3}
    assert posterior["arm"].values.tolist() == ["tea", "milk", "water"]
    assert {"utility", "log_tie", "first_advantage"} == set(posterior.data_vars)
    assert result.attrs["inference_method"] == "laplace, resampled"
    assert "BradleyTerry" in result.attrs["model"]
    assert result.attrs["creation_library"] == "bayesduel"
    assert result.attrs["parts"] == 1


def test_one_entry_per_vote():
    logs = tree()["log_likelihood"]["votes"]
    assert logs.dims == ("chain", "draw", "vote") and logs.sizes["vote"] == 13
    labels = list(zip(logs["comparison"].values, logs["outcome"].values, strict=True))
    assert labels.count(("tea vs milk", "first")) == 3
    assert labels.count(("tea vs milk", "tie")) == 2
    assert labels.count(("water vs tea", "first")) == 4
    # The formula of Davidson, draw by draw.
    draws = tree()["posterior"]
    gap = (
        draws["utility"].sel(arm="tea")
        - draws["utility"].sel(arm="milk")
        + draws["first_advantage"]
    )
    total = np.exp(gap / 2) + np.exp(-gap / 2) + np.exp(draws["log_tie"])
    tie = labels.index(("tea vs milk", "tie"))
    np.testing.assert_allclose(logs[:, :, tie], draws["log_tie"] - np.log(total))
    rows = tree("row")["log_likelihood"]["votes"]
    np.testing.assert_allclose(rows.sum("comparison"), logs.sum("vote"), rtol=1e-10)


def test_predictions_repeat_the_numbers_of_votes():
    result = tree()
    observed = result["observed_data"]["votes"]
    assert observed.values.tolist() == VOTES.counts.tolist()
    for group in ("prior_predictive", "posterior_predictive"):
        predicted = result[group]["votes"]
        assert np.all(
            predicted.sum("outcome") == observed.sum("outcome").values[None, None, :]
        )
    # More data, less spread.
    spread = {g: float(result[g]["votes"].std(("chain", "draw")).sum())
              for g in ("prior_predictive", "posterior_predictive")}  # fmt: skip
    assert spread["posterior_predictive"] < spread["prior_predictive"]


def test_the_prior_is_the_prior():
    utility = tree()["prior"]["utility"]
    assert utility.sizes["draw"] == 400
    # 1200 independent draws: a standard error of 0.041 on a spread of 2.
    assert abs(float(utility.std()) - 2.0) < 5 * 0.041


def test_arviz_reads_it(tmp_path):
    result = tree()
    summary = arviz_stats.summary(result, var_names=["utility"])
    assert "utility[tea]" in summary.index
    assert np.isfinite(arviz_stats.loo(result, var_name="votes").elpd)
    arviz_plots.plot_forest(result, var_names=["utility"], backend="none")
    path = tmp_path / "fit.nc"
    result.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as again:
        xr.testing.assert_equal(again["posterior"].to_dataset(),
                                result["posterior"].to_dataset())  # fmt: skip


@pytest.mark.slow
def test_ballots_are_predicted_as_they_were_cast():
    orders = [["a", "b", "c"], ["c", "a"], ["b", ("a", "c")]]
    data = Rankings.from_orders(orders, arm_names="abc")
    posterior = fit(PlackettLuce(), data, method="laplace", num_draws=50).to_datatree()
    assert set(posterior.children) >= GROUPS
    predicted = posterior["posterior_predictive"]["places"]
    assert "ballot" in predicted.dims and predicted.sizes["chain"] == 4
    # A ballot that ranked two of three again ranks those two.
    assert np.all(np.sort(predicted.values[:, :, 1], axis=-1) == [0, 1, 2])
    assert np.all(np.sort(predicted.values[:, :, 2], axis=-1) == [1, 2, 2])


def test_weighted_votes_are_refused():
    half = Comparisons.from_wins([[0, 1.5], [0.5, 0]])
    posterior = fit(PairwiseBeta(), half)
    with pytest.raises(FitError, match="fit data without weights"):
        to_datatree(posterior)
    with pytest.raises(FitError, match="unit must be one of"):
        tree("pair")


@pytest.mark.slow
def test_arviz_checks_predictions_and_priors():
    model = BradleyTerry(ties=True, order_effect=True, learn_scale=True)
    fits = [
        fit(model, VOTES, method="laplace", num_draws=250),
        fit(PairwiseBeta(prior=2.0, ties=True), VOTES, num_draws=250),
    ]
    rows, votes = (
        [result.to_datatree(unit=unit, num_prior_draws=50) for result in fits]
        for unit in ("row", "vote")
    )
    for result in rows:
        observed = result["observed_data"]["votes"]
        assert observed.dims == ("comparison",)
        arviz_plots.plot_ppc_pit(result, backend="none")
        arviz_plots.plot_ppc_rootogram(result, backend="none")
        # Three rows: it may say that few are left when one is out.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            pit = arviz_stats.loo_pit(result)["votes"]
            arviz_plots.plot_loo_pit(result, backend="none")
        assert np.all((pit >= 0.0) & (pit <= 1.0))
        outcomes = result["constant_data"]["outcomes"]
        assert np.array_equal(outcomes.sel(outcome="first"), observed)
    for result in [*votes, *rows]:
        table = arviz_stats.psense_summary(result)
        assert np.all(np.isfinite(table[["prior", "likelihood"]].to_numpy()))


def test_log_prior_is_that_of_each_quantity():
    result = tree()
    distribution = stats.norm(0.0, 2.0)
    utility, prior = result["posterior"]["utility"], result["log_prior"]
    np.testing.assert_allclose(
        prior["utility"], distribution.logpdf(utility).sum(axis=-1)
    )
    np.testing.assert_allclose(
        prior["log_tie"], distribution.logpdf(result["posterior"]["log_tie"])
    )
    # Together with the votes it is the posterior, up to a constant: the parameters
    # are unconstrained, and have no Jacobian.
    joint = prior.to_dataset().to_array().sum("variable")
    joint = joint + result["log_likelihood"]["votes"].sum("vote")
    np.testing.assert_allclose(joint, result["sample_stats"]["lp"], rtol=1e-9)


def test_fewer_prior_draws_are_made_of_many_rows(monkeypatch):
    votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    posterior = fit(BradleyTerry(), votes, num_draws=10)
    monkeypatch.setattr(datatree, "_MOST_OF_PRIOR", 25)
    tree = to_datatree(posterior, log_likelihood=False)
    assert tree["prior"].sizes["draw"] == 4  # With six counts each.
    assert tree["prior_predictive"]["votes"].sizes["draw"] == 4
