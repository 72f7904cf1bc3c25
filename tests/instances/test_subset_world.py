"""Worlds of subset choice before they are played."""

import numpy as np
import pytest

import bayesduel
from bayesduel.errors import ArgumentError
from bayesduel.instances import choice
from bayesduel.instances.subset_world import check_subset_world


class Menu(bayesduel.SubsetWorld):
    """Weights in a field."""

    weights: tuple[float, ...] = (3.0, 2.0, 1.0)
    subset_size: int = 2
    feedback: str = "winner"
    depth: int | None = None
    levels: int = 1
    largest_reward: float = 1.0
    revenues: tuple[float, ...] | None = None

    @property
    def num_arms(self):
        return len(self.weights)

    def start(self, horizon, rng):
        return np.array(self.weights)

    def probabilities(self, state, rng, round_, subset):
        weights = np.where(subset, state, 0.0)
        rest = 1.0 if self.feedback == "winner" else 0.0
        return weights / (rest + weights.sum())

    def regret(self, state, round_, subset):
        return state.max() - state[subset].max()


class Named(Menu):
    notions = ("one", "two")

    def regret(self, state, round_, subset):
        return 1.0, 2.0


class Lacking(bayesduel.SubsetWorld):
    num_arms: int = 3
    subset_size: int = 2


class Many(Menu):
    def probabilities(self, state, rng, round_, subset):
        return np.where(subset, 0.7, 0.0)


class Broken(Menu):
    def probabilities(self, state, rng, round_, subset):
        return state[9]


class Answering(Menu):
    def answer(self, state, rng, round_, subset):
        return np.where(subset, 0.5, 0.0)


def test_notions_are_those_that_regret_returns():
    assert check_subset_world(Menu(), 10) == ("regret",)
    assert check_subset_world(Named(), 10) == ("one", "two")
    for name in choice.world_names():
        text = f"{name}:seed=1" if name.startswith("random-t") else name
        try:
            world = choice.load_world(text)
        except ValueError:  # Has parameters without defaults.
            continue
        assert check_subset_world(world, 10) == world.notions


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (Menu(subset_size=4), "Menu: subset_size must be at most 3, got 4"),
        (Menu(subset_size=0), "Menu: subset_size must be an integer of at least 1"),
        (Menu(feedback="loser"), "Menu: feedback must be one of winner, ranking"),
        (Menu(feedback="ranking", depth=2), "Menu: depth must be at most 1"),
        (Menu(levels=0), "Menu: levels must be"),
        (Menu(largest_reward=0.0), "Menu: largest_reward must be"),
        (Menu(revenues=(1.0, 2.0)), "Menu: revenues must be one number for each"),
        (Menu(weights=(1.0,), subset_size=1), "Menu: num_arms must be a number of"),
        (Lacking(), "no start and no regret and no probabilities.*SubsetWorld"),
        (Many(), "Many: probabilities must add up to at most 1.*independent"),
        (Answering(), "Answering: answer must have reward 1 for at most one arm"),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_what_is_no_world_is_said(world, words):
    with pytest.raises(ArgumentError, match=words):
        check_subset_world(world, 10)
    with pytest.raises(ArgumentError, match=words):
        bayesduel.simulate(world, "random-subsets", horizon=10)


def test_an_error_of_a_method_names_it():
    words = "Broken: probabilities must work in round 1, but raised IndexError"
    with pytest.raises(ArgumentError, match=words) as caught:
        check_subset_world(Broken(), 10)
    assert isinstance(caught.value.__cause__, IndexError)


def test_worlds_are_equal_by_their_parameters():
    assert Menu() == Menu() != Menu(subset_size=1)
    assert hash(Menu()) == hash(Menu()) and Menu() != Named()
    assert Menu().checksum != Menu(weights=(3.0, 2.0, 1.5)).checksum
    assert choice.camera() == choice.load_world("camera")


def test_a_published_world_is_one_of_the_protocol():
    world = choice.camera()
    assert isinstance(world, bayesduel.SubsetWorld)
    subset = world.mask((0, 1, 3))
    state = world.start(100, np.random.default_rng(0))
    result = world.probabilities(state, np.random.default_rng(0), 1, subset)
    np.testing.assert_array_equal(result, world.probabilities((0, 1, 3)))
    regret = world.regret(state, 1, subset)
    assert regret == pytest.approx({"expected_reward": 0.05, "no_choice": 0.05})
    assert world.unchanged_until(state, 1) >= 10**18
