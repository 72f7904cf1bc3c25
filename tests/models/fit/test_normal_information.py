"""Expected information by integration, against other integrals and against draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import entr, expit, ndtr
from scipy.stats import norm

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.votes import Comparisons

WINS = np.array([[0, 30, 25, 2], [12, 0, 1, 22], [9, 18, 0, 21], [5, 0, 11, 0]])
TIES = np.array([[0, 3, 2, 2], [3, 0, 1, 2], [2, 1, 0, 0], [2, 2, 0, 0]])


def fitted(model, ties=None, **options):
    votes = Comparisons.from_wins(WINS, ties=ties)
    return fit(model, votes, **{"resample": False} | options)


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
@pytest.mark.parametrize("scale", [0.05, 2.0, 40.0])
def test_against_adaptive_integrals(scale):
    """Two arms without a vote: the difference is normal, by its prior."""
    votes = Comparisons.from_wins(np.zeros((2, 2)))
    for kind, distribution in (
        (BradleyTerry, expit),
        (Thurstone, lambda gap: ndtr(gap / np.sqrt(2.0))),
    ):
        posterior = fit(kind(prior_scale=scale), votes, num_draws=1, resample=False)
        deviation = scale * np.sqrt(2.0)

        def unsure(gap, distribution=distribution, deviation=deviation):
            return (entr(distribution(gap)) + entr(distribution(-gap))) * norm.pdf(
                gap, scale=deviation
            )

        reach = min(60.0, 12.0 * deviation)
        expected = np.log(2.0) - 2.0 * quad(unsure, 0.0, reach, limit=500)[0]
        gains = posterior.expected_information().values
        assert gains[0, 1] == pytest.approx(expected, rel=1e-6)
        assert np.array_equal(gains, gains.T) and not gains.diagonal().any()


@pytest.mark.parametrize(
    ("kind", "ties", "zero_sum"), [(BradleyTerry, None, True), (Thurstone, TIES, False)]
)
def test_against_draws(kind, ties, zero_sum):
    posterior = fitted(
        kind(ties=ties is not None, zero_sum=zero_sum), ties, num_draws=20_000
    )
    assert posterior.knows_information
    by_draws = replace(posterior, method="nuts").expected_information().values
    np.fill_diagonal(by_draws, 0.0)
    gains = posterior.expected_information().values
    # There are 80,000 draws; an entropy has about its gain as standard deviation.
    assert gains == pytest.approx(by_draws, rel=0.02, abs=1e-5)


def test_when_draws_are_needed():
    assert not fitted(BradleyTerry(), resample=True).knows_information
    votes = Comparisons.from_votes(["0", "1"], ["1", "2"], ["left", "tie"])
    options = {"method": "laplace", "resample": False, "num_draws": 10}
    posterior = fit(BradleyTerry(order_effect=True, ties=True), votes, **options)
    assert not posterior.knows_information
