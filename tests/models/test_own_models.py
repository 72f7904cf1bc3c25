"""Models of one's own, written as plain NumPyro functions of votes."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
from numpyro import distributions as dist
from scipy.special import log_expit

from bayesduel.diagnostics import compare_models, loo
from bayesduel.errors import FitError, PolicyParameterError
from bayesduel.inference import fit, parameter_summary, standings
from bayesduel.models import BradleyTerry, from_numpyro
from bayesduel.posteriors import Laplace
from bayesduel.votes import Comparisons, read_comparisons

ARMS = ("tea", "milk", "water", "wine")
STRENGTH = np.array([1.0, 0.3, -0.3, -1.0])
BIAS = np.array([1.5, 0.0, -1.5, 0.5, -0.5])


def arms_of(votes):
    with numpyro.plate("arm", votes.num_arms):
        utility = numpyro.sample("utility", dist.Normal(0.0, 2.0))
    return utility[votes.first] - utility[votes.second]


def one_scale(votes):
    return arms_of(votes)


def order_and_ties(votes):
    bonus = numpyro.sample("bonus", dist.Normal(0.0, 1.0))
    tie = numpyro.sample("tie", dist.Normal(0.0, 2.0))
    half = (arms_of(votes) + bonus) / 2.0
    return jnp.stack([half, -half, tie + jnp.zeros_like(half)], axis=1)


def judges(votes):
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    unit = dist.Normal(0.0, 1.0).expand([votes.size("judge")]).to_event(1)
    bias = numpyro.deterministic("bias", spread * numpyro.sample("unit", unit))
    slope = numpyro.sample("slope", dist.Normal(0.0, 0.1))
    return arms_of(votes) + bias[votes["judge"]] + slope * votes["turn"]


@cache
def votes_of_judges(number=400):
    """Votes of five judges, each with a bias of his own; the first half of a pair."""
    rng = np.random.default_rng(11)
    first = rng.integers(4, size=number)
    second = (first + rng.integers(1, 4, size=number)) % 4
    judge, turn = rng.integers(5, size=number), rng.integers(3, size=number)
    odds = STRENGTH[first] - STRENGTH[second] + BIAS[judge]
    won = rng.random(number) < 1.0 / (1.0 + np.exp(-odds))
    return Comparisons.from_votes(
        [ARMS[arm] for arm in first],
        [ARMS[arm] for arm in second],
        np.where(won, "left", "right"),
        arm_names=ARMS,
        columns={"judge": [f"j{item}" for item in judge], "turn": turn},
    )


@cache
def fitted():
    return fit(from_numpyro(judges), votes_of_judges(), method="laplace", num_draws=100)


def test_one_scale_is_bradley_terry():
    votes = votes_of_judges()
    options = {"method": "laplace", "num_draws": 10, "resample": False}
    expected = fit(from_numpyro(one_scale, order_effect=False), votes, **options)
    stock = fit(BradleyTerry(), votes, **options)
    np.testing.assert_allclose(
        expected.mode["utility"], stock.mode["utility"], atol=1e-6
    )
    # A stock model has a row for each ordered pair, a model of no column too.
    assert len(expected.arrays.counts) == len(stock.arrays.counts) == 12
    draws = {"utility": np.array([[1.0, 0.0, -2.0]])}
    for model in (BradleyTerry(), from_numpyro(one_scale)):
        first = model.preference_matrices(draws)[0, 0]
        np.testing.assert_allclose(first, 1.0 / (1.0 + np.exp([0.0, -1.0, -3.0])))


@pytest.mark.slow
@pytest.mark.usefixtures("hardly_optimized")
def test_ties_and_the_order_are_davidson_and_beaver():
    rng = np.random.default_rng(2)
    counts = rng.integers(1, 9, size=(6, 3))
    first, second = [0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]
    votes = Comparisons.from_rows(ARMS[:3], first, second, counts, order_known=True)
    expected = fit(from_numpyro(order_and_ties, ties=True), votes, method="laplace")
    stock = fit(BradleyTerry(ties=True, order_effect=True), votes)
    for mine, theirs in (("bonus", "first_advantage"), ("tie", "log_tie")):
        np.testing.assert_allclose(expected.mode[mine], stock.mode[theirs], atol=1e-6)
    table = compare_models({"own": expected, "stock": stock}, round_to=None)
    assert abs(table["elpd"].diff().iloc[1]) < 1.0
    with pytest.raises(FitError, match="ties"):
        from_numpyro(one_scale).arrays(votes)


@pytest.mark.slow
@pytest.mark.usefixtures("hardly_optimized")
def test_the_log_likelihood_is_that_of_a_numpy_twin():
    posterior, votes = fitted(), votes_of_judges()
    draws = posterior.flat_draws()
    odds = draws["utility"][:, votes.first] - draws["utility"][:, votes.second]
    odds = odds + draws["bias"][:, votes.columns["judge"]]
    odds = odds + draws["slope"][:, None] * votes.columns["turn"]
    counts = votes.counts
    twin = counts[:, 0] * log_expit(odds) + counts[:, 1] * log_expit(-odds)
    tree = posterior.to_datatree(unit="row", num_prior_draws=5)
    logs = tree["log_likelihood"]["votes"]
    order = [votes.row_names.index(name) for name in logs["comparison"].values]
    np.testing.assert_allclose(
        logs.values.reshape(twin.shape), twin[:, order], rtol=1e-8
    )
    total = logs.sum("comparison").values.reshape(-1)
    np.testing.assert_allclose(total, twin.sum(axis=1), rtol=1e-9)
    assert tree["posterior"]["bias"].dims[-1] == "judge"
    constants = tree["constant_data"]
    assert {"judge", "turn", "first", "second"} <= set(constants)
    assert constants["turn"].dims == ("comparison",)


@pytest.mark.slow
@pytest.mark.usefixtures("hardly_optimized")
def test_judges_come_back_with_their_names():
    posterior = fitted()
    rows = {row["parameter"]: row for row in parameter_summary(posterior)}
    names = [f"j{number}" for number in range(5)]
    assert [key for key in rows if key.startswith("bias")] == [
        f"bias[{name}]" for name in names
    ]
    for name, bias in zip(names, BIAS, strict=True):
        low, high = rows[f"bias[{name}]"]["lower"], rows[f"bias[{name}]"]["upper"]
        assert low - 0.4 < bias < high + 0.4
    assert standings(posterior)["arm"].values[0] == "tea"
    assert "from_numpyro(judges" in repr(posterior.model)


def test_a_policy_needs_the_utilities_of_a_model():
    Laplace(from_numpyro(judges)).check(3)
    with pytest.raises(PolicyParameterError, match="utility"):
        Laplace(from_numpyro(lambda votes: votes.first * 1.0)).check(3)


def test_another_link():
    model = from_numpyro(one_scale, link=jax.scipy.stats.norm.cdf)
    draws = {"utility": np.array([[1.0, 0.0]])}
    matrix = model.preference_matrices(draws)[0]
    np.testing.assert_allclose(matrix, [[0.5, 0.8413447], [0.1586553, 0.5]], rtol=1e-6)


def nameless(votes):
    strength = numpyro.sample("strength", dist.Normal().expand([votes.num_arms]))
    return strength[votes.first] - strength[votes.second]


def scalar_utility(votes):
    return numpyro.sample("utility", dist.Normal()) * jnp.ones(len(votes.counts))


def three_columns(votes):
    return jnp.stack([arms_of(votes)] * 3, axis=1)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (nameless, "nameless must have a site 'utility'.*not among strength"),
        (scalar_utility,
         r"'utility', one number for each arm, which has the shape \(\)"),
        (three_columns, r"shape \(\d+,\) or .*ties=True has three"),
    ],
)  # fmt: skip
def test_functions_that_do_not_fit_are_refused(function, words):
    with pytest.raises(FitError, match=words):
        from_numpyro(function).arrays(votes_of_judges())


def test_what_votes_lack_is_said():
    arrays, votes = from_numpyro(judges).arrays, votes_of_judges()
    column = "judges reads the column 'judge'.*none"
    for ask, words in (
        (lambda: arrays(votes.without_columns()), column),
        (lambda: arrays(votes.without_order()), "order_known"),
        (lambda: arrays(votes)["who"], "carry, judge, turn, got 'who'"),
        (lambda: arrays(votes).size("turn"), "labels .* carry, judge, got 'turn'"),
    ):
        with pytest.raises(FitError, match=words):
            ask()
    for options in ({"function": 3}, {"link": 3}, {"ties": "no"}):
        with pytest.raises(FitError, match=next(iter(options))):
            from_numpyro(**({"function": judges} | options))


def biased(votes):
    """The model of the how-to."""
    spread = dist.ZeroSumNormal(2.0, event_shape=(votes.num_arms,))
    utility = numpyro.sample("utility", spread)
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("judge", votes.size("judge")):
        unit = numpyro.sample("unit", dist.Normal(0.0, 1.0))
    bias = numpyro.deterministic("bias", mean + spread * unit)
    return utility[votes.first] - utility[votes.second] + bias[votes["judge"]]


@pytest.mark.slow
@pytest.mark.shared
def test_the_judges_of_llmfao(shared_dir):
    path = shared_dir / "data" / "llmfao" / "crowd-comparisons.csv"
    votes = read_comparisons(path, judge="worker").without_ties()
    assert votes.num_votes == 5460 and len(votes.labels["judge"]) == 124
    sizes = {"num_chains": 2, "num_draws": 400, "num_warmup": 400}
    posterior = fit(from_numpyro(biased), votes, method="nuts", **sizes)
    order = fit(BradleyTerry(order_effect=True, zero_sum=True), votes)
    assert loo(posterior).elpd - loo(order).elpd == pytest.approx(38.0, abs=5.0)


def as_bradley_terry(votes):
    prior = dist.Normal(0.0, 2.0).expand([votes.num_arms]).to_event(1)
    utility = numpyro.sample("utility", prior)
    lead = numpyro.sample("first_advantage", dist.Normal(0.0, 1.0))
    return utility[votes.first] - utility[votes.second] + lead


@pytest.mark.slow
@pytest.mark.usefixtures("hardly_optimized")
def test_logits_need_no_norm():
    """A common factor of the outcomes of a row makes no difference."""
    votes = votes_of_judges()

    def shifted(votes):
        odds = arms_of(votes)
        return jnp.stack([odds + 5.0, jnp.full_like(odds, 5.0)], axis=1)

    model = from_numpyro(shifted)
    posterior = fit(model, votes, method="laplace", num_draws=50)
    plain = fit(from_numpyro(one_scale), votes, method="laplace", num_draws=50)
    np.testing.assert_allclose(
        posterior.mode["utility"], plain.mode["utility"], atol=1e-6
    )
    # As in closed form, where there is one.
    stock = fit(BradleyTerry(order_effect=True), votes, method="laplace", num_draws=50)
    expected = fit(
        from_numpyro(as_bradley_terry), votes, method="laplace", num_draws=50
    )
    height = stock.mode.attrs["log_likelihood"]
    assert expected.mode.attrs["log_likelihood"] == pytest.approx(height, rel=1e-8)
    for name, errors in stock.standard_errors.items():
        np.testing.assert_allclose(expected.standard_errors[name], errors, rtol=1e-6)
