"""Covariates of arms, against a logistic regression that shares nothing with them."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import expit, log_expit
from scipy.stats import norm

from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary, standings
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.votes import Comparisons
from tests.models.maximum_likelihood import maximum_likelihood

TRUTH = np.array([1.0, -0.5])
NAMES = ("quality", "price")


@cache
def votes():
    """Twelve arms, two covariates, 40 votes on each pair: 2,640 in all."""
    rng = np.random.default_rng(42)
    table = rng.normal(size=(12, 2))
    utility = table @ TRUTH
    first, second = np.triu_indices(12, 1)
    won = rng.binomial(40, expit(utility[first] - utility[second]))
    counts = np.stack([won, 40 - won, 0 * won], axis=1)
    names = [f"arm {arm}" for arm in range(12)]
    return Comparisons.from_rows(names, first, second, counts).with_covariates(
        table, NAMES
    )


@cache
def regression(link="logit"):
    """Maximum likelihood and standard errors, by SciPy from the formula alone."""
    data = votes()
    steps = data.covariates[data.first] - data.covariates[data.second]
    won, lost = data.counts[:, 0], data.counts[:, 1]
    # Two judgments of unit variance differ by one of variance 2.
    scale, log_probability = (
        (1.0, log_expit) if link == "logit" else (2**0.5, norm.logcdf)
    )

    def log_likelihood(slope):
        gap = steps @ slope / scale
        return np.sum(won * log_probability(gap) + lost * log_probability(-gap))

    return maximum_likelihood(log_likelihood, np.zeros(2))[:2]


@pytest.mark.parametrize(
    ("model", "link"),
    [
        (BradleyTerry(covariates=True, zero_sum=True), "logit"),
        (Thurstone(covariates=True), "probit"),
    ],
)
def test_coefficients_are_those_of_a_regression(model, link):
    expected, errors = regression(link)
    posterior = fit(model, votes(), method="laplace", num_draws=2000)
    rows = parameter_summary(posterior)
    assert [row["parameter"] for row in rows] == [
        f"coefficient[{name}]" for name in NAMES
    ]
    draws = posterior.draws["coefficient"].reshape(-1, 2)
    # 8,000 draws: means within five of their standard errors, and what a prior of
    # standard deviation 1 takes from a coefficient; spreads within one in twenty.
    shrunk = expected / (1.0 + errors**2)
    np.testing.assert_allclose(draws.mean(axis=0), shrunk, atol=5 * errors.max() / 89)
    np.testing.assert_allclose(draws.std(axis=0), errors, rtol=0.05)
    utility = draws @ votes().covariates.T
    utility -= utility.mean(axis=1, keepdims=True)
    shown = posterior.draws["utility"].reshape(-1, 12)
    shown = shown - shown.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(shown, utility, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BradleyTerry(residual=True), "residual must .* what covariates leave open"),
        (BradleyTerry(covariates=True, learn_scale=True), "say residual=True"),
        (BradleyTerry(covariates=True, residual="no"), "residual must be"),
    ],
)
def test_what_does_not_go_together_is_refused(model, words):
    with pytest.raises(FitError, match=words):
        fit(model, votes())


def test_a_prior_that_stifles_a_covariate_is_said():
    small = votes().with_covariates(votes().covariates * [1.0, 1e-3], NAMES)
    posterior = fit(
        BradleyTerry(covariates=True), small, method="laplace", num_draws=10
    )
    assert "hardly lets price matter" in posterior.remarks[0]
    assert BradleyTerry(covariates=True).remarks(votes()) == ()
    assert BradleyTerry(covariates=True, covariate_scale=0.01).remarks(votes()) != ()


@cache
def many_contests(units):
    """3,000 contests of twelve arms: covariates of both kinds matter by .8 and -.5."""
    rng = np.random.default_rng(3)
    table, extra = rng.normal(size=(12, 2)), rng.normal(size=(3000, 2))
    utility = table @ [0.8, -0.5]
    first = rng.integers(12, size=3000)
    second = (first + rng.integers(1, 12, size=3000)) % 12
    lead = utility[first] - utility[second] + extra @ [0.8, -0.5]
    won = rng.random(3000) < expit(lead)
    data = Comparisons.from_rows(
        [f"arm {arm}" for arm in range(12)], first, second,
        np.stack([won, ~won, 0 * won], axis=1), order_known=True,
        columns=dict(zip(("longer", "politer"), (extra * units).T, strict=True)),
        contest_covariates=["longer", "politer"],
    )  # fmt: skip
    return data.with_covariates(table * units, NAMES)


def factors_in(remark):
    """Return the factors that a remark says, by name, and the scale of the prior."""
    said = re.search(r"multiply (.*?) \(its", remark)[1]
    words = re.search(r"widen the prior: (\w+)( \(--[a-z-]+\))? ([0-9.e+]+)$", remark)
    pairs = dict(item.split(" by ") for item in said.split(", "))
    return {name: float(value) for name, value in pairs.items()}, float(words[3])


@pytest.mark.parametrize(
    "units", [(1e-3, 1e-3), (1e-3, 1.0), (1.0, 1e-2), (1e-3, 1e3), (1e-5, 0.1)]
)
@pytest.mark.parametrize(
    "kind", ["arms", "contest", pytest.param("residual", marks=pytest.mark.slow)]
)
def test_the_factor_that_is_said_brings_coefficients_back(units, kind):
    """The coefficients are found after it, or with the prior that is named."""
    options = {"arms": {"covariates": True, "contest_covariates": True},
               "contest": {"contest_covariates": True},
               "residual": {"covariates": True, "residual": True, "learn_scale": True,
                            "contest_covariates": True}}[kind]  # fmt: skip
    model = BradleyTerry(zero_sum=True, **options)
    said = model.remarks(many_contests(units))
    assert len(said) == (1 if kind == "contest" else 2)
    scales, factor = {}, np.ones(2)
    for remark, names in zip(said, (("longer", "politer"), NAMES), strict=False):
        result, wide = factors_in(remark)
        assert set(result) == {name for name, unit in zip(names, units, strict=True)
                              if unit < 0.25}  # fmt: skip
        factor = np.array([result.get(name, 1.0) for name in names])
        scales["contest_scale" if "longer" in names else "covariate_scale"] = wide
    better = many_contests(tuple(units * factor))
    assert model.remarks(better) == ()
    for data, chosen, unit in (
        (better, model, np.array(units) * factor),
        (many_contests(units), replace(model, **scales), np.array(units)),
    ):
        drawn = fit(chosen, data, num_draws=100).flat_draws()
        names = ["contest_effect"] + ["coefficient"] * (kind == "arms")
        for name in names:
            # Standard errors are about 0.05, and a prior of 1 takes little from it.
            np.testing.assert_allclose(
                drawn[name].mean(axis=0) * unit, [0.8, -0.5], atol=0.25
            )


def test_a_covariate_that_is_0_or_constant_has_no_factor():
    data = votes().with_covariates(votes().covariates * [1.0, 0.0] + [0.0, 3.0], NAMES)
    said = BradleyTerry(covariates=True).remarks(data)
    assert len(said) == 1 and "directions of the coefficients" in said[0]


def parts_of(table, *, covariates=True):
    """Return the parts of two pairs that never met."""
    names = ["a", "b", "c", "d"]
    counts = [[9, 1, 0], [6, 4, 0]]
    pairs = Comparisons.from_rows(names, [0, 2], [1, 3], counts)
    model = BradleyTerry(covariates=covariates)
    return model.parts(pairs.with_covariates(table))


def test_covariates_connect_arms_that_never_met():
    apart = [["a", "b"], ["c", "d"]]
    whole = [["a", "b", "c", "d"]]
    slope = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert parts_of(slope) == whole
    assert parts_of(slope, covariates=False) == apart
    # No votes compare the parts along this covariate: only the prior knows it.
    topic = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert parts_of(topic) == apart
    assert parts_of(np.hstack([slope, topic])) == apart
    assert parts_of(np.hstack([slope, 1e6 * slope])) == whole


def test_arms_that_never_met_are_ranked_by_what_covariates_tell():
    counts = [[90, 10, 0], [90, 10, 0]]
    pairs = Comparisons.from_rows("abcd", [1, 3], [0, 2], counts)
    data = pairs.with_covariates(np.array([[0.0], [1.0], [2.0], [3.0]]), ["height"])
    posterior = fit(
        BradleyTerry(covariates=True), data, method="laplace", num_draws=100
    )
    table = standings(posterior)
    assert table.attrs["parts"] == 1 and posterior.remarks == ()
    assert table["arm"].values.tolist() == ["d", "c", "b", "a"]
    assert table["p_best"].values[0] == 1.0


def test_arms_with_the_same_covariates_share_the_first_place():
    data = votes().with_covariates(np.ones((12, 1)) * [[1.0]], ["same"])
    posterior = fit(BradleyTerry(covariates=True), data, method="laplace", num_draws=20)
    best = posterior.winner_probabilities()
    np.testing.assert_allclose(best["best_utility"], 1 / 12)
    np.testing.assert_allclose(best["copeland"], 1.0)
    np.testing.assert_allclose(best["condorcet"], 0.0)


def with_contests(units=(1.0, 1.0)):
    """Eight arms that differ in more than two covariates, 1,500 single contests."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(8, 2))
    utility = table @ [0.8, -0.5] + 0.3 * rng.normal(size=8)
    first = rng.integers(8, size=1500)
    second = (first + rng.integers(1, 8, size=1500)) % 8
    longer = rng.normal(size=1500)
    lead = utility[first] - utility[second] + 0.3 + 0.5 * longer
    won = rng.random(1500) < expit(lead)
    data = Comparisons.from_rows(
        [f"arm {arm}" for arm in range(8)], first, second,
        np.stack([won, ~won, 0 * won], axis=1), order_known=True,
        columns={"longer": longer}, contest_covariates=["longer"],
    )  # fmt: skip
    return data.with_covariates(table * units, ["one", "other"])


@pytest.mark.slow
def test_a_residual_of_a_learned_scale_needs_no_chains():
    """And chains agree: means within what 2,000 draws leave open, spreads within 15 %.

    Of 12 quantities each is 5 standard errors off with a probability of 6e-7.
    """
    model = BradleyTerry(
        zero_sum=True, covariates=True, residual=True, learn_scale=True,
        contest_covariates=True, order_effect=True,
    )  # fmt: skip
    assert model.usual_method == "laplace"
    quick = fit(model, with_contests())
    assert quick.method == "laplace" and quick.doubts == ()
    chains = fit(model, with_contests(), method="nuts", num_draws=1000)
    assert set(quick.draws) == set(chains.draws)
    for name in ("coefficient", "contest_effect", "first_advantage", "utility"):
        one, other = (item.flat_draws()[name] for item in (quick, chains))
        error = other.std(axis=0) * np.sqrt(2 / 1000)
        np.testing.assert_array_less(
            abs(one.mean(axis=0) - other.mean(axis=0)), 5 * error
        )
        np.testing.assert_allclose(one.std(axis=0), other.std(axis=0), rtol=0.15)
    logs = [np.log(item.flat_draws()["scale"]) for item in (quick, chains)]
    assert abs(logs[0].mean() - logs[1].mean()) < 5 * logs[1].std() * np.sqrt(2 / 500)


@pytest.mark.parametrize("kind", [BradleyTerry, Thurstone])
def test_the_unit_of_a_covariate_changes_no_posterior_with_its_prior(kind):
    """In units of 1e-3 and 1e3, with a prior that is as wide there."""
    options = {"zero_sum": True, "covariates": True, "residual": True,
               "learn_scale": True, "contest_covariates": True}  # fmt: skip
    plain = fit(kind(**options), with_contests(), num_draws=500)
    for unit in (1e-3, 1e3):
        model = kind(covariate_scale=1.0 / unit, **options)
        scaled = fit(model, with_contests([unit, unit]), num_draws=500)
        one, other = (item.flat_draws()["coefficient"] for item in (plain, scaled))
        np.testing.assert_allclose(other * unit, one, rtol=1e-6, atol=1e-6)
