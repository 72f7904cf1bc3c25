"""Leave-one-out: closed forms, brute force, ArviZ itself, and what goes wrong."""

import warnings
from functools import cache

import arviz_stats
import numpy as np
import pytest
from scipy.special import betaln, expit

from bayesduel.diagnostics import compare_models, leave_pairs_out, loo, to_datatree
from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.votes import Comparisons
from tests.models.fit.agreement import grid_posterior

WINS = np.array([[0, 7, 9], [3, 0, 2], [1, 6, 0]])
VOTES = Comparisons.from_wins(WINS, arm_names="abc")


@cache
def fitted(method="laplace", **options):
    return fit(BradleyTerry(), VOTES, method=method, rng_key=3, **options)


def test_beta_leaves_one_vote_out_in_closed_form():
    """By refitting without it: the exact predictive (a - 1) / (a + b - 1)."""
    posterior = loo(fit(PairwiseBeta(prior=0.5), VOTES))
    by_hand = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        won, lost = WINS[i, j], WINS[j, i]
        rest = won + lost - 1 + 1.0
        by_hand += [np.log((won - 0.5) / rest)] * won
        by_hand += [np.log((lost - 0.5) / rest)] * lost
    np.testing.assert_allclose(np.sort(posterior.elpd_i), np.sort(by_hand), rtol=1e-12)
    assert posterior.elpd == pytest.approx(sum(by_hand), rel=1e-12)


def test_ties_have_their_own_closed_form():
    """Multinomial with a uniform Dirichlet prior: (c + 1 - 1) / (n + 3 - 1)."""
    votes = Comparisons.from_rows("ab", [0, 1], [1, 0], [[3, 1, 2], [2, 0, 1]])
    posterior = loo(fit(PairwiseBeta(ties=True), votes))
    counts = np.array([3, 3, 3])
    expected = np.sum(counts * np.log((counts + 1 - 1) / (9 + 3 - 1)))
    assert posterior.elpd == pytest.approx(expected, rel=1e-12)


def test_bradley_terry_against_a_grid():
    """Importance sampling of Laplace draws against exact sums over a grid."""
    utility, weight = grid_posterior(WINS)
    expected = 0.0
    for i in range(3):
        for j in range(3):
            if i != j:
                # 1 / E[1 / p]: leaving one vote out divides the posterior by p.
                inverse = 1.0 / expit(utility[:, i] - utility[:, j])
                expected -= WINS[i, j] * np.log(weight @ inverse)
    posterior = loo(fitted(num_draws=5000))
    assert posterior.elpd == pytest.approx(expected, abs=0.1)
    assert float(np.max(posterior.pareto_k)) < 0.7


@pytest.mark.slow
def test_arviz_says_the_same_of_expanded_votes():
    """The same numbers as az.loo on one entry per vote, from the DataTree."""
    posterior = fitted("nuts")
    ours = loo(posterior)
    theirs = arviz_stats.loo(to_datatree(posterior), var_name="votes")
    assert ours.n_data_points == theirs.n_data_points == 28
    assert ours.elpd == pytest.approx(theirs.elpd, abs=1e-6)
    assert ours.se == pytest.approx(theirs.se, rel=1e-6)
    with pytest.warns(UserWarning, match="Pareto"):  # As both say of whole pairs.
        by_pair = arviz_stats.loo(to_datatree(posterior, unit="row"), var_name="votes")
    assert loo(posterior, unit="row").elpd == pytest.approx(by_pair.elpd, abs=1e-6)


@pytest.mark.slow
def test_pairs_left_out_in_closed_form_and_by_the_grid():
    beta = leave_pairs_out(PairwiseBeta(prior=0.5), VOTES)
    expected = [betaln(w + 0.5, v + 0.5) - betaln(0.5, 0.5) for w, v in
                ((7, 3), (9, 1), (2, 6))]  # fmt: skip
    np.testing.assert_allclose(beta.elpd_i, expected, rtol=1e-12)

    utility, weight = grid_posterior(WINS)
    scale = leave_pairs_out(BradleyTerry(), VOTES, num_draws=8000)
    for index, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        probability = expit(utility[:, i] - utility[:, j])
        votes = probability ** WINS[i, j] * (1 - probability) ** WINS[j, i]
        exact = -np.log(weight @ (1.0 / votes))
        assert float(scale.elpd_i[index]) == pytest.approx(exact, abs=0.1)


def test_what_loo_cannot_do_is_said():
    with pytest.raises(FitError, match="unit must be one of vote, row"):
        loo(fitted(), unit="pair")
    half = Comparisons.from_wins([[0, 1.5], [0.5, 0]])
    with pytest.raises(FitError, match="whole numbers of votes"):
        loo(fit(PairwiseBeta(), half))
    single = Comparisons.from_wins([[0, 1], [0, 0]])
    with pytest.raises(FitError, match="at least 2 votes"):
        loo(fit(PairwiseBeta(), single))
    with pytest.raises(FitError, match="at least 2 pairs"):
        leave_pairs_out(BradleyTerry(), single)
    other = fit(PairwiseBeta(), Comparisons.from_wins(WINS.T))
    with pytest.raises(FitError, match="different votes"):
        compare_models({"one": fitted(), "other": other})


def shown_both_ways():
    """Four arms, each pair in both orders, and the first one at an advantage."""
    rng = np.random.default_rng(8)
    utility = np.array([0.9, 0.2, -0.3, -0.8])
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    first, second = np.array(pairs[::-1]).T
    won = rng.binomial(12, expit(utility[first] - utility[second] + 0.9))
    counts = np.stack([won, 12 - won, 0 * won], axis=1)
    return Comparisons.from_rows(
        "dcba", first, second, counts, order_known=True
    ), Comparisons.from_rows("dcba", first, second, counts)


def by_what_was_said(elpd_i):
    """Sort pointwise values by the two arms and the winner, whoever was first."""
    by_name = {}
    for label, outcome, value in zip(
        elpd_i["comparison"].values, elpd_i["outcome"].values, elpd_i.values,
        strict=True,
    ):  # fmt: skip
        arms = str(label).split(" vs ")
        winner = arms[0 if outcome == "first" else 1]
        by_name.setdefault((*sorted(arms), winner), []).append(float(value))
    return by_name


@pytest.mark.slow
def test_models_with_and_without_order_are_compared_vote_by_vote():
    """Standard error of the difference, by hand: equal votes are paired, not places."""
    ordered, plain = shown_both_ways()
    fits = {
        "order": fit(BradleyTerry(order_effect=True), ordered, method="laplace"),
        "plain": fit(BradleyTerry(), plain, method="laplace"),
        "beta": fit(PairwiseBeta(), ordered),
    }
    trees = {name: to_datatree(item) for name, item in fits.items()}
    ids = {name: item["log_likelihood"]["vote"].values for name, item in trees.items()}
    assert np.array_equal(ids["order"], ids["plain"])
    assert len(set(ids["order"])) == 144
    one, other = (
        by_what_was_said(arviz_stats.loo(trees[name], pointwise=True).elpd_i)
        for name in ("order", "plain")
    )
    differences = []
    for said, values in one.items():
        # Without an order all votes that say the same have one value.
        assert np.ptp(other[said]) < 1e-9 and len(values) == len(other[said])
        differences += [value - other[said][0] for value in values]
    expected = np.sqrt(len(differences) * np.var(differences))
    pair = {name: trees[name] for name in ("order", "plain")}
    theirs = arviz_stats.compare(pair, round_to="none")
    assert theirs.index[0] == "order"
    assert theirs.loc["plain", "dse"] == pytest.approx(expected, rel=1e-6)
    ours = compare_models({name: fits[name] for name in pair}, round_to="none")
    assert ours.loc["plain", "dse"] == pytest.approx(expected, rel=0.02)
    assert np.isfinite(compare_models(fits).loc["beta", "dse"])
    with pytest.raises(FitError, match="different votes"):
        compare_models(fits, unit="row")
    with warnings.catch_warnings():
        # These are about Pareto k, which is large for whole rows.
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match="same number of observations"):
            arviz_stats.compare(
                {name: to_datatree(fits[name], unit="row") for name in pair}
            )


def test_rows_are_in_one_order_too():
    """Pairs that were shown one way each, the other way round in the second place."""
    counts = [[5, 3, 0], [2, 6, 0], [1, 4, 0]]
    ordered = Comparisons.from_rows(
        "abc", [1, 0, 2], [0, 2, 1], counts, order_known=True
    )
    plain = ordered.without_order()
    values = [
        fit(PairwiseBeta(), data).to_datatree(unit="row")["observed_data"]["votes"]
        for data in (ordered, plain)
    ]
    assert values[0]["comparison"].values.tolist() == ["b vs a", "a vs c", "c vs b"]
    assert values[0].values.tolist() == [5, 2, 1]
    assert values[1]["comparison"].values.tolist() == ["a vs b", "a vs c", "b vs c"]
    assert values[1].values.tolist() == [3, 2, 4]
