"""RD-TS*, by listing every set of pairs whose reversal dethrones the leader."""

from itertools import combinations

import numpy as np
from scipy import special
from scipy.special import rel_entr

from tests.reference.common import TIE_TOLERANCE, CountingTwin
from tests.reference.efficient_copeland_winner_rmed import (
    efficient_allocation,
    winners,
)
from tests.theory.brute_force import dethroning_sets


class RivalDirectedStar(CountingTwin):
    """The four steps of the page. What follows from the counts is derived anew.

    Among equals the first arm, or pair, in ``order`` is taken.
    """

    prior, c, temper_after = 5.0, 5.0, 100.0
    cost = "regret"
    prices = None
    order = None

    def start(self):
        if self.order is None:
            self.order = self.rng.permutation(self.num_arms)
        self.order = [int(arm) for arm in self.order]
        self.pairs = list(combinations(self.order, 2))
        self.events, self.leader = 0, None
        self.derive()

    def derive(self):
        """Carry out steps 1 to 3 for the counts now."""
        won, lost = self.wins + self.prior, self.wins.T + self.prior
        total, more = won + lost, np.maximum(won, lost)
        self.signs = np.sign(self.wins - self.wins.T)
        self.tail = special.betainc(more, total - more, 0.5)
        self.tail[self.signs == 0] = 0.5
        self.divergence = (
            np.log(2)
            + won / total * (special.psi(won + 1) - special.psi(total + 1))
            + lost / total * (special.psi(lost + 1) - special.psi(total + 1))
        )
        mean = more / total
        high = mean + 2 * np.sqrt(mean * (1 - mean) / (total + 1))
        high = np.minimum(high, 1.0)
        self.hopeful = rel_entr(high, 0.5) + rel_entr(1 - high, 0.5)
        even = (self.signs == 0).sum(axis=1) - 1
        losses = (self.signs < 0).sum(axis=1) + even / 2
        scale = 2 * (self.num_arms - 1)
        self.regret = np.maximum(
            (losses[:, None] + losses[None, :] - 2 * losses.min()) / scale,
            (self.events + 1) ** -0.25 / scale,
        )
        if self.cost == "duels":
            self.regret = np.ones_like(self.regret)
        if self.cost == "prices":
            self.regret = self.prices + np.eye(self.num_arms)
        self.leader = self.next_leader(losses)
        self.sets = dethroning_sets(self.signs, self.leader)

    def next_leader(self, losses):
        """Keep the leader, or return the first of the cheapest."""
        fewest = [arm for arm in self.order if losses[arm] == losses.min()]
        if len(fewest) == 1:
            return fewest[0]
        table = tuple(tuple(int(sign) for sign in row) for row in self.signs)
        costs = dict.fromkeys(fewest, np.inf)
        for arm in set(winners(table)) & set(fewest):
            costs[arm] = efficient_allocation(table, self.divergence, arm, self.regret)[
                0
            ]
        least = min(costs.values())
        share = (self.events + 1) ** (-1 / 8) / 10
        if self.leader in costs and costs[self.leader] <= (1 + share) * least:
            return self.leader
        return next(x for x in fewest if costs[x] <= (1 + TIE_TOLERANCE) * least)

    def dethroned(self):
        """Return by rival how likely the pairs flipped dethrone the leader."""
        by_name = {}
        for rival, candidates, chosen in self.sets:
            weight = 1.0
            for pair in candidates:
                flips = self.tail[pair]
                weight *= flips if pair in chosen else 1 - flips
            by_name[rival] = by_name.get(rival, 0.0) + weight
        return by_name

    def explores(self):
        """Return the probability that a round explores."""
        if self.cost != "regret":
            return 1.0
        return min(1.0, self.c * sum(self.dethroned().values()))

    def flip_probabilities(self):
        """Return P(e flipped) under the tempered law of rivals and their sets."""
        start = self.temper_after * len(self.pairs)
        temper = (1 + self.events / start) ** -0.5
        result, total = np.zeros_like(self.tail), 0.0
        for _, _, chosen in self.sets:
            weight = np.exp(temper * sum(np.log(self.tail[pair]) for pair in chosen))
            total += weight
            for i, j in chosen:
                result[i, j] += weight
                result[j, i] += weight
        return result / total

    def next_pair(self):
        """Carry out step 4."""
        duels = self.wins + self.wins.T
        least = min(duels[pair] for pair in self.pairs)
        if least < np.sqrt(self.events / len(self.pairs)):
            return next(pair for pair in self.pairs if duels[pair] == least)
        gain = self.hopeful * self.flip_probabilities() / self.regret
        most = max(gain[pair] for pair in self.pairs)
        return next(x for x in self.pairs if gain[x] >= (1 - TIE_TOLERANCE) * most)

    def choose(self):
        if self.rng.random() >= self.explores():
            return self.leader, self.leader
        return self.next_pair()

    def update(self, first, second, first_won):
        """Count the outcome; a self-duel teaches nothing."""
        super().update(first, second, first_won)
        if first != second:
            self.events += 1
            self.derive()

    def recommend(self):
        """Return the leader."""
        return self.leader


IN_DISTRIBUTION = {"rd-ts-star": RivalDirectedStar}
