"""Ties after Rao and Kupper, against a plain NumPy log likelihood and its optimiser."""

import numpy as np
import pytest

from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, RaoKupper
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.models.maximum_likelihood import maximum_likelihood

VOTES = Comparisons.from_rows(
    "abcd",
    [0, 2, 1, 3, 0, 3],
    [1, 0, 3, 2, 2, 1],
    [[31, 17, 9], [14, 3, 5], [2, 12, 0], [9, 5, 3], [2, 2, 1], [0, 7, 2]],
)


def log_likelihood(point, data=VOTES):
    """Rao and Kupper (1967), (2.8), in worths pi = exp(u) and theta = exp(eta)."""
    worth, theta = np.exp(np.append(0.0, point[:-1])), np.exp(np.exp(point[-1]))
    one, other = worth[data.first], worth[data.second]
    win, loss = one + theta * other, other + theta * one
    shares = [one / win, other / loss, one * other * (theta**2 - 1.0) / (win * loss)]
    np.testing.assert_allclose(sum(shares), 1.0)
    return np.sum(data.counts * np.log(np.stack(shares, axis=1)))


def test_the_mode_is_that_of_an_independent_optimiser():
    """Coefficients to 5 digits, under a prior that hardly says anything."""
    model = RaoKupper(prior_scale=1e3, tie_scale=1e3)
    posterior = fit(model, VOTES, method="laplace", num_draws=50)
    best, errors, _ = maximum_likelihood(log_likelihood, np.zeros(4))
    utility = posterior.mode["utility"].values
    np.testing.assert_allclose(utility[1:] - utility[0], best[:-1], rtol=1e-5)
    assert float(posterior.mode["log_threshold"]) == pytest.approx(best[-1], rel=1e-5)
    # Standard errors of contrasts; utilities come last.
    factor = posterior.extras["laplace"].factor
    covariance = np.linalg.inv(factor @ factor.T)[1:, 1:]
    contrast = np.concatenate([-np.ones((3, 1)), np.eye(3)], axis=1)
    expected = np.sqrt(np.diag(contrast @ covariance @ contrast.T))
    np.testing.assert_allclose(expected, errors[:-1], rtol=1e-3)


def test_a_gap_and_the_threshold_bend_the_likelihood_together():
    """By differences; no standard error knows the sign of this derivative."""
    model, counts, step = RaoKupper(), np.array([[2.0, 1.0, 3.0]]), 1e-3

    def height(by_gap, by_tie):
        logs = model.outcome_logs(np.array([0.7 + by_gap]), np.array([by_tie - 0.3]))
        return counts[0] @ logs[:, 0]

    expected = height(step, step) + height(-step, -step)
    expected -= height(step, -step) + height(-step, step)
    derivatives = model.vote_derivatives(counts, np.array([0.7]), np.array([-0.3]))
    assert derivatives.gap_tie[0] == pytest.approx(expected / (4 * step**2), rel=1e-4)


def test_a_threshold_that_is_nothing_and_one_that_is_all():
    """The limits: Bradley-Terry, and nothing but ties; all numbers finite."""
    model = RaoKupper()
    gap = np.array([-40.0, 0.0, 3.0])
    rare = model.outcome_logs(gap, np.full(3, -900.0))
    np.testing.assert_allclose(rare[:2], BradleyTerry().outcome_logs(gap, gap))
    np.testing.assert_allclose(rare[2], np.log(2.0) - 900.0 + rare[0] + rare[1])
    common = model.outcome_logs(gap[1:], np.full(2, np.log(300.0)))
    np.testing.assert_allclose(common[2], 0.0, atol=1e-100)
    np.testing.assert_allclose(common[0], gap[1:] - 300.0)
    np.testing.assert_allclose(np.exp(model.outcome_logs(gap, gap * 0.1)).sum(0), 1.0)
    counts = np.ones((3, 3))
    for tie in (-900.0, np.log(300.0)):
        derivatives = model.vote_derivatives(counts, gap, np.full(3, tie))
        assert np.all(np.isfinite(derivatives[:5])) and derivatives.height is None
    # Two equal arms: a share tanh(eta / 2) of ties.
    (_, _, tied) = model.outcome_logs(np.zeros(1), np.log([0.7]))
    assert np.exp(tied[0]) == pytest.approx(np.tanh(0.35))


def test_the_command_line_and_what_is_refused(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\na,b,left\nb,a,tie\nb,c,left\na,c,tie\n")
    options = ["--ties", "rao-kupper", "--draws", "20", "--json"]
    result = invoke(["fit", str(path), *options])
    assert result.exit_code == 0 and "RaoKupper(" in result.output
    judged = invoke(["fit", str(path), *options, "--model", "thurstone"])
    assert judged.exit_code == 2 and "--ties: rao-kupper" in judged.output
    with pytest.raises(FitError, match="ties must be True"):
        RaoKupper(ties=False).arrays(VOTES)
