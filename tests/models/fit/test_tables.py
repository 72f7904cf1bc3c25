"""Tables of a fit beside that of arms: the mode by name, and other parameters."""

import jax
import numpy as np
import pytest

from bayesduel.errors import DisconnectedComparisonsWarning, FitError
from bayesduel.inference import fit, parameter_summary, standings
from bayesduel.models import BradleyTerry, PairwiseBeta, Thurstone
from bayesduel.models.fit.winners import ranks_of
from bayesduel.votes import Comparisons

SHOWN = Comparisons.from_rows(
    "abc",
    [0, 1, 0, 2, 1, 2],
    [1, 0, 2, 0, 2, 1],
    [[9, 2, 4], [5, 6, 3], [9, 1, 2], [4, 4, 2], [7, 2, 3], [3, 5, 1]],
    order_known=True,
)


def log_joint(point, *, prior=2.0):
    """Davidson's model with an order effect, in plain NumPy."""
    advantage, log_nu, *utility = point
    utility = np.array(utility)
    gap = utility[SHOWN.first] - utility[SHOWN.second] + advantage
    odds = np.stack([np.exp(gap / 2), np.exp(-gap / 2), np.full(6, np.exp(log_nu))], 1)
    logs = np.log(odds / odds.sum(axis=1, keepdims=True))
    squares = np.sum(utility**2) / prior**2 + advantage**2 + log_nu**2 / 4.0
    return float(np.sum(SHOWN.counts * logs) - squares / 2)


def test_the_mode_has_names_and_is_a_maximum():
    posterior = fit(BradleyTerry(ties=True, order_effect=True), SHOWN, method="laplace")
    mode = posterior.mode
    assert mode["utility"].dims == ("arm",)
    assert mode["arm"].values.tolist() == ["a", "b", "c"]
    best = [float(mode["first_advantage"]), float(mode["log_tie"]),
            *mode["utility"].values]  # fmt: skip
    top = log_joint(best)
    for index in range(5):
        for step in (-1e-3, 1e-3):
            moved = [*best]
            moved[index] += step
            assert log_joint(moved) < top
    np.testing.assert_allclose(
        jax.numpy.asarray(posterior.extras["laplace"].mode), best, rtol=1e-6
    )


def test_the_mode_is_asked_of_laplace_only():
    with pytest.raises(FitError, match="must be 'laplace'.*got 'exact'"):
        _ = fit(PairwiseBeta(ties=True), SHOWN).mode
    cut = fit(BradleyTerry(ties=True), SHOWN, method="laplace", max_iterations=1)
    with pytest.raises(FitError, match="NOT CONVERGED"):
        _ = cut.mode


def test_quantities_of_no_arm():
    posterior = fit(BradleyTerry(ties=True, order_effect=True), SHOWN, method="laplace")
    rows = parameter_summary(posterior, 0.5)
    assert [row["parameter"] for row in rows] == ["first_advantage", "log_tie"]
    draws = posterior.draws["first_advantage"].reshape(-1)
    assert rows[0]["mean"] == pytest.approx(draws.mean())
    assert rows[0]["lower"] == pytest.approx(np.quantile(draws, 0.25))
    assert rows[0]["upper"] == pytest.approx(np.quantile(draws, 0.75))
    assert "shown first" in rows[0]["meaning"]
    assert parameter_summary(fit(PairwiseBeta(ties=True), SHOWN)) == []
    tied = fit(Thurstone(ties=True), SHOWN, method="laplace")
    assert [row["parameter"] for row in parameter_summary(tied)] == ["log_threshold"]
    votes = SHOWN.without_ties().with_covariates([[1.0], [0.0], [-1.0]], ["price"])
    slopes = fit(BradleyTerry(covariates=True), votes, method="laplace")
    assert [row["parameter"] for row in parameter_summary(slopes)] == [
        "coefficient[price]"
    ]
    with pytest.raises(FitError, match="probability"):
        parameter_summary(posterior, 1.0)


def test_the_table_is_that_of_its_parts():
    posterior = fit(PairwiseBeta(ties=True), SHOWN)
    table = standings(posterior, 0.8)
    probabilities = posterior.winner_probabilities()
    ranks = posterior.rank_intervals(0.8)
    assert table.attrs["condorcet_exists"] == float(probabilities["condorcet_exists"])
    for arm in table["arm"].values:
        row = table.sel(arm=arm)
        assert row["p_best"] == probabilities["condorcet"].sel(arm=arm)
        assert row["rank_lower"] == ranks["lower"].sel(arm=arm)
        assert row["rank_upper"] == ranks["upper"].sel(arm=arm)


def test_arms_that_votes_do_not_tell_apart_share_a_rank():
    """Two clear leaders that are alike, one far behind, one alone in its part."""
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = 50
    wins[0, 2] = wins[1, 2] = 90
    wins[2, 0] = wins[2, 1] = 10
    data = Comparisons.from_wins(wins[:3, :3], arm_names="abc")
    table = standings(fit(BradleyTerry(zero_sum=True), data)).to_dataframe()
    assert table["rank_shared"].to_dict() == {"a": 1, "b": 1, "c": 3}
    with pytest.warns(DisconnectedComparisonsWarning):
        apart = fit(PairwiseBeta(), Comparisons.from_wins(wins, arm_names="abcd"))
    shared = standings(apart)["rank_shared"]
    assert shared.sel(arm=["a", "b", "c"]).values.tolist() == [1, 1, 3]
    assert np.isnan(shared.sel(arm="d"))


@pytest.mark.parametrize("kinds", [3, 1000])
def test_equal_scores_share_the_better_rank(kinds):
    scores = np.random.default_rng(0).integers(kinds, size=(60, 9))
    larger = scores[:, None, :] > scores[:, :, None]
    np.testing.assert_array_equal(ranks_of(scores), 1 + larger.sum(axis=2))
