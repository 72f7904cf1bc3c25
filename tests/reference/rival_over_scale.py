"""Rival-directed Thompson sampling over Bradley-Terry by Laplace's method."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import rel_entr

from tests.reference.bradley_terry_thompson import BayesianBradleyTerry
from tests.reference.common import random_choice
from tests.reference.rays import points_on_rays


class RivalOverScale(BayesianBradleyTerry):
    """A draw says when, the world in which its best arm is level says where.

    A design of this toolkit, not of a paper.
    """

    costs_regret = True
    """A duel costs the number of arms that are above its two, and at least one where it
    is of different arms; else all cost the same, no arm meets itself, and rivals are
    drawn by the density of their worlds."""

    def start(self):
        self.rank = self.rng.random(self.num_arms)

    def leader(self):
        """Return the best arm; among equal ones the same throughout a run."""
        utility, _ = self.mode()
        best = np.flatnonzero(utility > utility.max() - 1e-9)
        return int(best[np.argmax(self.rank[best])])

    def level_world(self, leader, rival):
        """Return the utilities of a rival's world, and how far the density falls."""
        mode, _ = self.mode()
        others = [arm for arm in range(self.num_arms) if arm != rival]

        def world(free):
            utility = np.empty(self.num_arms)
            utility[others] = free
            utility[rival] = utility[leader]
            return utility

        def height(free):
            return -self.log_density(world(free)[None])[0]

        def slope(free):
            every = -self.slope(world(free))
            every[leader] += every[rival]  # They move together.
            return every[others]

        exactly = {"method": "BFGS", "options": {"gtol": 1e-7}}
        result = minimize(height, mode[others], jac=slope, **exactly)
        return world(result.x), result.fun + self.log_density(mode[None])[0]

    def rival(self, leader):
        """Return the best arm of a draw, or a likely one that is not the leader."""
        if not self.costs_regret:
            arms = [arm for arm in range(self.num_arms) if arm != leader]
            falls = [self.level_world(leader, arm)[1] for arm in arms]
            weight = np.exp(np.min(falls) - falls)
            return int(self.rng.choice(arms, p=weight / weight.sum()))
        utility, covariance = self.mode()
        white = self.rng.standard_normal((1, self.num_arms))
        ways = white @ np.linalg.cholesky(covariance).T
        depth = np.linalg.norm(white, axis=1)
        sample = points_on_rays(self.log_density, utility, ways, depth)
        return int(np.argmax(sample[0]))

    def choose(self):
        """Return the leader twice, or a pair that tells most per cost."""
        leader = self.leader()
        rival = self.rival(leader)
        return (leader, leader) if rival == leader else self.pair(leader, rival)

    def pair(self, leader, rival):
        """Return the pair that tells most per cost of a rival's world."""
        utility, _ = self.mode()
        here, there = (
            1.0 / (1.0 + np.exp(value[None, :] - value[:, None]))
            for value in (utility, self.level_world(leader, rival)[0])
        )
        gains = np.zeros((self.num_arms, self.num_arms))
        for i in range(self.num_arms):
            for j in range(i + 1, self.num_arms):
                gain = rel_entr(here[i, j], there[i, j])
                gain += rel_entr(here[j, i], there[j, i])
                gains[i, j] = max(gain, 0.0) / self._cost(utility, leader, i, j)
        if gains.max() < 1e-12:  # They are level already.
            return leader, rival
        index = random_choice(self.rng, (gains >= gains.max() * (1 - 1e-6)).ravel())
        first, second = divmod(index, self.num_arms)
        return (first, second) if self.rng.random() < 0.5 else (second, first)

    def _cost(self, utility, leader, i, j):
        if not self.costs_regret:
            return 1.0
        return sum(
            0 if arm == leader else max(1, np.count_nonzero(utility > utility[arm]))
            for arm in (i, j)
        )

    def recommend(self):
        """Return the leader."""
        return self.leader()
