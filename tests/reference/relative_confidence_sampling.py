"""Relative confidence sampling."""

import numpy as np
from numpy.typing import NDArray

from tests.reference.common import CountingTwin, random_choice, relative_bounds


class RelativeConfidenceSampling(CountingTwin):
    """RCS (Zoghi et al. 2014, WSDM, Algorithm 1).

    Parameters
    ----------
    num_arms : int
        Number of arms K.
    rng : numpy.random.Generator
        For the samples and the ties.
    alpha : float
        Factor of log(t) in the confidence bounds.
    fallback : {"least", "random"}
        Champion where no arm beats all others in the sample: the one that was champion
        least often, or any.
    prior : float or float (K, K)
        Pseudo-wins of the samples, of i over j; one number for all, or a table.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        alpha: float = 0.51,
        fallback: str = "least",
        prior: float | NDArray[np.float64] = 1,
    ) -> None:
        super().__init__(num_arms, rng)
        self.alpha = alpha
        self.fallback = fallback
        self.prior = np.broadcast_to(prior, (num_arms, num_arms))
        self.reigns = np.zeros(num_arms, dtype=np.int64)

    def sample_preference(self) -> NDArray[np.float64]:
        """Draw one Beta sample per unordered pair and mirror it."""
        theta = np.full((self.num_arms, self.num_arms), 0.5)
        counts = self.wins + self.prior
        for i in range(self.num_arms):
            for j in range(i + 1, self.num_arms):
                theta[i, j] = self.rng.beta(counts[i, j], counts[j, i])
                theta[j, i] = 1 - theta[i, j]
        return theta

    def choose_champion(self) -> int:
        """Return the arm that beats all others in a sample, or the fallback."""
        beats_all = np.all(self.sample_preference() >= 0.5, axis=1)
        if beats_all.any():
            return int(np.argmax(beats_all))
        if self.fallback == "random":
            return int(self.rng.integers(self.num_arms))
        return random_choice(self.rng, self.reigns == self.reigns.min())

    def choose(self) -> tuple[int, int]:
        """Return champion and challenger of the round about to be played."""
        champion = self.choose_champion()
        self.reigns[champion] += 1
        upper, _ = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        column = upper[:, champion]
        return champion, random_choice(self.rng, column == column.max())
