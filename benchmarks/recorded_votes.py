"""Recorded votes as judges: every question is answered by one of them, and uses it up.

Kernels of policies are played by a loop of their own, a hundred times as fast as
through the file of a study, and by its rules: idle rounds ask nobody, a tie is told by
a fair coin, and in place of a pair without votes comes the one with the fewest votes
used that has an arm in common.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bayesduel import Player, next_pairs, policies
from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.compiler import OPTIONS, standalone
from bayesduel.policies.scalar_kernel import (
    choose,
    init,
    reads_self_duels,
    update,
)
from bayesduel.studies import Study
from bayesduel.votes import read_comparisons
from theory import PreferenceMatrix

MOST_ROUNDS = LONGEST_HORIZON
"""The number of rounds on a policy's own clock after which it has settled."""

_MOST_AT_ONCE = 200
"""Questions that a study asks at once; before, a tenth of the votes so far."""


def right_within(matrix: np.ndarray, width: float) -> set[int]:
    """Return the arms that are winners once pairs within the width count for them."""
    at_most = (matrix > 0.5 - width).sum(axis=1) - 1
    at_least = (matrix > 0.5 + width).sum(axis=1)
    return {int(arm) for arm in np.flatnonzero(at_most >= at_least.max())}


@dataclass(frozen=True)
class Recorded:
    """Votes between some arms: wins (K, K), and ties (K, K), which are symmetric."""

    title: str
    arms: tuple[str, ...]
    wins: np.ndarray
    ties: np.ndarray

    @property
    def num_votes(self) -> int:
        """Return the number of votes, ties among them."""
        return int(self.wins.sum() + self.ties.sum() // 2)

    @property
    def winner(self) -> int:
        """Return the arm that beats the most others by all votes; there must be one."""
        (winner,) = self.matrix.copeland_winners
        return winner

    @property
    def matrix(self) -> PreferenceMatrix:
        """Return the shares of the votes that are no ties."""
        both = self.wins + self.wins.T
        shares = np.divide(
            self.wins, both, out=np.full(both.shape, 0.5), where=both > 0
        )
        return PreferenceMatrix(shares)


def most_voted(path: Path, title: str, most: int, least: int = 0, **columns: Any):
    """Return the votes between the arms with most votes, up to so many.

    An arm is left out if one before it was met fewer than ``least`` times.
    """
    data = read_comparisons(path, **columns)
    wins, ties = data.wins.astype(np.int64), data.ties.astype(np.int64)
    met = wins + wins.T + ties
    kept: list[int] = []
    for arm in np.argsort(-met.sum(axis=1), kind="stable").tolist():
        decided = wins[arm] + wins[:, arm]
        if len(kept) < most and all(decided[other] >= least for other in kept):
            kept.append(arm)
    both = np.ix_(kept, kept)
    names = tuple(data.arm_names[arm] for arm in kept)
    return Recorded(title, names, wins[both], ties[both])


class Box(NamedTuple):
    """Votes that are left, as a policy numbers the arms, and those that were used."""

    wins: np.ndarray
    ties: np.ndarray
    used_wins: np.ndarray
    used: np.ndarray


class Sheet(NamedTuple):
    """Counts of wins after so many votes."""

    grid: np.ndarray
    reached: np.ndarray
    """How many of them, in its one entry."""

    wins: np.ndarray


def play(state, rng, box, sheet):
    """Play a kernel until the last count of votes, or until nothing is asked."""
    init(state, rng)
    clock, votes = 0, 0
    while sheet.reached[0] < sheet.grid.size and clock < MOST_ROUNDS:
        duel = choose(state, rng, clock + 1)
        clock += duel.idle_rounds
        if clock >= MOST_ROUNDS or not duel.explores:
            continue
        clock += 1
        first, second = duel.first, duel.second
        if first == second:
            if reads_self_duels(state):
                update(state, rng, clock, first, second, False)
            continue
        if _left(box, first, second) == 0:
            first, second = _instead(box, rng, first, second)
            if first == second:
                break
        won = _take(box, rng, first, second)
        update(state, rng, clock, first, second, won)
        votes += 1
        _write(box, sheet, votes)


@compiled
def _left(box, first, second):
    return box.wins[first, second] + box.wins[second, first] + box.ties[first, second]


@compiled
def _instead(box, rng, first, second):
    """Return the pair with the fewest votes used that has an arm in common, or any."""
    for must_share in (True, False):
        fewest, found, one, other = -1, 0, 0, 0
        for i in range(len(box.used)):
            for j in range(i):
                shares = i == first or i == second or j == first or j == second
                if (must_share and not shares) or _left(box, i, j) == 0:
                    continue
                count = box.used[i, j]
                if fewest < 0 or count < fewest:
                    fewest, found = count, 0
                if count == fewest:
                    found += 1
                    if rng.random() * found < 1:
                        one, other = i, j
        if fewest >= 0:
            return one, other
    return 0, 0


@compiled
def _take(box, rng, first, second):
    """Use up a vote; return whether ``first`` won, by a coin after a tie."""
    place = rng.random() * _left(box, first, second)
    box.used[first, second] += 1
    box.used[second, first] += 1
    if place < box.ties[first, second]:
        box.ties[first, second] -= 1
        box.ties[second, first] -= 1
        return rng.random() < 0.5
    won = place < box.ties[first, second] + box.wins[first, second]
    winner, loser = (first, second) if won else (second, first)
    box.wins[winner, loser] -= 1
    box.used_wins[winner, loser] += 1
    return won


@compiled
def _write(box, sheet, votes):
    place = sheet.reached[0]
    if sheet.grid[place] == votes:
        for i in range(len(box.used)):
            for j in range(len(box.used)):
                sheet.wins[place, i, j] = box.used_wins[i, j]
        sheet.reached[0] += 1


@cache
def _program(name: str) -> Any:
    return njit(**OPTIONS)(play)


# As Python may call them.
_count_left, _draw = standalone(_left), standalone(_take)


def _full(recorded: Recorded, order: Any = slice(None)) -> Box:
    """Return a box of which nothing is used."""
    wins, ties = (
        each[order][:, order].copy() for each in (recorded.wins, recorded.ties)
    )
    return Box(wins, ties, np.zeros_like(wins), np.zeros_like(wins))


def batches_by_next_pairs(
    recorded: Recorded, who: str, run: int, size: int
) -> Iterator[list[tuple[int, int] | None]]:
    """Yield for each batch of questions the winner and loser of every vote.

    ``next_pairs`` alone asks, ``size`` questions at once: it begins anew from the
    counts each time. A pair without votes is excluded. ``None`` stands for a tie, which
    the policy is told as a win by a fair coin.
    """
    rng = np.random.default_rng((run, 2718, size))
    order = rng.permutation(len(recorded.arms))
    box = _full(recorded, order)
    wins = np.zeros_like(box.wins)
    # So that its program is at hand, whatever Python would take.
    Player(who, len(order)).ask()
    while True:
        left = box.wins + box.wins.T + box.ties
        spent = np.argwhere(np.triu(left == 0, 1)).tolist()
        if 2 * len(spent) == len(order) * (len(order) - 1):
            return
        votes = []
        for first, second, _ in next_pairs(wins, who, size, seed=run, exclude=spent):
            if not _count_left(box, first, second):
                continue  # It has run out in this batch.
            ties = box.ties[first, second]
            won = _draw(box, rng, first, second)
            winner, loser = (first, second) if won else (second, first)
            wins[winner, loser] += 1
            is_tie = box.ties[first, second] < ties
            votes.append(None if is_tie else (int(order[winner]), int(order[loser])))
        yield votes


def played_by_next_pairs(
    recorded: Recorded,
    who: str,
    grid: np.ndarray,
    run: int,
    size: int,
    enough: Callable[[np.ndarray], bool],
) -> np.ndarray:
    """Return the same where ``next_pairs`` alone asks, until wins are ``enough``."""
    wins, number = np.zeros_like(recorded.wins), 0
    counts: list[np.ndarray] = []
    for vote in chain.from_iterable(batches_by_next_pairs(recorded, who, run, size)):
        number += 1
        if vote is not None:
            wins[vote] += 1
        if number == grid[len(counts)]:
            counts.append(wins.copy())
            if len(counts) == grid.size or enough(wins):
                break
    return np.array(counts, dtype=np.int64).reshape(-1, *wins.shape)


def played(recorded: Recorded, who: str, grid: np.ndarray, run: int) -> np.ndarray:
    """Return the wins after so many votes: (C, K, K), fewer where none are asked."""
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([run, 2718])))
    if who == "balanced":
        return _balanced(recorded, grid, rng)
    if who.startswith("information"):
        return _by_study(recorded, who, grid, run, rng)
    kernel = policies.parse_policy(who).scalar_kernel()
    order = rng.permutation(len(recorded.arms))
    box = _full(recorded, order)
    found = np.zeros((grid.size, *box.wins.shape), dtype=np.int64)
    sheet = Sheet(grid, np.zeros(1, dtype=np.int64), found)
    _program(kernel.name)(kernel.new_state(order, MOST_ROUNDS), rng, box, sheet)
    wins = np.zeros_like(found)
    wins[:, order[:, None], order[None, :]] = found
    return wins[: sheet.reached[0]]


def _balanced(recorded: Recorded, grid: np.ndarray, rng: Any) -> np.ndarray:
    """Ask every pair that has votes left once, in random order, again and again."""
    box = _full(recorded)
    pairs = np.argwhere(np.triu(np.ones_like(box.wins), 1))
    found, votes = [], 0
    while len(found) < grid.size:
        left = [(i, j) for i, j in rng.permutation(pairs) if _count_left(box, i, j)]
        for i, j in left:
            _draw(box, rng, i, j)
            votes += 1
            if len(found) < grid.size and votes == grid[len(found)]:
                found.append(box.used_wins.copy())
        if not left:
            break
    return np.array(found)


def _by_study(
    recorded: Recorded, who: str, grid: np.ndarray, run: int, rng: Any
) -> np.ndarray:
    """Let a study ask, many questions at once; what has run out is skipped."""
    policy, _, model = who.partition("/")
    box = _full(recorded)
    place = {name: arm for arm, name in enumerate(recorded.arms)}
    found, votes = [], 0
    with (
        tempfile.TemporaryDirectory() as folder,
        Study.create(
            Path(folder, "replay.study"), recorded.arms, policy, model=model, seed=run
        ) as study,
    ):
        # The time of the disk is not part of the measurement.
        study._log._connection.execute("PRAGMA synchronous=OFF")
        while len(found) < grid.size:
            size = max(1, min(_MOST_AT_ONCE, votes // 10))
            tickets = study.ask(size, judge="the record")
            if not tickets:
                break
            for ticket in tickets:
                left, right = place[ticket.left], place[ticket.right]
                if not _count_left(box, left, right):
                    study.tell(ticket, "skip")
                    continue
                before = box.used_wins[left, right], box.used_wins[right, left]
                _draw(box, rng, left, right)
                after = box.used_wins[left, right], box.used_wins[right, left]
                study.tell(ticket, _word(before, after))
                votes += 1
                if len(found) < grid.size and votes == grid[len(found)]:
                    found.append(box.used_wins.copy())
    return np.array(found)


def _word(before: Any, after: Any) -> str:
    if after == before:
        return "tie"
    return "left" if after[0] > before[0] else "right"
