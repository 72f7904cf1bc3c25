"""A learned spread of utilities: draws against integrals and against long chains."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit

from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PlackettLuce, Thurstone
from bayesduel.votes import Comparisons
from tests.models.fit.test_radial import chains_in_their_place

FALSE_ALARM = 1e-6
LIMIT = stats.norm.isf(FALSE_ALARM / 2)

SHARES = np.array([0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99])


def alike(num_arms=12, votes=40, spread=0.18):
    """Votes between arms that differ little."""
    rng = np.random.default_rng(4)
    utility = rng.normal(0.0, spread, num_arms)
    utility *= spread / utility.std()
    probability = 1 / (1 + np.exp(utility[None] - utility[:, None]))
    upper = rng.binomial(votes, np.triu(probability, 1))
    return Comparisons.from_wins(np.triu(upper, 1) + np.tril(votes - upper.T, -1))


def worst(drawn, points, weights, size):
    """Return the largest deviation of shares below quantiles, in standard errors."""
    order = np.argsort(points)
    cumulated = np.cumsum(weights[order])
    quantiles = points[order][np.searchsorted(cumulated, SHARES)]
    result = np.mean(drawn[:, None] <= quantiles, axis=0)
    return np.max(np.abs(result - SHARES) / np.sqrt(SHARES * (1 - SHARES) / size))


@pytest.mark.parametrize("wins", [[[0, 9], [4, 0]], [[0, 0], [0, 0]]])
@pytest.mark.filterwarnings("ignore:the arms fall into")
def test_two_arms_are_those_of_the_integral(wins):
    posterior = fit(
        BradleyTerry(learn_scale=True, prior_scale=2.0), Comparisons.from_wins(wins)
    )
    assert posterior.method == "laplace" and posterior.doubts == ()
    scale = np.linspace(0, 11, 1102)[1:]
    gap = np.linspace(-40, 40, 4001)
    s, d = (item.ravel() for item in np.meshgrid(scale, gap, indexing="ij"))
    logs = stats.norm.logpdf(d, scale=np.sqrt(2) * s) - 0.5 * (s / 2.0) ** 2
    logs += wins[0][1] * log_expit(d) + wins[1][0] * log_expit(-d)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    size = min(posterior.num_draws, posterior.correction.effective_proposals)
    drawn = posterior.draws["utility"].reshape(-1, 2)
    by_scale = weights.reshape(len(scale), -1).sum(axis=1)
    by_gap = weights.reshape(len(scale), -1).sum(axis=0)
    assert worst(posterior.draws["scale"].ravel(), scale, by_scale, size) < LIMIT + 1.0
    assert worst(drawn[:, 0] - drawn[:, 1], gap, by_gap, size) < LIMIT + 1.0


def test_arms_that_are_alike_get_a_small_scale():
    """The joint mode of the scale and of utilities in its units is near 2.6."""
    votes = alike()
    posterior = fit(BradleyTerry(learn_scale=True), votes)
    assert posterior.correction.trusted and posterior.doubts == ()
    scale = posterior.draws["scale"]
    low, high = np.quantile(scale, [0.05, 0.95])
    assert 0.1 < low < 0.18 < high < 0.4
    unit = posterior.draws["standard_utility"]
    np.testing.assert_allclose(posterior.draws["utility"], scale[..., None] * unit)
    fresh = posterior.fresh(1, 2000)["scale"]
    assert stats.ks_2samp(fresh, scale.ravel()).pvalue > FALSE_ALARM
    with pytest.raises(FitError, match="without a scale that is learned"):
        _ = posterior.mode


TERNARY = Comparisons.from_rows(
    "abcd",
    [0, 2, 1, 3, 0],
    [1, 0, 3, 2, 2],
    [[3, 1, 2], [4, 0, 1], [0, 2, 0], [1, 5, 3], [2, 2, 1]],
    order_known=True,
)


@pytest.mark.slow
def test_scales_are_those_of_long_chains():
    data = TERNARY
    model = Thurstone(learn_scale=True, ties=True, order_effect=True, zero_sum=True)
    near = fit(model, data, num_draws=4000)
    long = fit(model, data, method="nuts", num_draws=2000, target_acceptance=0.95)
    assert near.method == "laplace" and set(near.draws) == set(long.draws)
    for name, value in long.draws.items():
        shares = np.linspace(0.05, 0.95, 7)
        one, other = (
            np.quantile(result[name].reshape(size, -1), shares, axis=0)
            for result, size in ((near.draws, 16_000), (long.draws, 8000))
        )
        spread = value.reshape(8000, -1).std(axis=0)
        assert np.max(np.abs(one - other) / spread) < 0.2, name
    assert near.sample_stats["lp"].mean() == pytest.approx(
        long.sample_stats["lp"].mean(), abs=0.2
    )


@pytest.mark.slow
def test_auto_runs_chains_where_no_distribution_fits_or_none_is_known(monkeypatch):
    called = chains_in_their_place(monkeypatch)
    fit(BradleyTerry(learn_scale=True), alike(4), num_draws=100)
    assert called == ["laplace"]
    # Every arm beats all later ones: the scale has no end but the prior's.
    won = Comparisons.from_wins(np.triu(np.full((12, 12), 1.0), 1))
    posterior = fit(
        BradleyTerry(learn_scale=True, prior_scale=10.0), won, num_draws=100
    )
    assert called[1:] == ["laplace", "nuts"] and posterior.method == "nuts"
    assert PlackettLuce(learn_scale=True).usual_method == "nuts"
    assert BradleyTerry(learn_scale=True, covariates=True).usual_method == "nuts"
    assert BradleyTerry(covariates=True).usual_method == "laplace"
