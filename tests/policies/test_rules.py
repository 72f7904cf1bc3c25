"""Policies in NumPy: classes, names, files of results, studies."""

import json
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError, SimulationError
from bayesduel.policies.parameter_values import parameters, parameters_json
from bayesduel.studies import Study
from bayesduel.studies.policy_rule import PolicyFollower
from tests.rules import Greedy

SOURCE = Path(__file__).parents[1] / "rules.py"


def test_fields_are_parameters():
    policy = Greedy(epsilon=0.2)
    assert policy == Greedy(0.2) != Greedy()
    assert policy.label == "Greedy:epsilon=0.2"
    assert parameters(policy) == {"epsilon": 0.2, "compiled": False}
    with pytest.raises(FrozenInstanceError):
        policy.epsilon = 0.3  # pyright: ignore
    with pytest.raises(TypeError, match="unexpected keyword"):
        Greedy(delta=1)  # pyright: ignore


class Fast(Greedy):
    compiled = True


class Titled(Fast):
    title = "Very greedy"
    more: int = 1


def test_compiling_is_no_parameter_of_the_rule():
    assert Fast().compiled
    assert not Fast(compiled=False).compiled
    assert Titled(0.2, 3).label == "Very greedy:epsilon=0.2,more=3"
    assert Titled().compiled
    assert Greedy(compiled=True).label == "Greedy"
    assert json.loads(parameters_json(Greedy(compiled=True))) == {"epsilon": 0.1}


class InJAX(bayesduel.Policy):
    """The form that policies had before there were rules in NumPy."""

    def choose(self, rng_key, state, round_):
        raise AssertionError("asked")

    init = update = recommend = choose


def test_a_policy_in_the_old_form_is_shown_the_new_one():
    with pytest.raises(
        PolicyParameterError,
        match="InJAX has no start, but must define start, choose, update, recommend; "
        "write it as in the example of bayesduel.Policy",
    ):
        bayesduel.simulate("cyclic", InJAX(), num_runs=1, horizon=10)


def test_at_most_eight_members():
    public = [name for name in dir(bayesduel.Policy) if not name.startswith("_")]
    rule = ["choose", "recommend", "start", "update"]
    assert sorted(public) == sorted([*rule, "check", "compiled", "label", "name"])


@pytest.fixture
def rule_file(tmp_path, monkeypatch):
    """A module of a user, in the folder where the command is called."""
    (tmp_path / "my_rules.py").write_text(SOURCE.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_rules", None)


def test_a_rule_of_ones_own_is_told_late_by_name(rule_file):
    """And plays without its self-duels, as those of the package."""
    late, other = map(
        policies.parse_policy,
        ("my_rules:Greedy:every=10", "my_rules:Greedy:self_duels=false"),
    )
    assert late == policies.DelayedFeedback(
        policies.parse_policy("my_rules:Greedy"), 10
    )
    assert other == policies.WithoutSelfDuels(policies.parse_policy("my_rules:Greedy"))
    plays = bayesduel.simulate("cyclic", other, num_runs=2, horizon=50)["plays"]
    alone = bayesduel.simulate("cyclic", late.policy, num_runs=2, horizon=50)["plays"]
    diagonal = np.arange(plays.shape[-1])
    assert not plays.values[..., diagonal, diagonal].any()
    assert alone.values[..., diagonal, diagonal].any()


def test_a_study_asks_what_the_rule_asks_for(rule_file):
    path, seen = rule_file / "drinks.study", set()
    with Study.create(path, ["a", "b", "c"], "my_rules:Greedy:epsilon=0.9") as study:
        for vote in range(12):
            for ticket in study.ask(1 + vote % 3):
                assert "Greedy" in ticket.reason
                seen.add(frozenset((ticket.left, ticket.right)))
                study.tell(ticket, ("left", "right", "tie")[vote % 3])
        waiting = study.ask(2)
        copies = [rule_file / f"{name}.study" for name in ("one", "other")]
        for copy in copies:
            study.copy(copy)
    assert seen == {frozenset(pair) for pair in ("ab", "ac", "bc")}
    # Whoever follows the same events asks the same next.
    results = []
    for copy in copies:
        with Study.open(copy) as study:
            study.tell(waiting[0].number, "left")
            results += [(item.left, item.right) for item in study.ask(3)]
    assert results[:3] == results[3:]


def test_a_rule_begins_anew_with_the_votes_there_are(rule_file):
    results = []

    class Listening(Greedy):
        def update(self, wins, rng, round_, first, second, won):
            results.append((round_, first, second, won))

    with Study.create(
        rule_file / "drinks.study", ["a", "b", "c"], "my_rules:FirstPair"
    ) as study:
        for _ in range(3):
            ticket = study.ask(1)[0]
            study.tell(ticket, "left" if ticket.left == "a" else "right")
        study.add_arm("d")
        PolicyFollower(Listening(), study._current())
    assert results == [(1, 0, 1, True), (2, 0, 1, True), (3, 0, 1, True)]


def test_a_rule_that_names_no_arm_is_said_to_a_study(rule_file):
    class Astray(Greedy):
        def choose(self, wins, rng, round_):
            return 0, 3

    with Study.create(rule_file / "drinks.study", ["a", "b", "c"], "balanced") as study:
        rule = PolicyFollower(Astray(), study._current())
        with pytest.raises(SimulationError, match="named the arm 3 in its round 1"):
            rule.next_duel(study._current())
