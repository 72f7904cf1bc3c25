"""Arms that come and go: in players, and in simulated runs where they arrive.

The twin of a run in a growing pool walks through every round, begins a policy anew at
each arrival, and tells it all votes; it shares no code with the loop.
"""

import copy
import math
import pickle
from functools import partial

import numpy as np
import pytest
from scipy import stats

import bayesduel
import theory
from bayesduel import Player
from bayesduel.errors import (
    ArgumentError,
    PolicyParameterError,
    SimulationArgumentError,
)
from bayesduel.instances.worlds import Corrupted, Piecewise, Pool
from bayesduel.policies import parse_policy
from bayesduel.policies.policy import Problem
from bayesduel.simulation.runs import WorldEnvironment, orders_and_words
from bayesduel.stopping import parse_rule
from tests.rules import Greedy
from tests.simulation.test_open_worlds import assert_same, played
from tests.simulation.test_player import Batches, Linear, memory

FALSE_ALARM = 1e-6
POLICIES = ("d-ts+", "rucb", "rmed1", "track-and-stop", "sparring", Greedy())
BETTER = 1 / (1 + np.exp(np.subtract.outer(*2 * [np.arange(6) / 2])))
"""False-alarm rate of six arms the first is the best."""


def answered(player, number, seed=0, arms=range(6)):
    """Answer questions, one at a time, by positions in ``arms``; return them."""
    rng, pairs = np.random.default_rng(seed), []
    for _ in range(number):
        first, second = player.ask()
        won = rng.random() < BETTER[arms[first], arms[second]]
        player.tell(first, second, bool(won))
        pairs.append((arms[first], arms[second]))
    return pairs


# --- Players --------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_arms_added_before_the_first_question_were_there_from_the_start(policy):
    grown = Player(policy, 3, seed=4, compiled=None)
    assert [grown.add_arm(), grown.add_arm()] == [3, 4]
    whole = Player(policy, 5, seed=4, compiled=None)
    assert answered(grown, 25) == answered(whole, 25)
    assert grown.recommend() == whole.recommend()


@pytest.mark.parametrize("policy", POLICIES)
def test_retired_arms_were_never_there(policy):
    """Positions of the others stay, and the questions are those of a smaller pool."""
    fewer = Player(policy, 6, seed=4, compiled=None)
    for arm in (1, 4):
        fewer.retire_arm(arm)
    small = Player(policy, 4, seed=4, compiled=None)
    left = [0, 2, 3, 5]
    assert answered(fewer, 25) == answered(small, 25, arms=left)
    assert fewer.recommend() == left[small.recommend()]
    assert fewer.arms == (0, 2, 3, 5) and fewer.num_arms == 6
    assert not fewer.wins[[1, 4]].any()


@pytest.mark.parametrize("policy", ["d-ts+", "rucb", "rmed1"])
def test_the_votes_of_the_arms_that_stay_are_kept(policy):
    """The state is that of a new player with these votes, and nothing of the others."""
    player = Player(policy, 4, seed=1, compiled=None)
    answered(player, 40)
    wins = player.wins
    player.retire_arm(2)
    player.add_arm()
    pool = [0, 1, 3]
    expected = np.pad(wins[np.ix_(pool, pool)], (0, 1))
    twin = Player(policy, votes=expected, seed=1, compiled=None)
    assert memory(player) == memory(twin)
    assert np.array_equal(player.wins, np.pad(wins, (0, 1)))
    # The new arm is asked about.
    assert any(4 in pair for pair in answered(player, 30))
    player.restore_arm(2)
    everything = Player(policy, votes=player.wins, seed=1, compiled=None)
    assert memory(player) == memory(everything)


def test_names_stay_and_open_questions_of_a_retired_arm_are_closed():
    player = Player("rucb", arm_names=["tea", "milk", "ale"], compiled=None)
    questions = player.ask(6)
    assert any("milk" in pair for pair in questions)
    player.retire_arm("milk")
    assert all("milk" not in pair for pair in player.open_pairs)
    assert player.add_arm("gin") == "gin"
    assert player.arms == ("tea", "ale", "gin")
    before = memory(player)
    player.tell("milk", "tea", won=True)  # Late: it is kept, and does not count.
    assert player.wins[1, 0] == 1 and memory(player) == before
    player.tell("ale", "tea", won=True)
    assert memory(player) != before
    for again in (copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        assert again.ask(5) == copy.deepcopy(player).ask(5)
        assert again.arms == player.arms


def test_features_and_prices_come_with_the_arm():
    prices = theory.pair_prices([1.0, 2.0, 4.0])
    grown = Player("rd-ts:cost=prices", 3, prices=prices, seed=2, compiled=None)
    grown.add_arm(prices=[9.0, 10.0, 12.0])
    whole = Player("rd-ts:cost=prices", 4, prices=[1.0, 2.0, 4.0, 8.0], seed=2,
                   compiled=None)  # fmt: skip
    assert answered(grown, 10) == answered(whole, 10)
    rows = np.arange(8.0).reshape(4, 2)
    linear = Player(Linear(), features=rows[:3])
    linear.add_arm(features=rows[3])
    assert linear.ask() == (3, 2)
    for wrong in (None, [1.0], [np.nan, 1.0]):
        with pytest.raises(SimulationArgumentError, match="features must be"):
            linear.add_arm(features=wrong)
    for wrong in (None, [1.0, 2.0], -1.0, "much"):
        with pytest.raises(SimulationArgumentError, match="prices"):
            whole.add_arm(prices=wrong)
    with pytest.raises(SimulationArgumentError, match="prices must be given where"):
        linear.add_arm(features=rows[0], prices=1.0)
    assert whole.num_arms == 4 and whole.arms == (0, 1, 2, 3)


def test_policies_that_plan_in_bulk_refuse_or_forget():
    player = Player(Batches(), 3)
    for _ in range(3):
        player.tell(*player.ask(), won=True)
    for change in (player.add_arm, lambda: player.retire_arm(0)):
        with pytest.raises(PolicyParameterError, match="anew must be True: Batches"):
            change()
    assert player._memory.state["told"]
    player.add_arm(anew=True)
    assert not player._memory.state["told"] and player.arms == (0, 1, 2, 3)
    player.retire_arm(0, anew=True)
    player.restore_arm(0, anew=True)
    with pytest.raises(PolicyParameterError, match="prune needs a policy that begins"):
        Player(Batches(), 3, prune=0.1)


def test_errors_name_the_argument():
    player, known = (Player("rucb", 2, compiled=None) for _ in range(2))
    named = Player("rucb", arm_names=["tea", "milk"], compiled=None)
    known.num_arms = 2000
    for deed, given, words in (
        (player.retire_arm, [0], "must leave two arms"),
        (player.add_arm, ["tea"], "name must be left out"),
        (player.retire_arm, [2], "arm must be an integer"),
        (partial(player.add_arm, anew=1), [], "anew must be"),
        (named.add_arm, [None], "name must be a text"),
        (named.add_arm, [3], "name must be a text"),
        (named.add_arm, ["tea"], "name must be new"),
        (named.add_arm, [""], r"^name must be different"),
        *(
            (partial(Player, "rucb", 2, prune=x), [], "prune must be")
            for x in (0, 1, "x")
        ),
        (known.add_arm, [], "must be at most 2000"),
    ):
        with pytest.raises(SimulationArgumentError, match=words):
            deed(*given)


# --- Pruning --------------------------------------------------------------------------


def test_arms_go_by_the_evidence_and_by_nothing_else():
    """After every vote the pool is what the evidence of the counts leaves of it."""
    player = Player("random:distinct=true", 5, seed=0, prune=0.1)
    rng, there = np.random.default_rng(1), [0, 1, 2, 3, 4]
    while len(there) > 2:
        first, second = player.ask()
        player.tell(first, second, bool(rng.random() < BETTER[first, second]))
        gone = [arm for arm in range(5) if arm not in there]
        evidence = theory.elimination_evidence(player.wins, retired=gone)
        over = [arm for arm in there if evidence[arm] >= math.log(10)]
        if over:
            there.remove(max(over, key=lambda arm: evidence[arm]))
            assert player.pruned[-1] not in there
        assert list(player.arms) == there
    answered(player, 20)
    assert len(player.arms) == 2  # The last two stay.
    assert 0 in player.arms
    last = player.pruned[-1]
    player.restore_arm(last)
    answered(player, 20)
    assert last in player.arms and last not in player.pruned
    # The same counts at once.
    begun = Player("rucb", votes=player.wins, prune=0.1, compiled=None)
    assert len(begun.arms) == 2 and 0 in begun.arms


@pytest.mark.slow
def test_the_best_arm_is_seldom_pruned():
    """A policy asks, two arms join, and the best arm is only just the best."""
    runs, delta, gone, others = 60, 0.3, 0, 0
    utilities = np.array([0.1, 0.0, 0.0, -0.1, 0.0])
    better = 1 / (1 + np.exp(utilities - utilities[:, None]))
    for run in range(runs):
        rng = np.random.default_rng((9, run))
        player = Player("rucb", 3, seed=run, prune=delta, compiled=None)
        for vote in range(250):
            if vote in (50, 100):
                player.add_arm()
            first, second = player.ask()
            player.tell(first, second, bool(rng.random() < better[first, second]))
            if 0 in player.pruned:
                break
        gone += 0 in player.pruned
        others += len(player.pruned)
    assert stats.binom.sf(gone - 1, runs, delta) > FALSE_ALARM
    assert others > gone


# --- Simulated runs -------------------------------------------------------------------

MATRIX = 1 / (1 + np.exp(np.subtract.outer(*2 * [np.array([0.3, 1, 0, -0.5, -1])])))
GRID = (1, 7, 29, 30, 31, 80, 120)
POOL = Pool(matrix=MATRIX, arrivals=[1, 31, 1, 31, 80])


def played_by_hand(world, policy, run, grid, seed=5):
    """Play a rule of a user, by what is said of runs, worlds and arrivals."""
    orders, words = orders_and_words(
        WorldEnvironment(world, 2), range(run, run + 1), seed
    )
    order, numbers = orders[0], np.random.SFC64
    rng = np.random.Generator(numbers(np.random.SeedSequence(words[0])))
    hidden = np.random.Generator(
        numbers(np.random.SeedSequence([*words[0].tolist(), 1]))
    )
    horizon = grid[-1]
    state = world.start(horizon, hidden)
    values, rounds = state[0], state[3]
    plays, wins = np.zeros(values.shape, int), np.zeros(values.shape, int)
    regret, at, pool = np.zeros(2), [], []
    for round_ in range(1, horizon + 1):
        there = [int(arm) for arm in order if rounds[arm] <= round_]
        if there != pool:
            if pool:
                # At the end of every stretch the policy names an arm.
                policy.recommend(mine, rng)  # noqa: F821
            pool, clock = there, 0
            mine = policy.start(Problem(len(pool), horizon), rng)
            for one in range(len(pool)):
                for other in range(one + 1, len(pool)):
                    won = wins[pool[one], pool[other]]
                    lost = wins[pool[other], pool[one]]
                    for vote in range(0 if world.anew else won + lost):
                        clock += 1
                        policy.update(mine, rng, clock, one, other, vote < won)
            costs = {}
            for arm in pool:
                matrix = theory.PreferenceMatrix(values[np.ix_(pool, pool)])
                best = [pool[index] for index in matrix.copeland_winners]
                costs[arm] = min(
                    0.0 if w == arm else max(values[w, arm] - 0.5, 0.0) for w in best
                )
        one, other = (int(item) for item in policy.choose(mine, rng, round_))
        first, second = pool[one], pool[other]
        if first != second:
            won = rng.random() < values[first, second]
            policy.update(mine, rng, round_, one, other, won)
            wins[(first, second) if won else (second, first)] += 1
        plays[min(first, second), max(first, second)] += 1
        pair = costs[first], costs[second]
        regret += (sum(pair) / 2, min(pair))
        if round_ in grid:
            at.append((plays.copy(), regret.copy()))
    return at, pool[int(policy.recommend(mine, rng))]


@pytest.mark.parametrize(
    "world",
    [POOL, Pool(num_arms=5, first=2, every=25),
     Pool(matrix=MATRIX, first=3, every=40, anew=True)],
    ids=["given", "random", "anew"],
)  # fmt: skip
def test_a_run_is_that_of_its_twin(world):
    records = played(world, Greedy(epsilon=0.4), grid=GRID, runs=range(3))
    for run in range(3):
        at, best = played_by_hand(world, Greedy(epsilon=0.4), run, GRID)
        for index, (plays, regret) in enumerate(at):
            assert np.array_equal(records.ledger["plays"][run, index], plays)
            assert records.ledger["regret"][run, index] == pytest.approx(regret)
        assert records.recommendation[run] == best


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("policy", ["d-ts+", "rucb:self_duels=false", "track-and-stop"])
def test_runs_do_not_depend_on_chunks_or_checkpoints(policy):
    whole = played(POOL, policy, grid=GRID, runs=range(4))
    part = played(POOL, policy, grid=GRID, runs=range(2, 4))
    fewer = played(POOL, policy, grid=(29, 120), runs=range(4))
    for name in ("plays", "regret"):
        assert np.array_equal(whole.ledger[name][2:], part.ledger[name])
        assert np.array_equal(whole.ledger[name][:, [2, 6]], fewer.ledger[name])
    assert np.array_equal(whole.recommendation, fewer.recommendation)
    # Nobody plays an arm before it is there, and the rounds add up.
    totals = whole.ledger["plays"].sum(axis=(2, 3))
    assert np.array_equal(totals, np.tile(GRID, (4, 1)))
    shown = whole.ledger["plays"] + whole.ledger["plays"].swapaxes(2, 3)
    shown = shown.sum(axis=3)
    rounds = np.array(POOL.arrivals)
    for index, last in enumerate(GRID):
        assert not shown[:, index, rounds > last].any()
    assert shown[:, -1, 4].all()


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("policy", ["d-ts+", "rmed1"])
def test_a_pool_that_is_there_from_the_start_is_a_world_like_others(policy):
    matrix = MATRIX
    pool = Pool(matrix=matrix, arrivals=[1] * 5)
    one = played(pool, policy, grid=GRID, runs=range(2))
    other = played(Piecewise(matrices=[matrix]), policy, grid=GRID, runs=range(2))
    assert_same(one, other)
    np.testing.assert_allclose(one.ledger["regret"], other.ledger["regret"])


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["d-ts+", "interleaved-filter"])
def test_python_and_programs_play_the_same_runs(policy, monkeypatch):
    from tests.compiling import play_in_python

    compiled = played(POOL, policy, grid=GRID, runs=range(3))
    play_in_python(monkeypatch)
    plain = played(POOL, policy, grid=GRID, runs=range(3))
    assert_same(compiled, plain)
    np.testing.assert_allclose(compiled.ledger["regret"], plain.ledger["regret"])


@pytest.mark.usefixtures("in_python")
def test_counts_that_are_kept_pay():
    """With anew every arrival costs what the arms before it had cost already."""
    pools = [
        Pool(matrix=MATRIX, arrivals=[1, 1, 1, 1, 400], anew=anew)
        for anew in (False, True)
    ]
    remaining, forgotten = (
        played(pool, "rucb", grid=(399, 700), runs=range(5)).ledger["regret"]
        for pool in pools
    )
    assert np.array_equal(remaining[:, 0], forgotten[:, 0])
    late = (forgotten - remaining)[:, 1, 0]
    assert late.mean() > 0


def refused(world, policy, **options):
    bayesduel.compare(world, [policy], num_runs=1, horizon=10**6, **options)


def test_what_cannot_be_played_is_refused():
    for policy, words in (
        ("scomp", "plans in bulk"),
        (bayesduel.policies.DelayedFeedback(parse_policy("rucb"), 5), "told of each"),
        ("mdb:inner=rucb,segments=2", "have no monitor"),
        ("d-ts:posterior=bradley-terry", "must not be over a NumPyro model"),
    ):
        with pytest.raises(PolicyParameterError, match=words):
            refused(POOL, policy)
    with pytest.raises(SimulationArgumentError, match="where arms arrive"):
        refused(POOL, "rucb", stopping=parse_rule("anytime:delta=0.05"))


class Wrong(Pool):
    """Says something of its arms that cannot be."""

    says: str = "one"

    def first_rounds(self, state):
        return {"one": np.ones(1, int), "none": state[3] + 1, "half": state[3] / 2}[
            self.says
        ]


@pytest.mark.parametrize("says", ["one", "none", "half"])
def test_wrong_arrivals_are_refused(says):
    with pytest.raises(ArgumentError, match="Wrong: first_rounds must be the first"):
        refused(Wrong(says=says), "rucb")


@pytest.mark.usefixtures("in_python")
def test_a_corrupted_pool_grows_too():
    world = Corrupted(world=POOL, budget=0)
    assert world.defines("first_rounds") and not world.anew
    records = played(world, "rucb", grid=(30, 120), runs=range(2))
    shown = records.ledger["plays"] + records.ledger["plays"].swapaxes(2, 3)
    assert not shown[:, 0].sum(axis=2)[:, [1, 3, 4]].any()
    assert shown[:, 1].sum(axis=2).all()


# --- Next pairs -----------------------------------------------------------------------

VOTES = [("tea", "milk"), ("tea", "ale"), ("tea", "milk"), ("milk", "tea")]


@pytest.mark.parametrize("policy", ["d-ts+", "track-and-stop"])
def test_next_pairs_of_a_pool_are_those_of_its_votes(policy):
    """Retired arms are asked about by nobody, and their votes say nothing."""
    pool = {"arm_names": ["tea", "milk", "gin"], "retired": ["ale"]}
    pairs = bayesduel.next_pairs(VOTES, policy, 9, **pool)
    assert {name for pair in pairs for name in pair[:2]} == {"tea", "milk", "gin"}
    listed = ["tea", "milk", "gin", "ale"]
    assert pairs == bayesduel.next_pairs(
        VOTES, policy, 9, arm_names=listed, retired=["ale"]
    )
    player = Player(policy, votes=VOTES, arm_names=listed, compiled=None)
    player.retire_arm("ale")
    assert [pair[:2] for pair in pairs] == player.ask(9)
    # Excluded pairs come on top.
    left = bayesduel.next_pairs(
        VOTES, policy, 4, **pool, exclude=[("tea", "gin"), ("gin", "milk")]
    )
    assert {frozenset(pair[:2]) for pair in left} == {frozenset(["tea", "milk"])}
    with pytest.raises(SimulationArgumentError, match="exclude must leave a pair"):
        bayesduel.next_pairs(VOTES, retired=["ale"], exclude=[("tea", "milk")])


def test_next_pairs_prunes_by_the_votes():
    wins = np.array([[0, 40, 40], [5, 0, 20], [2, 15, 0]])
    pairs = bayesduel.next_pairs(wins, "random:distinct=true", 12, prune=0.05)
    assert {frozenset(pair[:2]) for pair in pairs} == {frozenset([0, 1])}
    every = bayesduel.next_pairs(wins, "random:distinct=true", 12)
    assert len({frozenset(pair[:2]) for pair in every}) == 3
    for given, words in (
        ({"retired": ["gin"]}, "retired must be the name of an arm"),
        ({"retired": "ale"}, "retired must be a sequence"),
        ({"retired": ["ale", "tea"]}, "retired must leave two arms"),
        ({"prune": 1.5}, "prune must be in"),
    ):
        with pytest.raises(SimulationArgumentError, match=words):
            bayesduel.next_pairs(VOTES, **given)
