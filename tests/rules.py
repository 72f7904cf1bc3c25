"""Policies in NumPy that do something known, or go wrong."""

import numpy as np

import bayesduel
from bayesduel import Duel


class Greedy(bayesduel.Policy):
    """The example of the documentation."""

    epsilon: float = 0.1

    def start(self, problem, rng):
        return np.ones((problem.num_arms, problem.num_arms))

    def choose(self, wins, rng, round_):
        if rng.random() < self.epsilon:
            return rng.integers(len(wins)), rng.integers(len(wins))
        leader = (wins / (wins + wins.T)).sum(axis=1).argmax()
        return leader, leader

    def update(self, wins, rng, round_, first, second, won):
        wins[(first, second) if won else (second, first)] += 1

    def recommend(self, wins, rng):
        return (wins / (wins + wins.T)).sum(axis=1).argmax()


def next_pair(state, rng):
    """Draw a pair as ``ExploreFirst`` does, for a rule of another module."""
    first = rng.integers(0, len(state.won))
    second = rng.integers(0, len(state.won))
    return Duel(first, 0, first, second, True)


class ExploreFirst(bayesduel.Policy):
    """Compare random pairs for some rounds; then the most frequent winner stays."""

    rounds: int = 30
    manner: str = "stay"

    def start(self, problem, rng):
        return np.zeros(problem.num_arms, dtype=np.int64)

    def choose(self, won, rng, round_):
        if round_ > self.rounds:
            best = np.argmax(won)
            idle = 7 if self.manner == "ask again" else 10**6
            return Duel(best, idle, best, best, False)
        first = rng.integers(0, len(won))
        second = rng.integers(0, len(won))
        return Duel(first, 0, first, second, True)

    def update(self, won, rng, round_, first, second, has_won):
        won[first if has_won else second] += 1

    def recommend(self, won, rng):
        return np.argmax(won)


class FirstPair(bayesduel.Policy):
    """Compare arms 0 and 1 for ever; recommend who has won the last time."""

    def start(self, problem, rng):
        return np.zeros(2, dtype=np.int64)

    def choose(self, last, rng, round_):
        return 0, 1

    def update(self, last, rng, round_, first, second, won):
        last[0] = 1 - won
        last[1] = round_

    def recommend(self, last, rng):
        return last[0]
