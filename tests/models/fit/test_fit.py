"""Posteriors by every method, against exact ones and against a grid."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, psi

from bayesduel.errors import DisconnectedComparisonsWarning, FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, MultinomialLogit, PairwiseBeta, PlackettLuce
from bayesduel.votes import Choices, Comparisons, Rankings
from tests.models.fit.agreement import grid_posterior, worst_disagreement

FALSE_ALARM = 1e-5
"""The rate for each comparison of draws with exact numbers."""

VOTES = Comparisons.from_wins([[0, 7, 9], [3, 0, 2], [1, 6, 0]], arm_names="abc")
PAIRS = ([0, 0, 1], [1, 2, 2])
BETA = [(8, 4), (10, 2), (3, 7)]
"""Posteriors of the pairs under uniform priors."""


@cache
def fitted(method, model=None, **options):
    return fit(model or BradleyTerry(), VOTES, method=method, rng_key=3, **options)


def quantities(utility):
    """Numbers whose posterior means the grid knows: location, spread, tails, wins."""
    one, other = PAIRS
    gap = utility[..., one] - utility[..., other]
    return np.concatenate([gap, gap**2, gap > 0.0, expit(gap), gap > 1.5], axis=-1)


def grid_means():
    utility, weight = grid_posterior(VOTES.wins)
    return weight @ quantities(utility)


@pytest.mark.slow
def test_nuts_agrees_with_a_grid():
    draws = quantities(fitted("nuts").draws["utility"])
    assert worst_disagreement(draws, grid_means()) > FALSE_ALARM


def test_the_comparison_with_the_grid_can_fail():
    """A tighter prior is noticed, and so is a swapped sign."""
    other = grid_posterior(VOTES.wins, scale=1.0)
    draws = quantities(fitted("laplace").draws["utility"])
    assert worst_disagreement(draws, other[1] @ quantities(other[0])) < FALSE_ALARM
    flipped = quantities(-fitted("laplace").draws["utility"])
    assert worst_disagreement(flipped, grid_means()) < FALSE_ALARM


def test_approximations_are_corrected_by_their_weights():
    """Importance weights turn approximate draws into exact means: both the draws and
    their weights are right. Those by ``svi``: ``test_resampling``."""
    posterior = fitted("laplace", num_draws=4000, resample=False)
    assert posterior.converged
    logs = posterior.sample_stats["log_weight"].ravel()
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    assert 1.0 / np.sum(weight**2) > 0.7 * len(weight)
    values = quantities(posterior.flat_draws()["utility"])
    mean = weight @ values
    error = np.sqrt(weight**2 @ (values - mean) ** 2)
    p_values = 2.0 * stats.norm.sf(np.abs(mean - grid_means()) / error)
    assert p_values.min() * len(p_values) > FALSE_ALARM


def beta_means():
    return np.array([w / (w + lost) for w, lost in BETA]), np.array(
        [(w + 1) * w / ((w + lost + 1) * (w + lost)) for w, lost in BETA]
    )


def test_beta_posteriors_are_the_conjugate_ones():
    draws = fitted("exact", PairwiseBeta()).draws["preference"]
    values = np.concatenate([draws, draws**2], axis=-1)
    assert worst_disagreement(values, np.concatenate(beta_means())) > FALSE_ALARM


def test_prior_of_pairs_may_be_anything():
    prior = ((1.0, 2.0, 3.0), (0.5, 1.0, 0.25), (4.0, 5.0, 1.0))
    distribution = fit(PairwiseBeta(prior=prior), VOTES).extras["posterior"]
    assert distribution.for_first.tolist() == [9.0, 12.0, 2.25]
    assert distribution.for_second.tolist() == [3.5, 5.0, 11.0]


def test_beta_counts_both_orders_and_ties():
    votes = Comparisons.from_votes("baab", "abba", ["b", "b", "tie", "a"])
    distribution = fit(PairwiseBeta(ties=True), votes).extras["posterior"]
    assert distribution.for_first.tolist() == [2.0]
    assert distribution.for_second.tolist() == [3.0]
    assert (distribution.tie.tolist(), distribution.no_tie.tolist()) == ([2.0], [5.0])


# Questions to a posterior


def test_probabilities_of_beating():
    posterior = fitted("exact", PairwiseBeta(), num_draws=20000)
    better = posterior.probability_stronger()
    beating = posterior.probability_of_beating()
    for (w, lost), (i, j) in zip(BETA, zip(*PAIRS, strict=True), strict=True):
        assert abs(better.values[i, j] - stats.beta.sf(0.5, w, lost)) < 0.01
        assert abs(beating.values[i, j] - w / (w + lost)) < 0.01
    np.testing.assert_allclose(beating + beating.values.T, 1.0, rtol=1e-12)
    assert float(better.sel(arm="a", opponent="c")) > 0.98
    with pytest.raises(FitError, match=r"probability_of_beating\(\).*_stronger\(\)"):
        posterior.probability_better()


def test_winner_probabilities():
    posterior = fitted("exact", PairwiseBeta(), num_draws=20000).winner_probabilities()
    ab, ac, bc = (stats.beta.sf(0.5, w, lost) for w, lost in BETA)
    condorcet = [ab * ac, (1 - ab) * bc, (1 - ac) * (1 - bc)]
    np.testing.assert_allclose(posterior["condorcet"], condorcet, atol=0.01)
    assert abs(float(posterior["condorcet_exists"]) - sum(condorcet)) < 0.01
    # Without a Condorcet winner there is a cycle, and all three share the first place.
    cycle = 1.0 - sum(condorcet)
    np.testing.assert_allclose(
        posterior["copeland"], np.array(condorcet) + cycle, atol=0.01
    )
    assert abs(float(posterior["borda"].sum()) - 1.0) < 1e-12


def test_rank_intervals():
    """By hand, on draws that are known."""
    posterior = fitted("laplace")
    utilities = np.array([[[3.0, 2.0, 1.0]] * 90 + [[1.0, 3.0, 2.0]] * 10])
    known = replace(posterior, draws={"utility": utilities})
    ranks = known.rank_intervals(0.75)
    assert ranks["lower"].values.tolist() == [1, 2, 3]
    assert ranks["upper"].values.tolist() == [1, 2, 3]
    assert known.rank_intervals(0.95)["upper"].values.tolist() == [3, 2, 3]
    np.testing.assert_allclose(ranks["mean"], [1.2, 1.9, 2.9])
    assert known.rank_intervals(0.75, by="borda").equals(ranks)
    with pytest.raises(FitError, match="by must be"):
        fitted("exact", PairwiseBeta()).rank_intervals(by="utility")
    with pytest.raises(FitError, match="probability"):
        posterior.rank_intervals(1.0)


def test_expected_information_of_a_beta_pair():
    """E[H] = psi(n + 1) - (a/n) psi(a + 1) - (b/n) psi(b + 1) for Beta(a, b)."""
    posterior = fitted("exact", PairwiseBeta()).expected_information()
    for (a, b), (i, j) in zip(BETA, zip(*PAIRS, strict=True), strict=True):
        n = a + b
        inner = psi(n + 1) - a / n * psi(a + 1) - b / n * psi(b + 1)
        outer = -a / n * np.log(a / n) - b / n * np.log(b / n)
        assert abs(posterior.values[i, j] - (outer - inner)) < 1e-12
        assert abs(posterior.values[j, i] - (outer - inner)) < 1e-12
    assert np.all(np.diagonal(posterior) == 0.0)


@pytest.mark.slow
def test_information_in_closed_form_is_that_of_draws():
    votes = Comparisons.from_votes("aabca", "bbcab", ["a", "b", "tie", "c", "tie"])
    model = PairwiseBeta(prior=0.7, ties=True)
    exact, drawn = (
        fit(model, votes, method=method, num_draws=2500).expected_information()
        for method in ("exact", "laplace")
    )
    np.testing.assert_allclose(exact.values, drawn.values, atol=0.02)
    assert exact.values[0, 1] < 0.8 * exact.values[0, 2]


def test_information_counts_ties_and_the_order():
    votes = Comparisons.from_votes("abab", "bcba", ["a", "tie", "b", "left"])
    posterior = fit(
        BradleyTerry(ties=True, order_effect=True), votes, method="laplace"
    ).expected_information()
    assert posterior.values.shape == (3, 3)
    off = ~np.eye(3, dtype=bool)
    assert np.all(posterior.values[off] > 0.05)
    assert not np.allclose(posterior.values, posterior.values.T, atol=1e-3)


def test_draws_on_demand():
    posterior = fitted("laplace")
    new = posterior.sample(5, 7)
    assert new.shape == (7, 3, 3) and new.dtype == np.float64
    np.testing.assert_array_equal(new, posterior.sample(jax.random.key(5), 7))
    assert not np.array_equal(new, posterior.sample(6, 7))
    assert posterior.sample_utilities(5, 9000).shape == (9000, 3)
    with pytest.raises(FitError, match="model must have utilities"):
        fitted("exact", PairwiseBeta()).sample_utilities(0, 1)


def test_more_draws_than_were_kept_are_refused():
    # As chains leave them: nothing makes new ones.
    posterior = replace(fitted("laplace"), method="nuts", fresh=None)
    chosen = posterior.sample_utilities(1, 4000)
    # All of them, each once.
    np.testing.assert_array_equal(
        np.sort(chosen[:, 0]), np.sort(posterior.draws["utility"][..., 0].ravel())
    )
    with pytest.raises(FitError, match="num_draws must .*got 5000.*num_draws=1250"):
        posterior.sample(0, 5000)
    with pytest.raises(FitError, match="num_draws must be an integer of at"):
        posterior.sample(0, 0)


# Bad input

BALLOTS = Rankings.from_orders([["a", "b", "c"], ["b", "a", "c"]])
CHOICES = Choices.from_subsets([["a", "b"], ["a", "c"]], ["a", None])
TIES = Comparisons.from_votes(["a", "b"], ["b", "a"], ["tie", "b"])


@pytest.mark.parametrize(
    ("model", "data", "options", "words"),
    [
        (BradleyTerry(), VOTES, {"method": "exact"}, "no closed form"),
        (BradleyTerry(), VOTES, {"method": "gibbs"}, "no method 'gibbs'"),
        (BradleyTerry(), VOTES, {"method": "laplace", "num_warmup": 9},
         "num_warmup mu"),
        (BradleyTerry(), VOTES, {"rng_key": np.array([0, 1], "uint32")}, "typed key"),
        (BradleyTerry, VOTES, {}, "add parentheses"),
        (BradleyTerry(), TIES, {}, "no ties, for which BradleyTerry has no place, got"),
        (PairwiseBeta(), TIES, {}, "no ties, for which PairwiseBeta has no place, got"),
        (BradleyTerry(order_effect=True), VOTES, {}, "shown first"),
        (BradleyTerry(covariates=True), VOTES, {}, "with_covariates"),
        (BradleyTerry(), BALLOTS, {}, "must be Comparisons.*to_comparisons"),
        (MultinomialLogit(zero_sum=True), CHOICES, {}, "outside option"),
        (PairwiseBeta(prior=((1.0, 2.0), (1.0, 1.0))), VOTES, {}, "3 x 3 table"),
        (PlackettLuce(), Rankings.from_orders([[("a", "b"), "c"]]), {}, "a tie above"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_in_words(model, data, options, words):
    with pytest.raises(FitError, match=words):
        fit(model, data, **options)


def test_disconnected_comparisons_are_named():
    votes = Comparisons.from_votes(["a", "c", "c"], ["b", "d", "d"], ["a", "d", "c"])
    with pytest.warns(DisconnectedComparisonsWarning, match=r"2 parts.*a, b; c, d"):
        posterior = fit(BradleyTerry(), votes, method="laplace")
    assert posterior.converged and "2 parts" in posterior.remarks[0]
    # Across the parts nothing is known, and the posterior says so.
    across = posterior.draws["utility"][..., 1] - posterior.draws["utility"][..., 2]
    assert abs(across.mean()) < 1.0 and across.std() > 1.5


def test_separable_votes_are_remarked():
    votes = Comparisons.from_wins(np.triu(np.full((3, 3), 5.0), 1), arm_names="abc")
    posterior = fit(BradleyTerry(), votes, method="laplace")
    assert posterior.converged
    assert "no maximum-likelihood estimate" in posterior.remarks[0]
    assert fitted("laplace").remarks == ()
