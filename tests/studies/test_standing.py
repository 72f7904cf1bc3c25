"""Where votes stand that are in no study."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import bayesduel
import theory
from bayesduel import VotesStanding, standing, stopping
from bayesduel.errors import FitError, StoppingRuleError, StudyError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, MultinomialLogit, PairwiseBeta
from bayesduel.studies import Study
from bayesduel.studies.status import _typical
from bayesduel.votes import Comparisons

NAMES = ("tea", "coffee", "milk")
WINS = np.array([[0, 60, 80], [30, 0, 50], [20, 30, 0]])
TABLE = Comparisons.from_wins(WINS, arm_names=NAMES)
ROWS = [
    (NAMES[winner], NAMES[loser])
    for winner in range(3)
    for loser in range(3)
    for _ in range(WINS[winner, loser])
]


@pytest.mark.parametrize(
    "model", ["beta", "bradley-terry", BradleyTerry(zero_sum=True)]
)
def test_scores_and_ranks_are_those_of_a_fit(model):
    """The draws differ; the means agree to five of their standard errors."""
    stands = standing(TABLE, model=model)
    kind = PairwiseBeta() if model == "beta" else BradleyTerry(zero_sum=True)
    table = bayesduel.inference.standings(fit(kind, TABLE, num_draws=4000))
    assert [arm.arm for arm in stands.arms] == table["arm"].values.tolist()
    assert stands.leader == "tea"
    for arm, mean, low, high in zip(
        stands.arms,
        *(table[name].values for name in ("score", "score_lower", "score_upper")),
        strict=True,
    ):
        error = (high - low) / 3.3 / math.sqrt(1000)
        assert abs(arm.score - mean) < 5 * error
        assert abs(arm.score_lower - low) < 15 * error
        assert abs(arm.score_upper - high) < 15 * error
        assert arm.votes == arm.won + arm.lost
    assert stands.arms[0].won == 140 and stands.votes == 270


def test_one_may_stop_as_the_anytime_rule_says():
    for scale in (1, 2, 4):
        rule = stopping.AnytimeEvidence(0.02).evaluate(WINS * scale)
        stands = standing(WINS * scale, delta=0.02, arm_names=NAMES)
        line = stands.stopping
        assert stands.may_stop == rule.stopped == line.stopped
        assert line.evidence == pytest.approx(rule.evidence, rel=1e-9)
        assert line.threshold == pytest.approx(-math.log(0.02))
        assert line.leader == "tea"
        assert line.answer == ("tea" if rule.stopped else None)
        assert (stands.votes_needed == 0) == stands.may_stop
    assert "at most 0.02" in line.meaning and "independent" in line.meaning
    near = standing(WINS, width=0.2, delta=0.02)
    rule = stopping.AnytimeEvidence(0.02, width=0.2).evaluate(WINS)
    assert near.stopping.evidence == pytest.approx(rule.evidence, rel=1e-9)


def test_it_is_what_a_study_says_of_the_same_votes(tmp_path):
    stands = standing(TABLE)
    with Study.create(tmp_path / "a.study", NAMES, "balanced") as study:
        study.import_votes(TABLE)
        status = study.status()
    line = next(item for item in status.stopping if item.rule == "anytime")
    assert stands.stopping.evidence == pytest.approx(line.evidence, rel=1e-9)
    assert stands.leader == status.leader and stands.score == status.score
    assert [arm.arm for arm in stands.arms] == [arm.arm for arm in status.standings]


def test_votes_in_every_form(tmp_path):
    path = tmp_path / "votes.csv"
    pd.DataFrame(ROWS, columns=["winner", "loser"]).to_csv(path, index=False)
    expected = standing(TABLE, arm_names=NAMES)
    for votes in (WINS, ROWS, path, pd.read_csv(path)):
        assert standing(votes, arm_names=NAMES) == expected
    more = standing(ROWS, arm_names=[*NAMES, "cocoa"])
    assert more.leader is None and more.parts == 2 and not more.may_stop
    assert "2 parts" in repr(more)
    nothing = standing([], arm_names=NAMES)
    assert nothing.votes == 0 and nothing.leader is None
    assert nothing.votes_needed > 10


def test_ties_are_no_votes_for_the_rule():
    ties = [[0, 40, 0], [40, 0, 0], [0, 0, 0]]
    tied = standing(Comparisons.from_wins(WINS, ties=ties, arm_names=NAMES))
    assert tied.ties == 40 and tied.votes == 310
    assert tied.stopping.evidence == standing(WINS).stopping.evidence


def test_the_result_is_a_table_and_plain_values():
    stands = standing(TABLE)
    assert isinstance(stands, VotesStanding)
    frame = stands.to_dataframe()
    assert frame.index.tolist() == [arm.arm for arm in stands.arms]
    assert {"score", "rank_lower", "rank_upper", "votes"} <= {*frame.columns}
    values = json.loads(json.dumps(stands.as_dict()))
    assert values["leader"] == "tea" and values["may_stop"] is stands.may_stop
    text = repr(stands)
    lines = text.splitlines()
    assert lines[0].startswith("270 votes between 3 arms: 'tea' leads with 0.7")
    assert lines[1].split()[:3] == ["arm", "rank", "score"]
    assert len(lines) == 6 and "do not stop yet" in lines[-1]
    assert standing(TABLE, seed=1) != stands == standing(TABLE)


def test_a_pair_is_taken_at_its_mean_distance_from_one_half():
    rng = np.random.default_rng(5)
    values = _typical(np.array(WINS, dtype=float)).values
    for first, second in ((0, 1), (0, 2), (1, 2)):
        draws = rng.beta(WINS[first, second] + 1, WINS[second, first] + 1, 200_000)
        expected = 0.5 + np.abs(draws - 0.5).mean()
        assert values[first, second] == pytest.approx(expected, abs=5e-4)
    # A uniform distribution is 1/4 from 1/2 on average; the first arm is ahead.
    even = _typical(np.zeros((3, 3))).values
    np.testing.assert_allclose(even[np.triu_indices(3, 1)], 0.75)


def test_the_votes_that_are_needed_suffice():
    """Two arms: as many as bring the evidence to the threshold, but for rounding."""
    wins = np.array([[0, 30], [20, 0]])
    stands = standing(wins)
    share = _typical(wins.astype(float)).values[0, 1]

    def evidence(more):
        counts = np.rint(wins + more * np.array([[0, share], [1 - share, 0]]))
        return theory.anytime_evidence(counts).max()

    threshold = -math.log(0.05)
    least = next(more for more in range(10**5) if evidence(more) >= threshold)
    assert 0.98 * least <= stands.votes_needed <= 1.05 * least


def test_what_is_there_counts_towards_the_proportions():
    """Votes on pairs that the optimum leaves out help little; others are subtracted."""
    start = standing(np.zeros((4, 4))).votes_needed
    none = [standing(scale * np.array(COUNTS)).votes_needed for scale in (1, 2, 4)]
    assert start > 0 and none[0] > none[1] > none[2]
    large = standing(np.zeros((70, 70)))
    assert large.votes_needed is None and "roughly" not in repr(large)


COUNTS = [[0, 14, 13, 15], [9, 0, 18, 2], [8, 2, 0, 18], [8, 18, 2, 0]]


@pytest.mark.slow
def test_the_number_is_near_what_policies_need():
    """Median votes of 200 runs over the estimate at their start, within a factor 2.

    The truth is what the estimate takes it for, so what differs is the policy.
    """
    from bayesduel.analysis.simulated.asked_votes import asking_kernel, decisions

    wins = np.array(COUNTS, dtype=float)
    estimate = standing(wins).votes_needed
    truth = np.repeat(_typical(wins).values[None], 200, axis=0)
    pairs = np.argwhere(wins)
    counts = wins[tuple(pairs.T)].astype(int)
    rows = np.column_stack([pairs, np.ones(len(pairs), dtype=int)])
    votes = np.repeat(rows, counts, axis=0).astype(np.int64)
    kernel = asking_kernel("rd-ts:cost=duels", 4, 10**6, rounds=int(counts.sum()))
    rule = stopping.AnytimeEvidence(0.05)
    decided = decisions(kernel, rule, truth, budget=10**6, seed=3, votes=votes)
    assert 0.5 < np.median(decided.votes) / estimate < 2.0


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"delta": 0}, StoppingRuleError, "delta"),
        ({"width": 0.5}, StoppingRuleError, "width"),
        ({"probability": 1}, FitError, "probability"),
        ({"model": "elo"}, StudyError, "model must be one of"),
        ({"model": MultinomialLogit()}, StudyError, "model must be of pairs"),
        ({"seed": -1}, StudyError, "seed"),
        ({"votes": []}, StudyError, "arm_names must be given before the first vote"),
        ({"votes": [[0, 0.5], [1, 0]]}, StudyError, "must hold whole votes"),
        ({"arm_names": ["tea"]}, ValueError, "at least two"),
        ({"arm_names": ["tea", "milk"]}, StudyError, "add 'coffee'"),
        ({"votes": WINS, "arm_names": ["a", "b"]}, StudyError, "name the 3 arms"),
        ({"votes": 3}, ValueError, "square"),
    ],
)
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        standing(**{"votes": TABLE, **options})
