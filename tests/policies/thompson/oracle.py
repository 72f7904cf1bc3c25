"""The exact distribution of one round of D-TS, by enumeration of the signs of its first
sample.

Written from Wu and Liu (2016), Algorithm 1, with SciPy and nothing of the package.
Which rounds count as idle follows the definition that look-ahead uses.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
from scipy import integrate, special

from tests.reference.common import relative_bounds

ALPHA = 0.51


@dataclass(frozen=True, eq=False)
class Round:
    """One round of D-TS with given counts.

    Parameters
    ----------
    wins : int (K, K)
        Row beat column so often.
    index : int
        Index t of the round.
    elimination : bool
        Without it (pure D-TS) every arm is a candidate, and eligible.
    """

    wins: np.ndarray
    index: int
    elimination: bool = True

    @property
    def num_arms(self):
        return len(self.wins)

    @cached_property
    def probability(self):
        """P(theta_ij > 1/2), accurate in both tails."""
        return special.betainc(self.wins.T + 1, self.wins + 1, 0.5)

    @cached_property
    def candidates(self):
        if not self.elimination:
            return np.ones(self.num_arms, dtype=bool)
        upper, _ = relative_bounds(self.wins, self.index, ALPHA)
        optimistic = np.count_nonzero(upper > 0.5, axis=1)
        return optimistic == optimistic.max()

    @cached_property
    def eligible(self):
        """[i, a]: i may be second when a is first; the diagonal is left out."""
        others = ~np.eye(self.num_arms, dtype=bool)
        if not self.elimination:
            return others
        _, lower = relative_bounds(self.wins, self.index, ALPHA)
        return (lower <= 0.5) & others

    @cached_property
    def majority(self):
        ahead = self.wins > self.wins.T
        tied = self.wins == self.wins.T
        return ahead | (tied & np.triu(np.ones_like(ahead), 1))

    def winners(self, signs):
        votes = np.where(self.candidates, signs.sum(axis=1), -1)
        return votes == votes.max()

    @cached_property
    def leaders(self):
        return self.winners(self.majority)

    def has_upset(self, signs):
        """Say whether a pair of a leader flips, or some arm flips what it lacks."""
        if np.count_nonzero(self.candidates) == 1:
            return False
        gains = signs & ~self.majority
        votes = self.majority.sum(axis=1) + (gains & ~self.leaders).sum(axis=1)
        rivals = self.candidates & ~self.leaders
        most = self.majority.sum(axis=1)[self.leaders].max()
        touched = gains & (self.leaders[:, None] | self.leaders)
        return bool(touched.any() or np.any(votes[rivals] >= most))

    @cached_property
    def patterns(self):
        """All sign patterns: (signs, probability, whether the winners may change).

        Without an upset they do not.
        """
        pairs = list(combinations(range(self.num_arms), 2))
        results = []
        for bits in product((False, True), repeat=len(pairs)):
            signs = np.zeros((self.num_arms, self.num_arms), dtype=bool)
            probability = 1.0
            for (i, j), forward in zip(pairs, bits, strict=True):
                signs[i, j], signs[j, i] = forward, not forward
                probability *= (
                    self.probability[i, j] if forward else self.probability[j, i]
                )
            results.append((signs, probability, self.has_upset(signs)))
        return results

    @cached_property
    def first_distribution(self):
        """P(first arm)."""
        distribution = np.zeros(self.num_arms)
        for signs, probability, _ in self.patterns:
            winners = self.winners(signs)
            distribution += probability * winners / winners.sum()
        return distribution

    @cached_property
    def second_distribution(self):
        """[a, b]: P(second arm is b | first arm is a)."""
        distribution = np.zeros((self.num_arms, self.num_arms))
        for a in range(self.num_arms):
            challengers = np.flatnonzero(self.eligible[:, a])
            for b in challengers:
                rest = [i for i in challengers if i != b]
                distribution[a, b] = integrate.quad(
                    lambda x, a=a, b=b, rest=rest: (
                        np.exp(self._log_density(x, b, a))
                        * np.prod(
                            special.betainc(
                                self.wins[rest, a] + 1, self.wins[a, rest] + 1, x
                            )
                        )
                    ),
                    0.5,
                    1.0,
                    epsabs=1e-13,
                )[0]
            distribution[a, a] = self.stays[a]
        return distribution

    def _log_density(self, x, i, j):
        w, l = self.wins[i, j], self.wins[j, i]  # noqa: E741
        return (
            special.xlogy(w, x) + special.xlog1py(l, -x) - special.betaln(w + 1, l + 1)
        )

    @cached_property
    def stays(self):
        """P(second arm is a | first arm is a): no challenger samples above 1/2."""
        below = np.where(self.eligible, self.probability.T, 1.0)
        return below.prod(axis=0)

    @cached_property
    def duel_distribution(self):
        """[a, b]: P(a is first and b is second)."""
        return self.first_distribution[:, None] * self.second_distribution

    @cached_property
    def no_upset(self):
        return sum(p for _, p, upset in self.patterns if not upset)

    @cached_property
    def idle_distribution(self):
        """P(the round is idle and its champion is a), D-TS."""
        return self.no_upset * self.leaders / self.leaders.sum() * self.stays

    @cached_property
    def idle_with_regret_ties(self):
        """P(the round is idle), D-TS+: the likeliest column of a leader stays empty."""
        return self.no_upset * self.stays[self.leaders].min()

    def rounds_with_same_sets(self, most):
        """Count the rounds from this one on that have its sets, at most ``most``."""
        if not self.elimination:
            return most
        return self._first_other_sets(0, most - 1) or most

    def _first_other_sets(self, low, high):
        """Return the first round of (low, high] ahead with other sets, or None.

        Bounds widen from round to round: a side of 1/2 that one has reached it keeps.
        So nothing changes between two rounds whose bounds are on the same sides.
        """
        sides = [
            [bound > 0.5 for bound in relative_bounds(self.wins, self.index + k, ALPHA)]
            for k in (low, high)
        ]
        if np.array_equal(*sides):
            return None
        if high > low + 1:
            middle = (low + high) // 2
            result = self._first_other_sets(low, middle)
            return result or self._first_other_sets(middle, high)
        later = replace(self, index=self.index + high)
        same = np.array_equal(later.candidates, self.candidates)
        same &= np.array_equal(later.eligible, self.eligible)
        return None if same else high

    def sample(self, num_draws, rng, *, regret_ties):
        """Draw (first, second) with every Beta of the text; one row per draw."""
        num_arms = self.num_arms
        rows, columns = np.triu_indices(num_arms, 1)
        draws = rng.beta(
            self.wins[rows, columns] + 1,
            self.wins[columns, rows] + 1,
            (num_draws, len(rows)),
        )
        theta = np.full((num_draws, num_arms, num_arms), 0.5)
        theta[:, rows, columns] = draws
        theta[:, columns, rows] = 1 - draws
        votes = np.count_nonzero(theta > 0.5, axis=2)
        among = np.where(self.candidates, votes, -1)
        tied = among == among.max(axis=1, keepdims=True)
        if regret_ties:
            scores = votes / (num_arms - 1)
            loss = scores.max(axis=1)[:, None, None] - 0.5 * (
                scores[:, :, None] + scores[:, None, :]
            )
            excess = 2 * theta - 1
            divergence = special.xlog1py(theta, excess) + special.xlog1py(
                1 - theta, -excess
            )
            others = ~np.eye(num_arms, dtype=bool)
            regret = np.where(others, loss / np.maximum(divergence, 1e-300), 0)
            regret = np.where(tied, regret.sum(axis=2), np.inf)
            tied = regret == regret.min(axis=1, keepdims=True)
        first = np.argmax(np.where(tied, rng.random(tied.shape), -1), axis=1)
        eta = rng.beta(self.wins.T[first] + 1, self.wins[first] + 1)
        eta = np.where(self.eligible.T[first], eta, -1.0)
        eta[np.arange(num_draws), first] = 0.5
        return np.stack([first, np.argmax(eta, axis=1)], axis=1)
