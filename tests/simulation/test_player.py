"""A policy in memory: what it asks, and what it makes of answers of all kinds."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import bayesduel
from bayesduel import Player, policies
from bayesduel.errors import (
    PolicyParameterError,
    SimulationArgumentError,
    SimulationError,
)
from bayesduel.policies.policy import kernel_of
from bayesduel.simulation.kernel_calls import VOTES, KernelCalls
from bayesduel.simulation.steppers import votes_of
from bayesduel.studies import Study
from bayesduel.votes import Comparisons
from tests.rules import Greedy
from tests.simulation.test_uncompiled import leaves

NAMES = ("tea", "coffee", "milk", "cocoa")
WINS = np.array([[0, 9, 7, 8], [3, 0, 6, 5], [2, 4, 0, 6], [1, 3, 2, 0]])
BETTER = np.array([0.9, 0.5, 0.3, 0.1])

COUNTING = ("d-ts+", "pure-d-ts", "rcs", "rmed1", "rmed2")
"""Policies that take in many votes of a pair at once."""


class Batches(bayesduel.Policy):
    """Asks for three votes of every pair in turn, and remembers what it was told."""

    explores_in_bulk = True

    def start(self, problem, rng):
        return {"pairs": list(itertools.combinations(range(problem.num_arms), 2)),
                "told": []}  # fmt: skip

    def choose(self, state, rng, round_):
        first, second = state["pairs"][len(state["told"]) % len(state["pairs"])]
        return bayesduel.Duel(first, 0, first, second, 3)

    def update(self, state, rng, round_, first, second, won):
        state["told"].append((round_, first, second, won.won, won.rounds))

    def recommend(self, state, rng):
        return 0


class Linear(bayesduel.Policy):
    """Plays the two arms with the largest first feature of the round."""

    contextual = True

    def start(self, problem, rng):
        return np.zeros(1)

    def choose(self, state, rng, round_, features):
        best = np.argsort(-features[:, 0], kind="stable")
        return int(best[0]), int(best[1])

    def update(self, state, rng, round_, first, second, won, features):
        state[0] += features[first, 0]

    def recommend(self, state, rng):
        return 1


def answered(player, number, seed=0, delay=1):
    """Answer questions of arms from 0, ``delay`` of them at a time; return them."""
    rng, pairs = np.random.default_rng(seed), []
    while len(pairs) < number:
        questions = player.ask(delay)
        for first, second in reversed(questions):
            better = BETTER[first] / (BETTER[first] + BETTER[second])
            player.tell(first, second, bool(rng.random() < better))
        pairs += questions
    return pairs


def memory(player):
    """Return the arrays of the state of a kernel, and its clock."""
    arrays = leaves(player._memory.state)
    return [array.tobytes() for array in arrays], player._memory.round


@pytest.mark.parametrize("policy", ["d-ts+", "rmed1", "rucb", "sparring"])
def test_a_player_asks_what_a_study_asks(tmp_path, policy):
    """With the same seed and events, several questions out, answers in reverse."""
    names, rng = NAMES, np.random.default_rng(2)
    player = Player(policy, arm_names=names, seed=5, compiled=None)
    # A study has one event before the first question.
    player._num_events = 1
    with Study.create(tmp_path / "drinks.study", names, policy, seed=5) as study:
        for turn in range(12):
            tickets = study.ask(1 + turn % 3)
            pairs = [player.ask() for _ in tickets]
            assert [{x.left, x.right} for x in tickets] == [{*x} for x in pairs]
            # Which of two questions about one pair is answered, only a study knows.
            if len({frozenset(pair) for pair in pairs}) == len(pairs):
                tickets = tickets[::-1]
            for ticket in tickets:
                won = bool(rng.random() < 0.6)
                assert study.tell(ticket, "left" if won else "right")
                player.tell(ticket.left, ticket.right, won)
        study.ask()
        player.ask()
        followed = study._rule._followed(study._current())
        assert followed.memory.round == player._memory.round
        states = followed.memory.state, player._memory.state
        for one, other in zip(*map(leaves, states), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("policy", ["d-ts+", "cw-rmed", "ccb", Greedy()])
def test_the_same_calls_give_the_same_questions(policy):
    players = [Player(policy, 4, seed=seed, compiled=None) for seed in (1, 1, 2)]
    one, same, other = (answered(player, 40, delay=2) for player in players)
    assert one == same
    assert one != other or policy == "cw-rmed"  # Which is deterministic.
    assert players[0].recommend() == players[1].recommend()
    assert players[0].wins.sum() == 40


@pytest.mark.parametrize("policy", ["d-ts", "cw-rmed", Greedy(), Batches()])
@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, None])
def test_a_copy_goes_on_alike(policy, copied):
    """In the middle of open questions, and of a batch."""
    player = Player(policy, 4, seed=3, compiled=None)
    answered(player, 20, delay=2)
    player.ask(4)
    other = copied(player) if copied else pickle.loads(pickle.dumps(player))
    assert other.open_pairs == player.open_pairs
    there = answered(other, 24, seed=1, delay=3)
    assert answered(player, 24, seed=1, delay=3) == there
    assert np.array_equal(player.wins, other.wins)


def test_a_pickle_holds_no_table_that_all_players_share():
    player = Player("d-ts", 4, compiled=None)
    assert len(pickle.dumps(player)) < 2**17
    other = pickle.loads(pickle.dumps(player))
    assert other._memory.state.tails is player._memory.state.tails


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_many_votes_told_at_once_are_those_told_one_by_one(name, compiled):
    """Bit for bit, where pairs change sides in the middle of a row, between choices."""
    kernel, num_arms = kernel_of(policies.get(name)), 5
    calls = KernelCalls(kernel, compiled)

    def states(one_by_one):
        state = kernel.new_state(np.arange(num_arms), 2**62)
        rng, draws = np.random.default_rng(0), np.random.default_rng(7)
        none = np.zeros(0, dtype=VOTES)
        played = calls.tell(state, rng, 0, none, begins=True)
        for step in range(8 if not compiled else 60):
            rows = np.zeros(4, dtype=VOTES)
            for index in range(len(rows)):
                pair = draws.choice(num_arms, 2, replace=False)
                won = draws.random() < 0.5
                count = 1 + int(draws.exponential(20 if step % 2 else 200))
                rows[index] = *pair, 0, 0, won, count
            if one_by_one:
                rows = np.repeat(rows, rows["count"])
                rows["count"] = 1
            played = calls.tell(state, rng, played, rows, begins=False)
            yield played, [array.tobytes() for array in leaves(state)]
            played, duel, note = calls.ask(state, rng, played, 2**62)
            yield played, duel, note

    for at_once, one_by_one in zip(states(False), states(True), strict=True):
        assert at_once == one_by_one


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "policy", ["rd-ts", pytest.param("rd-ts:pairs=gradient", marks=pytest.mark.slow)]
)
def test_many_votes_of_a_rival_directed_rule_leave_the_state_of_their_counts(
    policy, compiled
):
    """Bit for bit, where one arm leads in the end: ties on the way draw leaders."""
    kernel, num_arms = kernel_of(policies.parse_policy(policy)), 5
    rng, states, same = np.random.default_rng(3), [], 0
    for _ in range(6):
        wins = rng.integers(0, 30, (num_arms, num_arms))
        rows = votes_of(wins)
        one_by_one = np.repeat(rows, rows["count"])
        one_by_one["count"] = 1
        states = []
        for row in (rows, one_by_one):
            calls = KernelCalls(kernel, compiled)
            state = kernel.new_state(np.arange(num_arms), 2**62)
            played = calls.tell(state, np.random.default_rng(0), 0, row, begins=True)
            assert played == one_by_one.size
            states.append(state)
        at_once, stepped = states
        assert np.array_equal(at_once.pairs["wins"], stepped.pairs["wins"])
        losses = stepped.arms["losses"]
        if (losses == losses.min()).sum() > 1:
            continue
        same += 1
        for name in ("now", "arms", "pairs"):
            for field in getattr(stepped, name).dtype.names:
                # These fields are written only by a choice among several leaders.
                if field not in ("listed", "cost", "price"):
                    one, other = (getattr(item, name)[field] for item in states)
                    assert np.array_equal(one, other), (name, field)
        assert np.array_equal(at_once.own_wins, stepped.own_wins)
        questions = [
            KernelCalls(kernel, compiled).ask(item, np.random.default_rng(1), 0, 2**62)
            for item in states
        ]
        assert questions[0] == questions[1]
    assert same >= 2


@pytest.mark.parametrize("policy", ["d-ts+", "rucb", "rmed1", "ecw-rmed", "random"])
def test_votes_from_before_are_votes_told_one_by_one(policy):
    """Play policies whose state is a function of the counts and the clock."""
    begun = Player(policy, votes=WINS, compiled=None)
    player = Player(policy, 4, compiled=None)
    for low, high in itertools.combinations(range(4), 2):
        for won, votes in ((True, WINS[low, high]), (False, WINS[high, low])):
            for _ in range(votes):
                player.tell(low, high, won)
    assert memory(begun) == memory(player)
    assert np.array_equal(begun.wins, player.wins)
    later = Player(policy, 4, compiled=None)
    later.tell_counts(WINS)
    assert memory(begun) == memory(later) and begun.ask(5) == later.ask(5)


def test_a_rule_is_told_votes_in_turn():
    results = []

    class Listening(Greedy):
        def update(self, wins, rng, round_, first, second, won):
            results.append((round_, first, second, won))

    player = Player(Listening(), votes=[[0, 2], [1, 0]])
    assert results == [(1, 0, 1, True), (2, 0, 1, True), (3, 0, 1, False)]
    first, second = player.ask()
    round_ = player._memory.round
    player.tell(second, first, True)
    player.tell(0, 1, True)  # Nobody asked.
    questions, mine = results[3:]
    assert questions == (round_, first, second, False) and round_ > 3
    assert mine == (round_ + 1, 0, 1, True)


def test_the_policy_knows_its_open_questions():
    """RMED1 asks for every pair once before any answer comes."""
    player = Player("rmed1", 4, compiled=None)
    pairs = player.ask(6)
    every = {frozenset(pair) for pair in itertools.combinations(range(4), 2)}
    assert {frozenset(pair) for pair in pairs} == every
    assert player.open_pairs == pairs


def test_a_late_answer_counts_and_a_skipped_one_does_not():
    player = Player("rucb", 4, compiled=None)
    pairs = player.ask(3)
    player.skip(*pairs[1])
    player.tell(*pairs[0], True)
    assert player.open_pairs == pairs[2:]
    player.withdraw(*pairs[0], won=True)
    assert player.wins.sum() == 0 and player.open_pairs == pairs[2:]
    player.tell(*pairs[2], False)
    assert player.open_pairs == []
    state = player._memory.state
    assert np.array_equal(state.pairs["wins"], player.wins)
    assert player.wins[pairs[2][::-1]] == 1


def test_a_withdrawn_vote_is_none_to_the_policy():
    player = Player("d-ts+", 4, seed=1, compiled=None)
    answered(player, 30)
    wins = player.wins
    loser, winner = np.argwhere(wins.T > 1)[0].tolist()
    player.withdraw(loser, winner, won=False)
    wins[winner, loser] -= 1
    assert np.array_equal(player.wins, wins)
    assert np.array_equal(player._memory.state.pairs["wins"], wins)
    begun = Player("d-ts+", votes=wins, compiled=None)
    assert memory(player) == memory(begun)


def test_a_batch_is_asked_vote_by_vote_and_told_once():
    player = Player(Batches(), 3)
    pairs = player.ask(4)
    assert pairs == [(0, 1)] * 6 or pairs == [(0, 1)] * 4
    player.tell(0, 1, True)
    player.skip(0, 1)
    assert player._memory.state["told"] == []
    player.tell(1, 0, True)
    assert player._memory.state["told"] == [(3, 0, 1, 1, 2)]
    player.skip(0, 1)
    assert player.ask(2) == [(0, 1), (0, 1)]
    for _ in range(2):
        player.skip(0, 1)
    assert player._memory.state["told"][1:] == [(6, 0, 1, 0, 0)]
    player.tell(0, 2, True)  # Not of its plan.
    assert len(player._memory.state["told"]) == 2 and player.wins[0, 2] == 1


def test_a_tie_counts_for_either_arm():
    player = Player("random", 2, seed=4, compiled=None)
    for _ in range(200):
        player.tell(0, 1, None)
    wins = player.wins
    assert wins.sum() == 200 and 60 < wins[0, 1] < 140
    table = Comparisons.from_wins(np.zeros((2, 2)), ties=[[0, 7], [7, 0]])
    wins = Player("random", votes=table, compiled=None).wins
    assert {*wins[(0, 1), (1, 0)]} == {3, 4}


def test_a_policy_that_has_settled_asks_again_after_new_votes():
    player = Player("sup-klucb", 4, compiled=None)
    while pairs := player.ask(1):
        player.tell(*pairs[0], pairs[0][0] < pairs[0][1])
    before = pickle.dumps(player._memory)
    for _ in range(2):
        with pytest.raises(SimulationError, match="has settled"):
            player.ask()
    assert pickle.dumps(player._memory) == before and player.recommend() == 0


def test_a_failing_rule_leaves_the_player_as_it_was():
    class Fails(Greedy):
        def choose(self, wins, rng, round_):
            wins[0, 0] += 1
            if wins[0, 0] == 3.0:
                raise RuntimeError("no")
            return 0, 1

    player = Player(Fails(), 3)
    player.ask()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            player.ask()
    assert player._memory.state[0, 0] == 2.0 and player.open_pairs == [(0, 1)]


def test_a_rule_that_names_no_arm_is_refused():
    class Astray(Greedy):
        def choose(self, wins, rng, round_):
            return 0, 3

        def recommend(self, wins, rng):
            return -1

    player = Player(Astray(), 3)
    with pytest.raises(SimulationError, match="named the arm 3 in its round 1"):
        player.ask()
    with pytest.raises(SimulationError, match="recommend named the arm -1"):
        player.recommend()


def test_names_and_positions_are_the_same_arms():
    player = Player("rucb", arm_names=NAMES, compiled=None)
    first, second = player.ask()
    assert {first, second} < {*NAMES}
    player.tell(NAMES.index(first), second, True)
    assert player.open_pairs == [] and player.recommend() == first
    table = Comparisons.from_wins([[0, 5], [1, 0]], arm_names=["milk", "tea"])
    player = Player("rucb", arm_names=NAMES, votes=table, compiled=None)
    assert player.wins[2, 0] == 5 and player.wins[0, 2] == 1
    player.tell_counts(table)
    assert player.wins[2, 0] == 10


def test_features_of_the_arms_reach_the_policy():
    """And a contextual one has the same in every round."""
    features = np.array([[0.1, 0.0], [0.9, 0.0], [0.5, 1.0]])
    seen = []

    class Reads(Greedy):
        def start(self, problem, rng):
            seen.append(problem.features)
            return super().start(problem, rng)

    Player(Reads(), features=features)
    assert np.array_equal(seen[0], features)
    player = Player(Linear(), features=features)
    assert player.ask() == (1, 2)
    player.tell(1, 2, True)
    assert player._memory.state[0] == 0.9
    with pytest.raises(PolicyParameterError, match="contextual policy.*features="):
        Player(Linear(), 3)


@pytest.mark.slow
def test_a_policy_over_a_model_asks_and_is_told():
    votes = Comparisons.from_wins(WINS, arm_names=NAMES)
    player = Player("bt-ts", votes=votes, seed=2)
    pairs = player.ask(3)
    twin = Player("bt-ts", votes=votes, seed=2)
    assert twin.ask(3) == pairs
    for first, second in pairs:
        player.tell(first, second, first == "tea")
    beliefs = player._memory.state.beliefs.votes
    result = np.asarray(beliefs.won + beliefs.lost.swapaxes(1, 2))[0]
    assert np.array_equal(result, player.wins) and player.wins.sum() == WINS.sum() + 3
    other = pickle.loads(pickle.dumps(player))
    assert other.ask(2) == player.ask(2)
    assert player.recommend() == "tea"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, SimulationArgumentError, "num_arms must be given"),
        ({"num_arms": 1}, SimulationArgumentError, "at least 2"),
        ({"num_arms": 3, "arm_names": NAMES}, SimulationArgumentError, "of 3 arms"),
        ({"num_arms": 3, "votes": WINS}, SimulationArgumentError, "of 3 arms"),
        ({"num_arms": 3, "seed": -1}, SimulationArgumentError, "seed"),
        ({"num_arms": 3, "horizon": 0}, SimulationArgumentError, "horizon"),
        ({"num_arms": 3, "features": "x"}, SimulationArgumentError, "features"),
        ({"votes": [[0, 0.5], [1, 0]]}, SimulationArgumentError, "whole votes"),
        ({"num_arms": 3, "policy": "pcomp"}, PolicyParameterError, "plans for"),
        ({"num_arms": 3, "policy": "d-ts:every=9"}, PolicyParameterError, "delay"),
        ({"num_arms": 3, "policy": "mnl-ts"}, ValueError, "policy"),
        ({"num_arms": 3, "policy": "d-tz"}, ValueError, "d-ts"),
        ({"num_arms": 3, "policy": 7}, PolicyParameterError, "must be a policy"),
    ],
)
def test_what_a_player_refuses(options, error, words):
    with pytest.raises(error, match=words):
        Player(**{"policy": "rucb", **options})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda player: player.tell("tea", "tee", True), "tea"),
        (lambda player: player.tell("tea", "tea", True), "must differ"),
        (lambda player: player.tell(0, 4, True), "from 0 to 3"),
        (lambda player: player.tell(0, 1.0, True), "from 0 to 3"),
        (lambda player: player.tell(0, 1, 1), "True where first won"),
        (lambda player: player.tell(0, 1, "left"), "True where first won"),
        (lambda player: player.skip("tea", "milk"), "must be open"),
        (lambda player: player.withdraw("tea", "milk", won=True), "among the votes"),
        (lambda player: player.ask(0), "at least 1"),
        (lambda player: player.tell_counts(Comparisons.from_wins(WINS)), "name"),
        (lambda _: Player("rucb", 3).tell("tea", 1, True), "arm_names="),
    ],
)
def test_what_the_methods_of_a_player_refuse(call, words):
    player = Player("rucb", arm_names=NAMES, votes=None, compiled=None)
    with pytest.raises(SimulationArgumentError, match=words):
        call(player)
    assert player.wins.sum() == 0 and player.open_pairs == []
