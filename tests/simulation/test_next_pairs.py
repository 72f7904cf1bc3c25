"""The next pairs after votes of any kind: what is asked, why, and in batches."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

import bayesduel
from bayesduel import NextPair, Player, next_pairs
from bayesduel.errors import (
    ComparisonDataError,
    PolicyParameterError,
    SimulationArgumentError,
)
from bayesduel.inference import fit_mode
from bayesduel.models import BradleyTerry
from bayesduel.simulation.steppers import coin
from bayesduel.votes import Comparisons
from tests.rules import Greedy
from tests.simulation.test_player import NAMES, WINS, Batches

FALSE_ALARM = 1e-5

ROWS = [
    (NAMES[winner], NAMES[loser])
    for winner, loser in itertools.permutations(range(4), 2)
    for _ in range(WINS[winner, loser])
]


def pairs_of(result):
    return [(pair.first, pair.second) for pair in result]


# --- Votes ----------------------------------------------------------------------------


def test_the_pairs_are_those_of_a_player(tmp_path):
    table = Comparisons.from_wins(WINS, arm_names=NAMES)
    path = tmp_path / "votes.csv"
    frame = pd.DataFrame(WINS, index=NAMES, columns=NAMES)
    frame.to_csv(path)
    for votes in (path, str(path), frame, table):
        expected = Player("d-ts+", votes=votes, seed=3, compiled=None).ask(12)
        assert pairs_of(next_pairs(votes, n=12, seed=3)) == expected
    plain = pairs_of(next_pairs(WINS, n=12, seed=3))
    assert [(NAMES[one], NAMES[two]) for one, two in plain] == expected
    pairs = next_pairs(WINS, n=12, seed=3, arm_names=NAMES)
    assert pairs_of(pairs) == expected
    answers = pd.DataFrame(pairs).assign(winner=[pair.first for pair in pairs])
    assert bayesduel.votes.read_comparisons(answers).num_votes == 12


@pytest.mark.parametrize(
    "votes",
    [ROWS, [[*row] for row in ROWS], [(winner, loser, True) for winner, loser in ROWS],
     [(loser, winner, np.bool_(False)) for winner, loser in ROWS],
     [(loser, winner, winner, "ann") for winner, loser in ROWS],
     [{"winner": winner, "loser": loser} for winner, loser in ROWS],
     [{"a": row[0], "b": row[1], "winner": "a"} for row in ROWS]],
)  # fmt: skip
def test_a_list_holds_a_vote_in_each_entry(votes):
    expected = next_pairs(WINS, "rucb", 5, seed=1, arm_names=NAMES)
    assert next_pairs(votes, "rucb", 5, seed=1, arm_names=NAMES) == expected


def test_a_tie_in_a_list_counts_for_either_arm():
    votes = [("tea", "milk", None)] * 8
    player = Player("random", votes=votes, compiled=None)
    assert player.wins[0, 1] == player.wins[1, 0] == 4


def test_with_more_votes_other_random_numbers_come():
    """With those of before a policy that draws would ask one pair for ever."""
    results = [
        frozenset(next_pairs(WINS + more * (1 - np.eye(4, dtype=int)), "random")[0][:2])
        for more in range(60)
    ]
    counts = [*Counter(results).values()]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_before_the_first_vote_the_arms_need_names():
    pairs = next_pairs([], n=3, arm_names=NAMES)
    assert {*itertools.chain(*pairs_of(pairs))} <= {*NAMES}
    with pytest.raises(SimulationArgumentError, match="before the first vote"):
        next_pairs([], n=3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: next_pairs([("a",)]), r"votes\[0\] must be \(winner, loser\)"),
        (lambda: next_pairs([("a", "b"), ("b",)]), r"votes\[1\] must be a tuple of 2"),
        (lambda: next_pairs([("a", "b"), {}]), r"votes\[1\] must be a tuple"),
        (lambda: next_pairs([{"a": "x"}, "y"]), r"votes\[1\] must be a dictionary"),
        (lambda: next_pairs([("a", "b", "c")]), "row 0 is 'c', but must be 'a', 'b'"),
        (lambda: next_pairs([("a", "a"), ("a", "b")]), "itself"),
        (lambda: next_pairs([("a", "b", True)], judge="ann"), "no column 'judge'"),
        (lambda: next_pairs([[0, 900], [0, 0]], "sup-klucb", 3), "at most 0.*settle"),
        (lambda: next_pairs([[0, 1], [1, 0]], exclude=[(0, 1)]), "leave a pair"),
        (lambda: next_pairs([[0, 1], [1, 0]], exclude=[(0, 1, 1)]), r"exclude\[0\]"),
        (lambda: next_pairs([[0, 1], [1, 0]], judge=3), "must be the name of a judge"),
        (lambda: next_pairs([[0, 1], [1, 0]], judge="ann"), "must say who judged"),
        (lambda: next_pairs([[0, 1], [1, 0]], n=0), "n must be"),
        (lambda: next_pairs(WINS, prices=[1, 1, 1, 1]), "not read by D-TS+"),
        (lambda: next_pairs(WINS, "rd-ts:cost=prices"), "cost needs prices"),
        (lambda: next_pairs(WINS, "rd-ts:cost=prices", prices=[1]), "of 4 arms"),
        (lambda: next_pairs(WINS, "rd-ts:cost=prices", prices=[1, np.inf, 1, 1]),
         "must be finite and above 0"),
        (lambda: next_pairs(WINS, "rd-ts:cost=prices", prices=[0, 0, 1, 1]),
         r"prices\[0, 1\] must be finite and above 0"),
    ],
)  # fmt: skip
def test_what_is_refused(call, words):
    kinds = SimulationArgumentError, ComparisonDataError, PolicyParameterError
    with pytest.raises(kinds, match=words):
        call()


# --- Reasons --------------------------------------------------------------------------


def test_a_reason_names_the_leader_and_its_rival():
    """With probabilities of SciPy's Beta distribution, uniform before the votes."""
    pairs = next_pairs(WINS, "d-ts+", 60, seed=2, arm_names=NAMES)
    assert all(isinstance(pair, NextPair) for pair in pairs)
    leader = Player("d-ts+", votes=WINS, arm_names=NAMES, compiled=None).recommend()
    assert leader == "tea"
    better = {
        (one, two): stats.beta(WINS[i, j] + 1, WINS[j, i] + 1).sf(0.5)
        for (i, one), (j, two) in itertools.permutations(enumerate(NAMES), 2)
    }
    likeliest = max(NAMES[1:], key=lambda arm: better[arm, leader])
    seen = set()
    for first, second, reason in pairs:
        reason = reason.partition(";")[0]
        if leader in (first, second):
            rival = second if first == leader else first
            seen.add("likeliest" if rival == likeliest else "other")
            if rival == likeliest:
                words = f"its likeliest rival: {rival!r} may be better with "
            else:
                words = f"{rival!r}, which may be better with "
            expected = f"leader {leader!r} against {words}"
            number = better[rival, leader]
        else:
            seen.add("neither")
            expected = f"{first!r} against {second!r}, neither the leader {leader!r}: "
            expected += f"{first!r} is better with "
            number = better[first, second]
        assert reason == f"{expected}probability {number:.2g}"
    assert seen == {"likeliest", "other", "neither"}


def test_a_reason_says_what_is_not_known_and_what_a_question_costs():
    votes = [("tea", "milk")] * 5
    prices = {"tea": 1, "milk": 2, "coffee": 30.5}
    options = {"prices": prices, "arm_names": ["tea", "milk", "coffee"]}
    pairs = next_pairs(votes, "rd-ts:cost=prices", 12, **options)
    reasons = {frozenset(pair[:2]): pair.reason for pair in pairs}
    # The pair without a vote is even.
    words = "leader 'tea' against 'milk', which may be better with probability 0.016"
    assert reasons[frozenset({"tea", "milk"})] == f"{words}; it costs 3"
    reason = reasons[frozenset({"tea", "coffee"})]
    assert reason.startswith(
        "leader 'tea' against 'coffee': no vote yet; it costs 31.5"
    )


# --- Pairs that may not be asked ------------------------------------------------------


@pytest.mark.parametrize("policy", ["d-ts+", "rmed1", "rucb", Greedy(), Batches()])
def test_excluded_pairs_never_appear(policy):
    exclude = [("tea", "coffee"), ("milk", "tea"), (2, 3)]
    pairs = next_pairs(WINS, policy, 40, exclude=exclude, arm_names=NAMES)
    names = {frozenset(pair) for pair in pairs_of(pairs)}
    assert len(pairs) == 40 and len(names) > 1
    assert names.isdisjoint({frozenset({"tea", "coffee"}), frozenset({"tea", "milk"}),
                             frozenset({"milk", "cocoa"})})  # fmt: skip
    assert any(pair.reason.endswith("which is excluded") for pair in pairs)
    assert next_pairs(WINS, policy, 40, exclude=exclude, arm_names=NAMES) == pairs


def test_a_substitute_has_an_arm_of_the_pair_and_the_fewest_votes():
    """Only one pair of two arms is asked for; with it excluded, the rarest near it."""
    votes = [[0, 1, 9, 9], [1, 0, 9, 9], [9, 2, 0, 9], [9, 9, 9, 0]]

    class Same(Greedy):
        def choose(self, wins, rng, round_):
            return 0, 1

    pairs = pairs_of(next_pairs(votes, Same(), 8, exclude=[(1, 0)]))
    # Pairs near it have 18, 18, 11 and 18 votes.
    assert pairs[:7] == [(1, 2)] * 7 and {*pairs[7]} != {0, 1}


def test_a_judge_is_not_asked_twice_about_a_pair():
    votes = [
        ("tea", "milk", True, "ann"),
        ("coffee", "tea", True, "ann"),
        ("milk", "coffee", None, "ann"),
        ("tea", "cocoa", True, "bob"),
    ]
    answered = [{"tea", "milk"}, {"coffee", "tea"}, {"milk", "coffee"}]
    pairs = next_pairs(votes, n=30, judge="ann", seed=4)
    assert all({*pair} not in answered for pair in pairs_of(pairs))
    assert any("which this judge has answered" in pair.reason for pair in pairs)
    # Somebody else may answer everything.
    new = next_pairs(votes, n=30, judge="cleo", seed=4)
    assert new == next_pairs(votes, n=30, seed=4)
    table = bayesduel.votes.read_comparisons(
        pd.DataFrame(votes, columns=["first", "second", "winner", "judge"]).assign(
            winner=["tea", "coffee", "tie", "tea"]
        ),
        judge="judge",
    )
    assert next_pairs(table, n=30, judge="ann", seed=4) == pairs
    exclude = [("cocoa", name) for name in ("tea", "milk", "coffee")]
    with pytest.raises(SimulationArgumentError, match="answered every pair.*'ann'"):
        next_pairs(votes, judge="ann", exclude=exclude)


# --- Several questions at once --------------------------------------------------------


@pytest.mark.parametrize("policy", ["d-ts", "d-ts+", "rcs", "rd-ts:cost=duels"])
@pytest.mark.parametrize("number", [7, 20])
def test_no_pair_takes_a_whole_batch(policy, number):
    for num_arms in (4, 8):
        wins = np.ones((num_arms, num_arms), dtype=int)
        wins[0, 1:], wins[1:, 0] = 60, 5
        wins[0, 1], wins[1, 0] = 35, 30  # The only rival.
        np.fill_diagonal(wins, 0)
        times = Counter(map(frozenset, pairs_of(next_pairs(wins, policy, number))))
        assert sum(times.values()) == number
        assert max(times.values()) <= math.ceil(4 * number / 5)
    # With one or two pairs left, these are all.
    exclude = [(0, 1), (0, 2), (0, 3), (1, 3)]
    pairs = next_pairs(WINS * 3, policy, 9, seed=5, exclude=exclude)
    times = Counter(frozenset(pair) for pair in pairs_of(pairs))
    assert sum(times.values()) == 9 and len(times) == 2
    pairs = next_pairs(WINS * 3, policy, 9, seed=5, exclude=[*exclude, (1, 2)])
    assert {frozenset(pair) for pair in pairs_of(pairs)} == {frozenset({2, 3})}
    assert len(next_pairs([[0, 9], [3, 0]], policy, 20)) == 20


@pytest.mark.slow
def test_the_questions_of_a_batch_have_the_law_of_the_first():
    """The first two of six may be of one pair: each is a draw by itself."""
    number = 600
    draws = [
        [tuple(sorted(pair)) for pair in Player("d-ts+", votes=WINS, seed=seed,
                                                compiled=False).ask(6)[:2]]
        for seed in range(number)
    ]  # fmt: skip
    table = [Counter(draw[index] for draw in draws) for index in range(2)]
    counts = np.array(
        [[item[pair] for item in table] for pair in {*table[0], *table[1]}]
    )
    common = counts[counts.sum(axis=1) >= 10]
    assert len(common) >= 3
    assert stats.chi2_contingency(common).pvalue > FALSE_ALARM
    # Independent: as often the same pair as two draws of that law are.
    shares = counts.sum(axis=1) / counts.sum()
    same = sum(one == two for one, two in draws)
    expected = stats.binom(number, (shares**2).sum())
    assert expected.ppf(FALSE_ALARM) <= same <= expected.isf(FALSE_ALARM)


@pytest.mark.parametrize(
    "policy",
    ["rucb", "ccb", "rd-ts-star", "d-optimal", "track-and-stop", "information"],
)
def test_an_index_goes_on_as_if_likely_answers_had_come(policy):
    """As a player does that is told them; the policy itself waits for the answers."""
    votes = WINS // 2
    votes[2, 3] = votes[3, 2]  # A coin decides an even pair.
    player, twin = (Player(policy, votes=votes, seed=6, compiled=None) for _ in "12")
    pairs = player.ask(9)
    for pair in pairs:
        assert twin.ask() == pair
        won, lost = votes[pair], votes[pair[::-1]]
        if won == lost:
            won += coin(6, twin._num_events + 1)
        twin.tell(*pair, bool(won > lost))
    assert len({frozenset(pair) for pair in pairs}) > 1
    assert np.array_equal(player.wins, votes) and player.open_pairs == pairs
    for pair in reversed(pairs):
        player.tell(*pair, True)
    assert player.open_pairs == []
    assert player._memory.round == twin._memory.round
    assert player.wins.sum() == votes.sum() + 9


def test_questions_that_are_open_count_as_answered_for_an_index():
    """Those of batches before, and one that was asked by itself."""
    at_once, by_parts = (
        Player("track-and-stop:growth=0", votes=WINS, compiled=None) for _ in "12"
    )
    pairs = at_once.ask(12)
    first = by_parts.ask()
    assert [first, *by_parts.ask(4), *by_parts.ask(7)] == pairs


def test_a_policy_of_ones_own_says_how_it_asks_a_batch():
    """By an index, of the pair with the fewest votes: each is asked once, in turn."""

    class Fewest(Greedy):
        def choose(self, wins, rng, round_):
            votes = wins + wins.T + np.diag(np.full(len(wins), 1e9))
            return tuple(map(int, np.unravel_index(votes.argmin(), votes.shape)))

    class Likely(Fewest):
        in_batches = "likely answers"

    class Wrong(Fewest):
        in_batches = "somehow"

    plain, likely = (Player(kind(), 4).ask(12) for kind in (Fewest, Likely))
    assert plain == [(0, 1)] * 12
    assert {*Counter(likely).values()} == {2} and len({*likely}) == 6
    with pytest.raises(PolicyParameterError, match="in_batches must be 'draws', 'like"):
        Player(Wrong(), 4)


def test_what_is_read_is_for_debugging(caplog):
    """A loop calls it again and again; the players of a file are told once."""
    votes = [("tea", "milk", True, "ann"), ("tea", "ale", False, "bob")]
    with caplog.at_level("INFO"):
        next_pairs(votes)
    assert not caplog.records
    with caplog.at_level("DEBUG"):
        next_pairs(votes)
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert "not read: column 'judge'" in caplog.text
    caplog.clear()
    Player("rucb", votes=votes, compiled=None)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# --- Many arms ------------------------------------------------------------------------

MANY = 2001
MANY_NAMES = [f"item {arm}" for arm in range(MANY)]


def many_votes(number=6000):
    rng = np.random.default_rng(2)
    utility = rng.normal(size=MANY)
    first = np.concatenate([np.arange(MANY), rng.integers(MANY, size=number)])
    second = (first + rng.integers(1, MANY, size=len(first))) % MANY
    won = rng.random(len(first)) < expit(utility[first] - utility[second])
    frame = pd.DataFrame({"first": first, "second": second}).map(MANY_NAMES.__getitem__)
    return frame.assign(winner=frame["first"].where(won, frame["second"]))


def test_pairs_of_a_fit_are_best_arms_of_two_draws():
    """Beside draws by a dense factor; calls are independent, their pairs are not."""
    votes = Comparisons.from_wins((WINS + 2) // 4, arm_names=NAMES)
    fitted = fit_mode(BradleyTerry(), votes)
    calls, number = 150, 40
    shares = np.zeros((calls, 4, 4))
    for seed in range(calls):
        for first, second in pairs_of(next_pairs(fitted, n=number, seed=seed)):
            shares[seed, NAMES.index(first), NAMES.index(second)] += 1 / number
    factor = np.linalg.cholesky(np.linalg.inv(fitted.precision.toarray()))
    normal = np.random.default_rng(0).standard_normal((2, 400_000, 4))
    one, other = fitted.utility + normal @ factor.T
    best = one.argmax(axis=1)
    other[np.arange(len(best)), best] = -np.inf
    codes = np.bincount(4 * best + other.argmax(axis=1), minlength=16)
    wanted = codes.reshape(4, 4) / len(best)
    mean, error = shares.mean(axis=0), shares.std(axis=0) / math.sqrt(calls)
    often = wanted > 0.01
    apart = (mean - wanted)[often] / np.hypot(error, 0.001)[often]
    assert 6 < often.sum() and stats.norm.sf(np.abs(apart).max()) * 32 > FALSE_ALARM
    assert not mean[np.eye(4, dtype=bool)].any()


def test_reasons_of_draws_are_probabilities_of_the_fit():
    votes = Comparisons.from_wins(WINS * 5, arm_names=NAMES)
    fitted = fit_mode(BradleyTerry(), votes)
    leader = NAMES[int(fitted.utility.argmax())]
    for first, second, reason in next_pairs(fitted, n=50):
        said = float(reason.rsplit(" ", 1)[1])
        if leader in (first, second):
            rival = second if first == leader else first
            assert reason.startswith(f"leader {leader!r} against {rival!r}, which may")
            better, behind = rival, leader
        else:
            words = f"{first!r} against {second!r}, neither the leader {leader!r}: "
            assert reason.startswith(f"{words}{first!r} is better with")
            better, behind = first, second
        exact = float(fitted.contrasts([better], behind)["p_better"][0])
        # The spread of 40 draws is off by 11 %.
        score = stats.norm.ppf(exact)
        assert abs(stats.norm.ppf(said) / score - 1) < 0.6 or abs(said - exact) < 0.05


def test_more_than_2000_arms_are_asked_by_draws(tmp_path):
    frame = many_votes()
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    pairs = next_pairs(frame, n=300, seed=1)
    assert pairs == next_pairs(path, n=300, seed=1) != next_pairs(frame, n=300, seed=2)
    assert len(pairs) == 300 and all(first != second for first, second, _ in pairs)
    data = bayesduel.votes.read_comparisons(frame)
    fitted = fit_mode(BradleyTerry(zero_sum=True), data)
    assert pairs == next_pairs(fitted, n=300, seed=1)
    # Questions are about arms at the top.
    rank = dict(zip(fitted.ranking()["arm"].values.tolist(), range(MANY), strict=False))
    assert np.median([rank[arm] for pair in pairs_of(pairs) for arm in pair]) < 200
    answers = pd.DataFrame(pairs).assign(winner=[pair.first for pair in pairs])
    next_pairs(pd.concat([frame, answers[["first", "second", "winner"]]]), n=3)


def test_arms_without_a_vote_are_asked_about():
    pairs = next_pairs([], n=200, arm_names=MANY_NAMES)
    assert len({*itertools.chain(*pairs_of(pairs))}) > 300
    rows = [(first, second, None) for first, second in pairs_of(pairs)]
    more = next_pairs(rows, n=5, arm_names=MANY_NAMES)
    assert {*itertools.chain(*pairs_of(more))} <= {*MANY_NAMES}
    wins = np.zeros((MANY, MANY), dtype=int)
    wins[0, 1:] = 3
    arms = itertools.chain(*pairs_of(next_pairs(wins, n=9)))
    assert {*map(type, arms)} == {int}


def test_excluded_pairs_of_draws_are_not_asked():
    votes = [(*row, "ann") for row in ROWS[:6]] + [(*row, "bob") for row in ROWS[6:]]
    votes = [(winner, loser, winner, judge) for winner, loser, judge in votes]
    data = bayesduel.votes.read_comparisons(
        pd.DataFrame(votes, columns=["first", "second", "winner", "judge"]),
        judge="judge",
    )
    fitted = fit_mode(BradleyTerry(), data)
    by_ann = {frozenset(row) for row in ROWS[:6]}
    names = {*map(frozenset, pairs_of(next_pairs(fitted, n=99, judge="ann")))}
    assert names and not names & by_ann
    pairs = [*itertools.combinations(NAMES, 2)]
    (left, *_), others = pairs[3:4], pairs[:3] + pairs[4:]
    result = pairs_of(next_pairs(fitted, n=30, exclude=others))
    assert {frozenset(pair) for pair in result} == {frozenset(left)}
    for wrong, words in (
        (pairs, "exclude must leave a pair"),
        ([("tea", "nothing")], "unknown|must be the name"),
        ([("tea", "tea")], "must differ from first"),
    ):
        with pytest.raises(SimulationArgumentError, match=words):
            next_pairs(fitted, exclude=wrong)


@pytest.mark.parametrize(
    "given",
    [{"policy": "d-ts+"}, {"policy": "random"}, {"prices": [1.0] * 4},
     {"features": np.ones((4, 2))}, {"arm_names": NAMES}],
    ids=str,
)  # fmt: skip
def test_what_draws_do_not_read_is_refused(given):
    fitted = fit_mode(BradleyTerry(), Comparisons.from_wins(WINS, arm_names=NAMES))
    with pytest.raises(
        SimulationArgumentError, match="must be left out with more than"
    ):
        next_pairs(fitted, **given)


def test_a_player_of_too_many_arms_says_what_asks_instead():
    with pytest.raises(SimulationArgumentError, match=r"next_pairs\(votes\) asks"):
        Player(arm_names=MANY_NAMES)
    with pytest.raises(SimulationArgumentError, match="n must be"):
        next_pairs([], n=0, arm_names=MANY_NAMES)
    with pytest.raises(SimulationArgumentError, match="seed must be"):
        next_pairs([], seed=-1, arm_names=MANY_NAMES)
