"""Rules that read features find them in the order of the run, and hold none."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import (
    ChoiceWorldError,
    PolicyParameterError,
    SimulationArgumentError,
)
from bayesduel.experiments.problems import problem_of
from bayesduel.instances import choice, generators
from bayesduel.models import LinearUtilities
from bayesduel.policies.parameter_values import check_fields
from bayesduel.studies import Study
from tests.command_line import invoke
from tests.figures import saved_undrawn

__all__ = ["saved_undrawn"]

RNG = np.random.default_rng(3)
FEATURES = RNG.normal(size=(8, 2))
MATRIX = generators.linear_utilities(None, FEATURES, [1.5, -1.0], shuffle=False).matrix
WINNER = MATRIX.condorcet_winner


class Linear(bayesduel.Policy):
    """Draw coefficients twice; the best arms of both meet. A logistic regression."""

    steps: int = 5

    def start(self, problem, rng):
        size = problem.features.shape[1]
        return problem.features, np.zeros(size), np.eye(size)

    def choose(self, state, rng, round_):
        features, mode, precision = state
        root = np.linalg.cholesky(np.linalg.inv(precision))
        one = mode + root @ rng.standard_normal(len(mode))
        other = mode + root @ rng.standard_normal(len(mode))
        return (features @ one).argmax(), (features @ other).argmax()

    def update(self, state, rng, round_, first, second, won):
        features, mode, precision = state
        gap, before = features[first] - features[second], mode.copy()
        for _ in range(self.steps):
            share = 1 / (1 + np.exp(-(gap @ mode)))
            curvature = precision + share * (1 - share) * np.outer(gap, gap)
            slope = precision @ (before - mode) + (int(won) - share) * gap
            mode += np.linalg.solve(curvature, slope)
        share = 1 / (1 + np.exp(-(gap @ mode)))
        precision += share * (1 - share) * np.outer(gap, gap)

    def recommend(self, state, rng):
        return (state[0] @ state[1]).argmax()


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_relabeled_arms_bring_their_features_along(compiled):
    """The rule does not look at the numbers of arms, so runs are the same."""
    shuffled, plain = (
        bayesduel.simulate(
            MATRIX, Linear(compiled=compiled), num_runs=20, horizon=2000,
            shuffle=shuffle,
        )
        for shuffle in (True, False)
    )  # fmt: skip
    np.testing.assert_array_equal(shuffled["regret"], plain["regret"])
    np.testing.assert_array_equal(shuffled["recommendation"], np.full(20, WINNER))
    # A rule with the features of other arms has a regret of 500.
    assert shuffled["regret"][0, :, -1].mean() < 40


def test_features_are_those_of_the_arms_of_the_run():
    """Here they are the numbers of the arms; a rule may write to them."""

    class Asking(bayesduel.Policy):
        def start(self, problem, rng):
            result = problem.features[:, 0].astype(np.int64)
            problem.features[:] = -1
            orders.append(tuple(result))
            return result

        def choose(self, numbers, rng, round_):
            return int(np.argmax(numbers == 2)), int(np.argmax(numbers == 3))

        def update(self, numbers, rng, round_, first, second, won):
            """Learn nothing."""

        def recommend(self, numbers, rng):
            return int(np.argmax(numbers == 1))

    orders = []
    matrix = replace(bayesduel.load("arithmetic"), features=np.arange(8.0)[:, None])
    for policy in (Asking(), policies.DelayedFeedback(Asking(), 5)):
        results = bayesduel.simulate(matrix, policy, num_runs=6, horizon=20)
        np.testing.assert_array_equal(results["recommendation"], np.ones(6))
        np.testing.assert_array_equal(results["plays"][:, -1, 2, 3], np.full(6, 20))
    assert len(set(orders)) > 5
    assert bayesduel.simulate("gap", Telling(), horizon=1)["known"][0] == 0


class Telling(bayesduel.Policy):
    """Say whether there are features."""

    def start(self, problem, rng):
        return {"known": problem.features is not None}

    def choose(self, state, rng, round_):
        return 0, 1

    def update(self, state, rng, round_, first, second, won):
        """Learn nothing."""

    def recommend(self, state, rng):
        return 0

    def info(self, state):
        return state


class Sets(policies.SubsetPolicy):
    """Offer the arms with the largest features."""

    known: object = None

    def start(self, problem, rng):
        np.testing.assert_array_equal(problem.features[:, 1], problem.revenues)
        best = np.argsort(-problem.features[:, 0])[: problem.subset_size]
        return np.isin(np.arange(problem.num_arms), best)

    def choose(self, best, rng, round_):
        return best

    def update(self, best, rng, round_, subset, rounds, rewards):
        """Learn nothing: the features say it all."""

    def recommend(self, best, rng):
        return best


def world(**words):
    return choice.multinomial_logit(
        [0.9, 0.7, 0.4, 0.3], 2, revenues=[1.0, 2.0, 4.0, 3.0], **words
    )


def test_sets_of_relabeled_arms():
    features = [[0.1, 1.0], [0.4, 2.0], [0.2, 4.0], [0.3, 3.0]]
    known = replace(world(), arm_features=features)
    assert known != world() and known == replace(known)
    result = bayesduel.simulate(known, Sets(), num_runs=8, horizon=10)
    best = [[False, True, False, True]] * 8
    np.testing.assert_array_equal(result["recommendation"], best)
    with pytest.raises(PolicyParameterError, match="Sets: known must not hold"):
        bayesduel.simulate(known, Sets(known=features))
    with pytest.raises(ChoiceWorldError, match="features must have one row per arm"):
        replace(world(), arm_features=features[:3])


class Holding(Telling):
    """A rule with a field for anything."""

    held: object = None


@dataclass
class Known:
    table: object
    scale: float = 1.0


ROWS = FEATURES.tolist()
Both = namedtuple("Both", "table scale")


@pytest.mark.parametrize(
    "held",
    [
        FEATURES,
        FEATURES[:, 0],
        FEATURES.T,
        FEATURES[:, 0] > 0,
        np.ones((8, 8)),
        np.ones((2, 8, 3), dtype=np.float32),
        ROWS,
        tuple(map(tuple, ROWS)),
        [row[0] for row in ROWS],
        range(8),
        list(zip(*ROWS, strict=True)),
        [row[: 1 + index % 2] for index, row in enumerate(ROWS)],
        [(f"arm {index}", *row) for index, row in enumerate(ROWS)],
        [*ROWS[:7], None],
        {index: row for index, row in enumerate(ROWS)},
        {"scale": 0.5, "features": ROWS},
        pd.DataFrame(FEATURES),
        pd.DataFrame({"name": list("abcdefgh"), "price": FEATURES[:, 0]}),
        pd.Series(FEATURES[:, 0]),
        (0.5, FEATURES),
        Known(FEATURES),
        [Known(ROWS)],
        Both(FEATURES, 1.0),
    ],
    ids=str,
)
def test_fields_with_a_value_for_each_arm_are_refused(held):
    policy = Holding(held=held)
    around = policies.DelayedFeedback(policies.WithoutSelfDuels(policy), 3)
    for value in (policy, around):
        with pytest.raises(PolicyParameterError, match="Holding: held must not hold a"):
            problem_of(MATRIX).check_policy(value, 2)
    # In the order of the instance they are right.
    problem_of(MATRIX).check_policy(around, 2, shuffle=False)


def test_without_relabeling_a_table_may_be_a_field():
    for held in (FEATURES, ROWS, pd.DataFrame(FEATURES)):
        policy = Holding(held=held)
        with pytest.raises(PolicyParameterError, match="problem.features in start"):
            bayesduel.compare(["gap", MATRIX], ["d-ts", policy])
        result = bayesduel.simulate(
            MATRIX, policy, num_runs=1, horizon=2, shuffle=False
        )
        assert result["known"][0] == 1


@pytest.mark.parametrize(
    "held",
    [
        None,
        8,
        "eightlet",
        b"eightlet",
        np.float64(8),
        FEATURES[:7],
        ROWS[:7],
        (),
        [],
        [list("abcdefgh"), "abcdefgh"],
        tuple("abcdefgh"),
        np.array(list("abcdefgh")),
        {"one": 1.0, "two": 2.0},
        Both(0.5, 1.0),
        policies.get("d-ts", posterior=policies.get("d-ts").posterior),
        max,
        Telling,
    ],
    ids=str,
)
def test_other_fields_are_not(held):
    result = bayesduel.simulate(MATRIX, Holding(held=held), num_runs=1, horizon=2)
    assert result["known"][0] == 1


def test_as_many_fields_of_an_object_as_arms_are_no_row():
    for value in (Both(1.0, 2.0), Known(1.0), SimpleNamespace(a=1, b=2)):
        check_fields(Holding(held=value), 2)


def test_attributes_of_a_class_count_as_fields():
    class Constant(Telling):
        features: ClassVar = FEATURES

    class Plain(Telling):
        features = ROWS

    class Default(Telling):
        features: object = field(default_factory=lambda: FEATURES)

    class Below(Plain):
        scale: float = 1.0

    class Undone(Plain):
        features = None

    for kind in (Constant, Plain, Default, Below):
        with pytest.raises(PolicyParameterError, match=f"{kind.__name__}: features"):
            bayesduel.simulate(MATRIX, kind(), num_runs=1, horizon=2)
    bayesduel.simulate(MATRIX, Undone(), num_runs=1, horizon=2)


def test_priors_and_models_of_ours_hold_what_they_reorder():
    prior = np.arange(1.0, 65.0).reshape(8, 8)
    for name in ("d-ts", "rcs"):
        policy = policies.get(name, prior=prior)
        bayesduel.Experiment(MATRIX, policy, horizon=2)
    linear = policies.DoubleThompson(
        elimination=False, posterior=bayesduel.posteriors.Laplace(LinearUtilities(ROWS))
    )
    bayesduel.Experiment(MATRIX, linear, horizon=2)


def test_the_old_form_of_start_is_refused_with_the_new_one():
    class Old(Telling):
        def start(self, num_arms, horizon, rng):
            return None

    class OldSets(Sets):
        def start(self, num_arms, subset_size, horizon, revenues, rng):
            return None

    class Short(Telling):
        def choose(self, state, rng):
            return 0, 1

    class Free(Telling):
        def start(self, *given, **named):
            return super().start(*given)

    words = r"start of Old must take \(problem, rng\).*write def start\(self, problem"
    with pytest.raises(PolicyParameterError, match=words):
        bayesduel.compare("gap", [Old(), "d-ts"])
    with pytest.raises(PolicyParameterError, match="num_arms, horizon, features"):
        bayesduel.simulate(world(), OldSets())
    with pytest.raises(PolicyParameterError, match=r"choose of Short .* round_\)"):
        bayesduel.simulate("gap", Short())
    bayesduel.simulate("gap", Free(), num_runs=1, horizon=1)


SIX = choice.camera().arm_names

RULE_IN_A_FILE = """
import bayesduel
from tests.policies import test_arm_features


class Linear(test_arm_features.Linear):
    weights: object = ()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a rule, a matrix of named arms, and their features in another order."""
    names = [f"arm{number}" for number in range(8)]
    rows = [",".join(names)]
    rows += [",".join(map(repr, row)) for row in MATRIX.values.tolist()]
    (tmp_path / "drinks.csv").write_text("\n".join(rows))
    rows = [f"{names[at]},{ROWS[at][0]!r},{ROWS[at][1]!r}" for at in RNG.permutation(8)]
    (tmp_path / "arms.csv").write_text("\n".join(["arm,quality,price", *rows]))
    (tmp_path / "linear_for_tests.py").write_text(RULE_IN_A_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_command_tells_rules_the_features_of_a_file(folder):
    run = ["compare", "-i", str(folder / "drinks.csv"), "-p", "linear_for_tests:Linear"]
    run += ["--features", str(folder / "arms.csv"), "--runs", "3", "--horizon", "300"]
    regrets = []
    for words in ([], ["--no-shuffle"]):
        out = folder / f"out{len(words)}"
        done = invoke([*run, "--quiet", "--out", str(out), *words])
        assert done.exit_code == 0, done.stderr
        with bayesduel.load_results(out) as tree:
            regrets.append(tree["drinks/Linear/regret"].values)
    np.testing.assert_array_equal(*regrets)
    plain = bayesduel.simulate(MATRIX, Linear(), num_runs=3, horizon=300)
    np.testing.assert_array_equal(plain["regret"], regrets[0])


def test_the_command_tells_rules_the_features_of_a_world(folder):
    rows = [f"{name},{score}" for name, score in zip(SIX, range(6), strict=True)]
    (folder / "six.csv").write_text("\n".join(["arm,score", *rows[::-1]]))
    (folder / "six_for_tests.py").write_text(
        "from tests.policies import test_arm_features\n\n\n"
        "class Best(test_arm_features.Sets):\n"
        "    def start(self, problem, rng):\n"
        "        assert sorted(problem.features[:, 0]) == [0, 1, 2, 3, 4, 5]\n"
        "        return problem.features[:, 0] > 2\n"
    )
    run = ["compare", "-i", "camera", "-p", "six_for_tests:Best", "--quiet"]
    run += ["--features", str(folder / "six.csv"), "--runs", "3", "--horizon", "30"]
    done = invoke([*run, "--out", str(folder / "out")])
    assert done.exit_code == 0, done.stderr
    with bayesduel.load_results(folder / "out") as tree:
        last = tree["camera/Best/offers"][:, -1].values
        np.testing.assert_array_equal(last, [[0, 0, 0, 30, 30, 30]] * 3)


def test_a_study_tells_rules_the_features_of_its_arms(folder):
    """Return those that are left, in their order."""
    names = [f"arm{number}" for number in range(8)]
    path, model = folder / "drinks.study", LinearUtilities(ROWS)
    with Study.create(path, names, "linear_for_tests:Linear", model=model) as study:
        study.retire_arm("arm2")
        for _ in range(40):
            (ticket,) = study.ask()
            better = MATRIX.values[int(ticket.left[3:]), int(ticket.right[3:])] > 0.5
            study.tell(ticket, "left" if better else "right")
        questions = study.comparisons()
        # The rule draws from what it has learnt: it asks of the good ones.
        wins = dict(zip(questions.arm_names, questions.wins.sum(axis=1), strict=True))
        left = [value for value in range(8) if value != 2]
        best = max(left, key=lambda value: MATRIX.values[value].sum())
        assert max(wins, key=wins.get) == f"arm{best}"
    held = "linear_holding_for_tests"
    text = RULE_IN_A_FILE.replace("()", "(1, 2, 3, 4, 5, 6, 7, 8)")
    (folder / f"{held}.py").write_text(text)
    with pytest.raises(PolicyParameterError, match="--features FILE"):
        Study.create(folder / "other.study", names, f"{held}:Linear", model=model)


def test_features_of_an_instance_that_do_not_fit():
    with pytest.raises(SimulationArgumentError, match="asks for duels"):
        bayesduel.simulate(world(), Linear())
    with pytest.raises(AttributeError) as caught:
        bayesduel.simulate("gap", Linear(), num_runs=1, horizon=10)
    assert "as the instance has no features" in caught.value.__notes__[0]
    with pytest.raises(AttributeError) as caught:
        bayesduel.simulate("linear-contexts", Linear(), num_runs=1, horizon=10)
    assert "if the class says contextual = True" in caught.value.__notes__[0]
