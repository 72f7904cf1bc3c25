"""Relative minimum empirical divergence, first version."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tests.reference.common import check_order, divergence_from_half, first_minimum


class RMED1:
    """RMED1 (Komiyama et al. 2015, Algorithms 1 and 2).

    Everything inside works on positions in the order of the run, `order[position]`
    being the arm: the initial sweep is lexicographic, lists start in this order, and
    ties go to the lowest position, as in the policy. Nothing is random.

    Parameters
    ----------
    num_arms : int
        Number of arms K.
    rng : numpy.random.Generator
        Not used; present in every twin.
    scale, power : float
        f(K) = scale * K ** power is the extra allowance of the admission test.
    order : sequence of int, optional
        Permutation of the arms, the identity by default.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        scale: float = 0.3,
        power: float = 1.01,
        order: Sequence[int] | None = None,
    ) -> None:
        self.num_arms = num_arms
        self.allowance = scale * num_arms**power
        self.order = check_order(order, num_arms)
        self.position = {arm: place for place, arm in enumerate(self.order)}
        self.rounds = 0
        self.wins = [[0] * num_arms for _ in range(num_arms)]
        self.sweep = list(combinations(range(num_arms), 2))
        self.current = list(range(num_arms))  # LC, read from the cursor on.
        self.cursor = 0
        self.remaining = list(range(num_arms))  # LR
        self.following: list[int] = []  # LN

    def _mean(self, i: int, j: int) -> float:
        plays = self.wins[i][j] + self.wins[j][i]
        return self.wins[i][j] / plays if plays else 0.5

    def _superiors(self, i: int) -> list[int]:
        """Positions that i does not beat empirically; a tie counts as a loss."""
        return [j for j in range(self.num_arms) if j != i and self._mean(i, j) <= 0.5]

    def _divergences(self) -> list[float]:
        """I_i: the evidence against each position being the Condorcet winner."""
        return [
            math.fsum(
                (self.wins[i][j] + self.wins[j][i])
                * divergence_from_half(self.wins[i][j], self.wins[j][i])
                for j in self._superiors(i)
            )
            for i in range(self.num_arms)
        ]

    def _opponent(self, i: int) -> int:
        best = first_minimum(self._divergences())
        superiors = self._superiors(i)
        if not superiors or best in superiors:
            return best
        others = [j for j in range(self.num_arms) if j != i]
        return min(others, key=lambda j: (self._mean(i, j), j))

    def choose(self) -> tuple[int, int]:
        """Return the pair of the round about to be played."""
        if self.rounds < len(self.sweep):
            i, j = self.sweep[self.rounds]
        else:
            i = self.current[self.cursor]
            j = self._opponent(i)
        return self.order[i], self.order[j]

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the outcome, then admit arms to the next pass."""
        in_sweep = self.rounds < len(self.sweep)
        self.rounds += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[self.position[winner]][self.position[loser]] += 1
        if in_sweep:
            return
        self.remaining.remove(self.position[first])
        divergences = self._divergences()
        # The statistics include the round just played, whose index is in the bound.
        bound = min(divergences) + math.log(self.rounds) + self.allowance
        for j in range(self.num_arms):
            admitted = j not in self.remaining and divergences[j] <= bound
            if admitted and j not in self.following:
                self.following.append(j)
        self.cursor += 1
        if self.cursor == len(self.current):
            self.current, self.cursor = self.following, 0
            self.remaining, self.following = list(self.current), []

    def recommend(self) -> int:
        """Return the arm with the least evidence against it."""
        return self.order[first_minimum(self._divergences())]
