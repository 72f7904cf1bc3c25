"""Winner Stays and Beat the Winner, one duel at a time, as lists of arms."""

import math

from tests.reference.common import CountingTwin


class WinnerStays(CountingTwin):
    """WS-W (Chen and Frazier 2017): C is counted anew from all duels in every round."""

    def start(self):
        self.before = ()

    def scores(self):
        """Return C of all arms."""
        return list(self.wins.sum(axis=1) - self.wins.sum(axis=0))

    def best(self, arms):
        """Return an arm with the largest C: of the last round if possible."""
        scores = self.scores()
        most = max(scores[arm] for arm in arms)
        equal = [arm for arm in arms if scores[arm] == most]
        for arm in self.before:
            if arm in equal:
                return arm
        return equal[self.rng.integers(len(equal))]

    def pair(self):
        """Return the two arms with the largest C."""
        arms = list(range(self.num_arms))
        first = self.best(arms)
        second = self.best([arm for arm in arms if arm != first])
        self.before = (first, second)
        return self.before

    def choose(self):
        """Return the pair of WS-W."""
        return self.pair()

    def recommend(self):
        """Return an arm with the largest C."""
        return self.best(range(self.num_arms))


class StrongWinnerStays(WinnerStays):
    """WS-S: self-duels of the winner whenever K - 1 arms are equally far behind."""

    beta = 1.05

    def start(self):
        super().start()
        self.served, self.due = 0, []

    def choose(self):
        """Return a self-duel that is due, or the pair of WS-W."""
        scores = sorted(self.scores())
        behind = set(scores[:-1])
        if len(behind) == 1 and -scores[0] == self.served + 1:
            self.served += 1
            winner = self.recommend()
            # 1e-9: powers are products here, and may be just below a whole number.
            length = math.floor(self.beta**self.served + 1e-9)
            self.due = [winner] * length
        if self.due:
            arm = self.due.pop()
            return arm, arm
        return self.pair()


class BeatTheWinner(CountingTwin):
    """BtW: a list of arms, of which the first two meet."""

    order = None
    resets = False

    def start(self):
        arms = list(range(self.num_arms))
        if self.order is None:
            self.line = [arms[i] for i in self.rng.permutation(self.num_arms)]
        else:
            self.line = list(self.order)
        self.iteration, self.score = 1, {}

    def choose(self):
        """Return the incumbent and the challenger."""
        return self.line[0], self.line[1]

    def update(self, first, second, first_won):
        """Count a win; let the loser go to the end of the line."""
        super().update(first, second, first_won)
        winner, loser = (first, second) if first_won else (second, first)
        self.score[winner] = self.score.get(winner, 0) + 1
        if self.score[winner] < self.iteration:
            return
        has_held = winner == self.line[0]
        self.line = [winner, *(x for x in self.line if x not in (winner, loser)), loser]
        self.iteration = self.iteration + 1 if has_held or not self.resets else 1
        self.score = {}

    def recommend(self):
        """Return the incumbent."""
        return self.line[0]


class BeatTheWinnerReset(BeatTheWinner):
    """BtWR."""

    resets = True


IN_DISTRIBUTION = {
    "ws-w": WinnerStays,
    "ws-s": StrongWinnerStays,
    "btw": BeatTheWinner,
    "btwr": BeatTheWinnerReset,
}
