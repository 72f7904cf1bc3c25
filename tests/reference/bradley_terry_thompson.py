"""Bradley-Terry Thompson sampling by Laplace's method, with and without bounds."""

import numpy as np

from tests.reference.common import random_choice, relative_bounds
from tests.reference.rays import points_on_rays


class BayesianBradleyTerry:
    """Two utility vectors from around the posterior mode; their best arms meet.

    A design of this toolkit, not of a paper. The mode is found anew in every round, to
    convergence, and draws of the normal distribution there are moved along rays.

    Parameters
    ----------
    num_arms : int
        Number of arms K.
    rng : numpy.random.Generator
        For the samples and the ties.
    prior_scale : float
        Standard deviation of each utility.
    elimination : bool
        Only possible Copeland winners are first, and only arms that are not surely
        better than the first are second (Wu and Liu 2016, Algorithm 1).
    alpha : float
        Factor of log(t) in the bounds.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        prior_scale: float = 2.0,
        elimination: bool = False,
        alpha: float = 0.51,
    ) -> None:
        self.elimination = elimination
        self.alpha = alpha
        self.rounds = 0
        self.num_arms = num_arms
        self.rng = rng
        self.prior_scale = prior_scale
        self.wins = np.zeros((num_arms, num_arms))
        self._found: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mode of the posterior, and the covariance there."""
        wins = self.wins.tobytes()
        if wins not in self._found:  # A round asks several times.
            self._found = {wins: self._mode_of_wins()}
        return self._found[wins]

    def _mode_of_wins(self) -> tuple[np.ndarray, np.ndarray]:
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

    def log_density(self, utility: np.ndarray) -> np.ndarray:
        """Return the log posterior density of utilities (draw, K)."""
        gap = utility[:, :, None] - utility[:, None, :]
        logs = np.sum(self.wins * -np.logaddexp(0.0, -gap), axis=(1, 2))
        return logs - 0.5 * np.sum(np.square(utility / self.prior_scale), axis=1)

    def slope(self, utility: np.ndarray) -> np.ndarray:
        """Return the gradient of that at utilities (K,)."""
        lost = 1.0 / (1.0 + np.exp(utility[:, None] - utility[None, :]))
        told = (self.wins * lost - self.wins.T * lost.T).sum(axis=1)
        return told - utility / self.prior_scale**2

    def draw(self, number: int) -> np.ndarray:
        """Return utilities (draw, K)."""
        utility, covariance = self.mode()
        white = self.rng.standard_normal((number, self.num_arms))
        ways = white @ np.linalg.cholesky(covariance).T
        depth = np.linalg.norm(white, axis=1)
        return points_on_rays(self.log_density, utility, ways, depth)

    def choose(self) -> tuple[int, int]:
        """Return the best arms of two samples."""
        samples = self.draw(2)
        if not self.elimination:
            return int(np.argmax(samples[0])), int(np.argmax(samples[1]))
        self.rounds += 1
        upper, lower = relative_bounds(self.wins, self.rounds, self.alpha)
        optimistic = np.count_nonzero(upper > 0.5, axis=1)
        score = np.where(optimistic == optimistic.max(), samples[0], -np.inf)
        first = int(np.argmax(score))
        # The first arm itself always may: its bound against itself is 1/2.
        second = np.argmax(np.where(lower[:, first] <= 0.5, samples[1], -np.inf))
        return first, int(second)

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the winner; a self-duel says nothing."""
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[winner, loser] += 1

    def recommend(self) -> int:
        """Return the arm with the largest utility at the mode."""
        utility, _ = self.mode()
        return random_choice(self.rng, utility == utility.max())
