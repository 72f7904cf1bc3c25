"""Scalable Copeland bandits."""

import math

from tests.reference.common import (
    CountingTwin,
    bernoulli_divergence,
    divergence_from_half,
    random_choice,
)


def kl_upper(p, level):
    """Return the largest q >= p with d(p, q) <= level, by bisection."""
    low, high = p, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if bernoulli_divergence(p, middle) <= level:
            low = middle
        else:
            high = middle
    return low


def kl_lower(p, level):
    """Return the smallest q <= p with d(p, q) <= level."""
    return 1 - kl_upper(1 - p, level)


class ScalableCopelandBandits(CountingTwin):
    """SCB (Zoghi et al. 2015, Algorithms 2, 3 and 4), one duel at a time.

    The rule is written as one generator, which yields the pair of each round and is
    sent its outcome. The paper asks for enough duels only: what decides a pair, and the
    end of a search once all signs are known, are the choices of the policy.
    """

    eps = 0.0
    """Slack of the test that ends a search."""
    first_length = 4
    """Rounds of the first epoch; each epoch has the square of the one before."""
    stop_rule = "anytime"
    """With "reference", alpha_ref (log(4tK) + 2 max(1, log max(1, log t))) decides."""
    alpha_ref = 0.51

    def start(self):
        self.length = self.first_length
        self.answers = []
        self._rounds = self._play()
        self._next = next(self._rounds)

    def _play(self):
        """Run the epochs (Algorithm 3)."""
        while True:
            self.left = self.length
            self.signs = {}
            winner = yield from self._search(math.log(self.length) / self.length)
            self.answers.append(winner)
            while self.left > 0:
                assert winner is not None
                self.left -= 1
                yield winner, winner
            self.length = self.length**2

    def _search(self, delta):
        """Eliminate arms (Algorithms 2 and 4); None when the epoch ends before."""
        arms = list(range(self.num_arms))
        total = [0] * self.num_arms
        self.stage = stage = 0
        while True:
            self.stage = stage = stage + 1
            for i in arms:
                reward = yield from self._reward(i, delta)
                if reward is None:
                    return None
                total[i] += reward
            mean = {i: total[i] / stage for i in arms}
            upper = {i: self._bound(kl_upper, mean[i], stage, delta) for i in arms}
            lower = {i: self._bound(kl_lower, mean[i], stage, delta) for i in arms}
            if stage == 1:
                upper, lower = dict.fromkeys(arms, 1.0), dict.fromkeys(arms, 0.0)
            highest = max(lower.values())
            arms = [i for i in arms if not upper[i] < highest]
            score = {i: mean[i] for i in arms}
            others = {i: [j for j in range(self.num_arms) if j != i] for i in arms}
            known = all((i, j) in self.signs for i in arms for j in others[i])
            if known:
                score = {i: sum(self.signs[i, j] for j in others[i]) for i in arms}
            close = 1 - highest <= (1 + self.eps) * (1 - max(upper.values()))
            if len(arms) == 1 or close or known:
                best = max(score.values())
                return self.pick(
                    [score.get(i, -1) == best for i in range(self.num_arms)]
                )

    def opponent(self, i):
        """Draw whom arm i is compared with in this stage."""
        j = int(self.rng.integers(self.num_arms - 1))
        return j + (j >= i)

    def pick(self, tied):
        """Choose the answer of a search among the best arms."""
        return random_choice(self.rng, tied)

    def _reward(self, i, delta):
        """Return whether i beats a random opponent; None when the epoch ends before."""
        j = self.opponent(i)
        wins = duels = 0
        while (i, j) not in self.signs:
            if self.left == 0:
                return None
            wins += yield i, j
            self.left -= 1
            duels += 1
            evidence = duels * divergence_from_half(wins, duels - wins)
            if evidence > self._needed(duels, delta):
                self.signs[i, j] = 2 * wins > duels
                self.signs[j, i] = 2 * wins < duels
        # The epoch is over with its last duel, even if that one decides.
        return int(self.signs[i, j]) if self.left > 0 else None

    def _needed(self, duels, delta):
        """Evidence that decides a pair."""
        if self.stop_rule == "reference":
            return self._reference(self.length - self.left)
        return math.log(math.pi**2 * duels**2 * self.num_arms**2 / (3 * delta))

    def _bound(self, invert, mean, stage, delta):
        """Confidence bound of a mean reward."""
        if self.stop_rule == "reference":
            level = self._reference(self.length)
        elif stage == 1:
            return math.nan
        else:
            level = math.log(4 * stage * self.num_arms / delta)
            level += 2 * math.log(math.log(stage))
        return invert(mean, level / stage)

    def _reference(self, rounds):
        slow = math.log(max(1.0, math.log(rounds)))
        return self.alpha_ref * (
            math.log(4 * rounds * self.num_arms) + 2 * max(1.0, slow)
        )

    def choose(self):
        return self._next

    def update(self, first, second, first_won):
        """Count the outcome and go on to the next round."""
        super().update(first, second, first_won)
        self._next = self._rounds.send(first_won)
