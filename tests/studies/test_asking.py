"""Policies of the registry ask real judges: what they ask, and that it replays."""

import random
from pathlib import Path

import jax
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.models import LinearUtilities
from bayesduel.policies.policy import declared
from bayesduel.simulation.player import stepper_of
from bayesduel.studies import Judging, Study, verify_study
from bayesduel.studies import policy_rule as policy_follower
from bayesduel.studies.policy_rule import PolicyFollower
from bayesduel.studies.questions import rule_of
from bayesduel.studies.settings import RULES
from bayesduel.votes import Comparisons
from tests.policies.instances import CYCLIC, random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.studies.helpers import DRINKS, assert_replays

pytestmark = pytest.mark.usefixtures("hardly_optimized")

FEW = ("rmed1", "sparring", "pcomp", "rucb")
"""With notes, by steps, in bulk, and by look-ahead; the others take long to compile."""

BETTER = np.array([0.9, 0.5, 0.3, 0.1])

FEATURES = LinearUtilities(np.stack([BETTER, BETTER[::-1] ** 2], axis=1))
"""Features of the drinks, for contextual policies."""


@pytest.fixture
def make(make):
    return lambda policy, **options: make(policy, DRINKS, **{"budget": 500} | options)


def answer(study, ticket, rng):
    left, right = (BETTER[DRINKS.index(arm)] for arm in (ticket.left, ticket.right))
    left_wins = rng.random() < left / (left + right)
    return study.tell(ticket, "left" if left_wins else "right")


def machine(study):
    """Return what the policy has in mind after all events."""
    study.ask()  # Compiles, and follows.
    follower = study._rule._followed(study._current())
    follower.take_back()  # As where it has settled: this is not stored.
    follower.follow(study._current())
    return mind(follower)


def mind(follower):
    return follower.memory.state, follower.memory.round


def assert_policy_replays(study):
    """Hold a policy that went along against one that begins with the file."""
    first = machine(study)
    with Study.open(study.path) as second:
        state = second._current()
        second._rule = rule_of(second._settings)
        again = mind(second._rule._followed(state))
    for here, there in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize(
    "name",
    [*FEW, *(pytest.param(name, marks=pytest.mark.slow)
             for name in sorted({*policies.names()} - {*RULES, *FEW}))],
)  # fmt: skip
def test_every_policy_asks_for_different_arms_and_replays(make, name):
    knows = declared(policies.get(name), "contextual")
    study = make(name, model=FEATURES) if knows else make(name)
    rng, arguments = np.random.default_rng(5), 0
    while arguments < 25 and (tickets := study.ask(2)):
        for ticket in reversed(tickets):  # In another order than they were asked.
            assert ticket.left != ticket.right
            assert ticket.rule == study._settings.policy
            arguments += answer(study, ticket, rng)
    assert arguments >= 25 or "settled" in study.resting
    assert_replays(study)
    assert_policy_replays(study)
    study.import_votes(Comparisons.from_wins([[0, 9], [1, 0]], arm_names=DRINKS[:2]))
    if not knows:  # An arm that is added has no features.
        study.add_arm("cocoa")
    study.retire_arm("milk")
    for ticket in study.ask(3):
        assert "milk" not in (ticket.left, ticket.right)
        study.tell(ticket, "tie")
    assert_policy_replays(study)


def test_a_policy_that_waits_for_the_host_asks_for_the_duels_of_simulations(make):
    """CW-RMED is deterministic: also its self-duels come to wait."""
    outcomes = random_outcomes(CYCLIC, 400, np.random.default_rng(6))
    kernel = policies.get("cw-rmed").scalar_kernel()
    played = play_kernel(kernel, outcomes, 400).duels
    duels = [duel for duel in played if len({*duel}) > 1]
    study, seen = make("cw-rmed", budget=None), np.zeros((4, 4), dtype=int)
    for duel in duels[:100]:
        (ticket,) = study.ask()
        left, right = map(DRINKS.index, (ticket.left, ticket.right))
        low, high = sorted(duel)
        assert {left, right} == {low, high}
        low_won = outcomes[low, high, seen[low, high]]
        seen[low, high] += 1
        study.tell(ticket, "left" if low_won == (left == low) else "right")
    state, _ = machine(study)
    assert state.program.now["solved"][0] > 0
    assert_policy_replays(study)


def test_idle_rounds_are_counted_and_not_asked(make):
    study = make("sparring", budget=None)
    rng = np.random.default_rng(0)
    for _ in range(60):
        (ticket,) = study.ask()
        answer(study, ticket, rng)
    events = [event.body for event in study.events() if event.kind == "asked"]
    assert study.status().idle_rounds == sum(body["duel"]["idle"] for body in events)
    assert study.status().idle_rounds > 0
    said = [body["reason"] for body in events if body["duel"]["idle"]]
    assert all(" of exploitation" in item for item in said)
    assert len(events) == study.comparisons().num_votes == 60


def test_a_batch_is_asked_vote_by_vote_and_waited_for(make):
    study = make("pcomp:num_batches=4", budget=2000)
    tickets = []
    while more := study.ask(50):
        tickets += more
    assert "waits for the answers to" in study.resting
    assert len({frozenset(ticket.shown) for ticket in tickets}) == 6 < len(tickets) / 2
    for ticket in tickets[:-1]:
        study.tell(ticket, "left")
    assert study.ask() == []
    study.skip(tickets[-1])
    assert study.ask()


def test_a_policy_that_has_settled_asks_nothing_more(make):
    study = make("sup-klucb", budget=None)
    while tickets := study.ask():
        left, right = map(DRINKS.index, (tickets[0].left, tickets[0].right))
        study.tell(tickets[0], "left" if left < right else "right")
    assert "has settled" in study.resting
    assert study.status().leader == "tea"


def test_what_may_not_be_asked_is_replaced(make):
    study = make("rucb", blocked=[("tea", "coffee")], budget=None)
    reasons = []
    for _ in range(40):
        (ticket,) = study.ask()
        assert {ticket.left, ticket.right} != {"tea", "coffee"}
        study.tell(ticket, "left")
        reasons.append(ticket.reason)
    replaced = [reason for reason in reasons if "which may not be asked here" in reason]
    assert 0 < len(replaced) < 40
    policy_events = study._current().policy_events
    voided = [
        policy_event
        for policy_event in policy_events
        if policy_event.duel and not policy_event.votes
    ]
    assert len(voided) == len(replaced)
    assert_policy_replays(study)


def test_the_policy_is_told_what_was_answered(make):
    study, rng = make("rucb", budget=None), np.random.default_rng(2)
    old = [[0, 8, 0, 0], [4, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]]
    study.import_votes(Comparisons.from_wins(old, arm_names=DRINKS))
    for _ in range(30):
        answer(study, study.ask()[0], rng)
    wins = machine(study)[0].pairs["wins"]
    np.testing.assert_array_equal(wins, study.comparisons().wins)


def test_an_undone_vote_is_none_to_the_policy(make):
    study = make("rucb", budget=None)
    tickets = study.ask(4)
    for ticket in tickets:
        study.tell(ticket, "left")
    study.undo(tickets[1])
    study.tell(tickets[1], "right")
    study.withdraw(tickets[2])
    wins = machine(study)[0].pairs["wins"]
    assert wins.sum() == 3
    np.testing.assert_array_equal(wins, study.comparisons().wins)
    assert study.status().restarts == 2
    assert_policy_replays(study)


def test_a_late_answer_about_a_retired_arm_is_kept_for_its_return(make):
    study = make("rucb", budget=None)
    late = next(item for item in study.ask(9) if "milk" in (item.left, item.right))
    study.retire_arm("milk")
    study.tell(late, "left")
    assert {"milk"}.isdisjoint(study.ask()[0].shown)
    assert_policy_replays(study)
    study.restore_arm("milk")
    assert machine(study)[0].pairs["wins"].sum() == 1


def test_two_who_ask_in_turn_are_one(make):
    study, alone = make("d-ts", seed=3), make("d-ts", seed=3)
    with Study.open(study.path) as second:
        second._clock = study.clock
        for number in range(12):
            asker, teller = (study, second) if number % 2 else (second, study)
            (ticket,), (twin,) = asker.ask(), alone.ask()
            assert ticket == twin
            teller.tell(ticket, "right")
            alone.tell(twin, "right")
        assert_replays(study)


def test_another_seed_asks_other_questions(make):
    first, second = (make("random", seed=seed).ask(9) for seed in (0, 1))
    assert [item.shown for item in first] != [item.shown for item in second]


@pytest.mark.slow
def test_a_study_over_a_model_of_an_older_program_goes_on(tmp_path):
    """A file of BT-TS as another loop asked: no vote is lost, and it asks on."""
    path = tmp_path / "older.study"
    old = Path(__file__).parent / "asked_over_a_model.study"
    path.write_bytes(old.read_bytes())
    wins = np.array([[0, 0, 0, 0], [2, 0, 2, 1], [0, 3, 0, 2], [0, 0, 0, 0]])
    with Study.open(path) as study:
        assert study.comparisons().wins.tolist() == wins.tolist()
        for question in [*study._current().open.values()]:
            assert study.tell(question.number, "left")
            wins[question.left, question.right] += 1
        votes = machine(study)[0].beliefs.votes
        result = np.asarray(votes.won + votes.lost.swapaxes(1, 2))[0]
        assert np.array_equal(result, wins)
        (ticket,) = study.ask()
        assert study.tell(ticket, "left")
        assert study.comparisons().num_votes == 13
        assert_policy_replays(study)


def test_a_study_of_an_older_program_goes_on(tmp_path):
    """Its questions were asked by the loop of JAX; to the kernel they are votes."""
    path = tmp_path / "older.study"
    path.write_bytes((Path(__file__).parent / "asked_by_jax.study").read_bytes())
    wins = np.array([[0, 4, 6, 6], [2, 0, 2, 0], [5, 2, 0, 1], [1, 1, 0, 0]])
    rng = np.random.default_rng(9)
    with Study.open(path) as study:
        assert study.comparisons().wins.tolist() == wins.tolist()
        for question in [*study._current().open.values()]:
            assert study.tell(question.number, "left")
            wins[question.left, question.right] += 1
        assert np.array_equal(machine(study)[0].pairs["wins"], wins)
        for _ in range(20):
            (ticket,) = study.ask()
            study.tell(ticket, "left" if rng.random() < 0.7 else "right")
        assert study.comparisons().num_votes == 52
        answered = machine(study)[0].pairs["wins"]
        assert np.array_equal(answered, study.comparisons().wins)
        assert np.all(answered >= wins)
        assert_policy_replays(study)


@pytest.mark.parametrize("policy", ["d-ts+", "bt-ts"])
def test_what_was_not_stored_is_taken_back_however_old_the_copy(
    make, monkeypatch, policy
):
    """Gold questions, answers and refusals come between asking and storing."""
    judging = Judging(gold_share=0.3, gold_threshold=0.0)
    study = make(policy, judging=judging)
    study.add_gold("good", "bad")
    # A copy after a thousand votes, and none in between.
    monkeypatch.setattr(policy_follower, "_PAIRS_OF_A_VOTE", 1e-3)
    rng, copied = random.Random(4), []

    def counting(*given, **options):
        stepper = stepper_of(*given, **options)
        copy = stepper.copied
        stepper.copied = lambda memory: copied.append(0) or copy(memory)
        return stepper

    monkeypatch.setattr(policy_follower, "stepper_of", counting)
    rules = []
    for _ in range(40):
        for ticket in study.ask(2, judge="Ada"):
            rules.append(ticket.rule)
            study.tell(ticket, rng.choice(["left", "right", "skip"]))
    assert 0 < len(copied) < rules.count(policy) / 2
    assert rules.count("gold") > 10
    # Verified by a policy that is copied for every question.
    monkeypatch.setattr(policy_follower, "_PAIRS_OF_A_VOTE", 1e9)
    assert verify_study(study.path).foreign == ()


def test_a_policy_that_was_interrupted_is_told_nothing_twice(make, monkeypatch):
    study, rng = make("d-ts+"), np.random.default_rng(5)
    follow = PolicyFollower.follow

    def interrupted(self, state):
        self._follow(state.policy_events[self._read :])
        raise KeyboardInterrupt

    for turn in range(30):
        if turn % 5 == 4:
            monkeypatch.setattr(PolicyFollower, "follow", interrupted)
            with pytest.raises(KeyboardInterrupt):
                study.ask()
            monkeypatch.setattr(PolicyFollower, "follow", follow)
        (ticket,) = study.ask()
        answer(study, ticket, rng)
    assert verify_study(study.path).foreign == ()
