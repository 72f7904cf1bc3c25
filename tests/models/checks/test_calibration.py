"""Simulation-based calibration of every model; see Talts et al. (2018)."""

from dataclasses import replace

import numpy as np
import pytest

from bayesduel.diagnostics import Calibration, calibrate
from bayesduel.errors import FitError
from bayesduel.models import BradleyTerry, PairwiseBeta, PlackettLuce
from bayesduel.models.checks import calibration
from bayesduel.votes import Comparisons, Rankings

FALSE_ALARM = 1e-4
"""The rate for each model, whose smallest p-value is Bonferroni-corrected."""

VOTES = Comparisons.from_rows(
    "abc",
    [0, 0, 1, 2],
    [1, 2, 2, 0],
    [[2, 1, 1], [3, 0, 0], [2, 2, 2], [4, 1, 2]],
    order_known=True,
)


def test_exact_posteriors_are_calibrated():
    prior = ((1.0, 3.0, 0.5), (1.0, 1.0, 2.0), (2.0, 1.0, 1.0))
    model, done = PairwiseBeta(prior=prior, ties=True), []
    sizes = {"num_simulations": 80, "num_draws": 19}
    result = calibrate(model, VOTES, method="exact", on_progress=done.append, **sizes)
    assert done == list(range(1, 81))
    # The chance that none of 560 ranks is the first or the last is 1 in 10^12.
    ranks = np.concatenate([np.ravel(value) for value in result.ranks.values()])
    assert len(ranks) == 560 and (ranks.min(), ranks.max()) == (0, 19)
    assert result.smallest_p_value(bins=5) > FALSE_ALARM


@pytest.mark.slow
def test_a_wrong_posterior_is_noticed(monkeypatch):
    """Wins and losses swapped in the posterior, and votes that count twice."""
    exact = PairwiseBeta.exact_posterior

    def swapped(self, arrays):
        distribution = exact(self, arrays)
        return distribution._replace(
            for_first=distribution.for_second, for_second=distribution.for_first
        )

    def doubled(self, arrays):
        return exact(self, replace(arrays, counts=2.0 * arrays.counts))

    for wrong in (swapped, doubled):
        monkeypatch.setattr(PairwiseBeta, "exact_posterior", wrong)
        result = calibrate(
            PairwiseBeta(ties=True), VOTES, method="exact", num_simulations=80
        )
        assert result.smallest_p_value(bins=5) < FALSE_ALARM


@pytest.mark.slow
def test_nuts_is_calibrated():
    model = BradleyTerry(prior_scale=1.2, zero_sum=True, ties=True)
    result = calibrate(
        model, VOTES, num_simulations=160, num_draws=39, thinning=5, num_warmup=200
    )
    assert result.smallest_p_value(bins=8) > FALSE_ALARM


def test_thinning_leaves_out_draws(monkeypatch):
    def chains(model, settings, simulated, rng_key):
        yield {"draw": np.tile(np.arange(settings.draws), (len(simulated), 1))}

    monkeypatch.setattr(calibration, "_fit_in_groups", chains)
    monkeypatch.setattr(calibration, "_ranked", lambda *seen: seen[-1]["draw"])
    sizes = {"num_simulations": 2, "num_draws": 4, "thinning": 3}
    used = calibrate(BradleyTerry(ties=True), VOTES, **sizes)
    np.testing.assert_array_equal(used, [[0, 3, 6, 9]] * 2)


def test_ranks_are_counted_in_bins():
    ranks = np.array([[0], [9], [10], [99], [55]])
    result = Calibration(ranks={"utility": ranks}, num_draws=99)
    counts = result.histograms()["utility"][:, 0]
    assert counts.tolist() == [2, 1, 0, 0, 0, 1, 0, 0, 0, 1]
    assert result.p_values(bins=2)["utility"].shape == (1,)
    with pytest.raises(FitError, match="bins must divide 100, got 7"):
        result.histograms(7)
    with pytest.raises(FitError, match="bins must be an integer of at least 2"):
        result.p_values(1)
    assert result.coverage()["utility"].tolist() == [0.6]
    assert result.coverage(0.5)["utility"].tolist() == [0.2]
    with pytest.raises(FitError, match="probability must be in"):
        result.coverage(1.0)


def test_what_cannot_be_simulated_is_refused():
    model, none = BradleyTerry(), Comparisons.from_wins(np.zeros((2, 2)))
    twice = Rankings.from_orders([["a", "b"], ["a", "b"], ["b", "a"]])
    exact = "method must be one of auto, laplace, svi, nuts"
    for kind, data, options, words in (
        (model, VOTES, {"method": "exact"}, exact),
        (model, VOTES, {"num_simulations": 0}, "num_simulations must be an integer of"),
        (model, VOTES.with_split_ties(), {}, "whole numbers of votes"),
        (model, none, {}, "data must hold votes"),
        (PlackettLuce(), twice, {}, "cast once each.*, got 2"),
    ):
        with pytest.raises(FitError, match=words):
            calibrate(kind, data, **options)


FEW = Comparisons.from_rows(
    "abcd", [0, 1, 2, 3], [1, 2, 3, 0], [[2, 0, 0]] * 4, order_known=True
)
LEAGUE = BradleyTerry(prior_scale=2.0, zero_sum=True, order_effect=True)


@pytest.mark.slow
@pytest.mark.parametrize("resample", [True, False])
def test_resampled_approximations_are_calibrated(resample):
    """Eight votes in all; the normal distribution itself is far off, and noticed.

    That draws by ``svi`` are resampled as well is shown in ``inference``.
    """
    options = {"method": "laplace", "num_simulations": 400, "resample": resample}
    result = calibrate(LEAGUE, FEW, **options)
    # A data set has 4 simulated utilities, which add up to 0, so 3 count.
    error = np.sqrt(0.09 / (3 * 400))
    covered = abs(result.coverage()["utility"].mean() - 0.9) < 5.0 * error
    assert covered == resample
    assert not resample or result.smallest_p_value(bins=5) > FALSE_ALARM
