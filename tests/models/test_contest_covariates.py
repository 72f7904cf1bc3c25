"""Covariates of a contest, as the lengths of its answers: data, models, the command."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit, log_ndtr

from bayesduel import posteriors
from bayesduel.diagnostics import loo
from bayesduel.errors import (
    ComparisonDataError,
    FitError,
    PolicyParameterError,
    StudyError,
)
from bayesduel.inference import fit, fit_mode, parameter_summary
from bayesduel.models import BradleyTerry, JudgedBradleyTerry, Thurstone
from bayesduel.models.checks.vote_tests import order_test
from bayesduel.studies import Study
from bayesduel.votes import Comparisons
from tests.models.fit.test_closed_form import check_density

pytestmark = pytest.mark.usefixtures("hardly_optimized")

NAMES, NUMBER = ("A", "B", "C", "D"), 900
STRENGTH, WORDY = np.array([0.9, 0.3, -0.3, -0.9]), np.array([-0.5, 0.0, 0.3, 1.5])
EFFECTS = np.array([0.8, -0.4])
CONTEST = ["longer", "politer"]


def drawn(seed=3, advantage=0.3, ties=0.0):
    """Draw votes: arms, differences of two covariates, what was said."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=NUMBER)
    second = (first + rng.integers(1, 4, size=NUMBER)) % 4
    longer = WORDY[first] - WORDY[second] + rng.normal(0, 0.5, NUMBER)
    extra = np.stack([longer, rng.normal(0, 1, NUMBER)], axis=1).round(2)
    odds = STRENGTH[first] - STRENGTH[second] + extra @ EFFECTS + advantage
    said = (rng.random(NUMBER) > 1 / (1 + np.exp(-odds))).astype(int)
    said[rng.random(NUMBER) < ties] = 2
    return first, second, extra, said


def votes(units=(1.0, 1.0), columns=None, **options):
    first, second, extra, said = drawn(**options)
    named = dict(zip(CONTEST, (extra * units).T, strict=True))
    return Comparisons.from_rows(
        NAMES, first, second, np.eye(3)[said], order_known=True,
        columns=named | (columns or {}), contest_covariates=CONTEST,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "log_probability"),
    [(BradleyTerry, log_expit), (Thurstone, lambda x: log_ndtr(x / np.sqrt(2)))],
)
def test_effects_are_those_of_a_regression(kind, log_probability):
    """With a prior that hardly matters, by SciPy's optimiser; in any unit."""
    first, second, extra, said = drawn()
    sign = np.where(said == 0, 1.0, -1.0)

    def negative(point):
        utility = np.append(point[3:], -point[3:].sum())
        odds = utility[first] - utility[second] + extra @ point[:2] + point[2]
        return -np.sum(log_probability(sign * odds))

    best = minimize(negative, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    units = np.array([300.0, 1e-3])
    model = kind(
        zero_sum=True, prior_scale=1e4, order_effect=True, order_scale=1e4,
        contest_covariates=True, contest_scale=1e6,
    )  # fmt: skip
    data = votes(units)
    mode = fit(model, data, method="laplace").mode
    effect = mode["contest_effect"]
    assert effect["contest_covariate"].values.tolist() == CONTEST
    np.testing.assert_allclose(effect * units, best[:2], rtol=1e-4)
    np.testing.assert_allclose(mode["first_advantage"], best[2], rtol=1e-4)
    np.testing.assert_allclose(mode["utility"][:3], best[3:], rtol=1e-4, atol=1e-5)
    # The sparse search finds the same.
    np.testing.assert_allclose(fit_mode(model, data).utility[:3], best[3:], rtol=1e-4)


@pytest.mark.slow
def test_closed_forms_are_those_of_the_numpyro_model():
    model = BradleyTerry(
        ties=True, zero_sum=True, order_effect=True, contest_covariates=True,
        contest_scale=0.7,
    )  # fmt: skip
    with jax.enable_x64(True):
        check_density(model, model.arrays(votes(ties=0.2)))


def test_effects_have_names_and_votes_are_better_predicted():
    model = BradleyTerry(zero_sum=True, order_effect=True, contest_covariates=True)
    posterior = fit(model, votes(), method="laplace", num_draws=200)
    rows = [row["parameter"] for row in parameter_summary(posterior)]
    assert rows == [
        "contest_effect[longer]", "contest_effect[politer]", "first_advantage",
    ]  # fmt: skip
    plain = fit(BradleyTerry(zero_sum=True, order_effect=True), votes(), num_draws=200)
    assert loo(posterior).elpd > loo(plain).elpd + 10.0
    assert model.dims()["contest_effect"] == ("contest_covariate",)


def test_the_sign_changes_where_arms_change_places():
    """Whether the order is known or not: same estimates, and the prior has no say."""
    model = BradleyTerry(zero_sum=True, contest_covariates=True, contest_scale=0.5)
    known = votes()
    for other in (known.without_order(), votes(columns={"neutral": [True] * NUMBER})):
        assert np.all(other.first < other.second)
        ours, theirs = (fit(model, x, method="laplace").mode for x in (known, other))
        for name in ("contest_effect", "utility"):
            np.testing.assert_allclose(ours[name], theirs[name], atol=1e-8)
    first, second, extra, said = drawn()
    back = Comparisons.from_rows(
        NAMES, second, first, np.eye(3)[[1, 0, 2]][said],
        columns=dict(zip(CONTEST, -extra.T, strict=True)), contest_covariates=CONTEST,
    )  # fmt: skip
    for name in CONTEST:
        np.testing.assert_array_equal(
            back.columns[name], known.without_order().columns[name]
        )


def test_both_orders_of_a_question_meet():
    """The same answers, shown either way round: lengths differ by the same number."""
    both = Comparisons.from_votes(
        ["tea", "milk", "tea", "milk"], ["milk", "tea"] * 2, ["tea"] * 2 + ["left"] * 2,
        columns={"context": ["x", "x", "y", "y"], "longer": [2.0, -2.0, 0.0, 0.0]},
        contest_covariates=["longer"],
    ).with_both_orders_as_one()  # fmt: skip
    assert both.columns["longer"].tolist() == [-2.0, 0.0]
    assert both.counts.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_the_test_of_an_order_effect_knows_what_is_longer():
    """The first arm's answer is the longer one: without an advantage beside it.

    By chance p is below 0.001 in one of a thousand.
    """
    rng = np.random.default_rng(4)
    first = rng.integers(4, size=NUMBER)
    second = (first + rng.integers(1, 4, size=NUMBER)) % 4
    longer = rng.normal(0.7, 1.0, NUMBER).round(2)
    odds = STRENGTH[first] - STRENGTH[second] + longer
    said = (rng.random(NUMBER) > 1 / (1 + np.exp(-odds))).astype(int)
    data = Comparisons.from_rows(
        NAMES, first, second, np.eye(3)[said], order_known=True,
        columns={"longer": longer}, contest_covariates=["longer"],
    )  # fmt: skip
    model = BradleyTerry(zero_sum=True)
    assert order_test(fit(model, data, num_draws=50)).p_value < 1e-6
    controlled = fit(replace(model, contest_covariates=True), data, num_draws=50)
    test = order_test(controlled)
    assert test.p_value > 1e-3
    # Wald's test of the same advantage comes to much the same.
    full = fit(replace(controlled.model, order_effect=True, prior_scale=10.0,
                       order_scale=1e6, contest_scale=1e6), data)  # fmt: skip
    assert test.advantage == pytest.approx(float(full.mode["first_advantage"]), rel=0.1)
    error = float(full.standard_errors["first_advantage"])
    assert test.standard_error == pytest.approx(error, rel=0.05)


def test_judges_and_errors_by_cluster_go_with_it():
    rng = np.random.default_rng(1)
    data = votes(columns={"judge": rng.choice(["ann", "bob", "cid"], NUMBER)})
    arrays = JudgedBradleyTerry(contest_covariates=True).arrays(data)
    assert arrays.contest.shape == (len(data.first), 2) and arrays.size("judge") == 3
    model = BradleyTerry(zero_sum=True, contest_covariates=True, contest_scale=50.0)
    posterior = fit(model, data, method="laplace")
    # Each vote a cluster: Huber's errors, near the model's where it is right.
    alone = votes(columns={"cluster": [str(at) for at in range(NUMBER)]})
    by_vote = fit(model, alone, method="laplace").clustered_errors("cluster")
    ratio = by_vote["contest_effect"] / posterior.standard_errors["contest_effect"]
    np.testing.assert_allclose(ratio, 1.0, atol=0.15)


def test_what_does_not_fit_is_refused(tmp_path):
    plain = votes().without_columns()
    model = BradleyTerry(contest_covariates=True)
    with pytest.raises(FitError, match="contest_covariates must not be True for votes"):
        fit(model, plain)
    with pytest.raises(PolicyParameterError, match="without covariates of the"):
        posteriors.Laplace(model).check(4)
    with pytest.raises(StudyError, match="covariates of the contest"):
        Study.create(tmp_path / "a.study", "ab", model=model)
    narrow = BradleyTerry(contest_covariates=True, contest_scale=0.01)
    (remark,) = narrow.remarks(votes())
    assert "longer, politer" in remark
    for wrong in (["judge"], ["longer", "longer"], ["wordy"], "longer"):
        with pytest.raises(ComparisonDataError, match="contest_covariates must be"):
            Comparisons.from_votes(
                ["a"], ["b"], ["left"], columns={"judge": ["x"], "longer": [1.0]},
                contest_covariates=wrong,
            )  # fmt: skip
    with pytest.raises(FitError, match="contest_scale must be a number"):
        fit(BradleyTerry(contest_covariates=True, contest_scale=0.0), votes())
