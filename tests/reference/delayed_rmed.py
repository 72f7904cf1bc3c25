"""The RMED family when outcomes are told every so many rounds.

The rules are those of the twins without a delay; what is new is who knows what when.
The learner counts a draw when it chooses it, and takes elements from its lists then.
Outcomes wait in a queue with the round of their duel and with why it was played. After
every `every` rounds the queue is told, first in, first out: each outcome enters the
estimates, and what it admits is decided by the estimates and the round of *that* duel.
Where a pass ends before anything was admitted to the next one, what was last asked for
(of the outcomes told, in turn) makes the list again; before any, the first list does.
"""

import math

import numpy as np

from tests.reference.common import OrderedTwin
from tests.reference.copeland_winner_rmed import CopelandRMED
from tests.reference.efficient_copeland_winner_rmed import EfficientCopelandRMED
from tests.reference.rmed1 import RMED1
from tests.reference.rmed2 import RMED2, RMED2FH


class _Delayed(OrderedTwin):
    """The clock, the draws and the queue."""

    every = 1

    def start(self):
        super().start()
        self.last_asked = list(self.current)
        self.clock = 0  # Rounds played, whether told or not.
        self.draws = np.zeros_like(self.wins)
        self.queue = []
        self.by_list = False

    def _begin_pass_if_over(self):
        if not self.remaining:
            self.current = self.following or self.last_asked
            self.remaining, self.following = list(self.current), []

    def _drawn(self, i, j):
        if i != j:
            self.draws[i, j] += 1
            self.draws[j, i] += 1

    def update(self, first, second, first_won):
        """Queue the outcome; tell all of them when it is time."""
        self.clock += 1
        self.queue.append((self.clock, self.by_list, first, second, first_won))
        if self.clock % self.every == 0:
            for report in self.queue:
                self._tell(*report)
            self.queue = []

    def _admit(self, elements):
        self.last_asked = list(elements)
        for element in elements:
            if element not in self.remaining and element not in self.following:
                self.following.append(element)


class _DelayedArms(_Delayed, RMED1):
    """Lists of arms: RMED1 and what is built on it."""

    def _out_of_turn(self):
        return self.sweep[self.clock] if self.clock < len(self.sweep) else None

    def choose(self):
        self.rounds = self.clock  # The base classes read it as t - 1.
        self._begin_pass_if_over()
        pair = self._out_of_turn()
        self.by_list = pair is None
        if pair is None:
            i = self.remaining.pop(0)
            pair = i, self._opponent(i)
        self._drawn(*pair)
        return self.order[pair[0]], self.order[pair[1]]

    def _tell(self, played, by_list, first, second, first_won):
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[self.position[winner]][self.position[loser]] += 1
        if by_list:
            divergences = self._divergences()
            bound = min(divergences) + math.log(played) + self.allowance
            arms = range(self.num_arms)
            self._admit([j for j in arms if divergences[j] <= bound])


class DelayedRMED1(_DelayedArms):
    """RMED1, told every so many rounds."""


class DelayedRMED2(_DelayedArms, RMED2):
    """RMED2, told every so many rounds: N counts draws, means come from outcomes."""

    def _plays(self, i, j):
        return int(self.draws[i, j])

    def _out_of_turn(self):
        at_head = self.remaining == self.current
        return super()._out_of_turn() or (self._rare_pair() if at_head else None)


class DelayedRMED2FH(_DelayedArms, RMED2FH):
    """RMED2FH, told every so many rounds.

    Targets are fixed by the outcomes of the initial draws, once these are all told, and
    by no others; until then the opponents are those of RMED1.
    """

    def _plays(self, i, j):
        return int(self.draws[i, j])

    def _opponent(self, i):
        if self.targets is None:
            return RMED1._opponent(self, i)
        return super()._opponent(i)

    def _tell(self, played, by_list, first, second, first_won):
        super()._tell(played, by_list, first, second, first_won)
        if played == len(self.sweep):
            self.targets = [self._target(j) for j in range(self.num_arms)]


class _DelayedPairs(_Delayed, EfficientCopelandRMED):
    """Lists of pairs: ECW-RMED and CW-RMED."""

    def _due_pair(self):
        """First pair drawn too rarely, or whose estimate is complete and near 1/2."""
        log_t = math.log(self.clock + 1)
        least_gap = self.beta / max(1.0, math.log(log_t) if log_t > 1 else 0.0)
        for i, j in self.pairs:
            won, lost = int(self.wins[i, j]), int(self.wins[j, i])
            drawn = int(self.draws[i, j])
            if drawn == 0 or drawn < self.alpha * math.sqrt(log_t):
                return i, j
            if drawn > won + lost:
                continue
            if won == lost or abs(won - lost) / (2 * drawn) < least_gap:
                return i, j
        return None

    def choose(self):
        self._begin_pass_if_over()
        pair = self._due_pair()
        self.by_list = pair is None
        if pair is None:
            pair = self.remaining.pop(0)
        self._drawn(*pair)
        return self.order[pair[0]], self.order[pair[1]]

    def _tell(self, played, by_list, first, second, first_won):
        self.rounds = played  # The list of the base class reads it as t.
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[self.position[winner]][self.position[loser]] += 1
        if by_list:
            self._admit(self._wanted())


class DelayedEfficientCopelandRMED(_DelayedPairs):
    """ECW-RMED, told every so many rounds."""


class DelayedCopelandRMED(_DelayedPairs, CopelandRMED):
    """CW-RMED, told every so many rounds."""
