"""Audits of rules for stopping: the numbers are those of the runs."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import bayesduel
from bayesduel import stopping
from bayesduel.analysis import audit_stopping, usual_rules
from bayesduel.analysis.simulated.asked_votes import asking_kernel, decisions
from bayesduel.analysis.simulated.stopping_audits import right_answers
from bayesduel.errors import (
    DisconnectedComparisonsWarning,
    SimulationArgumentError,
    StoppingRuleError,
)
from bayesduel.inference import fit
from bayesduel.models import PairwiseBeta
from bayesduel.ops.shares import share_interval
from bayesduel.votes import Comparisons

FALSE_ALARM = 1e-5
DESIGN = {"budget": 300, "num_runs": 60, "seed": 5}
FEW = DESIGN | {"num_runs": 12}


@pytest.mark.slow
def test_runs_are_those_of_the_simulator():
    audit = audit_stopping("cyclic", "rucb", rules=["p-value:alpha=0.2"], **DESIGN)
    (audited,) = audit.rules
    runs = bayesduel.simulate(
        "cyclic",
        "rucb:self_duels=false",
        num_runs=60,
        horizon=300,
        seed=5,
        stopping=stopping.LeaderTest(0.2),
    )
    np.testing.assert_array_equal(audited.votes, runs["stopped_at"])
    wrong = ~np.isin(runs["answer"], [-1, 0])
    np.testing.assert_array_equal(audited.is_wrong, wrong)
    (row,) = audit.rows()
    assert row.false_stops == wrong.sum() > 0
    test = binomtest(int(wrong.sum()), 60).proportion_ci(0.95, method="exact")
    assert (row.false_lower, row.false_upper) == pytest.approx((test.low, test.high))
    stopped = runs["stopped_at"].values
    assert row.undecided_share == (stopped < 0).mean()
    assert row.median_votes == np.median(np.where(stopped < 0, math.inf, stopped))


@pytest.mark.usefixtures("uncompiled")
def test_looks_between_which_nothing_stops():
    rules = ["p-value:alpha=0.2", "fixed:duels=250"]
    often, fixed = audit_stopping("gap", "balanced", rules=rules, **FEW).rules
    assert (fixed.votes == 250).all()
    audit = audit_stopping("gap", "balanced", rules=rules, look_every=40, **FEW)
    seldom, fixed = audit.rules
    assert (fixed.votes == 280).all()
    assert set(seldom.votes % 40) <= {0, 39}
    assert seldom.is_wrong.sum() < often.is_wrong.sum()
    assert audit.look_every == 40


@pytest.mark.slow
def test_an_anytime_rule_keeps_its_promise_and_a_habit_does_not():
    audit = audit_stopping("strong-borda", "balanced", budget=600, num_runs=400)
    shares = {row.rule: row for row in audit.rows()}
    assert list(shares) == list(usual_rules(0.05, 0.0, 600))
    # One false alarm in 100,000, were false stops as frequent as was accepted.
    assert shares["anytime"].false_stops <= binom.isf(FALSE_ALARM, 400, 0.05)
    for heuristic in ("posterior", "intervals", "p-value", "fixed"):
        assert shares[heuristic].false_stops > binom.isf(FALSE_ALARM, 400, 0.05)
    assert shares["anytime"].median_votes is None
    text = str(audit).splitlines()
    assert len(text) == 6 and text[1].split()[:2] == ["strong-borda", "anytime"]
    record = json.loads(json.dumps(audit.as_dict(), allow_nan=False))
    assert record["rules"][0]["median_votes"] is None
    assert record["num_runs"] == 400


@pytest.mark.slow
def test_draws_of_a_posterior_are_truths_of_runs():
    """Averaged over the prior, P(best) is what it says, however often one looks."""
    votes = Comparisons.from_wins(np.zeros((3, 3)))
    with pytest.warns(DisconnectedComparisonsWarning):
        prior = fit(PairwiseBeta(), votes)
    audit = audit_stopping(
        prior, "balanced", rules=["posterior:delta=0.2"], budget=400, num_runs=1500
    )
    (row,) = audit.rows()
    assert row.instance == "draws"
    assert row.false_stops <= binom.isf(FALSE_ALARM, 1500, 0.2)
    assert row.false_stops > 50


def test_wide_right_answers_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    for num_arms in (2, 5):
        half = np.triu(rng.uniform(0.35, 0.65, (40, num_arms, num_arms)), 1)
        lower = np.tril(np.ones((num_arms, num_arms)), -1)
        matrices = half + np.swapaxes(lower * (1 - np.swapaxes(half, 1, 2)), 1, 1)
        matrices += 0.5 * np.eye(num_arms)
        result = right_answers(matrices, 0.06)
        for matrix, right in zip(matrices, result, strict=True):
            clear = matrix > 0.56
            for arm in range(num_arms):
                stored = sum(not clear[j, arm] for j in range(num_arms) if j != arm)
                wrong = any(
                    clear[r].sum() > stored for r in range(num_arms) if r != arm
                )
                assert right[arm] == (not wrong)
        assert result.sum() > right_answers(matrices, 0.0).sum()


def test_intervals_of_all_and_of_nothing():
    assert share_interval(7, 7)[1] == 1.0
    low, high = share_interval(np.array([0, 3, 9]), 9)
    assert low[0] == 0.0 and high[2] == 1.0
    exact = binomtest(3, 9).proportion_ci(0.95, method="exact")
    assert (low[1], high[1]) == pytest.approx((exact.low, exact.high))


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    "policy",
    [
        "balanced",
        *(
            pytest.param(policy, marks=pytest.mark.slow)
            for policy in ("d-ts+", "track-and-stop", "rmed1")
        ),
    ],
)
def test_votes_from_before_are_told_and_not_counted(policy):
    """With 7 votes for arm 0 the rule needs as many less, whoever asks."""
    matrix = np.array([[[0.5, 1.0], [0.0, 0.5]]] * 3)
    rule = stopping.AnytimeEvidence(0.001)
    kernel = asking_kernel(policy, 2, 500, rounds=30)
    results = {"budget": 500, "seed": 0}
    fresh = decisions(asking_kernel(policy, 2, 500), rule, matrix, **results)
    begun = decisions(kernel, rule, matrix, votes=np.array([[0, 1, 1]] * 7), **results)
    assert (fresh.answers == 0).all() and (begun.answers == 0).all()
    assert (fresh.votes == begun.votes + 7).all()


@pytest.mark.usefixtures("uncompiled")
def test_balanced_designs_ask_every_pair_alike():
    kernel = asking_kernel("balanced", 4, 600).kernel
    matrix = np.full((5, 4, 4), 0.5)
    rule = stopping.FixedNumber(60)
    from bayesduel.simulation.rule_runs import run_chunk
    from bayesduel.simulation.runs import PairwiseEnvironment

    records = run_chunk(
        PairwiseEnvironment(matrix[0]),
        kernel,
        runs=range(5),
        checkpoints=np.array([15, 600]),
        seed=1,
        event_limit=10**6,
        segment_seconds=1.0,
        stopping=rule,
    )
    plays = records.ledger["plays"][..., *np.triu_indices(4, 1)]
    assert (plays[:, 1] == 10).all()
    assert set(plays[:, 0].ravel()) == {2, 3}
    assert len({tuple(play) for play in plays[:, 0]}) > 1


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"policy": "bt-ts"}, SimulationArgumentError, "policy must be one that a ker"),
        ({"delta": 1}, SimulationArgumentError, r"delta must be in \(0, 1\)"),
        ({"rules": []}, SimulationArgumentError, "rules must be at least one"),
        ({"rules": ["anytim"]}, StoppingRuleError, "did you mean anytime"),
        ({"rules": {"a": 3}}, StoppingRuleError, "rules must be a rule"),
        ({"instances": "camera"}, SimulationArgumentError, "instances must be a pref"),
    ],
)
def test_what_does_not_fit_is_named(change, kind, text):
    with pytest.raises(kind, match=text):
        audit_stopping(**{"instances": "gap", **DESIGN, **change})
