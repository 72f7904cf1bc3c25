"""Reductions to ordinary bandits: Sparring, MultiSBM and Doubler.

Ailon, Karnin and Joachims (2014), Algorithms 1 to 4. Self-duels feed their outcome, a
fair coin, like any other duel.
"""

import math
from collections import Counter

import numpy as np

from tests.reference.common import random_choice


class UCBMachine:
    """An ordinary bandit: UCB with the factor (alpha + 2) / 2 of the logarithm."""

    def __init__(self, num_arms, rng, alpha=3.0):
        self.num_arms = num_arms
        self.rng = rng
        self.alpha = alpha
        self.reset()

    def reset(self):
        """Forget everything."""
        self.pull = 1
        self.sums = [0] * self.num_arms
        self.counts = [0] * self.num_arms

    def index(self, arm):
        """Return the upper confidence bound of an arm for the pull about to be made."""
        if self.counts[arm] == 0:
            return math.inf
        mean = self.sums[arm] / self.counts[arm]
        return mean + math.sqrt(
            (self.alpha + 2) * math.log(self.pull) / (2 * self.counts[arm])
        )

    def advance(self):
        """Name an arm: never pulled ones first, ties at random."""
        index = np.array([self.index(arm) for arm in range(self.num_arms)])
        return random_choice(self.rng, index == index.max())

    def feedback(self, arm, reward):
        """Count a reward."""
        self.pull += 1
        self.sums[arm] += reward
        self.counts[arm] += 1


class ThompsonMachine(UCBMachine):
    """An ordinary bandit: Thompson sampling with prior Beta(1, 1)."""

    def advance(self):
        """Name the arm with the largest draw."""
        draws = [
            self.rng.beta(1 + won, 1 + count - won)
            for won, count in zip(self.sums, self.counts, strict=True)
        ]
        return int(np.argmax(draws))


MACHINES = {"ucb": UCBMachine, "ts": ThompsonMachine}


class Sparring:
    """Two machines that play against each other."""

    def __init__(self, num_arms, rng, *, inner="ucb"):
        self.rng = rng
        self.left = MACHINES[inner](num_arms, rng)
        self.right = MACHINES[inner](num_arms, rng)

    def choose(self):
        """Let both machines name an arm."""
        return self.left.advance(), self.right.advance()

    def update(self, first, second, first_won):
        """Feed each machine whether its arm won."""
        self.left.feedback(first, int(first_won))
        self.right.feedback(second, int(not first_won))

    def recommend(self):
        """Return the arm pulled most often by both together."""
        pulls = np.add(self.left.counts, self.right.counts)
        return random_choice(self.rng, pulls == pulls.max())


class MultiSBM:
    """One machine per arm; the right arm of a round is the left arm of the next."""

    def __init__(self, num_arms, rng):
        self.rng = rng
        self.machines = [UCBMachine(num_arms, rng) for _ in range(num_arms)]
        self.last = int(rng.integers(num_arms))
        self.played = [0] * num_arms

    def choose(self):
        """Name the right arm by the machine of the left one."""
        left = self.last
        self.last = self.machines[left].advance()
        return left, self.last

    def update(self, first, second, first_won):
        """Feed the machine of the left arm."""
        self.machines[first].feedback(second, int(not first_won))
        self.played[second] += 1

    def recommend(self):
        """Return the arm that was most often on the right."""
        played = np.array(self.played)
        return random_choice(self.rng, played == played.max())


class Doubler:
    """Epochs of doubling length; left arms are the right arms of the last epoch."""

    def __init__(self, num_arms, rng):
        self.rng = rng
        self.machine = UCBMachine(num_arms, rng)
        self.left = [int(rng.integers(num_arms))]
        self.epoch = 1
        self.chosen = []

    def choose(self):
        """Draw the left arm from the multiset, let the machine name the right one."""
        left = self.left[self.rng.integers(len(self.left))]
        return left, self.machine.advance()

    def update(self, first, second, first_won):
        """Feed the machine; after 2^epoch rounds, begin the next epoch."""
        self.machine.feedback(second, int(not first_won))
        self.chosen.append(second)
        if len(self.chosen) == 2**self.epoch:
            self.left, self.chosen = self.chosen, []
            self.epoch += 1
            self.machine.reset()

    def recommend(self):
        """Return the most frequent right arm of the last complete epoch."""
        counts = Counter(self.left)
        most = np.array([counts[arm] for arm in range(self.machine.num_arms)])
        return random_choice(self.rng, most == most.max())
