"""Bradley-Terry Thompson sampling by Laplace's method, with and without bounds."""

import numpy as np

from tests.reference.common import CountingTwin, random_choice, relative_bounds
from tests.reference.rays import points_on_rays


class BayesianBradleyTerry(CountingTwin):
    """Two utility vectors from around the posterior mode; their best arms meet.

    A design of this toolkit, not of a paper. The mode is found anew in every round, to
    convergence, and draws of the normal distribution there are moved along rays.
    """

    prior_scale = 2.0
    """Standard deviation of each utility."""
    elimination = False
    """With the bounds of D-TS: only possible Copeland winners are first, and only arms
    that are not surely better than the first are second."""
    alpha = 0.51
    _found = {}

    def mode(self):
        """Return the mode of the posterior, and the covariance there."""
        wins = self.wins.tobytes()
        if wins not in self._found:  # A round asks several times.
            self._found = {wins: self._mode_of_wins()}
        return self._found[wins]

    def _mode_of_wins(self):
        utility = np.zeros(self.num_arms)
        for _ in range(100):
            probability = 1.0 / (1.0 + np.exp(utility[None, :] - utility[:, None]))
            number = self.wins + self.wins.T
            weight = number * probability * (1.0 - probability)
            diagonal = 1.0 / self.prior_scale**2 + weight.sum(axis=1)
            precision = np.diag(diagonal) - weight
            step = np.linalg.solve(precision, self.slope(utility))
            utility = utility + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
            if np.abs(step).max() < 1e-10:
                break
        return utility, np.linalg.inv(precision)

    def log_density(self, utility):
        """Return the log posterior density of utilities (draw, K)."""
        gap = utility[:, :, None] - utility[:, None, :]
        logs = np.sum(self.wins * -np.logaddexp(0.0, -gap), axis=(1, 2))
        return logs - 0.5 * np.sum(np.square(utility / self.prior_scale), axis=1)

    def slope(self, utility):
        """Return the gradient of that at utilities (K,)."""
        lost = 1.0 / (1.0 + np.exp(utility[:, None] - utility[None, :]))
        reported = (self.wins * lost - self.wins.T * lost.T).sum(axis=1)
        return reported - utility / self.prior_scale**2

    def draw(self, number):
        """Return utilities (draw, K)."""
        utility, covariance = self.mode()
        white = self.rng.standard_normal((number, self.num_arms))
        ways = white @ np.linalg.cholesky(covariance).T
        depth = np.linalg.norm(white, axis=1)
        return points_on_rays(self.log_density, utility, ways, depth)

    def choose(self):
        """Return the best arms of two samples."""
        samples = self.draw(2)
        if not self.elimination:
            return int(np.argmax(samples[0])), int(np.argmax(samples[1]))
        upper, lower = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        optimistic = np.count_nonzero(upper > 0.5, axis=1)
        score = np.where(optimistic == optimistic.max(), samples[0], -np.inf)
        first = int(np.argmax(score))
        # The first arm itself always may: its bound against itself is 1/2.
        second = np.argmax(np.where(lower[:, first] <= 0.5, samples[1], -np.inf))
        return first, int(second)

    def recommend(self):
        """Return the arm with the largest utility at the mode."""
        utility, _ = self.mode()
        return random_choice(self.rng, utility == utility.max())
