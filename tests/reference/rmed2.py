"""Relative minimum empirical divergence, second version, and with a known horizon."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tests.reference.common import (
    TIE_TOLERANCE,
    bernoulli_divergence,
    first_minimum,
)
from tests.reference.rmed1 import RMED1


class _Targets(RMED1):
    """What the two versions share: the cheapest proof that an arm is not the best."""

    floor: float

    def _plays(self, i: int, j: int) -> int:
        return self.wins[i][j] + self.wins[j][i]

    def _target(self, i: int) -> int | None:
        """b_i, the lowest position in a tie; None if no mean is below 1/2."""
        best = first_minimum(self._divergences())
        cost = {}
        for j in range(self.num_arms):
            if j != i and self._mean(i, j) < 0.5:
                regret = self._mean(best, i) + self._mean(best, j) - 1
                divergence = bernoulli_divergence(self._mean(i, j), 0.5)
                cost[j] = max(regret, self.floor) / divergence
        if not cost:
            return None
        least = min(cost.values())
        tied = least + TIE_TOLERANCE * abs(least)
        return min(j for j, value in cost.items() if value <= tied)

    def _pursued(self, i: int, target: int | None, scale: float) -> bool:
        """Whether position i meets its target and not the opponent of RMED1."""
        if target is None or target not in self._superiors(i):
            return False
        best = first_minimum(self._divergences())
        with_best = self._plays(i, best) if i != best else 0
        return with_best >= self._plays(i, target) / scale


class RMED2(_Targets):
    """RMED2 (Komiyama et al. 2015, Algorithms 1 and 3).

    Works on positions in the order of the run, as `RMED1` does.

    Parameters
    ----------
    num_arms, rng, scale, power, order
        As for `RMED1`.
    alpha : float
        A pair with N < alpha log log t is drawn at the top of a pass.
    floor : float
        Smallest numerator in the choice of the target; -1 for none.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        scale: float = 0.3,
        power: float = 1.01,
        alpha: float = 3.0,
        floor: float = 0.01,
        order: Sequence[int] | None = None,
    ) -> None:
        super().__init__(num_arms, rng, scale=scale, power=power, order=order)
        self.alpha = alpha
        self.floor = floor
        self.pairs = list(combinations(range(num_arms), 2))
        self.extra = False

    def _rare_pair(self) -> tuple[int, int] | None:
        wanted = self.alpha * math.log(math.log(max(self.rounds + 1, 3)))
        return next((pair for pair in self.pairs if self._plays(*pair) < wanted), None)

    def _opponent(self, i: int) -> int:
        target = self._target(i)
        scale = math.log(math.log(max(self.rounds + 1, 16)))
        return target if self._pursued(i, target, scale) else super()._opponent(i)

    def choose(self) -> tuple[int, int]:
        """Return the pair of the round about to be played."""
        in_sweep = self.rounds < len(self.sweep)
        rare = None if in_sweep or self.cursor > 0 else self._rare_pair()
        self.extra = rare is not None
        if rare is not None:
            return self.order[rare[0]], self.order[rare[1]]
        return super().choose()

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the outcome; the lists move on unless the draw was a forced one."""
        if not self.extra:
            super().update(first, second, first_won)
            return
        self.rounds += 1
        winner, loser = (first, second) if first_won else (second, first)
        self.wins[self.position[winner]][self.position[loser]] += 1


class RMED2FH(_Targets):
    """RMED2FH (Komiyama et al. 2015, Algorithms 1 and 3), for a known horizon.

    Parameters
    ----------
    horizon : int
        T. Every pair is drawn max(1, ceil(alpha log log T)) times, sweep by sweep;
        then the target of every position is fixed.
    num_arms, rng, scale, power, alpha, floor, order
        As for `RMED2`.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        horizon: int,
        scale: float = 0.3,
        power: float = 1.01,
        alpha: float = 3.0,
        floor: float = 0.01,
        order: Sequence[int] | None = None,
    ) -> None:
        super().__init__(num_arms, rng, scale=scale, power=power, order=order)
        self.floor = floor
        draws = math.ceil(alpha * math.log(math.log(max(horizon, 3))))
        self.sweep = self.sweep * max(1, draws)
        self.scale_of_test = math.log(math.log(max(horizon, 16)))
        self.targets: list[int | None] | None = None

    def _opponent(self, i: int) -> int:
        if self.targets is None:
            self.targets = [self._target(j) for j in range(self.num_arms)]
        if self._pursued(i, self.targets[i], self.scale_of_test):
            target = self.targets[i]
            assert target is not None
            return target
        return super()._opponent(i)
