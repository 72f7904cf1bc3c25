"""D-optimal pairs, by determinants and a minimizer that knows no derivative twice."""

import numpy as np
from scipy import optimize

from tests.reference.common import CountingTwin


class DOptimal(CountingTwin):
    """The pair after whose vote log det of the information is largest."""

    def __init__(self, num_arms, rng, prior_scale=2.0):
        super().__init__(num_arms, rng)
        self.scale = prior_scale

    def mode(self):
        """Return the utilities of the largest posterior density."""

        def loss(utilities):
            gaps = utilities[:, None] - utilities
            votes = (self.wins * np.logaddexp(0.0, -gaps)).sum()
            return votes + (utilities**2).sum() / (2 * self.scale**2)

        def slope(utilities):
            gaps = utilities[:, None] - utilities
            missed = self.wins / (1 + np.exp(gaps))
            return utilities / self.scale**2 - missed.sum(1) + missed.sum(0)

        start = np.zeros(self.num_arms)
        options = {"gtol": 1e-10, "maxiter": 10_000}
        return optimize.minimize(loss, start, jac=slope, options=options).x

    def gains(self):
        """Return log det of the information after one more vote on each pair."""
        utilities = self.mode()
        total = np.eye(self.num_arms) / self.scale**2
        share = {}
        for i in range(self.num_arms):
            for j in range(i + 1, self.num_arms):
                won = 1 / (1 + np.exp(utilities[j] - utilities[i]))
                contrast = np.zeros(self.num_arms)
                contrast[i], contrast[j] = 1.0, -1.0
                share[i, j] = won * (1 - won) * np.outer(contrast, contrast)
                total += (self.wins[i, j] + self.wins[j, i]) * share[i, j]
        return {
            pair: np.linalg.slogdet(total + more)[1] for pair, more in share.items()
        }

    def admissible(self):
        """Return the pairs among which the next one is drawn."""
        gains = self.gains()
        best = max(gains.values())
        return [pair for pair, gain in gains.items() if gain >= best - 1e-7]

    def choose(self):
        pairs = self.admissible()
        return pairs[self.rng.integers(len(pairs))]

    def recommend(self):
        """Return the arm with the largest utility."""
        return int(np.argmax(self.mode()))
