"""Double Thompson sampling: D-TS, its ablation without elimination, and D-TS+."""

from functools import partial

import numpy as np
from scipy.special import xlog1py

from tests.reference.common import CountingTwin, random_choice, relative_bounds

SMALLEST_DIVERGENCE = 1e-300
"""Keeps the quotients of D-TS+ finite when a sample lies next to 1/2."""


class DoubleThompson(CountingTwin):
    """D-TS (Wu and Liu 2016, Algorithm 1), with every Beta draw of the text."""

    alpha = 0.51
    elimination = True
    """False leaves both uses of the bounds out ("pure" D-TS, Appendix D.2.4)."""
    prior = 1
    """Pseudo-wins of i over j, one number or a table; the bounds do not know them."""

    def start(self):
        self.prior = np.broadcast_to(self.prior, (self.num_arms, self.num_arms))
        self._upper = np.triu_indices(self.num_arms, 1)
        self._bounds = {}

    def bounds(self):
        """Return both confidence bounds, which a round asks for twice."""
        state = self.rounds, self.wins.tobytes()
        if state not in self._bounds:
            result = relative_bounds(self.wins, self.rounds + 1, self.alpha)
            self._bounds = {state: result}
        return self._bounds[state]

    def candidates(self):
        """Return which arms may be first: the largest optimistic Copeland count."""
        if not self.elimination:
            return np.ones(self.num_arms, dtype=bool)
        upper, _ = self.bounds()
        # The diagonal is 1/2 and the inequality strict: no arm counts itself.
        optimistic = np.count_nonzero(upper > 0.5, axis=1)
        return optimistic == optimistic.max()

    def eligible(self, first):
        """Return which arms may be second: those not surely better than the first."""
        if not self.elimination:
            return np.ones(self.num_arms, dtype=bool)
        _, lower = self.bounds()
        return lower[:, first] <= 0.5

    def sample_preference(self):
        """Draw one Beta sample per unordered pair and mirror it."""
        rows, columns = self._upper
        counts = self.wins + self.prior
        draws = self.rng.beta(counts[rows, columns], counts[columns, rows])
        theta = np.full((self.num_arms, self.num_arms), 0.5)
        theta[rows, columns] = draws
        theta[columns, rows] = 1 - draws
        return theta

    def sample_column(self, first):
        """Draw the probability that each arm beats the first one, afresh."""
        counts = self.wins + self.prior
        column = self.rng.beta(counts[:, first], counts[first, :])
        column[first] = 0.5
        return column

    def choose_first(self, theta):
        """Return a candidate with the largest sampled Copeland count."""
        scores = np.count_nonzero(theta > 0.5, axis=1)
        among = np.where(self.candidates(), scores, -1)
        return self.break_ties(among == among.max(), theta, scores)

    def break_ties(self, tied, theta, scores):
        """Return a uniformly random arm of the tied ones."""
        return random_choice(self.rng, tied)

    def choose(self):
        first = self.choose_first(self.sample_preference())
        column = np.where(self.eligible(first), self.sample_column(first), -1.0)
        return first, random_choice(self.rng, column == column.max())


class DoubleThompsonPlus(DoubleThompson):
    """D-TS+ (Wu and Liu 2016, Section 4.3): ties by the estimated regret.

    Among the candidates with the largest sampled count, the first arm minimizes

        R_i = sum over j != i, theta_ij != 1/2, of  r_ij / d(theta_ij, 1/2),
        r_ij = z_max - (z_i + z_j) / 2,

    with z the sampled Copeland scores and z_max their maximum over all arms, candidates
    or not. Remaining ties are random.
    """

    def break_ties(self, tied, theta, scores):
        """Return the tied arm of least estimated regret."""
        if np.count_nonzero(tied) == 1:
            return int(np.flatnonzero(tied)[0])
        estimates = np.where(tied, self.estimated_regret(theta, scores), np.inf)
        return random_choice(self.rng, estimates == estimates.min())

    def estimated_regret(self, theta, scores):
        """Return R_i of every arm."""
        normalized = scores / (self.num_arms - 1)
        regret = normalized.max() - (normalized[:, None] + normalized[None, :]) / 2
        excess = 2 * (theta - 0.5)
        divergence = xlog1py(theta, excess) + xlog1py(1 - theta, -excess)
        quotient = regret / np.maximum(divergence, SMALLEST_DIVERGENCE)
        return np.where(theta != 0.5, quotient, 0.0).sum(axis=1)


IN_DISTRIBUTION = {
    "d-ts": DoubleThompson,
    "d-ts+": DoubleThompsonPlus,
    "pure-d-ts": partial(DoubleThompson, elimination=False),
}
