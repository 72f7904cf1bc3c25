"""Relative confidence sampling."""

import numpy as np

from tests.reference.common import CountingTwin, random_choice, relative_bounds


class RelativeConfidenceSampling(CountingTwin):
    """RCS (Zoghi et al. 2014, WSDM, Algorithm 1)."""

    alpha = 0.51
    fallback = "least"
    """Champion where no arm beats all others in the sample: the one that was champion
    least often, or with "random" any."""
    prior = 1
    """Pseudo-wins of the samples, of i over j, one number or a table."""

    def start(self):
        self.prior = np.broadcast_to(self.prior, (self.num_arms, self.num_arms))
        self.reigns = np.zeros(self.num_arms, dtype=np.int64)

    def sample_preference(self):
        """Draw one Beta sample per unordered pair and mirror it."""
        theta = np.full((self.num_arms, self.num_arms), 0.5)
        counts = self.wins + self.prior
        for i in range(self.num_arms):
            for j in range(i + 1, self.num_arms):
                theta[i, j] = self.rng.beta(counts[i, j], counts[j, i])
                theta[j, i] = 1 - theta[i, j]
        return theta

    def choose_champion(self):
        """Return the arm that beats all others in a sample, or the fallback."""
        beats_all = np.all(self.sample_preference() >= 0.5, axis=1)
        if beats_all.any():
            return int(np.argmax(beats_all))
        if self.fallback == "random":
            return int(self.rng.integers(self.num_arms))
        return random_choice(self.rng, self.reigns == self.reigns.min())

    def choose(self):
        champion = self.choose_champion()
        self.reigns[champion] += 1
        upper, _ = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        column = upper[:, champion]
        return champion, random_choice(self.rng, column == column.max())


IN_DISTRIBUTION = {"rcs": RelativeConfidenceSampling}
