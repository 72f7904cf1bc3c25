"""Tests of order, judges and circles: false alarms, power, and plain formulas."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesduel.diagnostics import report
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PairwiseBeta, Thurstone
from bayesduel.models.checks.fit_report import FALSE_ALARM, OF_VOTES
from bayesduel.models.checks.vote_tests import order_test
from bayesduel.votes import Comparisons

UNLIKELY = 1e-3
"""The level of each test in this file that counts false alarms."""


def votes(rng, *, arms=5, number=300, judges=4, advantage=0.0, spread=0.0, careless=0,
          circle=0.0, strong_first=0.0):  # fmt: skip
    """Votes on random pairs by random judges; the first so many do not look."""
    utility = rng.normal(size=arms) * 1.5
    first = rng.integers(arms, size=number)
    second = (first + rng.integers(1, arms, size=number)) % arms
    swap = (utility[first] < utility[second]) & (rng.random(number) < strong_first)
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    judge = rng.integers(judges, size=number)
    around = np.where((second - first) % arms <= arms // 2, circle, -circle)
    bias = advantage + spread * rng.choice([-1.0, 1.0], size=judges)
    lead = (utility[first] - utility[second] + around) * (judge >= careless)
    won = rng.random(number) < expit(lead + bias[judge])
    counts = np.stack([won, ~won, np.zeros(number)], axis=1)
    names = [f"arm {arm}" for arm in range(arms)]
    columns = {"judge": [f"judge {item}" for item in judge]}
    return Comparisons.from_rows(names, first, second, counts, order_known=True,
                                 columns=columns)  # fmt: skip


def alarms(p_values):
    """Probability of at least as many alarms at the rate that is declared."""
    number = int(np.sum(np.array(p_values) <= FALSE_ALARM))
    return stats.binom.sf(number - 1, len(p_values), FALSE_ALARM)


def order_p(model, data):
    return order_test(SimpleNamespace(model=model, data=data)).p_value


@pytest.mark.parametrize(
    "model", [BradleyTerry(), PairwiseBeta()], ids=["utilities", "pairs"]
)
def test_no_order_effect_is_seen_where_strong_arms_come_first(model):
    """Four votes per arm, where plain estimates raise six times as many alarms."""
    rng = np.random.default_rng(7)
    given = {"arms": 12, "number": 48, "strong_first": 0.8}
    result = [order_p(model, votes(rng, **given)) for _ in range(40)]
    assert alarms(result) > UNLIKELY
    assert min(result) < 0.5


def test_order_test_is_that_of_a_table():
    """Two arms have Pearson's statistic of order and winner, and its log odds."""
    counts = [[400, 300, 5], [250, 350, 9]]
    data = Comparisons.from_rows("ab", [0, 1], [1, 0], counts, order_known=True)
    table = np.array([[400, 300], [350, 250]])
    pearson = stats.chi2_contingency(table, correction=False).statistic
    log_odds = np.log(400 * 250 / (300 * 350)) / 2.0
    error = np.sqrt((1 / np.array([400, 300, 250, 350])).sum()) / 2.0
    for kind in (BradleyTerry, Thurstone, PairwiseBeta):
        model = kind(ties=True)
        test = order_test(SimpleNamespace(model=model, data=data))
        assert stats.chi2.isf(test.p_value, 1) == pytest.approx(pearson, rel=5e-3)
        assert test.advantage == pytest.approx(log_odds, rel=5e-3)
        assert test.standard_error == pytest.approx(error, rel=5e-3)


def test_pairs_are_tested_by_their_hypergeometric_moments():
    rng = np.random.default_rng(2)
    first, second = np.nonzero(~np.eye(4, dtype=bool))
    counts = np.column_stack([rng.integers(0, 4, (12, 2)), np.zeros(12)])
    data = Comparisons.from_rows("abcd", first, second, counts, order_known=True)
    excess = variance = 0.0
    for one in range(4):
        for other in range(one + 1, 4):
            here = counts[(first == one) & (second == other)][0]
            back = counts[(first == other) & (second == one)][0]
            whole, shown = int(here.sum() + back.sum()), int(here[:2].sum())
            if whole > 1:
                wins = np.arange(whole + 1)
                won = int(here[0] + back[1])
                share = stats.hypergeom.pmf(wins, whole, won, shown)
                excess += here[0] - share @ wins
                variance += share @ (wins - share @ wins) ** 2
    expected = stats.chi2.sf(excess**2 / variance, 1)
    assert order_p(PairwiseBeta(), data) == pytest.approx(expected, rel=1e-9)


def test_where_order_says_nothing():
    """One order of one pair, no order, and rows that are neutral."""
    only = Comparisons.from_rows("ab", [0], [1], [[9, 1, 0]], order_known=True)
    assert order_p(BradleyTerry(), only) > 0.5 and order_p(PairwiseBeta(), only) == 1.0
    neutral = Comparisons.from_rows(
        "ab", [0, 1], [1, 0], [[9, 1, 0], [8, 2, 0]], order_known=True,
        columns={"neutral": [1, 1]},
    )  # fmt: skip
    for data in (only.without_order(), neutral):
        posterior = fit(BradleyTerry(zero_sum=True), data, num_draws=50)
        findings = report(posterior, with_loo=False).findings
        summary = {item.name: item for item in findings}
        assert all(summary[name].p_value is None for name in OF_VOTES)
        assert "do not say" in summary["order effect"].words


def checked(data, model=None, **options):
    model = BradleyTerry(zero_sum=True) if model is None else model
    posterior = report(fit(model, data, num_draws=100, **options), with_loo=False)
    return posterior, {finding.name: finding.p_value for finding in posterior.findings}


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ({"advantage": 2.5}, "order effect"),
        ({"spread": 1.5}, "judges"),
        ({"careless": 1, "number": 600}, "judges"),
        ({"circle": 1.5}, "circles"),
    ],
    ids=["order", "bias", "careless", "circles"],
)
def test_each_fault_is_named_in_five_lines(fault, name):
    summary, p_values = checked(votes(np.random.default_rng(5), **fault))
    assert not summary.good and p_values[name] <= FALSE_ALARM
    lines = summary.short().splitlines()
    assert len(lines) == 5 and lines[0].startswith("Do not rely") and name in lines[0]
    assert "BAD" in next(line for line in lines if f" {name}:" in line)


def test_a_model_of_the_fault_is_good():
    data = votes(np.random.default_rng(5), advantage=2.5)
    summary, p_values = checked(data, BradleyTerry(zero_sum=True, order_effect=True))
    assert summary.good and p_values["order effect"] is None, str(summary)


@pytest.mark.slow
def test_judges_and_circles_raise_few_false_alarms():
    rng = np.random.default_rng(11)
    summary = [checked(votes(rng, number=120))[1] for _ in range(60)]
    for name in ("judges", "circles"):
        p_values = [item[name] for item in summary]
        assert alarms(p_values) > UNLIKELY
        # They are tests, not constants.
        assert min(p_values) < 0.5 < max(p_values)


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([(0, 1), (0, 2)], "ref is always shown first"),
        ([(1, 0), (2, 0)], "ref is always shown second"),
        ([(0, 1), (1, 2)], "higher utilities of ref (by 2), m1 (by 1) do"),
    ],
)
@pytest.mark.parametrize("model", [BradleyTerry(zero_sum=True), PairwiseBeta()])
def test_an_order_that_utilities_can_make_up_for_is_not_tested(pairs, why, model):
    first, second = np.array(pairs).T
    counts = [[40, 2, 0], [30, 9, 0]]
    names = ["ref", "m1", "m2"]
    data = Comparisons.from_rows(names, first, second, counts, order_known=True)
    posterior = report(fit(model, data, num_draws=50), with_loo=False)
    (line,) = (item for item in posterior.findings if item.name == "order effect")
    assert line.mark == "-  " and line.p_value is None and line.good
    assert line.value.startswith("not tested: ") and line.value.endswith(why)
    assert why in posterior.short()


def test_pairs_of_a_circle_in_one_order_tell_utilities_from_it_alone():
    """A Beta per pair has no utilities, and needs a pair in both orders."""
    counts = [[40, 2, 0], [30, 9, 0], [7, 5, 0]]
    data = Comparisons.from_rows("abc", [0, 1, 2], [1, 2, 0], counts, order_known=True)
    lines = {}
    for model in (BradleyTerry(zero_sum=True), PairwiseBeta()):
        posterior = report(fit(model, data, num_draws=50), with_loo=False).findings
        (line,) = (item for item in posterior if item.name == "order effect")
        lines[model.title] = line
    assert lines["Bradley-Terry"].p_value is not None
    assert lines["Beta per pair"].value == (
        "not tested: no pair was shown in both orders with answers that differ"
    )


def test_an_order_effect_that_is_in_the_model_and_not_in_the_votes_is_said():
    names, both = ["ref", "m1", "m2"], [[40, 2, 0], [30, 9, 0]]
    model = BradleyTerry(zero_sum=True, order_effect=True)
    for second, why in (([1, 2], "ref is always shown first"), ([1, 0], "")):
        more = [] if why else [(0, 2, [3, 3, 0])]
        rows = zip([0, 0] if why else [0, 1], second, both, strict=True)
        rows = zip(*rows, *more, strict=True)
        data = Comparisons.from_rows(names, *map(list, rows), order_known=True)
        lines = report(fit(model, data, num_draws=50), with_loo=False).findings
        (line,) = (item for item in lines if item.name == "order effect")
        assert line.words.startswith("The model has one") and line.p_value is None
        assert ("but votes do not tell" in line.words) is bool(why)
        assert why in line.words
