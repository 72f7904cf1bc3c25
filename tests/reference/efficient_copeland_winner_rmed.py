"""Efficient Copeland-winners RMED, with brute force where the paper has formulas."""

import math
from functools import lru_cache
from itertools import combinations

import numpy as np

from tests.reference.common import (
    TIE_TOLERANCE,
    OrderedTwin,
    divergence_from_half,
    first_minimum,
)
from tests.theory.brute_force import constraints

SLACK = 1e-12
"""A constraint holds from 1 minus this on."""


def superiors(signs):
    """Return for each arm the arms that beat it; ties belong to nobody.

    Entry [i][j] is 1, -1 or 0 when i beats j, loses or ties.
    """
    return [[j for j, sign in enumerate(row) if sign < 0] for row in signs]


def winners(signs):
    """Return the arms with the fewest losses."""
    losses = [len(beaten_by) for beaten_by in superiors(signs)]
    return [arm for arm, count in enumerate(losses) if count == min(losses)]


@lru_cache(maxsize=256)
def families(signs, winner):
    """List every constraint on the evidence that `winner` is a Copeland winner.

    One row per constraint (Komiyama et al. 2016, Equation 2, with the indicator of "i2
    in H"), columns are the unordered pairs in lexicographic order. The evidence over
    each row must add up to 1.

    Returns
    -------
    bool (number of constraints, K (K - 1) / 2)
    """
    pairs = list(combinations(range(len(signs)), 2))
    sets = constraints(0.5 + 0.1 * np.array(signs), winner)
    rows = [[pair in chosen for pair in pairs] for chosen in sets]
    return np.array(rows, dtype=bool).reshape(len(rows), len(pairs))


def suffices(signs, winner, evidence):
    """Return whether the evidence (one entry per pair) satisfies every constraint."""
    return bool(np.all(families(signs, winner) @ evidence >= 1 - SLACK))


def efficient_allocation(signs, divergence, winner, regrets=None):
    """Return the cost and the evidence asked for by the efficient program.

    Full evidence on every pair (winner, inferior); for each rival with
    k = |O| - (L_rival - L_winner + 1) >= 0, where O are its superiors but the winner,
    1 / (h - k) on the h cheapest pairs (rival, superior), with the best h > k found by
    trying them all (Komiyama et al. 2016, Equations 4-7). Equal costs: lowest index
    first; equally good h: the smallest.

    Parameters
    ----------
    signs : tuple (K, K)
        Who beats whom.
    divergence : float (K, K)
        d(mu_ij, 1/2), positive unless tied.
    winner : int
        An arm with the fewest losses.
    regrets : float (K, K), optional
        What a duel of each pair costs, in place of its Copeland regret.

    Returns
    -------
    cost : float
        Copeland regret (counted in losses) per unit of log t.
    evidence : float (K, K)
        Symmetric, between 0 and 1.
    """
    num_arms = len(signs)
    beaten_by = superiors(signs)
    losses = [len(arms) for arms in beaten_by]
    evidence = np.zeros((num_arms, num_arms))
    total = 0.0

    def cost(i, j):
        regret = (losses[i] + losses[j] - 2 * min(losses)) / (2 * (num_arms - 1))
        if regrets is not None:
            regret = float(regrets[i, j])
        return regret / float(divergence[i, j])

    for j in range(num_arms):
        if signs[winner][j] > 0:
            evidence[winner, j] = evidence[j, winner] = 1.0
            total += cost(winner, j)
    for rival in range(num_arms):
        pool = [j for j in beaten_by[rival] if j != winner]
        k = len(pool) - (losses[rival] - losses[winner] + 1)
        if rival == winner or k < 0:
            continue
        pool.sort(key=lambda j: (cost(j, rival), j))
        values = {
            h: sum(cost(j, rival) for j in pool[:h]) / (h - k)
            for h in range(k + 1, len(pool) + 1)
        }
        bound = min(values.values()) * (1 + TIE_TOLERANCE)
        best = min(h for h, value in values.items() if value <= bound)
        for j in pool[:best]:
            evidence[rival, j] = evidence[j, rival] = 1 / (best - k)
        total += values[best]
    return total, evidence


class EfficientCopelandRMED(OrderedTwin):
    """ECW-RMED (Komiyama et al. 2016, Algorithm 1).

    Nothing is random; at most 6 arms. The forced draws of line 4 are checked before
    every round, as the proof asks, and take in a mean of exactly 1/2. The box q <= 1/d
    is no part of the test: evidence is clipped at 1.
    """

    alpha, beta = 3.0, 0.01
    """A pair is drawn at once while it has fewer than alpha sqrt(log t) draws or a mean
    closer to 1/2 than beta / max(1, log log t)."""
    best = None
    _forced = False

    def start(self):
        super().start()
        self.pairs = list(combinations(range(self.num_arms), 2))
        self.current = list(self.pairs)  # LC, read from the cursor on.
        self.cursor = 0
        self.remaining = list(self.pairs)  # LR
        self.following = []  # LN

    def _due_pair(self):
        """First pair that must be drawn at once in the round about to be played."""
        t = self.rounds + 1
        log_t = math.log(t)
        least_plays = self.alpha * math.sqrt(log_t)
        least_gap = self.beta / (max(1.0, math.log(log_t)) if t > 2 else 1.0)
        for i, j in self.pairs:
            won, lost = int(self.wins[i, j]), int(self.wins[j, i])
            plays = won + lost
            if plays == 0 or plays < least_plays or won == lost:
                return i, j
            if abs(won - lost) / (2 * plays) < least_gap:
                return i, j
        return None

    def _signs(self):
        return tuple(map(tuple, np.sign(self.wins - self.wins.T).tolist()))

    def choose(self):
        due = self._due_pair()
        self._forced = due is not None
        i, j = self.current[self.cursor] if due is None else due
        return self.order[i], self.order[j]

    def update(self, first, second, first_won):
        """Count the outcome and, outside forced draws, extend the next list."""
        self.count(first, second, first_won)
        if self._forced:
            return
        wanted = self._wanted()
        self.remaining.remove(self.current[self.cursor])
        for pair in wanted:
            if pair not in self.following and pair not in self.remaining:
                self.following.append(pair)
        self.cursor += 1
        if self.cursor == len(self.current):
            self.current, self.cursor = self.following, 0
            self.remaining, self.following = list(self.current), []

    def _wanted(self):
        """Pairs asked for by the counts, which include the round just played."""
        signs = self._signs()
        divergence = np.zeros((self.num_arms, self.num_arms))
        for i, j in self.pairs:
            value = divergence_from_half(int(self.wins[i, j]), int(self.wins[j, i]))
            divergence[i, j] = divergence[j, i] = value
        length = max(1.0, math.log(self.rounds))
        collected = (self.wins + self.wins.T) * divergence / length
        rows, columns = np.triu_indices(self.num_arms, 1)
        clipped = np.minimum(1.0, collected[rows, columns])
        arms = winners(signs)
        for arm in arms:
            if suffices(signs, arm, clipped):
                self.best = arm
                return [(arm, arm)]
        programs = [self._program(signs, divergence, arm) for arm in arms]
        chosen = first_minimum(cost for cost, _ in programs)
        self.best, evidence = arms[chosen], programs[chosen][1]
        missing = [pair for pair in self.pairs if evidence[pair] > collected[pair]]
        return [*missing, (self.best, self.best)]

    def _program(self, signs, divergence, winner):
        """Return cost and evidence that a winner of the estimates asks for."""
        return efficient_allocation(signs, divergence, winner)

    def recommend(self):
        """Return the arm of the last decision; before the first, of fewest losses."""
        best = self.best if self.best is not None else winners(self._signs())[0]
        return self.order[best]


DUEL_BY_DUEL = {"ecw-rmed": EfficientCopelandRMED}
