"""The conditional logit, against a plain NumPy log likelihood and its optimiser."""

from dataclasses import dataclass

import jax
import numpy as np
import pandas as pd
import pytest

from bayesduel.diagnostics import loo
from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary, standings
from bayesduel.models import BradleyTerry, ConditionalLogit, MultinomialLogit
from bayesduel.votes import Choices, read_wide_choices
from tests.models.fit.test_closed_form import check_density
from tests.models.maximum_likelihood import maximum_likelihood


def simulated(rows=60, seed=0, *, outside=True):
    """Three alternatives, not always on offer, with a price and a rank."""
    rng = np.random.default_rng(seed)
    attributes = rng.normal(size=(rows, 3, 2)) * [0.01, 40.0]
    offered = rng.random((rows, 3)) < 0.7
    offered[:, 0] |= offered.sum(axis=1) < 2
    offered[:, 1] |= offered.sum(axis=1) < 2
    utility = attributes @ [-80.0, 0.02] + [0.0, 0.7, -0.4]
    utility = np.where(offered, utility + rng.gumbel(size=(rows, 3)), -np.inf)
    noise = rng.gumbel(size=rows) if outside else np.full(rows, -np.inf)
    best = utility.argmax(axis=1)
    chosen = ["abc"[arm] for arm in best]
    chosen = [
        None if noise[row] > utility[row, best[row]] else item
        for row, item in enumerate(chosen)
    ]
    return Choices.from_attributes(
        np.where(offered[:, :, None], attributes, np.nan),
        chosen,
        available=offered,
        arm_names="abc",
        attribute_names=["price", "rank"],
        outside=outside,
    )


def log_likelihood(point, choices, scales=1.0):
    """Columns: constants of all but the first arm or "none", then coefficients."""
    width = len(choices.attribute_names)
    constants, coefficients = point[:-width], point[-width:] / scales
    utility = choices.attributes @ coefficients
    utility[:, choices.num_arms - len(constants) :] += constants
    weight = np.where(choices.offered, np.exp(utility), 0.0)
    none = np.full((len(weight), 1), float(choices.outside))
    weight = np.concatenate([weight, none], axis=1)
    shares = weight / weight.sum(axis=1, keepdims=True)
    happened = choices.counts > 0
    return np.sum(choices.counts[happened] * np.log(shares[happened]))


def check_estimates(result, choices, constants):
    """Coefficients and log likelihood to 4 digits, standard errors to 2."""
    scales = np.abs(choices.attributes).max(axis=(0, 1))
    start = np.zeros(constants + len(choices.attribute_names))
    best, errors, height = maximum_likelihood(
        lambda point: log_likelihood(point, choices, scales), start
    )
    units = np.concatenate([np.ones(constants), scales])
    names = ["constant"] * bool(constants) + ["coefficient"]
    for values, expected, digits in (
        (result.mode, best / units, 5e-5),
        (result.standard_errors, errors / units, 5e-3),
    ):
        alone = np.concatenate([values[name].values for name in names])
        np.testing.assert_allclose(alone, expected, rtol=digits)
    assert result.mode.attrs["log_likelihood"] == pytest.approx(height, rel=1e-6)


@pytest.mark.parametrize(
    ("constants", "outside"),
    [pytest.param(True, True, marks=pytest.mark.slow), (False, False)],
)
def test_the_density_in_closed_form_is_that_of_the_numpyro_model(constants, outside):
    choices = simulated(12, outside=outside)
    model = ConditionalLogit(constants=constants, prior_scale=1.3)
    with jax.enable_x64(True):
        check_density(model, model.arrays(choices), in_programs=False)


@pytest.mark.parametrize("outside", [True, False])
def test_the_mode_is_that_of_an_independent_optimiser(outside):
    choices = simulated(300, outside=outside)
    model = ConditionalLogit(constants=True, prior_scale=1e3)
    posterior = fit(model, choices, method="laplace", num_draws=50)
    check_estimates(posterior, choices, 2 + outside)


def test_cars_of_mcfadden_and_train(shared_dir):
    """Words become dummies: the body and the fuel against the first of their words."""
    path = shared_dir / "data" / "choice_car" / "car.csv.gz"
    choices = read_wide_choices(path, attributes=["price", "range", "fuel"])
    assert choices.arm_names == ("1", "2", "3", "4", "5", "6")
    chosen = choices.counts[:, :6].sum(axis=0)
    assert chosen.tolist() == [887, 269, 1345, 349, 1499, 305]
    assert choices.attribute_names[2:] == (
        "fuel=electric", "fuel=gasoline", "fuel=methanol")  # fmt: skip
    posterior = fit(ConditionalLogit(), choices, num_draws=50)
    assert posterior.method == "laplace" and not posterior.doubts
    check_estimates(posterior, choices, 0)


def swissmetro(shared_dir):
    """The 6,768 choices of Biogeme's example 01logit, Swissmetro first."""
    table = pd.read_csv(shared_dir / "data" / "choice_swissmetro" / "swissmetro.csv.gz")
    table = table[table.PURPOSE.isin([1, 3]) & (table.CHOICE != 0)]
    names, expected = ["SM", "TRAIN", "CAR"], table.GA == 0
    cost = [table.SM_CO * expected, table.TRAIN_CO * expected, table.CAR_CO]
    time = [table[f"{name}_TT"] for name in names]
    stated = table.SP != 0
    return Choices.from_attributes(
        np.stack([np.stack(time, axis=1), np.stack(cost, axis=1)], axis=2) / 100.0,
        [["TRAIN", "SM", "CAR"][item - 1] for item in table.CHOICE],
        available=np.stack(
            [table.SM_AV, table.TRAIN_AV * stated, table.CAR_AV * stated], axis=1
        ),
        arm_names=names,
        attribute_names=["time", "cost"],
        persons=table.ID.to_list(),
    )


def test_swissmetro(shared_dir):
    """As published: M. Bierlaire, "PandasBiogeme: a short introduction" (2018)."""
    choices = swissmetro(shared_dir)
    assert choices.num_votes == 6768 and len(choices.person_names) == 752
    assert not choices.offered.all()
    posterior = fit(ConditionalLogit(constants=True), choices, num_draws=50)
    constants, slopes = posterior.mode["constant"], posterior.mode["coefficient"]
    assert constants.alternative.values.tolist() == ["TRAIN", "CAR"]
    np.testing.assert_allclose(constants, [-0.701, -0.155], atol=5e-4)
    np.testing.assert_allclose(slopes, [-1.28, -1.08], atol=5e-3)
    assert posterior.mode.attrs["log_likelihood"] == pytest.approx(-5331.252, abs=5e-3)
    check_estimates(posterior, choices, 2)


def test_without_attributes_that_matter_it_is_the_multinomial_logit():
    """Constants alone: utilities that differ as the multinomial logit's do."""
    choices = simulated(200)
    flat = Choices.from_counts(
        choices.offered, choices.counts[:, :3], choices.counts[:, 3],
        attributes=0.0 * choices.offered,
    )  # fmt: skip
    posterior = fit(
        ConditionalLogit(constants=True, prior_scale=2.0), flat, num_draws=50
    )
    plain = Choices.from_counts(choices.offered, choices.counts[:, :3],
                                choices.counts[:, 3])  # fmt: skip
    expected = fit(MultinomialLogit(), plain, method="laplace", num_draws=50)
    np.testing.assert_allclose(
        posterior.mode["utility"], expected.mode["utility"], 1e-5
    )
    assert any("attribute 0" in remark for remark in posterior.remarks)


def test_tables_loo_and_the_data_tree():
    choices = simulated(80)
    posterior = fit(ConditionalLogit(constants=True), choices, num_draws=250)
    names = [row["parameter"] for row in parameter_summary(posterior)]
    assert names == ["coefficient[price]", "coefficient[rank]", "constant[a]",
                     "constant[b]", "constant[c]"]  # fmt: skip
    tree = posterior.to_datatree(num_prior_draws=20)
    assert tree["posterior"]["coefficient"].attribute.values.tolist() == [
        "price", "rank"]  # fmt: skip
    logs = tree["log_likelihood"]["votes"]
    assert logs.sizes["vote"] == 80
    mode = posterior.mode.attrs["log_likelihood"]
    assert mode > loo(posterior).elpd > mode - 15.0
    assert mode > float(logs.sum("vote").max())
    assert set(standings(posterior)["arm"].values) == set("abc")


@dataclass(frozen=True, kw_only=True)
class Halved(ConditionalLogit):
    def sample_utilities(self, choices, design):
        return super().sample_utilities(choices, design / 2.0)


def test_what_choices_do_not_tell_and_what_is_refused():
    choices = simulated(20, outside=False)
    with pytest.raises(FitError, match="must carry attributes"):
        ConditionalLogit().arrays(Choices.from_subsets([["a", "b"]], ["a"]))
    with pytest.raises(FitError, match="must be Comparisons"):
        BradleyTerry().arrays(choices)
    with pytest.raises(FitError, match="prior_scale must be"):
        ConditionalLogit(prior_scale=0.0).arrays(choices)
    assert Halved().closed_form(Halved().arrays(choices)) is None
    income = np.broadcast_to(np.arange(20.0)[:, None, None], (20, 3, 1))
    table = np.concatenate([choices.attributes, income], axis=2)
    same = Choices.from_counts(choices.offered, choices.counts[:, :3], attributes=table)
    (remark,) = ConditionalLogit().remarks(same)
    assert "2 of 3 directions" in remark and "attribute 2" in remark
    assert "attribute 0" not in remark
    assert ConditionalLogit().remarks(choices) == ()


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_unit_of_an_attribute_changes_no_utility(unit):
    """With a prior of 1 on the spread of the attributes, whatever they are in."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(400, 3, 2))
    utility = table @ [0.8, -0.5] + rng.gumbel(size=(400, 3))
    chosen = np.array(["a", "b", "c"])[utility.argmax(axis=1)].tolist()
    by_name = {}
    for scale in (1.0, unit):
        choices = Choices.from_attributes(
            table * [scale, 1.0], chosen, arm_names=["a", "b", "c"]
        )
        posterior = fit(ConditionalLogit(prior_scale=1.0), choices, num_draws=100)
        by_name[scale] = posterior.flat_draws()["coefficient"] * [scale, 1.0]
        assert posterior.remarks == ()
    np.testing.assert_allclose(by_name[unit], by_name[1.0], rtol=1e-6)
    np.testing.assert_allclose(by_name[1.0].mean(axis=0), [0.8, -0.5], atol=0.3)
