"""Monitored Dueling Bandits with a queue of outcomes for each pair."""

from collections import deque
from itertools import combinations

from tests.reference.common import CountingTwin


class MonitoredDueling(CountingTwin):
    """MDB around the twin that ``make_inner`` makes; with w, b and the period."""

    make_inner = None
    window = 2
    threshold = 0.0
    period = 2

    def start(self):
        self.resets = []
        self.forget()

    def forget(self):
        """Start anew."""
        self.inner = self.make_inner()
        self.time = 0
        self.queues = {
            pair: deque(maxlen=self.window)
            for pair in combinations(range(self.num_arms), 2)
        }

    def choose(self):
        """Return the pair to look at, or that of the inner policy."""
        index = self.time % self.period
        self.looks = index < len(self.queues)
        return list(self.queues)[index] if self.looks else self.inner.choose()

    def update(self, first, second, first_won):
        """Count an outcome, and forget all if the halves of a queue differ."""
        super().update(first, second, first_won)
        self.time += 1
        if not self.looks:
            self.inner.update(first, second, first_won)
            return
        queue = self.queues[first, second]
        queue.append(bool(first_won))
        half, result = self.window // 2, list(queue)
        lead = sum(result[half:]) - sum(result[:half])
        if len(result) == self.window and abs(lead) > self.threshold:
            self.resets.append(self.rounds)
            self.forget()

    def recommend(self):
        """Return the arm of the inner policy."""
        return self.inner.recommend()
