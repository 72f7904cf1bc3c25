"""Draws of approximations, resampled by importance: they are the posterior's own."""

import jax
import numpy as np
import pytest
from scipy.special import digamma, polygamma

from bayesduel.diagnostics import report
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.models.fit.resampling import (
    effective_number,
    good_k,
    largest_shift,
    smoothed_weights,
    systematic,
)
from bayesduel.votes import Comparisons
from tests.models.fit.agreement import worst_disagreement

FALSE_ALARM = 1e-5
LOPSIDED = Comparisons.from_wins([[0, 8, 6], [1, 0, 9], [1, 1, 0]], arm_names="abc")


def logit(preference):
    return np.log(preference) - np.log1p(-preference)


def exact_logits():
    """Mean and standard deviation of logits of theta ~ Beta(1 + w, 1 + l)."""
    won, lost = np.array([9.0, 7.0, 10.0]), np.array([2.0, 2.0, 2.0])
    mean = digamma(won) - digamma(lost)
    return mean, np.sqrt(polygamma(1, won) + polygamma(1, lost))


@pytest.mark.parametrize(
    "method", ["laplace", pytest.param("svi", marks=pytest.mark.slow)]
)
def test_resampled_draws_have_the_moments_of_the_posterior(method):
    posterior = fit(PairwiseBeta(), LOPSIDED, method=method, num_draws=2000)
    assert posterior.correction is not None and posterior.correction.resampled
    assert repr(posterior).startswith(f"Fit(Beta per pair by {method}, resampled, ")
    assert "log_weight" not in posterior.sample_stats
    mean, spread = exact_logits()
    # Weights have an error of their own, as that of the effective proposals.
    slack = 3.0 * spread.max() / np.sqrt(posterior.correction.effective_proposals)
    drawn = logit(posterior.draws["preference"])
    assert worst_disagreement(drawn, mean, slack) > FALSE_ALARM
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), spread, rtol=0.06)
    again = [posterior.fresh(jax.random.key(seed), 2000) for seed in range(2)]
    fresh = np.stack([draws["preference"] for draws in again])
    assert worst_disagreement(logit(fresh), mean, slack) > FALSE_ALARM


def test_plain_draws_are_called_what_they_are():
    """Pareto k is good, but nobody uses the weights: the shift decides."""
    plain = fit(PairwiseBeta(), LOPSIDED, method="laplace", resample=False)
    assert plain.correction is not None and not plain.correction.resampled
    mean, spread = exact_logits()
    drawn = logit(plain.draws["preference"]).mean(axis=(0, 1))
    assert np.max(np.abs(drawn - mean) / spread) > 0.15
    said = report(plain, with_loo=False)
    assert not said.good
    assert "resample=True" in str(said) or "use method='nuts'" in str(said)
    assert "means are off by up to 0." in str(said)
    # Nothing was resampled, so that nothing was mended, however good the weights are.
    assert plain.correction.has_good_weights and not plain.correction.trusted
    assert "leave out resample=False" in plain.remarks[0] and plain.doubts
    output = plain.to_datatree(log_likelihood=False, num_prior_draws=2).attrs
    assert output["trusted"] == 0 and plain.doubts[0] in output["remarks"]
    mended = report(fit(PairwiseBeta(), LOPSIDED, method="laplace"), with_loo=False)
    assert mended.good and "Weights corrected the normal distribution" in str(mended)
    many = Comparisons.from_wins(100.0 * (LOPSIDED.wins + 2.0 * (1.0 - np.eye(3))))
    close = fit(PairwiseBeta(), many, method="laplace", resample=False)
    assert report(close, with_loo=False).good
    assert not (close.correction.trusted or close.doubts or close.remarks)


def test_bad_weights_are_not_used():
    """Far from normal in 32 dimensions: the draws stay those of the normal
    distribution."""
    wins = np.zeros((32, 32))
    for step in (1, 2, 4, 8, 16):
        wins[np.arange(0, 32, 2 * step), np.arange(step, 32, 2 * step)] = 1
    model = BradleyTerry(prior_scale=20.0)
    posterior = fit(model, Comparisons.from_wins(wins), method="laplace")
    assert posterior.correction is not None and not posterior.correction.resampled
    assert posterior.correction.pareto_k > 0.7
    assert posterior.correction.num_proposals == 4000
    assert posterior.sample_stats["log_weight"].shape == (4, 1000)
    judged = report(posterior, with_loo=False)
    assert not judged.good and "resample=True" not in judged.against()
    for words in ("far from normal", "no weights can mend the draws", "method='nuts'"):
        assert words in str(judged)


def test_without_votes_the_normal_distribution_is_exact():
    """Weights are equal but for rounding, whose tail means nothing."""
    empty = Comparisons.from_rows("abc", [], [], np.zeros((0, 3)))
    with pytest.warns(UserWarning, match="never compared"):
        posterior = fit(
            BradleyTerry(zero_sum=True), empty, method="laplace", num_draws=50
        )
    assert posterior.correction is not None and posterior.correction.resampled
    assert posterior.correction.pareto_k < 0.5
    assert posterior.correction.num_different == 200
    assert report(posterior).good


def test_weights_where_the_posterior_has_no_density():
    rng = np.random.default_rng(2)
    logs = rng.normal(size=500)
    logs[:400] = -np.inf
    logs[499] = np.nan
    weights, k = smoothed_weights(logs)
    assert weights.sum() == pytest.approx(1.0) and np.isfinite(k)
    assert weights[:400].max() < 1e-200 and weights[499] < 1e-200
    assert smoothed_weights(np.full(500, -np.inf))[1] == np.inf
    # Weights that are bounded have no tail.
    weights, k = smoothed_weights(np.where(rng.random(500) < 0.5, 0.0, -1.0))
    assert k == 0.0 and set(np.round(weights / weights.max(), 6)) == {1.0, 0.367879}
    # The distribution of a normal proposal whose target is narrower: weights are
    # bounded.
    points = rng.normal(size=4000)
    weights, k = smoothed_weights(-1.5 * points**2)
    assert k < 0.5
    assert effective_number(weights) / 4000 == pytest.approx(np.sqrt(7) / 4, rel=0.05)
    assert weights @ points**2 == pytest.approx(0.25, rel=0.1)


def test_systematic_resampling_keeps_expected_copies():
    """The floor or the ceiling of number * weight, and its mean over many picks."""
    rng = np.random.default_rng(5)
    weights = np.array([0.5, 0.2, 0.0, 0.17, 0.13])
    total = np.zeros(5)
    for _ in range(400):
        copies = np.bincount(systematic(rng, weights, 10), minlength=5)
        assert copies.sum() == 10
        assert np.all(np.abs(copies - 10 * weights) < 1.0)
        total += copies
    # A standard error of at most 0.025 each.
    np.testing.assert_allclose(total / 400, 10 * weights, atol=0.13)
    flat = systematic(rng, np.full(40, 1 / 40), 40)
    assert np.array_equal(np.sort(flat), np.arange(40))
    assert not np.array_equal(flat, np.arange(40))


def test_largest_shift_names_its_quantity():
    values = {
        "still": np.ones(4),
        "moved": np.array([[0.0, 0], [0, 2], [0, 0], [0, 2]]),
    }
    still = {"still": np.ones(4)}
    weights = np.array([0.1, 0.4, 0.1, 0.4])
    shift, name, spread = largest_shift(values, values, weights)
    assert (name, shift) == ("moved[1]", pytest.approx(0.6 / 0.8))
    assert spread == pytest.approx(1.0 / 0.8)
    assert largest_shift(still, still, weights) == (0.0, "", 1.0)
    assert good_k(4000) == pytest.approx(0.7) and good_k(100) == pytest.approx(0.5)
