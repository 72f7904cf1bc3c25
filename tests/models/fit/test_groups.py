"""Independent groups of votes: each is fitted as if it were alone."""

import warnings
from typing import Any

import numpy as np
import pytest

from bayesduel.errors import DisconnectedComparisonsWarning, FitError
from bayesduel.inference import fit, fit_groups
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.votes import Comparisons


def votes_of_topics():
    """Three topics of four, three and two arms, judged by one of two judges each."""
    rows = [("a", "b", "left", "art"), ("b", "c", "left", "art")] * 5
    rows += [("c", "d", "left", "art"), ("d", "a", "right", "art")] * 4
    rows += [("c", "b", "left", "bio"), ("b", "a", "left", "bio")] * 6
    rows += [("d", "a", "left", "few")]
    first, second, winner, topic = zip(*rows, strict=True)
    columns = {"context": topic, "judge": [f"j{row % 2}" for row in range(len(rows))]}
    return Comparisons.from_votes(first, second, winner, columns=columns)


def alone(votes, topic):
    """The votes of one topic, put together anew."""
    rows = votes.columns["context"] == votes.labels["context"].index(topic)
    arms = sorted({*votes.first[rows], *votes.second[rows]})
    return Comparisons.from_rows(
        [votes.arm_names[arm] for arm in arms],
        [arms.index(arm) for arm in votes.first[rows]],
        [arms.index(arm) for arm in votes.second[rows]],
        votes.counts[rows],
        order_known=True,
    )


@pytest.mark.parametrize("method", ["laplace", "auto"])
def test_each_group_has_the_posterior_that_it_has_alone(method):
    """To 7 standard errors of 4,000 draws each; with "auto" groups are filled up."""
    votes = votes_of_topics()
    model = BradleyTerry(zero_sum=True)
    fits = fit_groups(model, votes, method=method)
    # One shape of all groups where programs may be compiled.
    sizes = {value.num_arms for value in fits.fits.values()}
    assert sizes == ({4} if method == "auto" else {2, 3, 4})
    table = fits.to_dataframe()
    groups = table.index.get_level_values("group").unique()
    assert list(groups) == ["art", "bio", "few"]
    for topic in groups:
        expected = fit(model, alone(votes, topic), method="laplace").to_dataframe()
        here = table.loc[topic]
        assert sorted(here.index) == sorted(expected.index)
        here = here.loc[expected.index]
        assert here["comparisons"].tolist() == expected["comparisons"].tolist()
        spread = (expected["score_upper"] - expected["score_lower"]) / 3.29
        error = 7 * spread * np.sqrt(2 / 4000)
        assert np.all(np.abs(here["score"] - expected["score"]) < error)
        assert np.all(np.abs(here["p_best"] - expected["p_best"]) < 0.06)
        assert here["p_best"].sum() == pytest.approx(1.0)
    # Who judged is not lost where groups are filled up.
    assert fits.fits["art"].clustered_errors("judge").attrs["clusters"] == 2


def test_a_group_that_cannot_be_fitted_stops_no_other():
    votes = votes_of_topics()
    counts = votes.counts.copy()
    counts[votes.columns["context"] == 0] = 0.0
    tied = counts.copy()
    index = int(np.flatnonzero(votes.columns["context"] == 1)[0])
    tied[index] = [0.0, 0.0, 1.0]
    data = Comparisons(
        votes.arm_names, votes.first, votes.second, tied, True,
        columns=votes.columns, labels=votes.labels,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", DisconnectedComparisonsWarning)
        fits = fit_groups(PairwiseBeta(), data)
    assert list(fits.fits) == ["few"] and repr(fits).startswith("GroupFits(1 of 3")
    assert fits.remarks["art"] == ("no vote is left in this group",)
    assert "not fitted" in fits.remarks["bio"][0] and "ties" in fits.remarks["bio"][0]
    assert "few votes: 1 on 2 arms" in fits.remarks["few"][0]
    wrongs: list[Any] = ["topic", 3, None]
    for wrong in wrongs:
        with pytest.raises(FitError, match="by must be a column of labels"):
            fit_groups(PairwiseBeta(), votes, wrong)


def test_progress_is_told_before_each_group():
    votes = Comparisons.from_votes(
        ["tea", "tea", "milk", "milk"], ["milk", "milk", "tea", "tea"], ["left"] * 4,
        columns={"context": ["dawn", "dawn", "night", "night"]},
    )  # fmt: skip
    said = []
    tell = {"on_progress": lambda *at: said.append(at)}
    fit_groups(BradleyTerry(), votes, num_draws=20, **tell)
    assert said == [(0, 2), (1, 2)]
