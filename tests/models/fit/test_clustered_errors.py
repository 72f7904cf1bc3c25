"""Standard errors clustered by a column, against the closed form in plain NumPy."""

from typing import Any

import numpy as np
import pytest

from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta, RaoKupper, Thurstone
from bayesduel.votes import Comparisons

NUM_ARMS, NUM_JUDGES = 4, 12


def judged(*, ties: bool, seed: int = 3) -> dict[str, np.ndarray]:
    """Single votes whose judges have utilities of their own, with an order effect."""
    rng = np.random.default_rng(seed)
    judge = rng.integers(NUM_JUDGES, size=400)
    first = rng.integers(NUM_ARMS, size=400)
    second = (first + rng.integers(1, NUM_ARMS, size=400)) % NUM_ARMS
    expected = np.linspace(0.8, -0.8, NUM_ARMS) + rng.normal(0, 0.8, (12, NUM_ARMS))
    odds = expected[judge, first] - expected[judge, second] + 0.4
    outcome = (rng.random(400) > 1 / (1 + np.exp(-odds))).astype(int)
    outcome[rng.random(400) < 0.2 * ties] = 2
    return {"first": first, "second": second, "judge": judge, "outcome": outcome}


def comparisons(votes: dict[str, np.ndarray], times: int = 1) -> Comparisons:
    return Comparisons.from_rows(
        "abcd",
        votes["first"],
        votes["second"],
        times * np.eye(3)[votes["outcome"]],
        order_known=True,
        columns={"judge": [f"j{vote:02d}" for vote in votes["judge"]]},
    )


def clustered(scores, bread, judge):
    """H^-1 (G / (G - 1) sum s s^T) H^-1."""
    groups = np.unique(judge)
    sums = np.stack([scores[judge == group].sum(axis=0) for group in groups])
    meat = len(groups) / (len(groups) - 1) * sums.T @ sums
    inverse = np.linalg.inv(bread)
    return inverse @ meat @ inverse


def test_a_logit_has_the_robust_covariance_of_generalized_linear_models():
    votes = judged(ties=False)
    design = np.zeros((400, NUM_ARMS))
    design[:, 0] = 1.0  # The advantage of the arm shown first; utility of "a" is 0.
    for arm in range(1, NUM_ARMS):
        design[:, arm] = 1.0 * (votes["first"] == arm) - (votes["second"] == arm)
    won, beta = votes["outcome"] == 0, np.zeros(NUM_ARMS)
    bread, p = np.eye(NUM_ARMS), np.full(400, 0.5)
    for _ in range(30):  # Iteratively reweighted least squares.
        p = 1 / (1 + np.exp(-design @ beta))
        bread = design.T @ (design * (p * (1 - p))[:, None])
        beta = beta + np.linalg.solve(bread, design.T @ (won - p))
    covariance = clustered(design * (won - p)[:, None], bread, votes["judge"])
    model = BradleyTerry(
        zero_sum=True, order_effect=True, prior_scale=1e4, order_scale=1e4
    )
    posterior = fit(model, comparisons(votes), method="laplace")
    errors = posterior.clustered_errors("judge")
    assert errors.attrs["clusters"] == NUM_JUDGES
    center = np.eye(NUM_ARMS)[:, 1:] - 1.0 / NUM_ARMS  # Utilities minus their mean.
    by_model = np.linalg.inv(bread), posterior.standard_errors
    for twin, ours in ((covariance, errors), by_model):
        advantage = np.sqrt(twin[0, 0])
        np.testing.assert_allclose(ours["first_advantage"], advantage, rtol=1e-5)
        utility = np.sqrt(np.diag(center @ twin[1:, 1:] @ center.T))
        np.testing.assert_allclose(ours["utility"], utility, rtol=1e-5)
    # Judges who differ: the model's errors are too small.
    assert np.all(errors["utility"] > 1.2 * posterior.standard_errors["utility"])


def davidson(theta, votes):
    """Log likelihood of each vote: first advantage, log nu, utilities."""
    gap = theta[0] + theta[2:][votes["first"]] - theta[2:][votes["second"]]
    logs = np.stack([gap / 2, -gap / 2, np.full(len(gap), theta[1])], axis=1)
    logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs[np.arange(len(gap)), votes["outcome"]]


def test_ties_and_the_prior_have_their_place_in_it():
    votes = judged(ties=True)
    model = BradleyTerry(ties=True, order_effect=True, prior_scale=1.5)
    posterior = fit(model, comparisons(votes), method="laplace")
    mode = posterior.mode
    theta = np.array([mode["first_advantage"], mode["log_tie"], *mode["utility"]])
    prior = 1.0 / np.array([1.0, 2.0, *[1.5] * NUM_ARMS]) ** 2
    steps = 1e-4 * np.eye(len(theta))

    def scores(at):
        ends = [[davidson(at + sign * step, votes) for sign in (1, -1)]
                for step in steps]  # fmt: skip
        return np.stack([(up - down) / 2e-4 for up, down in ends], axis=1)

    bends = [scores(theta + step) - scores(theta - step) for step in steps]
    bread = -np.stack([bend.sum(axis=0) / 2e-4 for bend in bends]) + np.diag(prior)
    twin = np.sqrt(np.diag(clustered(scores(theta), bread, votes["judge"])))
    errors = posterior.clustered_errors("judge")
    here = [errors["first_advantage"], errors["log_tie"], *errors["utility"]]
    np.testing.assert_allclose(here, twin, rtol=1e-4)


@pytest.mark.parametrize("kind", [BradleyTerry, RaoKupper, Thurstone])
def test_the_same_votes_twice_tell_no_more_where_clusters_say_so(kind):
    votes = judged(ties=True)
    options = {"zero_sum": True, "ties": True, "prior_scale": 1e4, "tie_scale": 1e4}
    once, twice = (
        fit(kind(**options), comparisons(votes, times), method="laplace")
        for times in (1, 2)
    )
    for name in ("utility", kind.tie_name):
        np.testing.assert_allclose(
            twice.clustered_errors("judge")[name],
            once.clustered_errors("judge")[name],
            rtol=1e-5,
        )
        np.testing.assert_allclose(
            twice.standard_errors[name] * np.sqrt(2.0),
            once.standard_errors[name],
            rtol=1e-5,
        )


def test_what_has_no_clusters_is_refused():
    data = comparisons(judged(ties=False))
    posterior = fit(BradleyTerry(), data, method="laplace")
    wrongs: list[Any] = ["context", None, 3]
    for wrong in wrongs:
        with pytest.raises(FitError, match="cluster must be a column.*there is judge"):
            posterior.clustered_errors(wrong)
    rows = data.columns["judge"] == 0
    one = Comparisons.from_rows(
        "abcd", data.first[rows], data.second[rows], data.counts[rows],
        columns={"judge": ["j"] * int(rows.sum())},
    )  # fmt: skip
    with pytest.raises(FitError, match="at least 2 clusters"):
        fit(BradleyTerry(), one, method="laplace").clustered_errors("judge")
    with pytest.raises(FitError, match="must be 'laplace'.*got 'exact'"):
        fit(PairwiseBeta(), data).clustered_errors("judge")
