"""The mixed logit: coefficients that differ among persons."""

import numpy as np
import pytest
from scipy.special import log_softmax

from bayesduel.diagnostics import loo
from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary
from bayesduel.models import ConditionalLogit, MixedLogit
from bayesduel.models.fit.numpyro_models import log_probabilities_of
from bayesduel.votes import Choices

MEAN, SPREAD = np.array([-1.0, 0.03, 0.4]), np.array([0.8, 0.04, 0.0])


def panel(people, choices_each, seed=0, *, persons=True):
    """Simulate choices; return them and the coefficients of the persons."""
    rng = np.random.default_rng(seed)
    attributes = rng.normal(size=(people * choices_each, 3, 3)) * [1.0, 20.0, 1.0]
    expected = MEAN + SPREAD * rng.normal(size=(people, 3))
    person = np.repeat(np.arange(people), choices_each)
    utility = np.einsum("rkd,rd->rk", attributes, expected[person])
    chosen = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    choices = Choices.from_attributes(
        attributes,
        chosen.tolist(),
        persons=[f"p{at:03d}" for at in person] if persons else None,
        attribute_names=["price", "size", "color"],
    )
    return choices, expected


@pytest.mark.parametrize("persons", [True, False])
def test_the_likelihood_is_that_of_a_numpy_twin(persons):
    """Without persons each choice is that of a person of its own."""
    choices, _ = panel(3, 2, persons=persons)
    model = MixedLogit(random=("color", "price"))
    arrays, people = model.arrays(choices), 3 if persons else 6
    rng = np.random.default_rng(5)
    draws = {
        "standard_coefficient": rng.normal(size=3),
        "standard_spread": rng.random(2),
        "standard_person": rng.normal(size=(people, 2)),
    }
    flat = {name: value[None] for name, value in draws.items()}
    (logs,) = log_probabilities_of(model, arrays, flat)
    expected = np.tile(draws["standard_coefficient"], (people, 1))
    expected[:, [2, 0]] += draws["standard_spread"] * draws["standard_person"]
    person = np.repeat(np.arange(3), 2) if persons else np.arange(6)
    apart = choices.attributes - choices.attributes.mean(axis=1, keepdims=True)
    units = np.sqrt(np.mean(apart**2, axis=(0, 1)))
    utility = np.einsum("rkd,rd->rk", choices.attributes / units, expected[person])
    np.testing.assert_allclose(logs, log_softmax(utility, axis=1), rtol=1e-8)


def test_what_is_refused():
    choices, _ = panel(3, 2)
    for model, words in (
        (MixedLogit(random=("prize",)), "did you mean price"),
        (MixedLogit(random=()), "random must be"),
        (MixedLogit(spread_scale=0.0), "spread_scale must be"),
    ):
        with pytest.raises(FitError, match=words):
            model.arrays(choices)
    with pytest.raises(FitError, match="method: MixedLogit has nuts"):
        fit(MixedLogit(), choices, method="laplace")


@pytest.mark.slow
def test_what_was_simulated_is_found_again():
    """Means and spreads within four standard errors of those of the 60 persons."""
    choices, expected = panel(60, 10)
    posterior = fit(MixedLogit(random=("price", "size")), choices, num_chains=2,
                num_draws=300, num_warmup=300)  # fmt: skip
    rows = {row["parameter"]: row for row in parameter_summary(posterior, 0.9)}
    assert set(rows) == {"coefficient[price]", "coefficient[size]", "spread[price]",
                         "coefficient[color]", "spread[size]"}  # fmt: skip
    for at, name in enumerate(("price", "size")):
        for row, truth in (
            (rows[f"coefficient[{name}]"], expected[:, at].mean()),
            (rows[f"spread[{name}]"], expected[:, at].std()),
        ):
            error = (row["upper"] - row["lower"]) / (2 * 1.645)
            assert abs(row["mean"] - truth) < 4.0 * error, row
            assert error < 0.3 * SPREAD[at]
    item = posterior.draws["person_coefficient"].mean(axis=(0, 1))
    for at in range(2):
        assert np.corrcoef(item[:, at], expected[:, at])[0, 1] > 0.75
    plain = fit(ConditionalLogit(), choices)
    assert loo(posterior).elpd > loo(plain).elpd + 15.0
    # One coefficient for all is too small: persons differ by more than noise.
    assert abs(plain.mode["coefficient"][0]) < 0.9 * abs(expected[:, 0].mean())
    tree = posterior.to_datatree(num_prior_draws=10, log_likelihood=False)
    assert tree["posterior"]["person_coefficient"].dims == (
        "chain", "draw", "person", "random_attribute")  # fmt: skip
    assert tree["posterior"]["person_coefficient"].person.values[2] == "p002"
