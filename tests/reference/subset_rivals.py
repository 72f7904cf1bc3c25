"""Slow twins of the policies that compare arms within the sets they offer.

Radii and padding of Stagewise Elimination, the first arm of MaxMin-UCB, and Choice
Bandits as RMED1 lifted to sets are choices of this toolkit, the same in the policies.
"""

import math

import numpy as np

from tests.reference.common import divergence_from_half, first_minimum

_NEAR = 1e-9
"""Sums closer than this, relatively, are ties."""


def hoeffding_radii(means, plays, stage, delta):
    """Return the radius of every arm after a stage."""
    log = math.log(4 * len(means) * stage**2 / delta)
    return np.full(len(means), math.sqrt(log / (2 * plays)))


def bernstein_radii(means, plays, stage, delta):
    """Return sqrt(2 v L/M) + 7 L/(3 (M - 1)) with v = m (1 - m)."""
    log = math.log(8 * len(means) * stage**2 / delta)
    spread = np.array([math.sqrt(2 * m * (1 - m) * log / plays) for m in means])
    return spread + 7 * log / (3 * (plays - 1))


class StagewiseElimination:
    """Simchowitz et al. 2016, with delta = 1/T."""

    def __init__(self, num_arms, size, horizon, radii=hoeffding_radii):
        self.radii = radii
        self.num_arms, self.size, self.delta = num_arms, size, 1 / horizon
        self.undecided, self.accepted, self.rejected = list(range(num_arms)), [], []
        self.stage, self.blocks = 1, []
        self.repetitions, self.totals = 2, np.zeros(num_arms)
        self.own = []

    def choose(self, rng):
        """Return a block, filled up."""
        if not self.undecided:
            return np.isin(np.arange(self.num_arms), self.accepted)
        if not self.blocks:
            order = rng.permutation(self.undecided).tolist()
            starts = range(0, len(order), self.size)
            self.blocks = [order[start : start + self.size] for start in starts]
        self.own = self.blocks.pop(0)
        block = list(self.own)
        others = [item for item in self.undecided if item not in block]
        for group in (self.accepted, self.rejected, others):
            extra = rng.permutation(group).tolist()
            block += extra[: self.size - len(block)]
        return np.isin(np.arange(self.num_arms), block)

    def update(self, subset, rewards):
        """Count the block's own arms; decide at the end of a stage."""
        if not self.undecided:
            return
        self.totals[self.own] += rewards[self.own]
        if self.blocks:
            return
        self.repetitions -= 1
        if self.repetitions == 0:
            self.decide()

    def decide(self):
        """Accept and reject."""
        plays = 2**self.stage
        mean = self.totals / plays
        radius = self.radii(mean, plays, self.stage, self.delta)
        left = self.size - len(self.accepted)
        ranked = sorted(self.undecided, key=lambda arm: -mean[arm])
        after, last = ranked[left], ranked[left - 1]
        for arm in ranked:
            if mean[arm] - radius[arm] > mean[after] + radius[after]:
                self.accepted.append(arm)
            elif mean[arm] + radius[arm] < mean[last] - radius[last]:
                self.rejected.append(arm)
        decided = {*self.accepted, *self.rejected}
        self.undecided = [item for item in self.undecided if item not in decided]
        left = self.size - len(self.accepted)
        if len(self.undecided) <= left:
            self.accepted += self.undecided
            self.undecided = []
        elif left == 0:
            self.undecided = []
        self.stage += 1
        self.repetitions, self.totals = 2**self.stage, np.zeros(self.num_arms)


class _Comparisons:
    """Who won how often against whom; the winner of a set beats all others of it."""

    def __init__(self, num_arms, size, horizon):
        self.size, self.round = size, 0
        self.wins = np.zeros((num_arms, num_arms), dtype=int)

    def update(self, subset, rewards):
        self.round += 1
        if rewards.any() and subset.sum() > 1:
            winner = int(np.argmax(rewards))
            others = np.flatnonzero(subset)
            self.wins[winner, others[others != winner]] += 1


class MaxMinUCB(_Comparisons):
    """Saha and Gopalan 2019, Algorithm 1, winner feedback, alpha = 0.51."""

    recursive = False

    def bounds(self):
        """Return u, 2 for uncompared pairs; infinite on the diagonal."""
        plays = self.wins + self.wins.T
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.sqrt(0.51 * math.log(self.round + 1) / plays)
            upper = np.where(plays > 0, self.wins / plays + width, 2.0)
        np.fill_diagonal(upper, np.inf)
        return upper

    def choose(self, rng):
        upper, chosen = self.bounds(), []
        left = list(range(len(upper)))
        while left and len(chosen) < self.size:
            best = [i for i in left if all(upper[i, j] > 0.5 for j in left)]
            if not best and not self.recursive:
                best = [int(rng.choice(left))]
            if not best:
                weakest = [min(upper[i, j] for j in left) for i in left]
                best = [left[int(np.argmax(weakest))]]
            level = []
            while best and len(chosen) + len(level) < self.size:
                if level:
                    value = [min(upper[i, j] for j in level) for i in best]
                    top = [
                        i for i, v in zip(best, value, strict=True) if v == max(value)
                    ]
                else:
                    top = best
                arm = int(rng.choice(top))
                level.append(arm)
                best = [item for item in best if item != arm]
            chosen += level
            left = [item for item in left if item not in level]
            if not self.recursive:
                break
        return np.isin(np.arange(len(upper)), chosen)


class RecursiveMaxMinUCB(MaxMinUCB):
    """Saha and Gopalan 2019, Algorithm 2."""

    recursive = True


class ChoiceBandits(_Comparisons):
    """RMED1 lifted to sets, with lists as lists."""

    def __init__(self, num_arms, size, horizon):
        super().__init__(num_arms, size, horizon)
        self.f = 0.3 * num_arms**1.01
        self.to_come, self.later = list(range(num_arms)), []

    def mean(self, i, j):
        """Return mu_ij, 1/2 for an uncompared pair."""
        plays = self.wins[i, j] + self.wins[j, i]
        return self.wins[i, j] / plays if plays else 0.5

    def evidence(self):
        """Return I_i of all arms."""
        arms = range(len(self.wins))
        return [
            sum(
                (self.wins[i, j] + self.wins[j, i])
                * divergence_from_half(int(self.wins[i, j]), int(self.wins[j, i]))
                for j in arms
                if j != i and self.mean(i, j) <= 0.5
            )
            for i in arms
        ]

    def admits(self, subset):
        """Say whether the rule may offer this set now."""
        against = self.evidence()
        best, anchor = first_minimum(against), self.to_come[0]
        arms = range(len(self.wins))
        rivals = [j for j in arms if j != anchor and self.mean(anchor, j) <= 0.5]
        if not rivals or best in rivals:
            opponent = best
        else:
            opponent = min(rivals, key=lambda j: self.mean(anchor, j))
        if opponent == anchor:
            return set(np.flatnonzero(subset).tolist()) == {anchor}
        limit = math.log(self.round + 1) + self.f + min(against)
        fits = [j for j in arms if j not in (anchor, opponent) and against[j] <= limit]
        room = min(self.size - 2, len(fits))
        inside = set(np.flatnonzero(subset).tolist()) - {anchor, opponent}
        if not {anchor, opponent} <= set(np.flatnonzero(subset).tolist()):
            return False
        outside = [against[j] for j in fits if j not in inside]
        if len(inside) != room or not inside <= set(fits):
            return False
        largest = max((against[j] for j in inside), default=0.0)
        return all(largest <= item + _NEAR * (1 + item) for item in outside)

    def update(self, subset, rewards):
        """Count the choice; arms due enter the next list."""
        super().update(subset, rewards)
        self.to_come.pop(0)
        against = self.evidence()
        for arm, value in enumerate(against):
            due = value - min(against) <= math.log(self.round) + self.f
            if due and arm not in self.to_come and arm not in self.later:
                self.later.append(arm)
        if not self.to_come:
            self.to_come, self.later = self.later, []
