"""Forecasts of votes, and audits, of a study."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency

from bayesduel.analysis.simulated.asked_votes import asking_kernel
from bayesduel.models import PairwiseBeta
from bayesduel.policies import get
from bayesduel.simulation.rule_runs import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from bayesduel.stopping import AnytimeEvidence, FixedNumber
from bayesduel.studies import Judging, Spending, answer_line, forecast
from bayesduel.studies.forecast import votes_left, votes_needed
from bayesduel.studies.policy_rule import PolicyFollower
from tests.studies.helpers import DRINKS, refused

FALSE_ALARM = 1e-5
WINS = np.array([[0, 9, 7, 8], [3, 0, 6, 5], [2, 4, 0, 6], [1, 3, 2, 0]])


@pytest.fixture
def make(voted):
    return lambda policy="balanced", wins=WINS, **more: voted(wins, policy, **more)


def certain(num_arms=4):
    upper = np.triu(np.ones((num_arms, num_arms)), 1)
    return upper + 0.5 * np.eye(num_arms)


def first_duels(kernel, num_arms, runs, votes, **options):
    """Count the first duels of so many runs after votes from before."""
    records = run_chunk(
        PairwiseEnvironment(np.full((num_arms, num_arms), 0.5), shuffle=False),
        kernel, runs=runs, checkpoints=np.array([1]), seed=8, event_limit=10**6,
        segment_seconds=1.0, stopping=FixedNumber(10**6),
        votes=votes, **options,
    )  # fmt: skip
    return records.ledger["plays"][:, -1].sum(axis=0)


@pytest.mark.slow
def test_votes_until_a_name_are_those_of_the_rule(make):
    """With certain answers and one pair a rule says how many are missing."""
    study = make(wins=np.zeros((4, 4)), delta=0.01)
    for arm in DRINKS[2:]:
        study.retire_arm(arm)
    state, rule = study._current(), study.forecast().lines
    assert {line.rule for line in rule} == {"anytime", "posterior"}
    for votes in (7, 30):
        needed = votes_needed(state, FixedNumber(votes), certain(2)[None], 99, 0)
        assert needed.tolist() == [votes]
    assert np.isinf(votes_needed(state, FixedNumber(100), certain(2)[None], 99, 0))


def test_more_votes_leave_fewer_to_ask(make):
    early, late = make(delta=0.001), make(delta=0.001, wins=5 * WINS)
    first, second = early.forecast(num_runs=100), late.forecast(num_runs=100)
    for one, another in zip(first.lines, second.lines, strict=True):
        assert one.lower is not None and one.lower > 0
        assert (another.median or 0) < (one.median or 10**6)
    sure = make(wins=50 * WINS).forecast()
    assert [line.upper for line in sure.lines] == [0, 0]
    assert "it names an arm now" in str(sure)


def test_ties_take_votes(make):
    """A third of the votes are ties: half as many votes more."""
    ties = np.triu(WINS + WINS.T, 1) // 2
    plain, tied = make(), make(ties=ties + ties.T)
    truth, rule = certain()[None], FixedNumber(int(WINS.sum()) + 40)
    assert votes_needed(plain._current(), rule, truth, 500, 0).tolist() == [40]
    share = (WINS.sum() + 1) / (WINS.sum() + ties.sum() + 1)
    needed = votes_needed(tied._current(), rule, truth, 500, 0)
    assert needed.tolist() == [np.ceil(40 / share)]
    assert "ties are taken to come in" in " ".join(tied.forecast(num_runs=9).remarks)


def test_what_is_simulated_differently_is_said(make):
    results = {"num_runs": 9, "most_votes": 300}
    assert make(budget=50).forecast(**results).remarks == ()
    scale = make("information", model="bradley-terry").forecast(**results)
    assert [line.rule for line in scale.lines] == ["anytime"]
    assert "the pair with the fewest votes" in scale.remarks[0]
    assert "posterior rule" in scale.remarks[1]
    blocked = make(blocked=[("tea", "milk")]).forecast(**results)
    assert "blocked" in blocked.remarks[0]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(("prior", "taught"), [(0.1, (0, 2)), (1.0, (0, 1))])
def test_expected_information_is_simulated_by_its_kernel(make, prior, taught):
    """10 to 0 teaches less than 10 to 10 by Beta(0.1, 0.1), with half the votes."""
    study = make("information", model=PairwiseBeta(prior=prior))
    policy, remark = forecast.who_is_simulated(study._settings)
    assert remark == ""
    counts = {(0, 1): 10, (0, 2): 10, (2, 0): 10, (1, 2): 50, (2, 1): 50}
    votes = [(*pair, 1) for pair, count in counts.items() for _ in range(count)]
    asking = asking_kernel(policy, 3, 10)
    simulated = first_duels(asking.kernel, 3, range(20), np.array(votes))
    assert (simulated[np.triu_indices(3, 1)].sum(), simulated[taught]) == (20, 20)


@pytest.mark.usefixtures("uncompiled")
def test_an_audit_says_who_stood_in(make):
    options = {"num_runs": 4, "budget": 20}
    scale = make("information", model="bradley-terry").audit_stopping(**options)
    assert (scale.policy, len(scale.remarks)) == ("information", 1)
    assert "the pair with the fewest votes" in scale.remarks[0]
    assert scale.as_dict()["remarks"] == list(scale.remarks)
    assert make("information").audit_stopping(**options).remarks == ()


def test_forecasts_beyond_what_was_simulated(make):
    study = make(wins=np.ones((4, 4)) - np.eye(4), budget=30, delta=1e-9)
    foreseen = study.forecast(most_votes=20, num_runs=50)
    line = foreseen.lines[0]
    assert (line.lower, line.median, line.upper) == (None, None, None)
    assert (line.undecided, line.within_budget) == (1.0, 0.0)
    words = "more than 20 votes more, in 100% of the simulated studies"
    assert foreseen.words(line) == words
    refused("most_votes must be", study.forecast, most_votes=0)
    refused(r"probability must be in \(0, 1\)", study.forecast, 1.0)


@pytest.mark.slow
def test_status_lines_and_page_have_it(make):
    study = make(budget=400)
    plain = study.status()
    assert plain.forecast is None
    given = json.loads(answer_line(study, '{"do": "status", "forecast": true}'))
    line = given["status"]["forecast"]["lines"][0]
    assert line["rule"] == "anytime" and 0 <= line["within_budget"] <= 1
    wrong = json.loads(answer_line(study, '{"do": "status", "forecast": 3}'))
    assert "forecast must be" in wrong["error"]
    page = study.report(forecast=True)
    assert "How many more?" in page and "How many more?" not in study.report()


@pytest.mark.usefixtures("uncompiled")
def test_an_audit_has_the_design_of_the_study(make):
    study = make(delta=0.2, budget=150)
    audit = study.audit_stopping(num_runs=4)
    assert (audit.policy, audit.delta, audit.budget) == ("balanced", 0.2, 150)
    assert audit.rules[0].instance == f"draws given {WINS.sum()} votes"
    assert study.audit_stopping(num_runs=4, budget=20).budget == 20


@pytest.mark.slow
def test_simulated_studies_go_on_as_the_study_does(make):
    """The next pair after votes from before: asked, and simulated."""
    state = make("d-ts")._current()
    policy, pairs = get("d-ts"), np.triu_indices(4, 1)
    request = np.zeros((4, 4), dtype=int)
    follower = PolicyFollower(policy, state)
    for number in range(1500):
        state.last = number + 99
        duel = follower.next_duel(state)
        first, second = sorted((duel["first"], duel["second"]))
        request[first, second] += 1
    asking = asking_kernel("d-ts", 4, 10, rounds=int(WINS.sum()))
    given = asking.kernel, 4, range(1500), forecast._votes_of(state)
    simulated = first_duels(*given, manner=asking.manner)
    both = np.array([request[pairs], simulated[pairs]])
    assert both.sum(axis=1).tolist() == [1500, 1500]
    both = both[:, both.sum(axis=0) > 10]
    assert chi2_contingency(both).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_intervals_hold_where_the_model_does(make):
    """Truths from the prior: 80 % intervals hold what comes, but for chance."""
    rng, inside = np.random.default_rng(7), []
    pairs = np.triu_indices(4, 1)
    for number in range(120):
        matrix, wins = np.full((4, 4), 0.5), np.zeros((4, 4))
        for i, j in zip(*pairs, strict=True):
            matrix[i, j] = rng.random()
            matrix[j, i] = 1.0 - matrix[i, j]
            wins[i, j] = rng.binomial(4, matrix[i, j])
            wins[j, i] = 4 - wins[i, j]
        study = make(wins=wins, delta=0.2, seed=number)
        line = study.forecast(num_runs=100, most_votes=1000).lines[0]
        state, rule = study._current(), AnytimeEvidence(0.2, weight=0.25)
        (came,) = votes_needed(state, rule, matrix[None], 1000, 10**6 + number)
        low, high = (math.inf if item is None else item
                     for item in (line.lower, line.upper))  # fmt: skip
        # A decision before the forecast cannot be missed.
        if high > 0:
            inside.append(low <= came <= high)
    assert len(inside) > 90
    # Where more than half are decided late, both ends may be infinite: never too few.
    assert binom.cdf(sum(inside), len(inside), 0.8) > FALSE_ALARM
    assert np.mean(inside) < 1.0


@pytest.mark.parametrize(
    ("budget", "cost", "left"),
    # 2 of 6 questions contradict; 12 answers cost 0.5 each, so a vote costs 1.5.
    [(None, None, None), (30, None, 16), (30, 12.0, 4), (9, 99.0, 2)],
)
def test_votes_left_are_those_of_budget_and_cost(make, budget, cost, left):
    terms = Judging(both_orders="nothing"), Spending(cost=cost, price=0.5)
    study = make(judging=terms[0], spending=terms[1], budget=budget)
    for number in range(12):
        (ticket,) = study.ask(judge="Ada")
        better = "left" if ticket.left < ticket.right else "right"
        study.tell(ticket, "left" if number in (2, 3, 8, 9) else better)
    assert study._current().num_nothing == 2 and study._current().spent == 6.0
    assert votes_left(study._current()) == left
