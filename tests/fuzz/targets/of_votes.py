"""What is public in `bayesduel.votes`."""

from __future__ import annotations

import numpy as np

from bayesduel import votes
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target

_COLUMNS = [
    None,
    {"judge": ["x", "y"], "turn": [1, 2.5]},
    {"neutral": [True, False]},
    {"judge": ["x", None]},
    {"turn": [1]},
    {"first": [1, 2]},
    [("judge", ["x", "y"])],
]
_CONTEST = [(), ["x"], ["judge"], ["x", "x"], "x", 3]
_OF_CHOICES = {
    "attributes": [
        None,
        np.arange(6.0).reshape(2, 3),
        np.ones((2, 3, 2)),
        np.full((2, 3), np.nan),
        np.zeros((2, 3, 0)),
        [[1, 2, 3], [1]],
        [["1", 2, 3], [1, 2, 3]],
        [[1e300, 0, 0], [-1e300, 1e-300, 1]],
    ],
    "attribute_names": [None, ["price"], ["a", "a"], "x", [1]],
    "persons": [None, ["ann", "bob"], [1, 2.5], ["ann"], ["ann", None]],
}
_ROWS = {
    "arm_names": [v.NAMES, *v.ODD_NAMES],
    "first": [[0, 1], [0, 3], [0.5, 1], [0, -1]],
    "second": [[1, 2], [1, 1]],
    "counts": [[[1, 2, 0], [3, 0, 0]], [1, 2, 3], [[1, np.nan, 0], [3, 0, 1e300]]],
    "order_known": [False, True],
    "columns": _COLUMNS,
    "contest_covariates": _CONTEST,
}


def of_votes() -> dict[str, Target]:
    """Return what is public in `bayesduel.votes`."""
    kinds = votes.Comparisons, votes.Choices, votes.Rankings
    comparisons, chosen, rankings = kinds
    places = [np.array([[1, 2, 3], [2, 1, 0]]), [[1, -1, 2]], [[1, 1e30, 2]]]
    offered = [np.array([[True, True, False], [True, True, True]]), [[0, 0, 1]]]
    counts = np.array([[1.0, 2, 0], [3, 0, 0]])
    return {
        "Comparisons": target(
            comparisons,
            arm_names=[tuple(v.NAMES), v.NAMES, *v.ODD_NAMES],
            first=[np.array([0, 1]), np.array([0, 7]), [0, 1]],
            second=[np.array([1, 2]), np.array([0, 1]), np.array([1.5, 2])],
            counts=[counts, -counts, counts[:1], counts * np.nan],
            order_known=[False, True],
            covariates=[np.zeros((3, 1)), np.zeros((2, 2)), np.zeros(3)],
            covariate_names=[("x",), ("x", "y"), "x"],
            columns=[{}, {"judge": np.array([0, 1])}, {"x": [1, 2]}, None],
            labels=[{}, {"judge": ("a", "b")}, {"judge": ("a",)}, "x"],
            contest_covariates=[(), ("x",), ("judge",), ["x"], "x"],
        ),
        "Comparisons.from_wins": target(
            comparisons.from_wins,
            wins=[v.WINS, np.array(v.WINS) / 2, np.eye(3), Made(v.frame), [[0, -1]]],
            ties=[None, np.ones((3, 3)) - np.eye(3), v.WINS, np.ones((2, 2))],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
            ignore_self=[False, True],
        ),
        "Comparisons.from_votes": target(
            comparisons.from_votes,
            first=[["tea", "milk"], ["tea", "tea"], ["tea"], "tm", [0, 1]],
            second=[["milk", "coffee"], ["tea", "milk"], [None, None]],
            winner=[["left", "coffee"], ["tie", "nobody"], ["left", None]],
            weight=[None, [1, 2], [1, -2], [np.nan, 1], [1]],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
            words=[("left", "right", "tie"), ("a", "a", "b"), "lrt", (1, 2, 3)],
            order_known=[True, False],
            columns=_COLUMNS,
            contest_covariates=_CONTEST,
        ),
        "Comparisons.from_rows": target(comparisons.from_rows, _ROWS),
        "Comparisons.with_both_orders_as_one": target(
            comparisons.with_both_orders_as_one,
            of=Made(v.judged_votes),
            contradiction=["tie", "nothing", "odd", 1],
        ),
        "Comparisons.with_covariates": target(
            comparisons.with_covariates,
            of=Made(v.some_votes),
            values=[[[1.0], [2], [3]], [1, 2, 3], [[1, 2]], Made(v.frame)],
            names=[["x"], None, ["x", "x"], "x", [""]],
        ),
        "Choices": target(
            chosen,
            arm_names=[tuple(v.NAMES), v.NAMES, *v.ODD_NAMES],
            offered=[offered[0], offered[0][:, :2], offered[0] * 1],
            counts=[np.eye(2, 4), -np.eye(2, 4), np.eye(2, 3), np.eye(4)],
            outside=[True, False],
            attributes=[None, np.ones((2, 3, 1)), np.ones((2, 3)), [[1.0]]],
            attribute_names=[(), ("x",), ["x"]],
            persons=[None, np.array([0, 1]), np.array([0, 9]), ["a", "b"]],
            person_names=[(), ("a", "b"), "ab"],
            worst=[None, np.array([True, False]), np.ones(3, bool), [1, 0]],
        ),
        "Choices.from_counts": target(
            chosen.from_counts,
            _OF_CHOICES,
            offered=[*offered, [[1, 1, 0], [1, 1, 2]], [[0.5, 1, 1], [1, 1, 1]]],
            counts=[counts, -counts, counts[:1], counts[:, :2]],
            none=[None, [0, 1], [0], [-1, 2]],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
            worst=[None, [False, True], [True], [0, 1], "ab"],
        ),
        "Choices.from_attributes": target(
            chosen.from_attributes,
            attributes=_OF_CHOICES["attributes"][1:],
            chosen=[[0, 1], ["tea", None], ["tea", "wine"], ["tea"], "tm"],
            available=[None, offered[0], offered[0] * 1, [[1, 0], [1, 1]]],
            persons=_OF_CHOICES["persons"],
            weight=[None, [1, 2], [1], [-1, 1]],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
            attribute_names=_OF_CHOICES["attribute_names"],
            outside=[None, True, False],
        ),
        "Choices.from_subsets": target(
            chosen.from_subsets,
            subsets=[[["tea", "milk"], ["tea", "coffee"]], [["tea"], []], "ab"],
            chosen=[["tea", None], ["tea", "milk"], ["wine", "tea"], ["tea"]],
            worst=[None, ["milk", None], ["tea", "tea"], ["wine", 1], ["milk"]],
            weight=[None, [1, 2], [1], [-1, 1]],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
            outside=[None, True, False],
        ),
        "Rankings": target(
            rankings,
            arm_names=[tuple(v.NAMES), v.NAMES, *v.ODD_NAMES],
            places=[*places, places[0] * 1.5, places[0][:, :2]],
            counts=[np.ones(2), -np.ones(2), np.ones(3)],
        ),
        "Rankings.from_places": target(
            rankings.from_places,
            places=[*places, np.zeros((0, 3)), [[1, 1, 1]]],
            counts=[None, [1, 2], [1], [-1, 2]],
            arm_names=[v.NAMES, None, *v.ODD_NAMES],
        ),
        "Rankings.from_orders": target(
            rankings.from_orders,
            orders=[v.ORDERS, [["a", "a"], ["b"]], [[]], ["ab"], [[["a", 1]]]],
            counts=[None, [1, 2, 1], [1], [-1, 2, 1]],
            arm_names=[None, v.NAMES, *v.ODD_NAMES],
        ),
        "Rankings.restricted_to": target(
            rankings.restricted_to,
            of=Made(v.ballots),
            arm_names=[["a", "b"], ["a"], ["a", "z"], "ab", ["a", "a"]],
        ),
        "read_comparisons": target(
            votes.read_comparisons,
            path=v.PATHS,
            arms=[("left", "right"), None, ("left",), "lr", ("x", "y")],
            winner=["winner", None, "n"],
            wins=[None, ("wins_a", "wins_b"), ("wins_a", "wins_a"), ("n",)],
            ties=[None, ["ties"], [], "ties", ["ties", "ties"]],
            scores=[None, ("n", "n"), ("left", "n"), ("wins_a", "wins_b")],
            weight=[None, "n", "left"],
            words=[
                ("left", "right", "tie"),
                ("a", "b"),
                "lrt",
                (["left", "l"], {"right": 3}, "tie"),
                ({"left": -1}, {}, None),
            ],
            where=[None, "n > 1", "n >", "x == 1", "left == 'tea'", "1"],
            missing=["refuse", "skip", "drop"],
            arm_names=[None, v.NAMES, *v.ODD_NAMES],
            order_known=[None, True],
            judge=[None, "n", "x", 3],
            context=[None, "winner"],
            neutral=[None, "left"],
            columns=[(), ["n"], "n", ["n", "n"], ["judge"], 3],
            contest_covariates=[(), ["n"], ["left"], ["n", "n"], 3],
        ),
        "read_covariates": target(
            votes.read_covariates,
            path=["arms.csv", *v.PATHS],
            arm_names=[v.NAMES, ["tea"], *v.ODD_NAMES],
        ),
        "read_choices": target(
            votes.read_choices,
            path=["choices.csv", *v.PATHS],
            choice=["Choice", "tea"],
            arm_names=[None, v.NAMES, *v.ODD_NAMES],
            first_index=[1, 0, 10**30],
            none=[-1, None, 1],
        ),
        "read_long_choices": target(
            votes.read_long_choices,
            path=["long.csv", *v.PATHS],
            case=["id", "tea", "x"],
            alternative=["alternative", "id"],
            chosen=["chosen", "alternative"],
            available=[None, "here", "id"],
            none=[None, "milk", "x"],
            arm_names=[None, v.NAMES, *v.ODD_NAMES],
            attributes=[[], ["here"], ["here", "who"], "here", ["x"], [None]],
            person=[None, "who", "alternative", "x"],
            where=[None, "here == 1", "here >"],
        ),
        "read_wide_choices": target(
            votes.read_wide_choices,
            path=["wide.csv", *v.PATHS],
            choice=["choice", "who", "x"],
            attributes=[
                ["pf"],
                ["here"],
                {"pf": ["pf1", ""]},
                {"pf": ["pf1"]},
                {"pf": 3},
                "pf",
                [],
            ],
            alternatives=[None, ["1", "2"], ["1"], "12", [1, 2], ["a", "b"]],
            available=["here", None, ["here1", "here2"], ["here1"], "pf", 3],
            person=[None, "who", "x"],
            weight=[None, "here1", "who"],
            none=[None, "2", "x"],
            where=[None, "here1 == 1", "here1 >"],
        ),
        "read_sets": target(
            votes.read_sets,
            path=["best.csv", *v.PATHS],
            shown=[None, ["one", "two"], ["one", "x"], "one", [1]],
            best=["best", "one", "x"],
            worst=["worst", None, "best"],
            where=[None, "one == 1", "one >"],
            missing=["skip", "refuse", "x"],
            arm_names=[None, v.NAMES, *v.ODD_NAMES],
        ),
        "read_preflib": target(votes.read_preflib, path=["drinks.toi", *v.PATHS]),
    }
