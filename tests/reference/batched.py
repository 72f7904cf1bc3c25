"""Batched dueling bandits: PCOMP, SCOMP and SCOMP2.

A batch is written down before it is played: a list with a count for each pair. The
twins are generators of batches that are sent the wins of the batch just played; a small
driver spells a batch out round by round.
"""

import math
from itertools import combinations

import numpy as np

from tests.reference.common import (
    OrderedTwin,
    divergence_from_half,
    random_choice,
)


class PairwiseComparisons(OrderedTwin):
    """PCOMP (Agarwal, Ghuge and Nagarajan 2022, Algorithm 1)."""

    horizon, num_batches = 1, 16
    """T and B."""
    elimination = "kl"
    """All duels so far with divergences; "hoeffding": fresh estimates with radii."""
    overflow = "truncate"
    """The fate of a batch that would pass the horizon; or "commit"."""

    def start(self):
        super().start()
        self.batches = 0
        self.fresh = {}
        self.active = list(range(self.num_arms))
        self.plays = self.run()
        self.submit(next(self.plays))

    def submit(self, plan):
        self.batches += 1
        self.queue = [pair for pair, count in plan for _ in range(count)]
        self.next = 0
        self.results = {pair: (0, 0) for pair, count in plan}

    def choose(self):
        return self.queue[self.next]

    def update(self, first, second, first_won):
        """Count the outcome; a complete batch is handed over."""
        super().update(first, second, first_won)
        self.next += 1
        won, lost = self.results[first, second]
        self.results[first, second] = (won + first_won, lost + (not first_won))
        if self.next == len(self.queue) and self.rounds < self.horizon:
            self.submit(self.plays.send(self.results))

    def recommend(self):
        """Return the active arm that beats the most others."""
        outside = [arm for arm in range(self.num_arms) if arm not in self.active]
        beaten = np.count_nonzero(self.wins > self.wins.T, axis=1)
        beaten[outside] = -1
        best = beaten == beaten.max()
        totals = np.where(best, self.wins.sum(axis=1), -1)
        return random_choice(self.rng, totals == totals.max())

    # The rules

    def run(self):
        yield from self.pairwise(self.active, self.horizon, 1)

    def pairwise(self, arms, rounds, first_exponent):
        """PCOMP on some arms, with the delta of its own arms and rounds."""
        self.active = list(arms)
        delta_arms = len(arms)
        exponent = first_exponent
        while True:
            pairs = list(combinations(self.active, 2))
            count = yield from self.play(pairs, exponent)
            beaten = [
                j
                for j in self.active
                if any(
                    self.surely_beats(i, j, 1, 1, count, rounds, delta_arms)
                    for i in self.active
                )
            ]
            self.remove(beaten)
            exponent += 1

    def play(self, pairs, exponent):
        """Play each pair floor(q^r) times, or what is left; return how often."""
        left = self.horizon - self.rounds
        if len(self.active) == 1:
            yield [((self.active[0], self.active[0]), left)]
        index = self.position.__getitem__
        oriented = [tuple(sorted(pair, key=index)) for pair in pairs]
        oriented.sort(key=lambda pair: (index(pair[0]), index(pair[1])))
        count = self.size(exponent)
        if count * len(pairs) > left:
            yield self.last_batch(oriented, left)
        self.fresh = yield [(pair, count) for pair in oriented]
        return count

    def size(self, exponent):
        """Return the largest integer c with c^B <= T^r."""
        count = round(self.horizon ** (exponent / self.num_batches))
        while count**self.num_batches > self.horizon**exponent:
            count -= 1
        while (count + 1) ** self.num_batches <= self.horizon**exponent:
            count += 1
        return count

    def last_batch(self, pairs, left):
        if self.overflow == "commit":
            leader = self.recommend()
            return [((leader, leader), left)]
        lucky = set(self.rng.permutation(len(pairs))[: left % len(pairs)].tolist())
        return [
            (pair, left // len(pairs) + (index in lucky))
            for index, pair in enumerate(pairs)
        ]

    def surely_beats(self, i, j, radii, share, count, rounds, arms):
        """Does i beat j by so many radii, or at this share of the threshold?"""
        if i == j:
            return False
        if self.elimination == "kl":
            won, lost = int(self.wins[i, j]), int(self.wins[j, i])
            threshold = math.log(rounds * arms**2)
            evidence = (won + lost) * divergence_from_half(won, lost)
            return won > lost and evidence > share * threshold
        delta = 1 / (6 * rounds * arms**2 * self.num_batches)
        radius = math.sqrt(math.log(1 / delta) / (2 * count))
        return self.fresh_mean(i, j) > 0.5 + radii * radius

    def fresh_mean(self, i, j):
        """Mean of the last complete batch; 1/2 for a pair that was not in it."""
        if (i, j) in self.fresh:
            won, lost = self.fresh[i, j]
            return won / (won + lost)
        if (j, i) in self.fresh:
            lost, won = self.fresh[j, i]
            return won / (won + lost)
        return 0.5

    def mean(self, i, j):
        """The estimate that candidates are chosen by."""
        if self.elimination == "hoeffding":
            return self.fresh_mean(i, j)
        total = self.wins[i, j] + self.wins[j, i]
        return float(self.wins[i, j] / total) if total else 0.5

    def remove(self, beaten):
        """Remove arms, unless nobody would be left."""
        left = [arm for arm in self.active if arm not in beaten]
        self.active = left or self.active


class SeededComparisons(PairwiseComparisons):
    """SCOMP (the same, Algorithm 2); seeds are given, or have K ** -seed_power."""

    seed_power = 0.5
    seeds = None

    def start(self):
        probability = self.num_arms**-self.seed_power
        drawn = [i for i in range(self.num_arms) if self.rng.random() < probability]
        self.seeds = drawn if self.seeds is None else list(self.seeds)
        super().start()

    def run(self):
        exponent = 1
        while self.seeds:
            pairs = {
                frozenset((i, j)) for i in self.seeds for j in self.active if i != j
            }
            count = yield from self.play([tuple(pair) for pair in pairs], exponent)  # pyright: ignore

            def beats(i, j, radii, share, count=count):
                return self.surely_beats(
                    i, j, radii, share, count, self.horizon, self.num_arms
                )

            self.remove(
                [j for j in self.active if any(beats(i, j, 3, 1) for i in self.seeds)]
            )
            self.seeds = [arm for arm in self.seeds if arm in self.active]
            if any(all(beats(j, i, 3, 1) for i in self.seeds) for j in self.active):
                chosen = [
                    j
                    for j in self.active
                    if all(beats(j, i, 1, 1 / 9) for i in self.seeds)
                ]
                yield from self.pairwise(chosen, self.horizon - self.rounds, exponent)
            exponent += 1
        yield from self.pairwise(self.active, self.horizon, 1)


class CandidateComparisons(SeededComparisons):
    """SCOMP2 (the same, Algorithm 3)."""

    def run(self):
        exponent = 1
        while self.seeds:
            candidate = self.seeds[0]
            if len(self.seeds) > 1:
                yield from self.play(list(combinations(self.seeds, 2)), exponent)
                candidate = self.pick_candidate()
            rivals = [j for j in self.active if j != candidate]
            count = yield from self.play([(candidate, j) for j in rivals], exponent)

            def beats(i, j, radii, share, count=count):
                return self.surely_beats(
                    i, j, radii, share, count, self.horizon, self.num_arms
                )

            self.remove([j for j in rivals if beats(candidate, j, 5, 1)])
            self.seeds = [arm for arm in self.seeds if arm in self.active]
            if any(beats(j, candidate, 5, 1) for j in self.active):
                chosen = [j for j in self.active if beats(j, candidate, 3, 9 / 25)]
                yield from self.pairwise(chosen, self.horizon - self.rounds, exponent)
            exponent += 1
        yield from self.pairwise(self.active, self.horizon, 1)

    def pick_candidate(self):
        """The seed whose strongest rival among the seeds is the weakest."""
        losses = np.array(
            [max(self.mean(j, i) for j in self.seeds if j != i) for i in self.seeds]
        )
        return self.seeds[random_choice(self.rng, losses == losses.min())]


TWINS = {
    "pcomp": PairwiseComparisons,
    "scomp": SeededComparisons,
    "scomp2": CandidateComparisons,
}
"""By the name under which each policy is registered."""
