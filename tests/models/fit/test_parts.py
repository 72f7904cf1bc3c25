"""Fifty topics whose arms never met: what is said is said within each of them."""

import math
import warnings
from functools import cache

import numpy as np
import pytest

from bayesduel import plots
from bayesduel.diagnostics import transitivity
from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.inference import fit, standings
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.plots.posteriors import short_names
from bayesduel.votes import Comparisons

pytestmark = pytest.mark.filterwarnings(
    "ignore::bayesduel.errors.DisconnectedComparisonsWarning"
)
TOPICS = 50
BEGINNING = "a summary of the longest of all documents, topic"
NAMES = tuple(
    f"{BEGINNING} {topic:02d}, {version} of the prompt that was tried"
    for topic in range(TOPICS)
    for version in ("first", "last")
)
LONE = "never met anyone"


@cache
def votes():
    """In every topic the last version wins 9 of 10; one arm has no vote."""
    first = np.arange(0, 2 * TOPICS, 2)
    counts = np.tile([1, 9, 0], (TOPICS, 1))
    return Comparisons.from_rows((*NAMES, LONE), first, first + 1, counts)


@cache
def fitted(model):
    method = "exact" if isinstance(model, PairwiseBeta) else "laplace"
    return fit(model, votes(), method=method, num_draws=100)


@pytest.mark.parametrize("model", [BradleyTerry(zero_sum=True), PairwiseBeta()])
def test_ranks_and_winners_are_those_of_the_own_part(model):
    posterior = fitted(model)
    assert len(posterior.parts) == TOPICS + 1 and posterior.part_of[-1] == TOPICS
    ranks, best = posterior.rank_intervals(), posterior.winner_probabilities()
    assert math.isnan(best["condorcet_exists"])
    senses = [name for name in best.data_vars if name != "condorcet_exists"]
    for sense in senses:
        shares = best[sense].values
        assert np.all(shares[1:-1:2] > 0.9) and math.isnan(shares[-1])
        np.testing.assert_allclose(shares[:-1:2] + shares[1:-1:2], 1.0)
    assert set(ranks["upper"].values[:-1]) == {1.0, 2.0}
    assert math.isnan(ranks["lower"].values[-1])
    table = standings(posterior)
    assert table.attrs["parts"] == TOPICS + 1
    assert math.isnan(table.attrs["condorcet_exists"])
    # Arms of a part stand together, its best one first.
    parts = table["part"].values
    assert np.all(np.diff(parts) >= 0) and parts[0] == 1
    assert all("last" in name for name in table["arm"].values[:-1:2])
    scores = table["score"].values[:-1].reshape(TOPICS, 2)
    middle = 0.0 if table.attrs["score"] == "utility" else 0.5
    np.testing.assert_allclose(scores.mean(axis=1), middle, atol=1e-12)


@pytest.mark.parametrize("model", [BradleyTerry(zero_sum=True), PairwiseBeta()])
def test_a_part_stands_as_if_it_were_alone(model):
    """Two parts, of three and two arms, against the first one by itself."""
    wins = np.zeros((5, 5))
    wins[:3, :3] = [[0, 7, 9], [3, 0, 6], [1, 4, 0]]
    wins[3:, 3:] = [[0, 2], [8, 0]]
    both = fit(model, Comparisons.from_wins(wins), num_draws=4000)
    alone = fit(model, Comparisons.from_wins(wins[:3, :3]), num_draws=4000)
    assert both.parts == [["0", "1", "2"], ["3", "4"]]
    for name, shares in both.winner_shares().items():
        if name != "best_utility":
            # Seven standard errors of either share.
            np.testing.assert_allclose(
                shares[:3],
                alone.winner_shares()[name],
                atol=7 * 0.5 * (2 / 16000) ** 0.5,
            )
    one, other = both.rank_intervals()["mean"], alone.rank_intervals()["mean"]
    np.testing.assert_allclose(one[:3], other, atol=0.06)
    assert both.rank_intervals()["upper"].dtype == np.int64


def test_probabilities_of_pairs_are_undefined_across_parts():
    posterior = fitted(BradleyTerry(zero_sum=True))
    same = posterior.part_of[:, None] == posterior.part_of
    for table in (posterior.probability_of_beating(), posterior.probability_stronger()):
        np.testing.assert_array_equal(np.isnan(table.values), ~same)
    said = str(transitivity(votes(), num_draws=20, num_replicates=5))
    assert "no votes connect 51 parts" in said and "exists with" not in said


def test_one_part_is_as_ever():
    whole = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DisconnectedComparisonsWarning)
        posterior = fit(BradleyTerry(), whole, num_draws=100)
    table = standings(posterior)
    assert table.attrs["parts"] == 1 and set(table["part"].values) == {1}
    assert table["rank_lower"].dtype == np.int64
    assert not np.isnan(posterior.probability_stronger()).any()


def test_figures_say_that_parts_are_apart():
    posterior = fitted(PairwiseBeta())
    for figure in (
        plots.forest(posterior, max_arms=6),
        plots.forest(posterior, by="rank", max_arms=6),
        plots.winners(posterior, max_arms=6),
        plots.heat_map(posterior, max_arms=6),
    ):
        axes = figure.axes[0]
        names = [label.get_text() for label in axes.yaxis.get_ticklabels()]
        assert len(set(names)) == len(names) > 3
        assert "51 parts that no votes connect" in " ".join(
            figure.get_supxlabel().split()
        )
    apart = plots.pair(posterior, NAMES[0], NAMES[2]).axes[0]
    assert "no votes connect the two" in apart.get_legend().get_title().get_text()


def test_names_are_cut_only_as_far_as_they_differ():
    assert short_names(["tea", "milk"]) == ["tea", "milk"]
    long = "x" * 40
    assert [len(name) for name in short_names([long, "y" * 50])] == [28, 28]
    middle = [f"{'a' * 30}{digit}{'b' * 30}" for digit in "12"]
    shown = short_names([*middle, long])
    assert len(set(shown)) == 3 and len(shown[2]) == 28
    assert len(set(short_names(NAMES))) == len(NAMES)
