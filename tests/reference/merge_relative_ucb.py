"""MergeRUCB."""

import math
from itertools import permutations

import numpy as np

from tests.reference.common import CountingTwin, random_choice, relative_bounds


def bonus_rounds(num_arms, alpha, delta):
    """Return C, by which the clock of the bounds is ahead."""
    base = (4 * alpha - 1) * num_arms**2 / ((2 * alpha - 1) * delta)
    return math.ceil(base ** (1 / (2 * alpha - 1)))


def merge_once(groups, order, size):
    """Unite smallest and largest groups; ``order`` lists the groups by their size."""
    rest = list(order)
    merged = []
    while rest:
        if len(rest) == 1:
            merged.append(groups[rest.pop()])
        elif len(groups[rest[0]]) + len(groups[rest[-1]]) > 1.5 * size:
            merged.append(groups[rest.pop()])
        else:
            merged.append(groups[rest.pop(0)] + groups[rest.pop()])
    return merged


def merges_again(groups, size):
    """Say whether the groups are merged once more."""
    return len(groups) > 1 and min(map(len, groups)) <= size / 2


class World:
    """One way in which the ties of the merges may have been broken."""

    def __init__(self, groups):
        self.groups = groups
        self.turn = 0
        self.stage = 1

    def thin_out(self, upper):
        """Remove losers from the group whose turn it is."""
        if any(len(group) > 1 for group in self.groups):
            while len(self.groups[self.turn]) == 1:
                self.turn = (self.turn + 1) % len(self.groups)
        group = self.groups[self.turn]
        while True:
            losers = [i for i in sorted(group) if any(upper[i, j] < 0.5 for j in group)]
            if not losers or len(group) == 1:
                return
            group.remove(losers[0])

    def pairs(self, upper):
        """Return the pairs that may be played, with their probabilities."""
        group = self.groups[self.turn]
        if len(group) == 1:
            return {(group[0], group[0]): 1.0}
        by_name = {}
        for champion in group:
            others = [j for j in group if j != champion]
            most = max(upper[j, champion] for j in others)
            rivals = [j for j in others if upper[j, champion] == most]
            for rival in rivals:
                by_name[champion, rival] = 1 / (len(group) * len(rivals))
        return by_name

    def after(self, num_arms, size):
        """Pass the turn on; return all worlds after a merge, if there is one."""
        left = sum(map(len, self.groups))
        self.turn = (self.turn + 1) % len(self.groups)
        if left > num_arms / 2**self.stage + 1 or len(self.groups) == 1:
            return [self]
        results = []
        for groups in _all_merges(self.groups, size):
            twice = [groups]
            if merges_again(groups, size):
                twice = _all_merges(groups, size)
            for item in twice:
                world = World([list(group) for group in item])
                world.stage = self.stage + 1
                results.append(world)
        return results


def _all_merges(groups, size):
    results = []
    for order in permutations(range(len(groups))):
        sizes = [len(groups[i]) for i in order]
        if sizes == sorted(sizes):
            merged = merge_once(groups, list(order), size)
            if merged not in results:
                results.append(merged)
    return results


class MergeRUCB(CountingTwin):
    """MergeRUCB (Zoghi et al. 2015, Algorithm 1), one duel at a time.

    How the ties of a merge were broken is only seen in later duels: all that agrees
    with the duels so far is kept.
    """

    alpha, delta = 1.01, 0.01
    size = 4
    """Arms per group."""
    groups = None
    """Those at the start."""

    def start(self):
        self.bonus = bonus_rounds(self.num_arms, self.alpha, self.delta)
        groups = self.groups
        if groups is None:
            order, size = self.rng.permutation(self.num_arms).tolist(), self.size
            groups = [order[i : i + size] for i in range(0, len(order), size)]
        self.worlds = [World(groups)]

    def _upper(self):
        clock = self.rounds + 1 + self.bonus
        return relative_bounds(self.wins, clock, self.alpha)[0]

    def admissible(self):
        """Return the pairs that may be played next."""
        upper = self._upper()
        for world in self.worlds:
            world.thin_out(upper)
        return set().union(*(world.pairs(upper) for world in self.worlds))

    def choose(self):
        """Draw champion and challenger."""
        self.admissible()
        self.worlds = [
            self.worlds[random_choice(self.rng, np.ones(len(self.worlds), dtype=bool))]
        ]
        probabilities = self.worlds[0].pairs(self._upper())
        pairs = sorted(probabilities)
        index = self.rng.choice(len(pairs), p=[probabilities[pair] for pair in pairs])
        return pairs[index]

    def update(self, first, second, first_won):
        """Count the outcome, pass the turn on, merge."""
        upper = self._upper()
        worlds = [item for item in self.worlds if (first, second) in item.pairs(upper)]
        self.worlds = []
        for world in worlds:
            self.worlds += world.after(self.num_arms, self.size)
        super().update(first, second, first_won)

    def recommendations(self):
        """Return the arms that may be recommended."""
        beaten = np.count_nonzero(self.wins > self.wins.T, axis=1)
        totals = self.wins.sum(axis=1)
        names = set()
        for world in self.worlds:
            left = [arm for group in world.groups for arm in group]
            best = max((beaten[arm], totals[arm]) for arm in left)
            names |= {arm for arm in left if (beaten[arm], totals[arm]) == best}
        return names
