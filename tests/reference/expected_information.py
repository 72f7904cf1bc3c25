"""Expected information with independent Beta distributions, its integrals done
numerically."""

from functools import cache

from scipy import special

from tests.reference.common import CountingTwin


class ExpectedInformation(CountingTwin):
    """Ask the pair whose outcome has the largest mutual information with theta."""

    prior = 1.0

    def gains(self):
        """Return the mutual information of each pair."""
        return {
            (i, j): mutual_information(
                *sorted((self.wins[i, j] + self.prior, self.wins[j, i] + self.prior))
            )
            for i in range(self.num_arms)
            for j in range(i + 1, self.num_arms)
        }

    def admissible(self):
        """Return the pairs among which the next one is drawn."""
        gains = self.gains()
        most = max(gains.values())
        return [pair for pair, gain in gains.items() if gain >= most * (1 - 1e-7)]

    def choose(self):
        pairs = self.admissible()
        return pairs[self.rng.integers(len(pairs))]


@cache
def mutual_information(one, other):
    """Return the mean of KL(theta, E[theta]) under theta ~ Beta(one, other).

    By Gauss and Jacobi, whose weight is the density.
    """
    theta, weight = special.roots_sh_jacobi(400, one + other - 1, one)
    mean = one / (one + other)
    up = special.rel_entr(theta, mean)
    down = special.rel_entr(1 - theta, 1 - mean)
    return float((up + down) @ weight / weight.sum())
