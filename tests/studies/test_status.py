"""Status of a study: standings, and whether one may stop."""

import json
import math

import numpy as np
import pytest

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.stopping import AnytimeEvidence, PosteriorProbability
from bayesduel.studies import Study, report
from bayesduel.studies.report import _standings
from bayesduel.votes import Comparisons
from tests.studies.conftest import MOST_LOOKS
from tests.studies.helpers import DRINKS, assert_replays

WINS = np.array([[0, 30, 25, 28], [12, 0, 20, 22], [9, 18, 0, 21], [5, 9, 11, 0]])


@pytest.fixture
def make(make, voted):
    def begun(wins=WINS, arms=DRINKS, **options):
        if wins is None:
            return make(arms=arms, **options)
        return voted(wins, arms=arms, **options)

    return begun


def lines(study):
    return {line.rule: line for line in study.status().stopping}


def test_standings_are_those_of_a_fit(make):
    status = make(model=BradleyTerry(prior_scale=1.0)).status()
    votes = Comparisons.from_wins(WINS, arm_names=DRINKS)
    posterior = fit(BradleyTerry(prior_scale=1.0), votes)
    best = posterior.winner_probabilities()["copeland"]
    assert [row.arm for row in status.standings] == DRINKS
    assert status.leader == "tea"
    for row in status.standings:
        assert row.copeland == pytest.approx(float(best.sel(arm=row.arm)), abs=0.03)
        assert row.score_lower < row.score < row.score_upper
        assert row.rank_lower <= row.rank_upper
    first = status.standings[0]
    assert (first.votes, first.won, first.lost, first.tied) == (109, 83, 26, 0)
    assert status.score == "utility"


@pytest.mark.parametrize("times", [1, 10])
def test_the_rules_are_those_of_stopping(make, times):
    """Ten times as many votes decide."""
    wins = times * WINS
    result = lines(make(wins, delta=0.02, width=0.05, budget=400))
    anytime = AnytimeEvidence(0.02, width=0.05, weight=0.25).evaluate(wins)
    posterior = PosteriorProbability(0.02, prior=1.0).evaluate(wins)
    assert (anytime.stopped, posterior.stopped) == (times == 10, True)
    for rule, state in (("anytime", anytime), ("posterior", posterior)):
        line = result[rule]
        assert (line.evidence, line.stopped) == (state.evidence, state.stopped)
        assert line.threshold == pytest.approx(-math.log(0.02))
        assert line.answer == ("tea" if state.stopped else None)
        assert line.leader == "tea"
    assert result["budget"].evidence == 0 and not result["budget"].stopped


def test_another_model_decides_by_its_draws(make):
    model = BradleyTerry()
    result = lines(make(10 * WINS, model=model))["posterior"]
    assert result.stopped
    assert result.answer == "tea"
    assert math.exp(-result.evidence) == pytest.approx(1 / 4001, rel=1e-6)
    study = make(WINS // 5, model=model)
    few = lines(study)["posterior"]
    share = study.status().standings[0].copeland
    assert 0.9 < share < 1
    assert 1 - math.exp(-few.evidence) == pytest.approx(share, abs=1e-12)


def test_ties_are_no_evidence(make):
    ties = 40 * (1 - np.eye(4))
    with_ties, without = make(ties=ties), make()
    line, second = lines(with_ties)["anytime"], lines(without)["anytime"]
    assert (line.evidence, line.leader) == (second.evidence, second.leader)
    assert "imported or called a tie because" in line.meaning
    assert "nothing was imported because" in second.meaning
    assert with_ties.status().ties == 240
    assert with_ties.status().standings[0].tied == 120


def test_the_stake_stays_when_arms_come_and_go(make):
    study = make()
    study.add_arm("cocoa")
    study.retire_arm("water")
    wins = np.zeros((4, 4))
    wins[:3, :3] = WINS[:3, :3]
    expected = AnytimeEvidence(0.05, weight=0.25).evaluate(wins).evidence
    assert lines(study)["anytime"].evidence == expected
    assert study.status().retired == ("water",)


def test_nothing_is_decided_before_a_vote(make):
    study = make(None)
    status = study.status()
    assert status.leader is None
    assert not any(line.stopped for line in status.stopping)
    assert "not decided" in str(status)
    assert status.as_dict()["standings"][0]["votes"] == 0
    assert status.model == repr(PairwiseBeta())


@pytest.mark.usefixtures("uncompiled")
def test_a_measured_error_is_kept_and_said(make):
    study = make(budget=60)
    assert study.status().audit is None
    assert "never measured" in study.report()
    audit = study.audit_stopping(num_runs=20, seed=4)
    study.audit_stopping(num_runs=10, keep=False)
    rows = {row.rule: row for row in audit.rows()}
    with Study.open(study.path) as again:
        status = again.status()
        assert_replays(again)
    stored = status.audit
    assert stored is not None and not stored.is_stale
    assert (stored.num_runs, stored.budget, stored.seed) == (20, 60, 4)
    assert (stored.arms, stored.votes, stored.votes_since) == (
        tuple(DRINKS),
        WINS.sum(),
        0,
    )
    for line in status.stopping[:2]:
        assert line.measured is not None
        assert line.measured.false_stops == rows[line.rule].false_stops
        assert line.measured.false_upper == rows[line.rule].false_upper
    assert status.stopping[2].measured is None
    assert "audited" in study.export()
    assert "20 simulated studies" in study.report()
    json.dumps(status.as_dict(), allow_nan=False)


@pytest.mark.usefixtures("uncompiled")
def test_an_audit_of_other_arms_is_said_to_be_old(make):
    study = make()
    study.audit_stopping(num_runs=4, budget=20)
    (ticket,) = study.ask()
    study.tell(ticket, "left")
    assert study.status().audit.votes_since == 1
    assert "votes since then: 1 more" in " ".join(study.status().audit_words("x.study"))
    study.add_arm("juice")
    study.retire_arm("tea")
    audit = study.status().audit
    assert (audit.added, audit.retired) == (("juice",), ("tea",))
    page = study.report()
    assert "measure again: bayesduel audit-stopping --from-study" in page
    assert "added juice; retired tea" in page
    study.audit_stopping(num_runs=4, budget=20)
    assert not study.status().audit.is_stale


def test_a_report_looks_back_at_25_votes_from_the_first_to_the_last(make, monkeypatch):
    monkeypatch.setattr(report, "_MOST_POINTS", MOST_LOOKS)
    drawn = []
    draw_history = report.draw_history
    monkeypatch.setattr(
        report, "draw_history", lambda *of: drawn.append(of) or draw_history(*of)
    )
    study = make(None, arms=DRINKS[:3], delta=0.2)
    for ticket in study.ask(49):
        study.tell(ticket, "left" if ticket.left < ticket.right else "right")
    study.report()
    ((history, delta),) = drawn
    assert history.votes == [*range(1, 50, 2)] and delta == 0.2
    best = min(DRINKS[:3])
    status = study.status()
    looks = {name: len(item) for name, item in history.shares.items()}
    assert looks == dict.fromkeys(DRINKS[:3], 25)
    # One vote connects two arms of three.
    assert math.isnan(history.shares[best][0])
    last = {row.arm: row.copeland for row in status.standings}
    for name, values in history.shares.items():
        # Other numbers of draws: 2000 and 4000 at most, of a share near 0 or 1.
        assert values[-1] == pytest.approx(last[name], abs=0.05)
    assert history.shares[best][-1] > 0.9
    for line in status.stopping:
        errors = history.errors[line.rule]
        assert len(errors) == 25
        assert errors[-1] == pytest.approx(min(1.0, math.exp(-line.evidence)))
        assert errors[-1] < errors[0]


@pytest.mark.usefixtures("uncompiled")
def test_a_rule_that_was_not_measured_is_said_so(make):
    study = make(model="bradley-terry")
    study.audit_stopping(num_runs=4, budget=20)
    line = study.status().stopping[1]
    assert line.measured is None
    assert study.status().measured_words(line) == "not measured for this model"


def test_nobody_leads_before_votes_connect_all_arms(make):
    """Two pairs that never met; and no vote at all."""
    wins = np.array([[0, 30, 0, 0], [2, 0, 0, 0], [0, 0, 0, 30], [0, 0, 1, 0]])
    model = BradleyTerry(prior_scale=1.0)
    for counts, parts in ((wins, 2), (None, 4)):
        status = make(counts, model=model).status()
        assert status.leader is None and status.parts == parts
        assert status.condorcet_exists is None
        assert f"no votes connect the {parts} parts" in status.parts_words()
        json.dumps(status.as_dict(), allow_nan=False)
        [rule] = [line for line in status.stopping if line.rule == "posterior"]
        assert not rule.stopped and rule.leader is None and rule.evidence == 0.0
        ranks = {row.rank_upper for row in status.standings}
        assert ranks == ({1, 2} if parts == 2 else {None})
        assert "o votes connect" in _standings(status, 0.9)
    whole = make(model=model).status()
    assert whole.parts == 1 and whole.parts_words() == ""


def test_a_quick_look_at_many_arms_says_what_draws_would(make, monkeypatch):
    monkeypatch.setattr("bayesduel.studies.status.MANY", 30)
    rng, number = np.random.default_rng(4), 40
    upper = np.triu(rng.poisson(2.0, (number, number)), 1)
    upper[:, -3:] = upper[-3:] = 0
    upper[-3, -2] = 6  # Two parts, and the last arm alone.
    wins = rng.binomial(upper, 0.5 + 0.4 * rng.random())
    arms = [f"arm {arm}" for arm in range(number)]
    votes = Comparisons.from_wins(wins + (upper - wins).T, arm_names=arms)
    study = make(None, arms, budget=9)
    study.import_votes(votes)
    quick, full = study.status(), study.status(full=True)
    assert (quick.is_full, full.is_full, full.parts) == (False, True, 3)
    assert [line.rule for line in quick.stopping] == ["budget"]
    assert "--full" in quick.left_out_words()
    drawn = {row.arm: row for row in full.standings}
    for row in quick.standings:
        second = drawn[row.arm]
        assert row.rank_lower is row.copeland is row.condorcet is row.borda is None
        for name in ("part", "votes", "won", "lost", "tied"):
            assert getattr(row, name) == getattr(second, name)
        if row.part == 3:
            assert row.score is second.score is None
        elif row.part == 1:
            # 3750 draws of a standard deviation of about 0.03; 38 terms are a sum
            # that is nearly normal.
            for name in ("score", "score_lower", "score_upper"):
                close = pytest.approx(getattr(second, name), abs=0.006)
                assert getattr(row, name) == close
    pair = {row.arm: row.score for row in quick.standings if row.part == 2}
    beta = (1 + wins[-3, -2]) / (2 + upper[-3, -2])
    assert pair == pytest.approx({"arm 37": beta, "arm 38": 1 - beta})
