"""An advantage of the arm at home, in those rows where one was at home."""

import jax
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax

from bayesduel.diagnostics import loo
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons
from tests.models.fit.test_closed_form import check_density

RNG = np.random.default_rng(8)
HOME = RNG.integers(5, size=240)
AWAY = (HOME + RNG.integers(1, 5, size=240)) % 5
NEUTRAL = RNG.random(240) < 0.4
STRENGTH = np.array([0.8, 0.4, 0.0, -0.4, -0.8])
ODDS = STRENGTH[HOME] - STRENGTH[AWAY] + np.where(NEUTRAL, 0.0, 1.5)
LOGS = log_softmax(np.stack([ODDS / 2, -ODDS / 2, np.full(240, -0.5)], axis=1), axis=1)
SAID = (np.exp(LOGS).cumsum(axis=1) < RNG.random((240, 1))).sum(axis=1)


def votes(*, ties=True, neutral=True):
    chosen = slice(None) if ties else SAID < 2
    return Comparisons.from_rows(
        "abcde", HOME[chosen], AWAY[chosen], np.eye(3)[SAID][chosen], order_known=True,
        columns={"neutral": NEUTRAL[chosen]} if neutral else None,
    )  # fmt: skip


def test_closed_forms_are_those_of_the_numpyro_model():
    model = BradleyTerry(order_effect=True, ties=True, tie_scale=0.7)
    with jax.enable_x64(True):
        check_density(model, model.arrays(votes()))


def test_the_mode_is_that_of_a_search_in_plain_numpy():
    chosen = SAID < 2
    home, away, shown = HOME[chosen], AWAY[chosen], 1.0 - NEUTRAL[chosen]
    sign = np.where(SAID[chosen] == 0, 1.0, -1.0)

    def negative(point):
        odds = point[1:][home] - point[1:][away] + point[0] * shown
        prior = 0.5 * point[0] ** 2 + 0.5 * np.sum(point[1:] ** 2) / 4.0
        return prior - np.sum(log_expit(sign * odds))

    best = minimize(negative, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    posterior = fit(
        BradleyTerry(order_effect=True), votes(ties=False), method="laplace"
    )
    assert float(posterior.mode["first_advantage"]) == pytest.approx(best[0], abs=1e-5)
    np.testing.assert_allclose(posterior.mode["utility"], best[1:], atol=1e-5)
    # As if all were at home it comes out smaller.
    every = fit(BradleyTerry(order_effect=True), votes(ties=False, neutral=False))
    assert float(every.mode["first_advantage"]) < best[0] - 0.2


def test_neutral_rows_alone_leave_the_prior():
    data = Comparisons.from_votes(
        ["a", "b"] * 20, ["b", "a"] * 20, ["left"] * 40,
        columns={"neutral": [True] * 40},
    )  # fmt: skip
    assert data.first.tolist() == [0] and data.counts.tolist() == [[20.0, 20.0, 0.0]]
    posterior = fit(BradleyTerry(order_effect=True), data, method="laplace")
    assert float(posterior.mode["first_advantage"]) == pytest.approx(0.0, abs=1e-12)
    deviation = posterior.draws["first_advantage"].std()
    assert deviation == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_predictions_know_which_rows_are_neutral():
    knows = fit(BradleyTerry(order_effect=True, ties=True), votes())
    blind = fit(BradleyTerry(order_effect=True, ties=True), votes(neutral=False))
    assert loo(knows).elpd > loo(blind).elpd + 3.0
    tree = knows.to_datatree(num_prior_draws=5)
    neutral = tree["constant_data"]["neutral"]
    assert neutral.dims == ("comparison",) and set(neutral.values) == {0.0, 1.0}
    # A model without the advantage adds the rows of a pair up.
    plain = BradleyTerry(ties=True).arrays(votes())
    assert len(plain.counts) < len(knows.arrays.counts)
