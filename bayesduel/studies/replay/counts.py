"""How often each arm won, tied and was shown, and what policies are told of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float64, Int64

from bayesduel.models.base import PreferenceModel
from bayesduel.simulation.steppers import coin
from bayesduel.studies.replay.questions import (
    Imported,
    PolicyEvent,
    Question,
    Questions,
    VoteRow,
    counts_of,
)

__all__ = ["Counts"]


@dataclass
class Counts(Questions):
    """Votes by pair.

    ``wins[i, j]`` counts votes for i against j, ``ties`` and ``out`` (questions without
    an answer yet) are symmetric, ``shown[i, j]`` counts questions with i on the left.
    Policies see ``told_wins``, in which each tie is a vote for either arm by a coin.
    """

    unissued: dict[int, PolicyEvent] = field(default_factory=dict)
    """Requests of which not every vote was asked for."""

    told: list[PolicyEvent] = field(default_factory=list)
    epoch: int = 0
    """How often the policy began anew from counts alone."""

    epoch_wins: Int64[np.ndarray, "K K"] = field(init=False)
    idle_rounds: int = 0
    num_votes: int = 0
    num_nothing: int = 0
    """Contradictions that are no votes."""

    num_within: int = 0
    """Answers about two arms that were merged into one."""

    num_imported: float = 0.0
    shares: dict[int, float] = field(default_factory=dict)
    """Of the questions that are to be about an arm that came late."""

    num_skipped: int = 0
    num_beyond: int = 0
    num_aside: int = 0
    num_reselected: int = 0
    """How often votes of a judge were set aside, or counted again."""

    skipped: dict[str | None, set[tuple[int, int]]] = field(default_factory=dict)
    drawn: dict[tuple[int, int], Counter[str]] = field(default_factory=dict)
    """By pair, the lower arm first: questions in each context of the pool."""

    all_drawn: Counter[str] = field(default_factory=Counter)
    spent: float = 0.0
    """What the answers have cost."""

    def __post_init__(self) -> None:
        """Begin without a vote."""
        self.arms = list(self.settings.arms)
        count = len(self.arms)
        self.is_retired = [False] * count
        self.wins: Float64[np.ndarray, "K K"] = np.zeros((count, count))
        self.ties: Float64[np.ndarray, "K K"] = np.zeros((count, count))
        self.out: Int64[np.ndarray, "K K"] = np.zeros((count, count), dtype=np.int64)
        self.shown = self.out.copy()
        self.told_wins = self.out.copy()
        self.epoch_wins = self.out.copy()
        self.told_pairs = self.out.copy()
        """Votes of every pair, those that are out among them."""
        self.blocked = np.eye(count, dtype=bool)
        for one, other in self.settings.blocked:
            pair = self.arms.index(one), self.arms.index(other)
            self.blocked[pair] = self.blocked[pair[::-1]] = True

    @property
    def model(self) -> PreferenceModel:
        """The model of the study, of arms that are not retired."""
        own = self.settings.model
        table = getattr(own, "features", None)
        if table is None:
            return own
        return replace(own, features=[table[arm] for arm in self.active])  # pyright: ignore

    @property
    def active(self) -> list[int]:
        """Arms that are not retired."""
        return [arm for arm, gone in enumerate(self.is_retired) if not gone]

    @property
    def is_of_sets(self) -> bool:
        """Whether judges choose out of more than two arms."""
        return self.settings.choose_from > 2

    @property
    def is_spent(self) -> bool:
        """Whether there is a budget of votes, and all of them came."""
        budget = self.settings.budget
        return budget is not None and self.num_used >= budget

    @property
    def num_used(self) -> int:
        """What the budget of votes was used for."""
        return self.num_votes + self.num_nothing + self.num_within

    def told_left(self, unit: Question) -> bool:
        """Whether the policy is told a vote for the left arm."""
        if unit.outcome == "tie":
            return coin(self.settings.seed, unit.number)
        return unit.outcome == "left"

    def add_arm(self, name: str) -> None:
        """Make room for an arm without a vote."""
        self.arms.append(name)
        self.is_retired.append(False)
        for table in ("wins", "ties", "out", "shown", "told_wins", "told_pairs"):
            setattr(self, table, np.pad(getattr(self, table), (0, 1)))
        self.blocked = np.pad(self.blocked, (0, 1))
        self.blocked[-1, -1] = True

    def add_imported(self, number: int, rows: list[VoteRow]) -> None:
        """Count votes from elsewhere, which came by an event of that number."""
        kept = []
        for row in rows:
            if not self.is_of_sets:
                # Half of the ties each, and the last one of an odd number by a coin.
                (first, second), (half, odd) = row.arms, divmod(row.counts[2], 2)
                place = number * len(self.arms) ** 2 + first * len(self.arms) + second
                odd *= coin(self.settings.seed, -place)
                row = row._replace(told=half + odd)
            kept.append(row)
        self.imports[number] = Imported(len(self.questions), kept)
        self.count_imported(kept, +1)

    def count_imported(self, rows: list[VoteRow], change: int) -> None:
        """Count votes from elsewhere, or with -1 count them no more."""
        if self.is_of_sets:
            self.num_imported += change * sum(row.num_votes for row in rows)
            return
        for row in rows:
            if len({*row.arms}) > 1:
                self._count_pair(row.arms, row.counts, row.told, change)
                self.num_imported += change * row.num_votes

    def _count_pair(
        self, pair: tuple[int, ...], counts: tuple[int, ...], told: int, change: int
    ) -> None:
        """Count votes of a pair, or with -1 count them no more.

        So many of the ties are told as votes for its first arm. Tables are touched only
        where they change: that is most of the time of a replay.
        """
        for_first, for_second, tied = counts
        total = change * (for_first + for_second + tied)
        for won, ties in ((for_first, told), (for_second, tied - told)):
            self.told_pairs[pair] += total
            if won:
                self.wins[pair] += change * won
            if tied:
                self.ties[pair] += change * tied
            if won or ties:
                self.told_wins[pair] += change * (won + ties)
            pair = pair[::-1]

    def note_context(self, question: Question) -> None:
        """Note in which context of the pool a question is asked."""
        if self.settings.contexts and isinstance(question.context, str):
            for pair in combinations(sorted(question.arms), 2):
                self.drawn.setdefault(pair, Counter())[question.context] += 1
            self.all_drawn[question.context] += 1

    def merge_arms(self, gone: int, kept: int) -> None:
        """Let the votes of one arm be those of another; between both there are none."""
        self.is_retired[gone], self.merged[gone] = True, kept
        self.shares.pop(gone, None)

        def moved(one: int, other: int) -> tuple[int, int]:
            return kept if one == gone else one, kept if other == gone else other

        for unit in self.questions.values():
            both = unit.arms
            if unit.gold is not None or gone not in both or unit.is_within:
                continue
            within = kept in both
            if within and unit.number in self.waiting:
                self.leave(unit)
            waits = unit.number in self.waiting
            self._count_all(unit, -1, waits=waits)
            if within:
                unit.is_within = True
            else:
                unit.arms = moved(*both)
            self._count_all(unit, +1, waits=waits)
        drawn, self.drawn = self.drawn, {}
        for (one, other), counts in drawn.items():
            one, other = sorted(moved(one, other))
            if one != other:
                self.drawn.setdefault((one, other), Counter()).update(counts)
        for each in self.imports.values():
            self.count_imported(each.rows, -1)
            each.rows[:] = [row._replace(arms=moved(*row.arms)) for row in each.rows]
            self.count_imported(each.rows, +1)

    def _count_all(self, unit: Question, change: int, *, waits: bool) -> None:
        """Count all that a question stands for, or with -1 count it no more."""
        if waits:
            self._count_out(unit, change)
        if not (unit.withdrawn or unit.is_within):
            self.shown[unit.left, unit.right] += change
        if unit.outcome is not None:
            self.count(unit, change)

    def wait_for(self, unit: Question, clock: float) -> None:
        """Let a question be out, as the last one of them."""
        if self.waiting.pop(unit.number, None) is None:
            self._count_out(unit, +1)
        unit.since = clock
        self.waiting[unit.number] = unit

    def leave(self, unit: Question) -> None:
        """Wait for a question no more, and for its other order."""
        if self.waiting.pop(unit.number, None) is not None:
            self._count_out(unit, -1)
        for each in self.orders_of(unit):
            self.open.pop(each.number, None)
        if self.settings.judging.both_orders is not None:
            for record in self.judges.values():
                record.halves.pop(unit.number, None)

    def count(self, unit: Question, change: int) -> None:
        """Count the outcome of a question, or with -1 count it no more."""
        if unit.outcome == "skip":
            self.num_skipped += change
            if unit.is_set:
                return
            pairs = self.skipped.setdefault(unit.judge, set())
            (pairs.add if change > 0 else pairs.discard)((unit.left, unit.right))
        elif unit.is_within:
            self.num_within += change
        elif unit.is_aside:
            self.num_aside += change
        elif unit.beyond:
            self.num_beyond += change
        elif unit.outcome == "nothing":
            self.num_nothing += change
        else:
            self.num_votes += change
            if not unit.is_set:
                counts, _ = counts_of(str(unit.outcome), 2)
                told = counts[-1] * self.told_left(unit)
                self._count_pair(unit.arms, counts, told, change)

    def begin_anew(self) -> None:
        """Let the policy begin from counts: what it went through no longer holds."""
        self.epoch += 1
        self.epoch_wins = self.told_wins.copy()
        self.told = []
        self.requests = {}
        self.unissued = {}

    def resolve(self, number: int, unit: Question, left: bool | None) -> None:
        """Tell the policy a vote, or that there will be none."""
        request = self.requests.get(unit.request or -1)
        if request is None:
            # Of an arm that was retired meanwhile the policy knows nothing.
            if left is not None and not any(self.is_retired[arm] for arm in unit.arms):
                told = number, {}, unit.left, unit.right, 1, int(left)
                self.told.append(PolicyEvent(*told))
            return
        request.resolved += 1
        if left is not None:
            request.votes += 1
            request.wins += left == (unit.left == request.first)
        if request.duel and request.resolved == request.duel["votes"]:
            del self.requests[request.number]
            self.unissued.pop(request.number, None)
            request.number = number
            self.told.append(request)

    def _count_out(self, unit: Question, change: int) -> None:
        if unit.is_set:
            return
        pair = unit.left, unit.right
        for table in (self.out, self.told_pairs):
            table[pair] += change
            table[pair[::-1]] += change
