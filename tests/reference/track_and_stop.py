"""Track-and-Stop, with its program written out in full."""

from itertools import combinations

import numpy as np
from scipy import special

from tests.reference.common import CountingTwin
from tests.reference.copeland_winner_rmed import cheapest_evidence


class TrackAndStop(CountingTwin):
    """D-tracking of the identification program (Garivier and Kaufmann 2016)."""

    growth = 0.05
    """By how much the number of duels grows between two programs."""
    prices = None
    """Price of a duel of each pair; 1 without."""
    sticky = 0.1
    """An answer is kept unless another one is cheaper by that share."""

    def start(self):
        self.pairs = list(combinations(range(self.num_arms), 2))
        self.share = np.zeros(len(self.pairs))
        self.next_program = len(self.pairs)
        self.answer = -1

    def aim(self):
        """Solve the program of every estimated winner, and take the cheapest."""
        won = np.array([self.wins[i, j] for i, j in self.pairs])
        lost = np.array([self.wins[j, i] for i, j in self.pairs])
        total = won + lost + 2
        divergence = (
            np.log(2)
            + (won + 1) / total * (special.psi(won + 2) - special.psi(total + 1))
            + (lost + 1) / total * (special.psi(lost + 2) - special.psi(total + 1))
        )
        price = np.ones(len(self.pairs))
        if self.prices is not None:
            price = np.array([self.prices[pair] for pair in self.pairs])
        table = np.zeros((self.num_arms, self.num_arms), dtype=int)
        for (i, j), ahead in zip(self.pairs, won >= lost, strict=True):
            table[i, j] = 1 if ahead else -1
            table[j, i] = -table[i, j]
        signs = tuple(tuple(row) for row in table.tolist())
        losses = (table < 0).sum(axis=1)
        by_name = {}
        for arm in np.flatnonzero(losses == losses.min()).tolist():
            evidence = cheapest_evidence(signs, price / divergence, arm)
            # With the tilt of the program.
            tilt = 1 + 1e-6 * np.sin(np.arange(1, len(self.pairs) + 1))
            cost = float((price * tilt * evidence / divergence).sum())
            remaining = 1 - self.sticky if arm == self.answer else 1
            by_name[arm] = cost * remaining, evidence / divergence
        self.answer = min(by_name, key=lambda arm: by_name[arm][0])
        duels = by_name[self.answer][1]
        self.share = duels / duels.sum()

    def choose(self):
        duels = int(self.wins.sum())
        if duels >= self.next_program:
            self.aim()
            self.next_program = duels + max(1, int(self.growth * duels))
        played = np.array([self.wins[i, j] + self.wins[j, i] for i, j in self.pairs])
        if played.min() < max(1, np.sqrt(duels) - len(self.pairs) / 2):
            return self.pairs[int(played.argmin())]
        lag = duels * self.share - played
        return self.pairs[int(np.flatnonzero(lag >= lag.max() - 1e-6)[0])]
