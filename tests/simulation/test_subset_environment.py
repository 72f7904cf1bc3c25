"""Worlds of subset choice as experiments ask for them."""

import math

import numpy as np
import pytest

import bayesduel
from bayesduel.analysis import measurements, rankings
from bayesduel.analysis.measured_nodes import largest_regret
from bayesduel.errors import (
    AssumptionWarning,
    ChoiceWorldError,
    SimulationArgumentError,
    UnknownNameError,
)
from bayesduel.instances import choice
from tests.simulation.set_cases import ALWAYS, RANKED
from theory.choice.tables import ChoiceTable

FALSE_ALARM = 1e-5

ALONE = choice.multinomial_logit([0.9, 0.2, 0.5], 1)


def test_simulate_and_compare(tmp_path, in_python):
    options = {
        "num_runs": 4, "horizon": 400, "checkpoints": [50, 400],
        "regret": ("expected_reward", "no_choice"),
    }  # fmt: skip
    names = ["ucb-no-order:look_ahead=false", "random-subsets"]
    folder = tmp_path / "results"
    tree = bayesduel.compare("camera", names, out=folder, **options)
    label = "UCB-no-order:look_ahead=False"
    node = tree[f"camera/{label}"]
    assert node["regret"].dims == ("notion", "run", "checkpoint")
    assert node["notion"].values.tolist() == ["expected_reward", "no_choice"]
    assert node["offers"].sizes == {"run": 4, "checkpoint": 2, "arm": 6}
    assert node["arm"].values[:2].tolist() == ["Nikon", "Canon"]
    assert int(node["offers"][:, -1].sum()) == 4 * 3 * 400
    # A world with one winner: both notions are one number.
    regret = node["regret"].values
    np.testing.assert_allclose(regret[0], regret[1], rtol=1e-9, atol=1e-9)
    best = tree["camera"]["best_set"]
    assert best.values.tolist() == [True, True, True, False, False, False]
    again = bayesduel.results.load(folder)
    assert again[f"camera/{label}"]["offers"].equals(node["offers"])
    alone = bayesduel.simulate("camera", names[0], **options)
    np.testing.assert_array_equal(alone["regret"], regret)
    assert bool(alone["best_set"][2]) and not bool(alone["best_set"][3])


def test_results_tell_what_the_worst_round_costs(tmp_path, in_python):
    """Single arms are offered, so that some round is the worst one."""
    world = choice.multinomial_logit([0.9, 0.5, 0.2], 1, name="menu")
    notions = ("topk", "no_choice")
    options = {"num_runs": 5, "horizon": 60, "regret": notions, "out": tmp_path / "out"}
    bayesduel.compare(world, "random-subsets", checkpoints=range(1, 61), **options)
    tree = bayesduel.results.load(tmp_path / "out")
    (result,) = measurements(tree)
    item = np.diff(result.data["regret"].values, axis=2, prepend=0.0)
    for notion, regret in zip(notions, item, strict=True):
        most = world.most_regret_per_round(notion)
        assert regret.max() == pytest.approx(most, rel=1e-9)
        assert largest_regret(result, notion, 60) == 60 * most
    assert largest_regret(result, "winner", 60) == math.inf
    # As written before there was the attribute.
    del result.data.attrs["most_regret_per_round"]
    assert largest_regret(result, "topk", 60) == math.inf


def test_rankings_take_the_worst_round_as_a_limit(in_python):
    world = choice.multinomial_logit([0.9, 0.1, 0.1], 1, name="menu")
    names, notion = ["ucb-no-order", "random-subsets"], "mnl_no_choice"
    tree = bayesduel.compare(world, names, num_runs=32, horizon=300)
    (ranking,) = rankings(tree, notion=notion)
    (result,) = ranking.differences
    assert result.limit == 300 * world.most_regret_per_round(notion)
    assert result.is_certain and result.higher == "Random subsets"
    for node in tree["menu"].children.values():
        del node.attrs["most_regret_per_round"]
    (result,) = rankings(tree, notion=notion)[0].differences
    assert result.limit > 300 and not result.is_certain


def test_the_notion_of_a_world_is_its_own():
    """Only the request is made; nothing is simulated."""
    for name, notion in (("camera", "expected_reward"), ("mnl", "mnl_no_choice"),
                         ("random-utility", "utility_sum")):  # fmt: skip
        questions = bayesduel.Experiment(name, "random-subsets", horizon=10)
        assert questions.notions == {name: (notion,)}


@pytest.mark.parametrize(
    ("environment", "policy", "options", "error", "words"),
    [
        ("camera", "d-ts", {}, SimulationArgumentError, "D-TS asks for duels.*subset"),
        ("cyclic", "cucb", {}, SimulationArgumentError, "CUCB offers sets.*matrix"),
        ("camera", "cucb", {"regret": ["copeland"]}, UnknownNameError, "'copeland'"),
        ("camera", "cucb", {"regret": ["topk"]}, ChoiceWorldError, "does not exist"),
        ("camera", "ucb-no-order", {"horizon": None}, ValueError, "horizon must be"),
        ("camera", "ucb-no-order:alpha=0", {}, ValueError, "alpha must be .* above 0"),
        ("mnl:num_arms=3,subset_size=4", "cucb", {}, ValueError, "at most 3, got 4"),
        (RANKED, "cucb", {}, SimulationArgumentError, "winner or independent.*ranking"),
        ("mnl", "logit-ts", {}, SimulationArgumentError, "has 184756; use mnl-ts"),
        ("camera", "maxmin-ucb", {}, SimulationArgumentError, "sets of exactly 3"),
        (ALWAYS, "mnl-ts", {}, SimulationArgumentError, "never happens in always"),
        (ALWAYS, "logit-ts", {}, ValueError, "no_choice must be False in always"),
        (ALONE, "choice-bandits", {}, SimulationArgumentError, "at least 2 arms"),
        ("camera", "stagewise:delta=1", {}, ValueError, "from 0, .* to below 1"),
        ("camera", "mnl-ts:variant=gamma", {}, ValueError, "variant must be one of"),
    ],
)  # fmt: skip
def test_bad_requests(environment, policy, options, error, words):
    with pytest.raises(error, match=words):
        bayesduel.simulate(environment, policy, **options)


def test_matrices_and_worlds_do_not_mix():
    words = "cyclic is a pref.* and camera a world"
    with pytest.raises(SimulationArgumentError, match=words):
        bayesduel.compare(["cyclic", "camera"], ["cucb"])


def test_repeated_arms_and_probabilities_over_one():
    with pytest.raises(ValueError, match="different|distinct|twice|once"):
        ChoiceTable([[0, 0], [0, 1]], [[0.2, 0.2], [0.3, 0.1]])
    table = ChoiceTable([[0, 1]], [[0.8, 0.4]])
    with pytest.raises(ChoiceWorldError, match=r"add up to at most 1.*\(0, 1\)"):
        choice.choice_table(table)


def test_a_world_outside_the_theory_is_named():
    """Arm 1 of the best set is chosen less in {1, 2}: the warning says so."""
    table = ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.2, 0.1]])
    world = choice.choice_table(table, name="mine")
    with pytest.warns(AssumptionWarning, match=r"in mine arm 1 .* the set \(1, 2\)"):
        check(world, "ucb-no-order")
    rich = choice.independent_rewards([0.5, 0.2], 1, largest_reward=3.0)
    with pytest.warns(AssumptionWarning, match="set largest_reward"):
        check(rich, "ucb-no-order")
    with pytest.warns(AssumptionWarning, match=r"rewards in \[0, 1\]"):
        check(rich, "cucb")


def check(world, name):
    bayesduel.policies.get(name).check_world(world, 100)
