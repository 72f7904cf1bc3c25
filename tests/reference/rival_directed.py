"""Rival-directed Thompson sampling, by listing every world of a rival."""

from functools import cache
from itertools import product
from math import prod

import numpy as np
from scipy import special

from tests.reference.common import TIE_TOLERANCE, CountingTwin, random_choice
from tests.reference.efficient_copeland_winner_rmed import (
    efficient_allocation,
    winners,
)


@cache
def dethroning_worlds(pairs, rival, leader):
    """List the worlds of decisive pairs in which the rival wins more of them."""
    results = []
    for world in product((True, False), repeat=len(pairs)):
        won_by = [
            i if speaks else j for (i, j), speaks in zip(pairs, world, strict=True)
        ]
        if won_by.count(rival) > won_by.count(leader):
            results.append(world)
    return results


class RivalDirected(CountingTwin):
    """RD-TS. What is derived from the counts is derived anew after each duel."""

    c, eta, floor, prior = 5.0, 0.5, 0.1, 5
    """Exploration rate, weight of past duels, least regret, pseudo-counts."""
    flips_only = True
    """A majority that favors the rival against the leader is certain."""
    doubts = 0.02
    """A certain majority is drawn as well; weight of its pair where it is reversed."""
    pairs = "flipped"
    """A flipped pair of a world, or with "gradient" that of the largest derivative per
    cost."""
    cost = "regret"
    """A duel costs its estimated regret, with "duels" 1, with "prices" its price; then
    every round explores."""
    prices = None

    def start(self):
        self.derive()

    def derive(self):
        """Work out everything that the counts alone decide, and draw the leader."""
        won, lost = self.wins + self.prior, self.wins.T + self.prior
        self.probability = special.betainc(lost, won, 0.5)
        np.fill_diagonal(self.probability, 0.0)
        total = won + lost
        self.divergence = (
            np.log(2)
            + won / total * (special.psi(won + 1) - special.psi(total + 1))
            + lost / total * (special.psi(lost + 1) - special.psi(total + 1))
        )
        scores = self.probability.sum(axis=1)
        mean = (scores[:, None] + scores[None, :]) / 2
        self.regret = (scores.max() - mean + self.floor) / (self.num_arms - 1)
        if self.cost == "duels":
            self.regret = np.ones_like(self.regret)
        if self.cost == "prices":
            self.regret = self.prices + np.eye(self.num_arms)
        self.leader = random_choice(self.rng, self.cheapest_leaders())
        self.worlds = {
            rival: self.dethroning_worlds(rival)
            for rival in range(self.num_arms)
            if rival != self.leader
        }

    def cheapest_leaders(self):
        """Mark the arms with the fewest losses that are proved at least cost."""
        signs = np.sign(self.wins - self.wins.T)
        even = (signs == 0).sum(axis=1) - 1
        losses = (signs < 0).sum(axis=1) + even / 2
        fewest = losses == losses.min()
        if fewest.sum() == 1:
            return fewest
        table = tuple(tuple(int(sign) for sign in row) for row in signs)
        costs = np.full(self.num_arms, np.inf)
        for arm in winners(table):
            if fewest[arm]:
                costs[arm] = efficient_allocation(
                    table, self.divergence, arm, self.regret
                )[0]
        return fewest & (costs <= costs.min() * (1 + TIE_TOLERANCE))

    def favor(self, rival, i, j):
        """Return the probability of "i beats j", which speaks for the rival."""
        if self.flips_only and self.wins[i, j] > self.wins[j, i]:
            return 1.0
        return float(self.probability[i, j])

    def decisive_pairs(self, rival):
        """List the pairs (i, j) of which "i beats j" speaks for the rival."""
        others = [j for j in range(self.num_arms) if j not in (rival, self.leader)]
        return [
            (rival, self.leader),
            *((rival, j) for j in others),
            *((j, self.leader) for j in others),
        ]

    def dethroning_worlds(self, rival):
        """List the worlds with more wins of the rival than of the leader."""
        pairs = self.decisive_pairs(rival)
        favors = [self.favor(rival, i, j) for i, j in pairs]
        others = [
            float(self.probability[j, i]) if favor < 1 else 0.0
            for (i, j), favor in zip(pairs, favors, strict=True)
        ]
        results = []
        for world in dethroning_worlds(tuple(pairs), rival, self.leader):
            weight = prod(
                favor if speaks else other
                for favor, other, speaks in zip(favors, others, world, strict=True)
            )
            if weight > 0:
                results.append((weight, world))
        return results

    def explores(self):
        """Return the probability that a round explores."""
        if self.cost != "regret":
            return 1.0
        total = sum(weight for worlds in self.worlds.values() for weight, _ in worlds)
        return min(1.0, self.c * total)

    def choose(self):
        if self.rng.random() >= self.explores():
            return self.leader, self.leader
        if self.pairs == "gradient":
            return self.steepest_pair()
        every = [
            (weight, rival, world)
            for rival, worlds in self.worlds.items()
            for weight, world in worlds
        ]
        weights = np.array([weight for weight, _, _ in every])
        _, rival, world = every[self.rng.choice(len(every), p=weights / weights.sum())]
        values = self.worths(rival, world)
        for pair in self.doubtful_pairs(rival):
            if self.rng.random() < self.probability[pair[1], pair[0]]:
                values[pair] = self.doubts * self.per_cost(*pair)
        if not values:
            return rival, self.leader
        shares = np.array(list(values.values()))
        index = self.rng.choice(len(shares), p=shares / shares.sum())
        return list(values)[index]

    def worths(self, rival, world):
        """Return the weights of the pairs that are flipped in a world."""
        by_name = {}
        for (i, j), speaks in zip(self.decisive_pairs(rival), world, strict=True):
            loser, winner = (j, i) if speaks else (i, j)
            if self.wins[winner, loser] <= self.wins[loser, winner]:
                duels = int(self.wins[i, j] + self.wins[j, i])
                by_name[i, j] = self.per_cost(i, j) * (duels + 1) ** self.eta
        return by_name

    def doubtful_pairs(self, rival):
        """List the pairs that were taken to be certain."""
        if not (self.doubts > 0 and self.flips_only):
            return []
        pairs = self.decisive_pairs(rival)
        return [(i, j) for i, j in pairs if self.wins[i, j] > self.wins[j, i]]

    def per_cost(self, i, j):
        """Return what a duel of a pair proves per regret."""
        return float(self.divergence[i, j] / self.regret[i, j])

    def steepest_pair(self):
        """Return the pair with the largest derivative of all probabilities per cost."""
        steepness = np.zeros((self.num_arms, self.num_arms))
        for rival, worlds in self.worlds.items():
            for index, (i, j) in enumerate(self.decisive_pairs(rival)):
                probability = self.favor(rival, i, j)
                if probability == 1:
                    continue
                # The probability is linear in each factor: what it gains with the pair,
                # less what it has without.
                other = float(self.probability[j, i])
                slope = sum(
                    weight / probability if world[index] else -weight / other
                    for weight, world in worlds
                )
                steepness[i, j] += slope
                steepness[j, i] += slope
        score = (
            self.divergence
            * self.probability
            * self.probability.T
            * steepness
            / self.regret
        )
        score[np.tril_indices(self.num_arms)] = -1.0
        best = score >= score.max() * (1 - TIE_TOLERANCE)
        first, second = divmod(random_choice(self.rng, best.ravel()), self.num_arms)
        return first, second

    def update(self, first, second, first_won):
        """Count the outcome; a self-duel teaches nothing."""
        super().update(first, second, first_won)
        if first != second:
            self.derive()

    def recommend(self):
        """Return the leader."""
        return self.leader


IN_DISTRIBUTION = {"rd-ts": RivalDirected}
