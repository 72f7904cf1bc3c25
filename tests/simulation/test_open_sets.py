"""Worlds of sets of one's own: the loop of ``open_sets`` against formulas and twins."""

from typing import Any

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import (
    ArgumentError,
    AssumptionWarning,
    SimulationArgumentError,
    SimulationError,
)
from bayesduel.instances import choice
from bayesduel.policies import Offer, SubsetPolicy
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation.driver import run_chunk
from tests.policies.distributions import chi_square, same_distribution
from tests.policies.driving import assert_same
from tests.simulation.set_cases import CAMERA, SHARES, TABLE, WORLDS, Wandering

FALSE_ALARM = 1e-5

LATE = (1, 7, 30, 31, 100, 400)


class Wrapped(bayesduel.SubsetWorld):
    """A world of choice, played through the methods of the protocol."""

    inner: Any
    part: int = 2**62

    num_arms = property(lambda self: self.inner.num_arms)
    subset_size = property(lambda self: self.inner.subset_size)
    feedback = property(lambda self: self.inner.feedback)
    notions = property(lambda self: self.inner.notions)
    has_no_choice = property(lambda self: self.inner.has_no_choice)
    allows_fewer = property(lambda self: self.inner.allows_fewer)
    revenues = property(lambda self: self.inner.revenues)
    levels = property(lambda self: self.inner.levels)
    largest_reward = property(lambda self: self.inner.largest_reward)
    depth = property(lambda self: self.inner.depth)

    def start(self, horizon, rng):
        return None

    def unchanged_until(self, state, round_):
        return (round_ - 1) // self.part * self.part + self.part

    def probabilities(self, state, rng, round_, subset):
        return self.inner.probabilities(state, rng, round_, subset)

    def regret(self, state, round_, subset):
        return tuple(self.inner.regret(state, round_, subset).values())


class Drawn(Wrapped):
    """The same, drawing who is chosen with the generator of the world."""

    def answer(self, state, rng, round_, subset):
        probabilities = self.inner.probabilities(subset)
        nobody = max(1 - probabilities.sum(), 0.0)
        return rng.multinomial(1, [*probabilities, nobody])[:-1]


class Buffet(bayesduel.SubsetWorld):
    """Weights that drift up and down, by a path that is known."""

    num_arms: int = 4
    subset_size: int = 2
    period: int = 1

    def weights(self, round_):
        step = (round_ - 1) // self.period
        return np.exp(np.sin(0.7 * step + np.arange(self.num_arms)))

    def start(self, horizon, rng):
        return np.zeros(1)

    def unchanged_until(self, state, round_):
        return ((round_ - 1) // self.period + 1) * self.period

    def probabilities(self, state, rng, round_, subset):
        weights = np.where(subset, self.weights(round_), 0.0)
        return weights / (1 + weights.sum())

    def regret(self, state, round_, subset):
        weights = self.weights(round_)
        best = np.sort(weights)[-self.subset_size :].sum()
        return {"sum": best - weights[subset].sum(), "rounds": 1.0}


class Steady(SubsetPolicy):
    """Offer arms 0 and 2 in stretches of 25, and write down what comes of them."""

    longest: int = 25
    until: bool = False

    def start(self, problem, rng):
        return []

    def choose(self, state, rng, round_):
        return Offer(np.array([True, False, True, False]), self.longest, self.until)

    def update(self, state, rng, round_, subset, rounds, rewards):
        state.append((round_, rounds, rewards.copy()))

    def recommend(self, state, rng):
        return np.array([True, False, True, False])

    def info(self, state):
        first = state[0]
        return {
            "length": first[1],
            "wins_0": sum(rewards[0] for *_, rewards in state),
            "wins_2": sum(rewards[2] for *_, rewards in state),
        }


def played(policy, world, *, checkpoints=LATE, runs=range(4), shuffle=True, seed=5):
    notions = world.notions or ("sum", "rounds")
    environment = SubsetEnvironment(world, notions, shuffle)
    grid = np.array(checkpoints)
    return run_chunk(environment, policy, runs=runs, checkpoints=grid, seed=seed)


@pytest.mark.parametrize("world", WORLDS, ids=lambda value: value.name)
@pytest.mark.parametrize(("longest", "until"), [(1, False), (60, False), (60, True)])
def test_a_world_that_never_changes_plays_as_by_its_formulas(world, longest, until):
    """Every kind of feedback, rule and notion: the same runs."""
    policy = Wandering(longest=longest, until=until)
    fast, slow = played(policy, world), played(policy, Wrapped(world))
    assert_same(fast, slow, "offers")
    expected = fast.ledger["regret"]
    np.testing.assert_allclose(slow.ledger["regret"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "name",
    [pytest.param("cucb", marks=pytest.mark.slow),
     pytest.param("ucb-no-order", marks=pytest.mark.slow), "random-subsets"],
)  # fmt: skip
@pytest.mark.parametrize("form", [pytest.param(Drawn, marks=pytest.mark.slow), Wrapped])
def test_camera_has_the_same_distribution_in_the_open_loop(name, form):
    """Where the world draws itself, and where stretches are cut into parts of three."""
    policy, runs, grid = policies.get(name), range(200), (20, 120)
    world = form(CAMERA, part=3)
    fast = played(policy, CAMERA, checkpoints=grid, runs=runs)
    slow = played(policy, world, checkpoints=grid, runs=runs, seed=6)

    def numbers(result):
        offers, regret = result.ledger["offers"], result.ledger["regret"]
        by_name = {f"regret {at}": np.round(regret[:, at, 0], 9) for at in range(2)}
        by_name |= {f"offers of {arm}": offers[:, -1, arm] for arm in range(6)}
        by_name["events"] = result.events
        return by_name

    tests = same_distribution(numbers(fast), numbers(slow))
    if form is Wrapped:  # Rounds of a part are drawn at once: fewer events, no others.
        assert np.mean(slow.events) <= np.mean(fast.events) * 1.5
    assert min(tests.values()) > FALSE_ALARM / len(tests)


@pytest.mark.parametrize("period", [1, 10, 1000])
def test_regret_of_a_stretch_is_that_of_its_rounds(period):
    """At checkpoints inside of stretches and of parts."""
    world = Buffet(period=period)
    ledger = played(Steady(), world, shuffle=False).ledger
    subset = np.array([True, False, True, False])
    costs = [world.regret(None, round_, subset)["sum"] for round_ in range(1, 401)]
    expected = np.cumsum(costs)[np.array(LATE) - 1]
    np.testing.assert_allclose(ledger["regret"][:, :, 0], [expected] * 4, rtol=1e-12)
    np.testing.assert_allclose(ledger["regret"][:, :, 1], [LATE] * 4, rtol=1e-12)
    assert np.array_equal(ledger["offers"], [np.outer(LATE, subset)] * 4)


@pytest.mark.parametrize("period", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_answers_in_a_world_that_drifts_are_those_of_a_twin(period):
    """The twin plays the first stretch round by round, in plain NumPy."""
    world, number = Buffet(period=period), 3000
    policy = Steady(until=True)
    options = {"checkpoints": (25,), "runs": range(number), "shuffle": False}
    result = played(policy, world, **options).info["length"]
    rng, lengths = np.random.default_rng(1), np.zeros(number, dtype=int)
    subset = np.array([True, False, True, False])
    for run in range(number):
        for round_ in range(1, 26):
            lengths[run] = round_
            chances = world.probabilities(None, rng, round_, subset)
            if rng.random() < 1 - chances.sum():
                break
    (p_value,) = same_distribution({"n": result}, {"n": lengths}).values()
    assert p_value > FALSE_ALARM
    # The exact law of the length.
    chances = [world.probabilities(None, rng, at, subset) for at in range(1, 25)]
    nobody = 1 - np.array(chances).sum(axis=1)
    law = np.append(nobody, 1.0) * np.append(1.0, np.cumprod(1 - nobody))
    counts = np.bincount(result.astype(int), minlength=26)[1:]
    few = 8
    counts = np.append(counts[:few], counts[few:].sum())
    assert chi_square(counts, np.append(law[:few], law[few:].sum())) > FALSE_ALARM


def test_choices_of_a_stretch_that_changes_have_their_means():
    world, number, subset = Buffet(period=4), 2000, np.array([1, 0, 1, 0], dtype=bool)
    options = {"checkpoints": (25,), "runs": range(number), "shuffle": False}
    info = played(Steady(), world, **options).info
    chances = [world.probabilities(None, None, at, subset) for at in range(1, 26)]
    for arm in (0, 2):
        p = np.array(chances)[:, arm]
        error = np.sqrt((p * (1 - p)).sum() / number)
        assert abs(info[f"wins_{arm}"].mean() - p.sum()) < 5 * error


class Hidden(Buffet):
    """A random walk: ``advance`` is called once a round, whatever is offered."""

    def start(self, horizon, rng):
        return rng.normal(size=self.num_arms)

    def advance(self, state, rng, round_):
        state += 0.1 * rng.normal(size=self.num_arms)

    def unchanged_until(self, state, round_):
        return round_

    def probabilities(self, state, rng, round_, subset):
        weights = np.where(subset, np.exp(state), 0.0)
        return weights / (1 + weights.sum())

    def regret(self, state, round_, subset):
        return {"sum": np.exp(state).sum(), "rounds": state[0]}


def test_the_hidden_state_does_not_depend_on_the_policy():
    one = played(Steady(), Hidden()).ledger["regret"]
    other = played(Wandering(longest=9), Hidden()).ledger["regret"]
    np.testing.assert_array_equal(one, other)
    assert len(np.unique(one[:, -1, 0])) == 4
    # Nor on how runs are put together.
    alone = played(Steady(), Hidden(), runs=range(2, 3)).ledger["regret"]
    np.testing.assert_array_equal(alone[0], one[2])


class Constant(Buffet):
    """Arm 0 is chosen with probability exactly 1 and nobody never, or nobody ever."""

    has_no_choice: bool = False

    def probabilities(self, state, rng, round_, subset):
        return np.zeros(4) if self.has_no_choice else np.eye(4)[np.argmax(subset)]


def test_probabilities_of_exactly_one_and_of_nobody():
    info = played(Steady(until=True), Constant(), shuffle=False).info
    assert np.all(info["wins_0"] == 400) and np.all(info["wins_2"] == 0)
    assert np.all(info["length"] == 25)
    nobody = Constant(has_no_choice=True)
    info = played(Steady(until=True), nobody, shuffle=False).info
    assert np.all(info["wins_0"] == 0) and np.all(info["length"] == 1)
    assert np.all(played(Steady(), nobody, shuffle=False).info["length"] == 25)


class Fewer(SubsetPolicy):
    offers_fewer = True

    def start(self, problem, rng):
        return np.arange(problem.num_arms) == 0

    def choose(self, state, rng, round_):
        return state

    def update(self, state, rng, round_, subset, rounds, rewards):
        pass

    def recommend(self, state, rng):
        return state


class Exactly(Buffet):
    allows_fewer = False


def test_sets_of_fewer_arms():
    offers = played(Fewer(), Buffet(), shuffle=False).ledger["offers"]
    assert np.array_equal(offers[0, :, 0], LATE) and np.all(offers[..., 1:] == 0)
    with pytest.raises(SimulationError, match="offered 1 arms; offer 2 .round 1 of"):
        played(Fewer(), Exactly())
    with pytest.raises(SimulationArgumentError, match="exactly 2"):
        bayesduel.simulate(Exactly(), Fewer(), horizon=10)


class Late(Buffet):
    kind: str = ""
    feedback: str = "winner"
    has_no_choice: bool = True

    def probabilities(self, state, rng, round_, subset):
        good = super().probabilities(state, rng, round_, subset)
        if round_ < 30:
            return good if self.has_no_choice else good / good.sum()
        if self.kind == "raise":
            raise KeyError("taste")
        return {
            "sum": good * 10, "negative": good - np.where(subset, 0.9, 0.0),
            "nan": good * np.nan, "shape": good[:3], "outside": np.full(4, 0.1),
            "word": "yes", "large": np.where(subset, 1.5, 0.0),
        }.get(self.kind, good)  # fmt: skip

    def regret(self, state, round_, subset):
        if self.kind == "regret" and round_ >= 30:
            return {"sum": np.inf, "rounds": 1.0}
        return super().regret(state, round_, subset)


WHERE = r" \(round 30 of run 3\)$"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "sum"}, "must add up to at most 1 where at most one"),
        ({"kind": "negative"}, "must not be negative"),
        ({"kind": "nan"}, "must be finite"),
        ({"kind": "shape"}, "one number for each of the 4 arms of shape"),
        ({"kind": "word"}, "one number for each of the 4 arms"),
        ({"kind": "outside"}, "must be 0 for arms outside the set"),
        ({"has_no_choice": False}, "must add up to 1 where somebody is always"),
        ({"kind": "large", "feedback": "independent"}, "means from 0 to 1"),
        ({"kind": "regret"}, "regret must be a finite number"),
    ],
    ids=str,
)
def test_what_a_world_must_not_return_is_refused_with_run_and_round(options, words):
    with pytest.raises(SimulationError, match=f"Late: .*{words}.*{WHERE}"):
        played(Steady(), Late(**options), runs=range(3, 5))


def test_an_error_of_the_world_names_it_and_the_run_and_the_round():
    with pytest.raises(KeyError) as caught:
        played(Steady(), Late(kind="raise"), runs=range(3, 5))
    (note,) = caught.value.__notes__
    assert note.startswith("raised by Late:kind=raise, in which Steady plays, in")
    assert "round 30 of run 3, test_open_sets.py" in note


class Reacting(Buffet):
    """Choose the arm that was chosen least often of those that are offered."""

    def start(self, horizon, rng):
        return np.zeros(self.num_arms)

    def answer(self, state, rng, round_, subset):
        arm = np.argmin(np.where(subset, state, np.inf))
        state[arm] += 1
        return np.eye(self.num_arms)[arm]


class Two(Reacting):
    def answer(self, state, rng, round_, subset):
        return np.where(subset, 1.0, 0.0)


def test_a_world_that_answers_itself_is_asked_in_every_round():
    info = played(Steady(), Reacting(period=1000), shuffle=False).info
    assert np.all(info["wins_0"] == 200) and np.all(info["wins_2"] == 200)
    with pytest.raises(SimulationError, match="reward 1 for at most one arm.*round 1 "):
        played(Steady(), Two())


class Served(Buffet):
    """The features of a round say who is chosen."""

    has_no_choice = False

    def start(self, horizon, rng):
        return np.zeros(1, dtype=int)

    def advance(self, state, rng, round_):
        state[0] = rng.integers(self.num_arms)

    def features(self, state, rng, round_):
        return np.eye(self.num_arms)[:, [state[0]]]

    def probabilities(self, state, rng, round_, subset):
        best = state[0] if subset[state[0]] else np.argmax(subset)
        return np.eye(self.num_arms)[best]

    def regret(self, state, round_, subset):
        return {"sum": 1.0 - subset[state[0]], "rounds": 1.0}


class Reading(SubsetPolicy):
    """Offer the arm with the largest feature, and any other one."""

    contextual = True

    def start(self, problem, rng):
        return []

    def choose(self, state, rng, round_, features):
        order = np.argsort(-features[:, 0], kind="stable")
        subset = np.zeros(len(features), dtype=bool)
        subset[order[:2]] = True
        return Offer(subset, 7)

    def update(self, state, rng, round_, subset, rounds, rewards, features):
        assert rewards[features[:, 0].argmax()] == rounds == 1
        state.append(round_)

    def recommend(self, state, rng):
        return np.array([True, True, False, False])


def test_contextual_policies_read_the_features_of_the_round():
    """By positions: they are relabeled with the arms."""
    records = played(Reading(), Served())
    assert np.all(records.ledger["regret"][..., 0] == 0.0)
    assert np.all(records.events == 400)
    blind = played(Steady(), Served()).ledger["regret"][:, -1, 0]
    assert np.all(blind > 100)


class Sure(Reading):
    def update(self, state, rng, round_, subset, rounds, rewards, features):
        assert features.shape == (4, 1) and rounds in {1, 7}


def test_contextual_policies_read_features_that_never_change():
    features = np.array([[3.0], [1.0], [2.0], [0.0]])
    world = choice.ChoiceWorld(
        rule=TABLE.rule, subset_size=2, name="known", arm_features=features
    )
    records = played(Sure(), world)
    # Arms 0 and 2 in every run, whatever their positions.
    assert np.array_equal(records.ledger["offers"][0, -1], [400, 0, 400, 0])
    assert np.all(records.ledger["offers"] == records.ledger["offers"][0])
    with pytest.raises(SimulationArgumentError, match="has no features of the arms"):
        bayesduel.simulate(TABLE, Sure(), horizon=10)


def test_a_rule_of_ones_own_is_played_by_its_probabilities():
    class Own(choice.ChoiceRule):
        num_arms, has_no_choice, values = 4, False, None

        def probabilities(self, offered):
            return np.where(offered, 1 / 3, 0.0)

    class Sets(choice.ChoiceWorld):
        best_set = (0, 1, 2)

    world = Sets(rule=Own(), subset_size=3)
    records = played(Wandering(), world)
    assert world.notions == ("expected_reward",)
    np.testing.assert_allclose(records.ledger["regret"], 0.0, atol=1e-9)
    assert np.all(records.ledger["offers"][:, -1].sum(axis=1) == 3 * 400)


def test_results_of_a_world_of_ones_own(in_python):
    rules = ["random-subsets", Steady()]
    tree = bayesduel.compare(Buffet(period=5), rules, num_runs=3, horizon=60)
    node = tree["Buffet:period=5"]["Steady"]
    assert node["notion"].values.tolist() == ["sum", "rounds"]
    assert node["regret"].dims == ("notion", "run", "checkpoint")
    assert np.all(node["regret"].sel(notion="rounds")[:, -1] == 60)
    assert node["offers"].dims == ("run", "checkpoint", "arm")
    assert node["recommendation"].dims == ("run", "arm")
    absent = {"best_set", "choice_sets", "choice_probabilities"}
    assert not absent & set(node.data_vars) | absent & set(tree["Buffet:period=5"])
    request = {"num_runs": 2, "horizon": 30, "regret": ["rounds"]}
    some = bayesduel.simulate(Buffet(), Steady(), **request)
    assert some["notion"].values.tolist() == ["rounds"]


def test_a_world_of_ones_own_is_named_in_text(in_python):
    """On the command line as well, which reads the same texts."""
    text = "tests.simulation.test_open_sets:Buffet:period=5"
    assert bayesduel.load(text) == Buffet(period=5)
    with pytest.raises(ArgumentError, match="Buffet:period=5 is one of subset choice"):
        bayesduel.load(f"corrupted:world={text}")
    named, given = (
        bayesduel.simulate(value, "random-subsets", num_runs=2, horizon=30)
        for value in (text, Buffet(period=5))
    )
    assert named["regret"].equals(given["regret"])


def test_policies_that_assume_fixed_preferences_warn(in_python):
    with pytest.warns(AssumptionWarning, match="CUCB assumes fixed preferences, which"):
        bayesduel.simulate(Buffet(), "cucb", num_runs=1, horizon=10)


def test_policies_over_models_play_in_open_worlds():
    """The same runs as by the formulas of a world."""
    policy, given = policies.get("logit-ts"), {"checkpoints": (5, 40), "runs": range(3)}
    both = (played(policy, x, **given) for x in (WORLDS[0], Wrapped(WORLDS[0])))
    assert_same(*both, "offers")


def test_independent_rewards_are_drawn_in_every_part():
    world = Wrapped(SHARES, part=7)
    records = played(Wandering(longest=60), world, runs=range(30))
    assert np.all(records.ledger["offers"][:, -1].sum(axis=1) == 3 * 400)
