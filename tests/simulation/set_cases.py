"""Worlds of sets of every kind, and a policy over sets that does something known."""

import numpy as np

from bayesduel.instances import choice
from bayesduel.policies import Offer, SubsetPolicy
from theory.choice.tables import ChoiceTable

WINNER = choice.multinomial_logit([0.9, 0.2, 0.5, 0.3], 3)
CAMERA = choice.camera()
RANKED = choice.plackett_luce([0.9, 0.2, 0.5, 0.3], 3)
ALWAYS = choice.multinomial_logit(
    [0.9, 0.2, 0.5], 2, no_choice_weight=0.0, name="always"
)
SHARES = choice.independent_rewards(
    [0.9, 0.2, 0.5, 0.3], 3, levels=4, largest_reward=2.0
)
TABLE = choice.choice_table(
    ChoiceTable(
        [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
        [[0.6, 0.4], [0.5, 0.1], [0.3, 0.2], [0.2, 0.1], [0.0, 1.0], [0.0, 0.0]],
    ),
    name="table",
)
WORLDS = (
    WINNER,
    choice.multinomial_logit(
        [0.9, 0.2, 0.5, 0.3], 2, revenues=[0.1, 1.0, 0.5, 0.0], name="revenues"
    ),
    choice.gaussian_utility([0.4, 0.0, 2.2, 0.1], 3),
    choice.gaussian_utility([0.4, 0.0, 0.2, -30.0], 2, no_choice_mean=0.3, name="out"),
    TABLE,
    RANKED,
    SHARES,
)
"""Worlds of four arms each."""


class Wandering(SubsetPolicy):
    """Offer random sets for random stretches; count what they bring."""

    longest: int = 1
    until: bool = False

    def start(self, problem, rng):
        return np.zeros(problem.num_arms), np.full(1, problem.subset_size)

    def choose(self, state, rng, round_):
        subset = np.zeros(len(state[0]), dtype=np.bool_)
        while subset.sum() < state[1][0]:
            subset[rng.integers(0, len(subset))] = True
        return Offer(subset, rng.integers(1, self.longest + 1), self.until)

    def update(self, state, rng, round_, subset, rounds, rewards):
        for arm in range(len(subset)):
            state[0][arm] += rewards[arm] / rounds + 1e-3 * round_ * rng.random()

    def recommend(self, state, rng):
        return state[0] > state[0].mean()
