"""Audits: planted faults, false alarms, and numbers against slow programs."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit, ndtri

from bayesduel import audit
from bayesduel.audits import checks, fewest_votes
from bayesduel.audits.checks import Board
from bayesduel.errors import ComparisonDataError, DisconnectedComparisonsWarning
from bayesduel.inference import fit_mode
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons, read_comparisons
from tests.audits.boards import FAULTS, UTILITIES, read, rows

FALSE_ALARM = 1e-5

WINS = np.array([[0, 60, 80, 95], [40, 0, 70, 90], [20, 30, 0, 65], [5, 10, 35, 0]])
"""An order that all pairs agree on."""

TESTS = ("order effect", "judges", "cycles", "duplicates", "drift")
"""The checks that warn by chance, at the level of the audit."""


@pytest.fixture
def few_refits(monkeypatch):
    """Enumerate little: what is tested are the other checks."""
    monkeypatch.setattr(fewest_votes, "_MOST_REFITS", 100)


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_named(fault, few_refits):
    name, make = FAULTS[fault]
    audited = audit(read(make(1)))
    check = audited[name]
    assert check.verdict == "warning", str(audited)
    assert check.remedy and check.threshold and check.evidence
    assert name in audited.summary


def alarms(boards: int, among: Iterable[Any], **options: Any) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in range(boards):
        board = Board(read(rows(1000 + seed, **options)), 0.05, seed, None, "time")
        made = [check(board) for check in among]
        assert all(check.verdict != "cannot be checked" for check in made)
        counts.update(check.name for check in made if check.verdict == "warning")
    most = stats.binom.isf(FALSE_ALARM / len(TESTS), boards, 0.05)
    assert {*counts} <= {*TESTS}
    assert all(count <= most for count in counts.values()), counts
    return counts


def test_tests_raise_few_false_alarms():
    among = [checks._order_effect, checks._judges, checks._cycles]
    among += [checks._duplicates, checks._drift, checks._mirrored]
    # With few judges all rows have votes, and programs are compiled once.
    result = alarms(30, among, number=400, judges=4)
    assert result


@pytest.mark.slow
def test_clean_boards_raise_few_false_alarms(few_refits):
    result = alarms(200, checks.CHECKS)
    # Tests that never warn would pass all that is above.
    assert result["order effect"] > 0 and result["drift"] > 0


@pytest.mark.slow
def test_every_fault_is_named_nearly_always(few_refits):
    for fault, (name, make) in FAULTS.items():
        hits = sum(
            audit(read(make(seed)))[name].verdict == "warning" for seed in range(20)
        )
        assert hits >= 18, fault


# The fewest votes, against all sets of votes.


def random_board(seed: int, number: int = 13, ties: float = 0.15) -> Comparisons:
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=number)
    second = (first + rng.integers(1, 4, size=number)) % 4
    won = rng.random(number) < expit(UTILITIES[first] - UTILITIES[second])
    outcome = np.where(rng.random(number) < ties, 2, np.where(won, 0, 1))
    votes = np.eye(3)[outcome]
    return Comparisons.from_rows(list("abcd"), first, second, votes)


def wins_of(votes: list[tuple[int, int, bool]]) -> list[float]:
    scores = [0.0] * 4
    for one, other, tied in votes:
        scores[one] += 0.5 if tied else 1.0
        scores[other] += 0.5 if tied else 0.0
    return scores


def copeland_of(votes: list[tuple[int, int, bool]]) -> list[float]:
    won = Counter((one, other) for one, other, tied in votes if not tied)
    return [
        float(sum(won[one, other] > won[other, one] for other in range(4)))
        for one in range(4)
    ]


def utilities_of(votes: list[tuple[int, int, bool]], ties: bool) -> list[float]:
    # The mode by a general program: utilities have the standard deviation 2 around
    # their mean, and the logarithm of nu that of the model.
    one, other, tied = (np.array(column) for column in zip(*votes, strict=True))
    scale = BradleyTerry(ties=True).tie_scale

    def loss(point):
        gap, nu = point[one] - point[other], point[4]
        parts = [gap / 2.0, -gap / 2.0, np.full(len(gap), nu if ties else -np.inf)]
        total = np.logaddexp.reduce(parts, axis=0)
        prior = (point[:4] ** 2).sum() / 8.0 + (nu / scale) ** 2 / 2.0
        return (
            prior - np.where(tied, nu if ties else 0.0, gap / 2.0).sum() + total.sum()
        )

    start = np.zeros(5)
    return optimize.minimize(loss, start, method="BFGS", tol=1e-9).x[:4].tolist()


def single_votes(data: Comparisons) -> list[tuple[int, int, bool]]:
    result = []
    for one, other, counts in zip(
        data.first.tolist(), data.second.tolist(), data.counts.tolist(), strict=True
    ):
        arms = (one, other, False), (other, one, False), (one, other, True)
        for vote, count in zip(arms, counts, strict=True):
            result += [vote] * int(count)
    return result


def smallest(votes, scores, leader, most=99):
    """Return the size of the smallest removal that puts another arm in front."""
    seen, size = {tuple(sorted(votes))}, 0
    while seen and size <= most:
        for left in seen:
            now = scores(list(left)) if left else [0.0] * 4
            if max(now) > now[leader] + 1e-7:
                return size
        seen = {
            left[:at] + left[at + 1 :]
            for left in seen
            for at in range(len(left))
            if at == 0 or left[at] != left[at - 1]
        }
        size += 1
    return None


def without(votes, removed, names):
    left = list(votes)
    for part in removed:
        one, other = names.index(part.winner), names.index(part.loser)
        for _ in range(part.number):
            same = [(one, other, part.is_tie), (other, one, part.is_tie)]
            left.remove(next(vote for vote in same[: 1 + part.is_tie] if vote in left))
    return left


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("find", "scores"),
    [
        (fewest_votes.fewest_of_wins, wins_of),
        (fewest_votes.fewest_of_copeland, copeland_of),
    ],
)
def test_counts_agree_with_all_sets_of_votes(find, scores, seed):
    data, names = random_board(seed), list("abcd")
    result, votes = find(data), single_votes(data)
    leader = names.index(result.leader)
    assert scores(votes)[leader] == max(scores(votes))
    assert result.is_exact and result.number == smallest(votes, scores, leader)
    if result.number is not None:
        left = without(votes, result.removed, names)
        assert len(votes) - len(left) == result.number == result.at_least
        now = scores(left)
        assert now[names.index(result.rival)] > now[leader]


@pytest.mark.parametrize(("seed", "ties"), [(3, 0.0), (7, 0.0), (2, 0.3), (8, 0.3)])
def test_bradley_terry_agrees_with_all_sets_of_votes(seed, ties, monkeypatch):
    data, names = random_board(seed, 16, ties), list("abcd")
    result = Board(data, 0.05, 0, None, None).fewest[0]
    votes = single_votes(data)

    def scores(left):
        return utilities_of(left, data.has_ties)

    leader = names.index(result.leader)
    assert scores(votes)[leader] == max(scores(votes))
    assert result.is_exact and result.number is not None and result.number > 1
    assert result.number == smallest(votes, scores, leader, result.number)
    now = scores(without(votes, result.removed, names))
    assert now[names.index(result.rival)] > now[leader]
    # The search by influence alone gives an upper bound, verified by refitting.
    monkeypatch.setattr(fewest_votes, "_MOST_REFITS", 0)
    bound = Board(data, 0.05, 0, None, None).fewest[0]
    assert bound.number >= result.number and bound.at_least == 1 and not bound.is_exact
    now = scores(without(votes, bound.removed, names))
    assert max(now) > now[leader]


def test_a_leader_that_nothing_unseats():
    data = Comparisons.from_wins([[0, 3], [0, 0]], arm_names=["tea", "milk"])
    audited = audit(data)
    assert {line.number for line in audited.fewest_votes} == {None}
    assert all(line.is_exact for line in audited.fewest_votes)
    assert "no removal of votes unseats tea" in audited["fewest votes"].evidence
    assert audited["fewest votes"].verdict == "ok"


# Numbers of the other checks.


def test_refits_of_many_tables_are_those_of_one():
    data = read(rows(5, 300))
    scale = Board(data, 0.05, 0, None, None).scale
    rng = np.random.default_rng(0)
    tables = rng.binomial(scale.counts.astype(int), 0.4, (6, *scale.counts.shape))
    tables = tables.astype(float)
    tables[0, :3] = 0.0  # The votes of the first arm.
    for table, point in zip(tables, scale.modes(tables), strict=True):
        pairs = scale.pairs
        votes = Comparisons.from_rows(pairs.arm_names, pairs.first, pairs.second, table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
            slow = fit_mode(BradleyTerry(ties=True), votes).utility
        assert scale.utilities(point) == pytest.approx(slow, abs=1e-6)


def test_effects_are_what_removing_a_vote_changes():
    scale = Board(read(rows(5, 2000)), 0.05, 0, None, None).scale
    (effects,) = scale.effects(scale.mode, scale.counts, 0, [1])
    places = [(0, 0), (0, 1), (1, 0), (3, 1), (2, 2)]
    tables = np.repeat(scale.counts[None], len(places), axis=0)
    for table, index in zip(tables, places, strict=True):
        table[index] -= 1.0
    utilities = scale.utilities(
        scale.modes(np.concatenate([scale.counts[None], tables]))
    )
    lead = utilities[:, 0] - utilities[:, 1]
    expected = [effects[index] for index in places]
    assert lead[0] - lead[1:] == pytest.approx(expected, rel=0.05, abs=1e-5)


def test_judges_who_are_left_out():
    table = rows(2)
    board = Board(read(table), 0.05, 0, None, None)
    lines = board.without_judges
    assert len(lines) == 12 and sum(line[1] for line in lines) == len(table)
    assert [line[3] for line in lines] == sorted(line[3] for line in lines)
    for judge, votes, leader, lead in lines[::4]:
        left = table[table["judge"] != judge]
        assert votes == len(table) - len(left)
        slow = fit_mode(BradleyTerry(ties=True), read(left).without_columns())
        ranking = slow.ranking().values
        assert leader == "ada"
        assert lead == pytest.approx(ranking[0] - ranking[1], abs=1e-6)


def test_intervals_of_two_arms_are_the_usual_ones():
    data = Comparisons.from_wins([[0, 60], [40, 0]], arm_names=["tea", "milk"])
    apart = Board(data, 0.05, 0, None, None).separation
    assert apart.critical == pytest.approx(ndtri(0.975), abs=0.06)
    # The error of a binomial share, as the prior is nearly flat.
    error = 1.0 / np.sqrt(100 * 0.6 * 0.4)
    assert apart.errors[0, 1] == pytest.approx(error, rel=0.02)
    # 0.405 in utility is 1.99 errors.
    assert apart.lowest_ranks.tolist() == [1, 2]
    close = Board(Comparisons.from_wins([[0, 59], [41, 0]]), 0.05, 0, None, None)
    assert close.separation.lowest_ranks.tolist() == [1, 1]
    assert close.separation.highest_ranks.tolist() == [2, 2]


def test_clustered_errors_are_those_of_the_fit():
    table = rows(4)
    # Each judge says the same ten times: votes hang together.
    table = table.loc[table.index.repeat(10)]
    board = Board(read(table), 0.05, 0, None, None)
    assert board.clusters == ("judge", 12)
    apart = board.separation
    assert np.all(apart.inflation[~np.eye(4, dtype=bool)] > 3.0)
    by_prompt = Board(read(table), 0.05, 0, "context", None)
    assert by_prompt.clusters == ("context", 10)
    # Student's distribution with 9 degrees of freedom is wider than with 11.
    assert by_prompt.separation.critical > apart.critical > 2.57


@pytest.mark.slow
def test_intervals_hold_all_differences_at_once():
    missed, number = 0, 300
    truth = dict(zip(("ada", "bell", "curie", "dirac"), UTILITIES, strict=True))
    for seed in range(number):
        board = Board(read(rows(seed, 400)), 0.05, seed, None, None)
        gaps = np.array([truth[name] for name in board.data.arm_names])
        off = board.utilities[:, None] - board.utilities - (gaps[:, None] - gaps)
        apart = board.separation
        missed += bool(np.any(np.abs(off) > apart.critical * apart.errors + 1e-9))
    assert missed <= stats.binom.isf(FALSE_ALARM, number, 0.05)


def test_more_votes_settle_a_comparison():
    wins = np.array([[0, 55, 80], [45, 0, 78], [20, 22, 0]])
    board = Board(Comparisons.from_wins(wins), 0.05, 0, None, None)
    (line,) = checks.more_votes(board)
    assert (line.better, line.worse) == ("0", "1")
    # Votes in the shares that the model expects leave its utilities where they
    # are, and its interval ends 0.84 errors above 0.
    p = expit(line.gap)
    more = wins + line.votes * np.array([[0, p, 0], [1 - p, 0, 0], [0, 0, 0]])
    later = Board(Comparisons.from_wins(more), 0.05, 0, None, None)
    gap = later.utilities[0] - later.utilities[1]
    apart = later.separation
    assert gap == pytest.approx(line.gap, rel=0.02)
    wanted = board.separation.critical + ndtri(0.8)
    assert gap / apart.errors[0, 1] == pytest.approx(wanted, rel=0.02)
    even = [[0, 50, 80], [50, 0, 80], [20, 20, 0]]
    assert audit(Comparisons.from_wins(even)).more_votes[0].votes is None


def test_drift_is_near_the_likelihood_ratio():
    table = rows(11, 3000)
    board = Board(read(table), 0.05, 0, None, "time")
    statistic = stats.chi2.isf(checks._drift(board).p_value, 3)
    table = table[table["winner"] != "tie"]
    names = ["ada", "bell", "curie", "dirac"]
    one, other = (table[side].map(names.index).to_numpy() for side in ("left", "right"))
    won = (table["winner"] == "left").to_numpy()
    times = table["time"].to_numpy()
    # Ranks of the groups of pair and day, as the votes are counted.
    groups = {
        (min(a, b), max(a, b), t) for a, b, t in zip(one, other, times, strict=True)
    }
    days = np.array(sorted(t for *_, t in groups))
    rank = {day: stats.rankdata(days)[days == day][0] for day in np.unique(days)}
    index = np.array([rank[t] for t in times])
    index = 2 * (index - index.min()) / (index.max() - index.min()) - 1

    def loss(point, moves):
        utility, speed = point[:4], point[4:] * moves
        gap = utility[one] - utility[other] + index * (speed[one] - speed[other])
        return np.logaddexp(0.0, np.where(won, -gap, gap)).sum() + 1e-3 * point @ point

    at_rest, moving = (
        optimize.minimize(loss, np.zeros(8), args=(moves,), method="BFGS").fun
        for moves in (0.0, 1.0)
    )
    assert statistic == pytest.approx(2.0 * (at_rest - moving), rel=0.05)


def test_what_votes_do_not_say_is_said(few_refits):
    audited = audit(Comparisons.from_wins(WINS))
    reasons = {
        check.name: check.evidence
        for check in audited.checks
        if check.verdict == "cannot be checked"
    }
    assert {*reasons} == {
        *("order effect", "judges", "share of judges", "single judges"),
        *("duplicates", "mirrored rows", "drift"),
    }
    assert "do not say which arm was shown first" in reasons["order effect"]
    assert (
        reasons["judges"] == reasons["share of judges"] == "no column says who judged"
    )
    assert not any(check.remedy for check in audited.checks)


def test_parts_and_weights(few_refits):
    apart = np.zeros((4, 4))
    apart[0, 1], apart[1, 0], apart[2, 3], apart[3, 2] = 60, 40, 70, 30
    audited = audit(Comparisons.from_wins(apart))
    assert audited["connectivity"].verdict == "warning"
    assert audited["fewest votes"].verdict == "cannot be checked"
    assert [line.score for line in audited.fewest_votes] == ["copeland", "wins"]
    # No rank across parts is known: each arm may be the last.
    assert max(arm.rank_upper for arm in audited.arms) == 4
    weighted = audit(Comparisons.from_wins(WINS * 0.7))
    assert weighted.fewest_votes == ()
    assert weighted["fewest votes"].verdict == "cannot be checked"
    never = audit(Comparisons.from_wins([[0, 40, 40], [0, 0, 25], [0, 15, 0]]))
    assert "never lost" in never["connectivity"].evidence


def test_ties_may_decide_who_leads(few_refits):
    ties = np.zeros((3, 3))
    ties[1, 2] = ties[2, 1] = 300
    wins = [[0, 25, 30], [20, 0, 30], [35, 2, 0]]
    audited = audit(Comparisons.from_wins(wins, ties=ties))
    assert "dropped" in audited["ties"].evidence
    assert "no vote is a tie" in audit(Comparisons.from_wins(wins))["ties"].evidence


def test_times_may_be_dates(few_refits):
    table = FAULTS["drift over time"][1](1)
    dates = [f"2024-05-{day + 1:02d}" for day in table["time"]]
    collected = []
    for times in (table["time"], dates):
        votes = read_comparisons(table.assign(day=times), columns=["day"])
        collected.append(checks._drift(Board(votes, 0.05, 0, None, "day")))
    assert collected[0] == collected[1] and collected[0].verdict == "warning"
    assert audit(votes)["drift"].verdict == "cannot be checked"
    assert audit(votes, time="day")["drift"] == collected[0]


def test_an_audit_is_text_json_and_html(few_refits):
    table = rows(1).replace({"left": {"ada": "<b>"}, "right": {"ada": "<b>"}})
    audited = audit(read(table), seed=3)
    again = audit(read(table), seed=3)
    assert audited.to_json() == again.to_json()
    assert (
        str(audited) == str(again)
        and repr(audited) == "Audit(4 arms, 1000 votes: 14 ok)"
    )
    record = json.loads(audited.to_json())
    assert [line["arm"] for line in record["arms"]] == ["<b>", "bell", "curie", "dirac"]
    assert [line["name"] for line in record["checks"]] == [
        check.name for check in audited.checks
    ]
    assert record["fewest_votes"][0]["removed"][0]["number"] > 1
    page = audited.to_html("<i>")
    assert "<h1>&lt;i&gt;</h1>" in page and "<b>" not in page.replace("<body>", "")
    assert page.count("data:image/svg") == 3
    for check in audited.checks:
        assert check.name in page and check.name in str(audited)
    with pytest.raises(KeyError):
        audited["x"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 0.0}, "level"),
        ({"level": "x"}, "level"),
        ({"cluster": "x"}, "cluster must be a column that the votes carry"),
        ({"time": "x"}, "time must be a column"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ComparisonDataError, match=words):
        audit(Comparisons.from_wins(WINS), **options)


def test_bad_votes_are_refused():
    alone = read(rows(1, 100).assign(judge="ann"))
    with pytest.raises(ComparisonDataError, match="2 clusters"):
        audit(alone, cluster="judge")
    with pytest.raises(ComparisonDataError, match="read_comparisons"):
        audit("votes.csv")
    with pytest.raises(ComparisonDataError, match="must hold a vote"):
        audit(Comparisons.from_wins([[0, 0], [0, 0]]))
