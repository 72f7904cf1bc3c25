"""Relative minimum empirical divergence, second version, and with a known horizon."""

import math
from itertools import combinations

from tests.reference.common import (
    TIE_TOLERANCE,
    bernoulli_divergence,
    first_minimum,
)
from tests.reference.rmed1 import RMED1


class _Targets(RMED1):
    """Both versions: the cheapest proof that an arm is not the best."""

    floor: float

    def _plays(self, i, j):
        return self.wins[i][j] + self.wins[j][i]

    def _target(self, i):
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

    def _pursued(self, i, target, scale):
        """Whether position i meets its target and not the opponent of RMED1."""
        if target is None or target not in self._superiors(i):
            return False
        best = first_minimum(self._divergences())
        with_best = self._plays(i, best) if i != best else 0
        return with_best >= self._plays(i, target) / scale


class RMED2(_Targets):
    """RMED2 (Komiyama et al. 2015, Algorithms 1 and 3)."""

    alpha = 3.0
    """A pair with N < alpha log log t is drawn at the top of a pass."""
    floor = 0.01
    """Smallest numerator in the choice of the target; -1 for none."""
    extra = False

    def start(self):
        super().start()
        self.pairs = list(combinations(range(self.num_arms), 2))

    def _rare_pair(self):
        wanted = self.alpha * math.log(math.log(max(self.rounds + 1, 3)))
        return next((pair for pair in self.pairs if self._plays(*pair) < wanted), None)

    def _opponent(self, i):
        target = self._target(i)
        scale = math.log(math.log(max(self.rounds + 1, 16)))
        return target if self._pursued(i, target, scale) else super()._opponent(i)

    def choose(self):
        in_sweep = self.rounds < len(self.sweep)
        rare = None if in_sweep or self.cursor > 0 else self._rare_pair()
        self.extra = rare is not None
        if rare is not None:
            return self.order[rare[0]], self.order[rare[1]]
        return super().choose()

    def update(self, first, second, first_won):
        """Count the outcome; the lists move on unless the draw was a forced one."""
        if not self.extra:
            super().update(first, second, first_won)
            return
        self.count(first, second, first_won)


class RMED2FH(_Targets):
    """RMED2FH (Komiyama et al. 2015, Algorithms 1 and 3), for a known horizon."""

    horizon = 0
    """T. Every pair is drawn max(1, ceil(alpha log log T)) times, sweep by sweep; then
    the target of every position is fixed."""
    alpha, floor = 3.0, 0.01
    targets = None

    def start(self):
        super().start()
        draws = math.ceil(self.alpha * math.log(math.log(max(self.horizon, 3))))
        self.sweep = self.sweep * max(1, draws)
        self.scale_of_test = math.log(math.log(max(self.horizon, 16)))

    def _opponent(self, i):
        if self.targets is None:
            self.targets = [self._target(j) for j in range(self.num_arms)]
        if self._pursued(i, self.targets[i], self.scale_of_test):
            return self.targets[i]
        return super()._opponent(i)


DUEL_BY_DUEL = {"rmed2": RMED2, "rmed2fh": RMED2FH}
