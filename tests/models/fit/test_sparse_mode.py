"""The mode of many arms: equal to the dense fit, and without any table of pairs."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from bayesduel.errors import FitError
from bayesduel.inference import contrasts, fit, fit_mode
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.votes import Comparisons

FALSE_ALARM = 1e-5


def votes(arms, number, seed=0, columns=None):
    rng = np.random.default_rng(seed)
    utility = rng.normal(size=arms) * 1.5
    first = rng.integers(arms, size=number)
    second = (first + rng.integers(1, arms, size=number)) % arms
    # The last arm never wins, the first never loses.
    lead = utility[first] - utility[second] + 0.5
    lead += 50.0 * ((first == 0) | (second == arms - 1))
    lead -= 50.0 * ((second == 0) | (first == arms - 1))
    said = np.where(rng.random(number) < 0.15, 2, rng.random(number) > expit(lead))
    return Comparisons.from_rows([f"arm {k}" for k in range(arms)], first, second,
                                 np.eye(3)[said.astype(int)], order_known=True,
                                 columns=columns)  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            BradleyTerry(zero_sum=True, ties=True, order_effect=True),
            marks=pytest.mark.slow,
        ),
        Thurstone(ties=True, prior_scale=1.0),
        BradleyTerry(order_effect=True),
    ],
    ids=["davidson", "probit", "order"],
)
def test_the_mode_is_that_of_the_dense_fit(model):
    neutral = {"neutral": (np.arange(960) % 7 == 0).astype(float)}
    data = votes(120, 960, columns=neutral)
    data = data if model.ties else data.without_ties()
    mode, dense = fit_mode(model, data), fit(model, data, method="laplace",
                                              num_draws=10, resample=False)  # fmt: skip
    assert mode.converged
    utility = dense.mode["utility"].values
    np.testing.assert_allclose(mode.utility, utility - utility.mean(), atol=1e-6)
    assert abs(mode.utility.sum()) < 1e-6
    extras = [dense.mode[x].item() for x in ("first_advantage", model.tie_name)
              if x in dense.mode]  # fmt: skip
    np.testing.assert_allclose(mode.point[: len(extras)], extras, atol=1e-6)
    # Variances from the factor of the dense curvature, zero-sum coordinates undone.
    state = dense.extras["laplace"]
    inverse = np.linalg.inv(state.factor @ state.factor.T)
    if model.zero_sum:
        count = len(extras)
        basis = np.array([dense_utilities(model, data, way) for way in
                          np.eye(len(state.mode))[count:]]).T  # fmt: skip
        inverse = basis @ inverse[count:, count:] @ basis.T
    else:
        inverse = inverse[len(extras) :, len(extras) :]
    said = mode.contrasts(["arm 0", "arm 17", "arm 119"], "arm 5", probability=0.5)
    for name, low, high in zip(said["arm"].values, said["lower"].values,
                               said["upper"].values, strict=True):  # fmt: skip
        arm = int(name.split()[1])
        variance = inverse[arm, arm] + inverse[5, 5] - 2 * inverse[arm, 5]
        # Half of a normal distribution is within 0.67449 standard deviations.
        assert (high - low) / 2 == pytest.approx(0.6744897502 * variance**0.5, abs=1e-6)


def dense_utilities(model, data, way):
    return model.closed_form(model.arrays(data)).coordinates.utilities(way)


def test_differences_of_the_mode_are_those_of_draws():
    """With hundreds of votes per arm the normal distribution is close."""
    data = votes(5, 3000)
    model = BradleyTerry(ties=True)
    drawn = contrasts(fit(model, data, num_draws=5000), "arm 2", equivalent=0.3)
    names = drawn["arm"].values.tolist()
    normal = fit_mode(model, data).contrasts(names, "arm 2", equivalent=0.3)
    inner = [name for name in names if name not in ("arm 0", "arm 4")]
    for name, error in (("mean", 0.02), ("lower", 0.04), ("upper", 0.04),
                        ("p_better", 0.03), ("p_equivalent", 0.03)):  # fmt: skip
        one, other = (item[name].sel(arm=inner).values for item in (drawn, normal))
        np.testing.assert_allclose(one, other, atol=error)
    assert float(normal["p_equivalent"].sel(arm="arm 2")) == 1.0
    assert float(drawn["upper"].sel(arm="arm 2")) == 0.0


def in_order(chain):
    """Return a chain of arms, each of which won both votes against the next."""
    pairs = np.arange(chain - 1)
    names = [f"arm {k}" for k in range(chain)]
    counts = np.tile([2.0, 0.0, 0.0], (chain - 1, 1))
    return Comparisons.from_rows(names, pairs, pairs + 1, counts)


def apart():
    """Return two parts of a graph, and an arm without a vote."""
    first, second = [0, 0, 1, 3, 3], [1, 2, 2, 4, 5]
    counts = np.array([[7, 3, 0], [4, 1, 0], [2, 2, 0], [1, 3, 0], [5, 0, 0]], float)
    return Comparisons.from_rows([f"arm {k}" for k in range(7)], first, second, counts)


def with_covariates(data):
    table = np.random.default_rng(3).normal(size=(data.num_arms, 2))
    return data.with_covariates(table, ["size", "age"])


CASES = {
    "ties, order": (BradleyTerry(ties=True, order_effect=True), votes(30, 300)),
    "zero-sum": (BradleyTerry(zero_sum=True, ties=True), votes(30, 300, 1)),
    "probit": (Thurstone(ties=True), votes(30, 300, 2)),
    "residual": (
        BradleyTerry(ties=True, covariates=True, residual=True),
        with_covariates(votes(30, 300, 3)),
    ),
    "separable": (BradleyTerry(zero_sum=True), in_order(30)),
    "disconnected": (BradleyTerry(zero_sum=True), apart()),
}


def inverse_of(model, data):
    """Return the covariance of centered utilities, and H, by a dense fit."""
    dense = fit(model, data, method="laplace", num_draws=1, resample=False)
    state = dense.extras["laplace"]
    ways = dense_utilities(model, data, np.eye(len(state.mode)))
    ways = ways - ways.mean(axis=1, keepdims=True)
    return ways.T @ np.linalg.inv(state.factor @ state.factor.T) @ ways


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
@pytest.mark.parametrize(("model", "data"), CASES.values(), ids=CASES)
def test_standard_errors_are_those_of_the_dense_fit(model, data):
    """The drawn part of a variance is a mean of squares of normal numbers."""
    mode, number = fit_mode(model, data), 400
    table = mode.standings(num_draws=number).sel(arm=list(data.arm_names))
    np.testing.assert_allclose(table["score"], mode.utility)
    exact = np.diag(inverse_of(model, data))
    share = 1.0 - 1.0 / data.num_arms
    expected = share**2 / mode.precision.diagonal()[mode.coordinates.extras :]
    drawn = table["error"].values ** 2 - expected
    chance = chi2.cdf(number * drawn / (exact - expected), number)
    assert 2 * np.minimum(chance, 1 - chance).min() > FALSE_ALARM / data.num_arms
    # The error of the estimate that is told is that of this distribution.
    said = table["mcse"].values * 2 * table["error"].values
    np.testing.assert_allclose(said, drawn * np.sqrt(2 / number))
    assert (table["mcse"] <= table["error"] / np.sqrt(2 * number)).all()
    wide = 1.6448536269514722 * table["error"]
    np.testing.assert_allclose(table["score_upper"] - table["score"], wide)
    np.testing.assert_allclose(table["score"] - table["score_lower"], wide)


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
@pytest.mark.parametrize(("model", "data"), CASES.values(), ids=CASES)
def test_draws_by_perturbation_have_the_inverse_of_the_curvature(model, data):
    """Brought to the identity by the dense covariance: Nagao's test, and the mean."""
    mode, number = fit_mode(model, data), 2000
    draws = mode.sample_utilities(5, number)
    np.testing.assert_allclose(draws.sum(axis=1), 0.0, atol=1e-9)
    assert not np.array_equal(draws, mode.sample_utilities(6, number))
    again = mode.sample_utilities(5, number)
    np.testing.assert_array_equal(draws, again)
    sizes, ways = np.linalg.eigh(inverse_of(model, data))
    chosen = sizes > 1e-9  # The sum of utilities is 0.
    assert chosen.sum() == data.num_arms - 1
    plain = (draws - mode.utility) @ (ways[:, chosen] / np.sqrt(sizes[chosen]))
    size = plain.shape[1]
    mean = number * np.square(plain.mean(axis=0)).sum()
    assert chi2.sf(mean, size) > FALSE_ALARM
    apart = plain.T @ plain / number - np.eye(size)
    assert (
        chi2.sf(number / 2 * np.square(apart).sum(), size * (size + 1) / 2)
        > FALSE_ALARM
    )
    total = chi2.cdf(np.square(plain).sum(), number * size)
    assert FALSE_ALARM < total < 1 - FALSE_ALARM


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_an_arm_without_a_vote_is_as_uncertain_as_its_prior():
    table = fit_mode(BradleyTerry(prior_scale=3.0), apart()).standings(num_draws=2000)
    alone = table.sel(arm="arm 6")
    assert alone["comparisons"] == 0 and alone["score"] == pytest.approx(0.0, abs=1e-9)
    # Variance of one of 7 independent utilities minus their mean, and 6 of its errors.
    assert alone["error"] == pytest.approx(
        3.0 * np.sqrt(6 / 7), abs=6 * float(alone["mcse"])
    )
    assert table["wins"].sum() == 28 and table["losses"].sum() == 28


def test_of_coefficients_alone_errors_are_exact():
    data = with_covariates(votes(30, 300).without_ties())
    model = BradleyTerry(covariates=True)
    mode = fit_mode(model, data)
    table = mode.standings(num_draws=1).sel(arm=list(data.arm_names))
    exact = np.sqrt(np.diag(inverse_of(model, data)))
    np.testing.assert_allclose(table["error"], exact, rtol=1e-6)
    assert not table["mcse"].any()
    spread = mode.sample_utilities(0, 4000).std(axis=0)
    np.testing.assert_allclose(spread, exact, rtol=6 / np.sqrt(2 * 4000))


def test_draws_of_the_mode_are_asked_for_rightly():
    mode = fit_mode(BradleyTerry(ties=True), votes(4, 30))
    for call in (mode.sample_utilities, mode.standings):
        for number in (0, 10**9, 2.5, "5"):
            given = {"num_draws": number, "rng_key": 0}
            with pytest.raises(FitError, match="num_draws must be"):
                call(**given)
        with pytest.raises(FitError, match="rng_key must be an integer"):
            call(num_draws=3, rng_key="x")
    with pytest.raises(FitError, match="probability must be"):
        mode.standings(1.5)


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_from_3000_arms_on_there_is_no_table_of_pairs(monkeypatch):
    """No array is made that is as long as the number of pairs."""
    data = votes(4000, 9000)
    made = []
    for name in ("zeros", "empty", "ones", "eye", "full"):
        plain = getattr(np, name)

        def watched(shape, *rest, plain=plain, **more):
            result = plain(shape, *rest, **more)
            made.append(result.size)
            return result

        monkeypatch.setattr(np, name, watched)
    mode = fit_mode(BradleyTerry(ties=True), data)
    assert mode.converged and len(data.parts()) >= 1 and data.strong_parts()
    mode.contrasts(["arm 1"], "arm 2")
    mode.standings(num_draws=3)
    assert made and max(made) < 4000 * 100
    assert "wins" not in vars(data)
    with pytest.raises(FitError, match="at most 3000 arms.*fit_mode"):
        fit(BradleyTerry(ties=True), data)


def test_what_has_no_sparse_mode_is_refused():
    data = votes(4, 30)
    for model in (BradleyTerry(ties=True, learn_scale=True), "bradley-terry"):
        with pytest.raises(FitError, match="model must.*use fit()"):
            fit_mode(model, data)
    mode = fit_mode(BradleyTerry(ties=True), data)
    with pytest.raises(Exception, match="unknown arm 'milk'"):
        mode.contrasts(["milk"], "arm 1")
    with pytest.raises(FitError, match="reference must be an arm"):
        contrasts(fit(BradleyTerry(ties=True), data, num_draws=10), "milk")
