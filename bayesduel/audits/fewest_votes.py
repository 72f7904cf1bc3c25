"""The fewest votes whose removal unseats the leader of a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import batched, combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve

from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.closed_forms import PairwiseDensity
from bayesduel.models.vote_arrays import Votes, votes_of, with_counts
from bayesduel.votes.comparisons import Comparisons

_BLOCK = 2**22  # Numbers that a block of refits holds at once.
# Numbers of a refit from which a Laplacian is faster than a table of differences.
_LARGE = 2**18
_MOST_REFITS = 20_000  # Sets of votes that an enumeration removes at most.
# Arms that a search tries to put in front, those that influence says are nearest.
_MOST_RIVALS = 3
# Share of the votes that influence asks for, removed before it is computed anew.
_SHARE_OF_STEP = 0.3

_MOST_STEPS = 60
# Step of Newton's method at which it ends, and lead that counts as none.
_ENOUGH = 1e-9


class RemovedVotes(NamedTuple):
    """Votes of one kind that are removed."""

    winner: str
    """The arm that they are for; of ties, one of the two."""

    loser: str
    is_tie: bool
    number: int

    def __str__(self) -> str:
        if self.is_tie:
            return f"{_counted(self.number, 'tie')} of {self.winner} and {self.loser}"
        return f"{_counted(self.number, 'vote')} for {self.winner} against {self.loser}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


@dataclass(frozen=True)
class FewestVotes:
    """The fewest votes whose removal puts another arm in front.

    Attributes
    ----------
    score : {"bradley-terry", "copeland", "wins"}
        The score that the leader has most of: utility at the mode of Bradley and
        Terry's model, number of arms beaten in more than half of the decided votes, or
        number of votes won, a tie counted as half a vote.
    leader : str
        The arm in front. Of arms with equal scores, the first one.
    rival : str or None
        The arm that is in front of it after the removal; None where no removal does
        that.
    number : int or None
        How many votes are removed. None where no removal unseats the leader.
    is_exact : bool
        Whether no fewer votes do it. Otherwise ``number`` is an upper bound that was
        verified by refitting.
    at_least : int
        A lower bound: every smaller number of votes was ruled out.
    removed : tuple of RemovedVotes
        The votes, by kind.
    """

    score: str
    leader: str
    rival: str | None
    number: int | None
    is_exact: bool
    at_least: int
    removed: tuple[RemovedVotes, ...] = field(default=(), repr=False)

    def words(self) -> str:
        """Say how many votes put whom in front."""
        if self.number is None:
            none = "no removal" if self.is_exact else "no removal that was tried"
            return f"{none} of votes unseats {self.leader}"
        words = (
            f"removing {_counted(self.number, 'vote')} puts {self.rival} in front of "
        )
        words += self.leader
        if self.is_exact:
            return words
        return f"{words} (an upper bound; at least {self.at_least})"

    def __str__(self) -> str:
        listed = "; ".join(map(str, self.removed))
        return f"{self.score}: {self.words()}" + f": {listed}" * bool(listed)


# Counts of votes: each pair is a subproblem of its own.


def fewest_of_wins(pairs: Comparisons) -> FewestVotes:
    """Return the fewest votes that change who has won the most votes, exactly.

    Only votes of the leader matter: a win that goes costs it a vote, a tie with a third
    arm half a vote. A tie with the rival costs both the same.
    """
    won, ties = pairs.wins.astype(np.int64), pairs.ties.astype(np.int64)
    halves = 2 * won.sum(axis=1) + ties.sum(axis=1)
    leader = int(np.argmax(halves))
    best: tuple[int, int, int, int] | None = None  # Votes, rival, wins, ties.
    for rival in _rivals(pairs, leader):
        lacking = int(halves[leader] - halves[rival]) + 1
        wins = min(int(won[leader].sum()), -(-lacking // 2))
        tied = max(0, lacking - 2 * wins)
        if tied <= ties[leader].sum() - ties[leader, rival]:
            option = wins + tied, rival, wins, tied
            best = option if best is None else min(best, option)
    if best is None:
        return _unseated(pairs, "wins", leader, None, {})
    _, rival, wins, tied = best
    taken: dict[tuple[int, int, bool], int] = {}
    for is_tie, table, left in ((False, won, wins), (True, ties, tied)):
        for opponent in np.argsort(-table[leader], kind="stable").tolist():
            number = min(left, int(table[leader, opponent]))
            if number and not (is_tie and opponent == rival):
                taken[leader, opponent, is_tie] = number
                left -= number
    return _unseated(pairs, "wins", leader, rival, taken)


def fewest_of_copeland(pairs: Comparisons) -> FewestVotes:
    """Return the fewest votes that change who beats the most arms, exactly.

    What is removed of one pair changes no other pair. For each rival the gap of the two
    scores has to fall below 0, and falls by 1 for each pair of the leader that becomes
    even, and each pair of the rival that it wins then. The cheapest of these are taken,
    beside each of the possible ends of the pair of both.
    """
    won = pairs.wins.astype(np.int64)
    scores = (won > won.T).sum(axis=1)
    # Among equal scores, the arm with more votes is in front.
    leader = int(np.lexsort((-won.sum(axis=1), -scores))[0])
    best: tuple[int, int, dict[tuple[int, int, bool], int]] | None = None
    for rival in _rivals(pairs, leader):
        lacking = int(scores[leader] - scores[rival]) + 1
        singles: list[tuple[int, tuple[int, int, bool]]] = []
        for third in _rivals(pairs, leader):
            if third == rival:
                continue
            ahead = int(won[leader, third] - won[third, leader])
            if ahead > 0:
                singles.append((ahead, (leader, third, False)))
            behind = int(won[third, rival] - won[rival, third])
            if behind >= 0 and won[rival, third] > 0:
                singles.append((behind + 1, (third, rival, False)))
        singles.sort()
        ahead = int(won[leader, rival] - won[rival, leader])
        both = [(0, 0)] + [(1, ahead)] * (ahead > 0)
        if ahead >= 0 and won[rival, leader] > 0:
            both.append((2 if ahead > 0 else 1, ahead + 1))
        for gained, cost in both:
            needed = max(0, lacking - gained)
            if needed > len(singles):
                continue
            taken = {kind: number for number, kind in singles[:needed]}
            taken |= {(leader, rival, False): cost} if cost else {}
            option = sum(taken.values()), rival, taken
            if best is None or option[0] < best[0]:
                best = option
    if best is None:
        return _unseated(pairs, "copeland", leader, None, {})
    return _unseated(pairs, "copeland", leader, *best[1:])


def _rivals(pairs: Comparisons, leader: int) -> list[int]:
    return [arm for arm in range(pairs.num_arms) if arm != leader]


def _unseated(
    pairs: Comparisons,
    score: str,
    leader: int,
    rival: int | None,
    taken: dict[tuple[int, int, bool], int],
    at_least: int | None = None,
) -> FewestVotes:
    # ``at_least`` is a lower bound; where it is left out the number is exact.
    names = pairs.arm_names
    total = sum(taken.values()) if rival is not None else int(pairs.num_votes) + 1
    lowest = total if at_least is None else min(at_least, total)
    return FewestVotes(
        score,
        names[leader],
        None if rival is None else names[rival],
        None if rival is None else total,
        is_exact=lowest == total,
        at_least=lowest,
        removed=tuple(
            RemovedVotes(names[winner], names[loser], is_tie, number)
            for (winner, loser, is_tie), number in sorted(
                taken.items(), key=lambda item: (-item[1], item[0])
            )
        ),
    )


# Bradley-Terry.


@dataclass(frozen=True)
class Scale:
    """Modes of Bradley and Terry's model, of many tables of votes on the same pairs."""

    model: BradleyTerry
    pairs: Comparisons

    @cached_property
    def counts(self) -> Float[np.ndarray, "row outcome"]:
        """The votes of all pairs."""
        return np.asarray(self._arrays.counts, dtype=np.float64)

    @cached_property
    def _arrays(self) -> Votes:
        return votes_of(self.model, self.pairs)

    def _of(self, counts: Float[np.ndarray, "row outcome"]) -> PairwiseDensity:
        votes = with_counts(self._arrays, counts)
        return PairwiseDensity(self.model, votes, self.model.vote_derivatives)

    @cached_property
    def _density(self) -> PairwiseDensity:
        return self._of(self.counts)

    @cached_property
    def _design(self) -> Float[np.ndarray, "row D"]:
        # The difference of utilities of each row, as a map of the coordinates.
        utilities = self._density.coordinates.utilities(np.eye(self._density.size))
        return (utilities[:, self.pairs.first] - utilities[:, self.pairs.second]).T

    @cached_property
    def mode(self) -> Float[np.ndarray, " D"]:
        """The mode of all votes."""
        return np.asarray(self._density.laplace().mode)

    def utilities(
        self, points: Float[np.ndarray, "*set D"]
    ) -> Float[np.ndarray, "*set K"]:
        """Return the utilities of points."""
        return self._density.coordinates.utilities(points)

    def modes(
        self, counts: Float[np.ndarray, "set row outcome"]
    ) -> Float[np.ndarray, "set D"]:
        """Return the mode of each table of votes."""
        rows, size = counts.shape[1], len(self.mode)
        points = np.repeat(self.mode[None], len(counts), axis=0)
        left = np.arange(len(counts))
        if rows * size <= _LARGE:
            step = max(1, _BLOCK // (rows * size))
            blocks = [left[at : at + step] for at in range(0, len(counts), step)]
            left = np.array(
                [at for block in blocks for at in self._advance(points, counts, block)],
                dtype=np.int64,
            )
        for at in left.tolist():
            points[at] = self._of(counts[at]).laplace(start=self.mode).mode
        return points

    def _advance(
        self,
        points: Float[np.ndarray, "set D"],
        counts: Float[np.ndarray, "set row outcome"],
        going: Int[np.ndarray, " some"],
    ) -> Int[np.ndarray, " left"]:
        # Moves some points, in place; returns those that did not arrive.
        for _ in range(_MOST_STEPS):
            gradient, precision = self._slopes(points[going], counts[going])
            steps = np.linalg.solve(precision, gradient[..., None])[..., 0]
            longest = np.abs(steps).max(axis=1)
            points[going] += steps / np.maximum(longest, 1.0)[:, None]
            going = going[longest > _ENOUGH]
            if not len(going):
                break
        return going

    def _slopes(
        self,
        points: Float[np.ndarray, "set D"],
        counts: Float[np.ndarray, "set row outcome"],
    ) -> tuple[Float[np.ndarray, "set D"], Float[np.ndarray, "set D D"]]:
        # The gradient of the log density, and minus its Hessian.
        design, ties = self._design, self.model.ties
        shape = len(points), len(design)
        tie = points[:, :1] if ties else np.zeros((len(points), 1))
        by = self.model.vote_derivatives(
            counts.reshape(-1, counts.shape[2]),
            (points @ design.T).reshape(-1),
            np.broadcast_to(tie, shape).reshape(-1),
        )
        gap, gap_gap = by.gap.reshape(shape), by.gap_gap.reshape(shape)
        weights = 1.0 / np.square(self._density.coordinates.scales)
        gradient = gap @ design - points * weights
        precision = (design.T * -gap_gap[:, None, :]) @ design + np.diag(weights)
        if ties:
            # The tie parameter is the first coordinate, which no difference has.
            side = -by.gap_tie.reshape(shape) @ design
            precision[:, 0] += side
            precision[:, :, 0] += side
            precision[:, 0, 0] -= by.tie_tie.reshape(shape).sum(axis=1)
            gradient[:, 0] += by.tie.reshape(shape).sum(axis=1)
        return gradient, precision

    def effects(
        self,
        point: Float[np.ndarray, " D"],
        counts: Float[np.ndarray, "row outcome"],
        leader: int,
        rivals: Iterable[int],
    ) -> Iterator[Float[np.ndarray, "row outcome"]]:
        """Yield for each rival what a vote of each kind adds to the lead over it."""
        # The score of the vote along the inverse of the curvature (Huang, Shen, Wei and
        # Broderick 2025).
        density, ties = self._of(counts), self.model.ties
        factor = cho_factor(-density.hessian(point))
        gap, tie = density.coordinates.rows(density.votes, point)
        scores = []
        for outcome in np.eye(counts.shape[1]):
            votes = np.broadcast_to(outcome, counts.shape)
            by = self.model.vote_derivatives(votes, gap, tie)
            scores.append((by.gap, by.tie))
        for rival in rivals:
            along = cho_solve(factor, density.coordinates.of_gap(leader, rival))
            shift = density.votes.differences(density.coordinates.utilities(along))
            more = along[0] if ties else 0.0
            yield np.stack(
                [by_gap * shift + by_tie * more for by_gap, by_tie in scores], axis=1
            )

    def information_of_vote(self, first: int, second: int) -> float:
        """Return the information of one more vote on a pair about its difference."""
        point = self.mode
        utilities = self.utilities(point)
        gap = np.array([utilities[first] - utilities[second]])
        tie = np.array([point[0] if self.model.ties else 0.0])
        votes = np.eye(self.counts.shape[1])[:1]
        return float(-self.model.vote_derivatives(votes, gap, tie).gap_gap[0])


def fewest_on_scale(scale: Scale) -> FewestVotes:
    """Return the fewest votes that change who has the largest utility.

    Votes are removed in the order of their influence on the lead over a rival, which is
    computed anew after each part, until a refit puts another arm in front; then votes
    are put back as long as it stays there. Sets of fewer votes are enumerated, smallest
    first, up to 20,000 refits: where these reach the number, it is exact.
    """
    counts, pairs = scale.counts, scale.pairs
    utilities = scale.utilities(scale.mode)
    leader = int(np.argmax(utilities))

    def unseats(tables: Float[np.ndarray, "set row outcome"]) -> np.ndarray:
        after = scale.utilities(scale.modes(tables))
        others = np.delete(after, leader, axis=1).max(axis=1)
        return after[:, leader] - others < -_ENOUGH

    rivals = _rivals(pairs, leader)
    effects = scale.effects(scale.mode, counts, leader, rivals)
    needed = {
        rival: _most_influential(
            effect, counts, float(utilities[leader] - utilities[rival])
        )[0]
        for rival, effect in zip(rivals, effects, strict=True)
    }
    best = None
    nearest = sorted(needed, key=lambda arm: needed[arm])[:_MOST_RIVALS]
    for rival in nearest:
        if needed[rival] > 2 * needed[nearest[0]]:
            break  # Influence is not as far off as that.
        left = _search(scale, leader, rival, unseats)
        if left is not None and (best is None or left.sum() > best.sum()):
            best = left
    most = np.inf if best is None else counts.sum() - best.sum()
    at_least, left = _enumerated(counts, most, unseats)
    best = best if left is None else left
    if best is None:
        return _unseated(pairs, "bradley-terry", leader, None, {}, at_least)
    after = scale.utilities(scale.modes(best[None]))[0]
    taken = {}
    for row, outcome in zip(*np.nonzero(counts - best), strict=True):
        arms = int(pairs.first[row]), int(pairs.second[row])
        winner, loser = arms[::-1] if outcome == 1 else arms
        taken[winner, loser, bool(outcome == 2)] = round(
            float((counts - best)[row, outcome])
        )
    rival = int(np.argmax(after))
    return _unseated(pairs, "bradley-terry", leader, rival, taken, at_least)


def _most_influential(
    effects: Float[np.ndarray, "row outcome"],
    counts: Float[np.ndarray, "row outcome"],
    lead: float,
) -> tuple[int, Callable[[int], Float[np.ndarray, "row outcome"]]]:
    """Return how many votes make up for a lead, and what leaves so many of them out."""
    order = np.argsort(-effects, axis=None, kind="stable")
    order = order[(effects.ravel() > 0)[order]]
    number, effect = counts.ravel()[order], effects.ravel()[order]
    ends, sums = np.cumsum(number), np.cumsum(number * effect)
    before = ends - number

    def without(votes: int) -> Float[np.ndarray, "row outcome"]:
        left = counts.ravel().copy()
        left[order] -= np.clip(votes - before, 0.0, number)
        return left.reshape(counts.shape)

    if not len(order) or sums[-1] < lead:
        return int(number.sum()), without
    index = int(np.argmax(sums >= lead))
    lacking = lead - sums[index] + number[index] * effect[index]
    needed = before[index] + min(np.ceil(lacking / effect[index]), number[index])
    return int(needed), without


def _search(
    scale: Scale, leader: int, rival: int, unseats: Callable[[np.ndarray], np.ndarray]
) -> Float[np.ndarray, "row outcome"] | None:
    # The votes that are left; None where influence finds none to remove.
    left = scale.counts
    while True:
        point = scale.modes(left[None])[0]
        utilities = scale.utilities(point)
        lead = max(float(utilities[leader] - utilities[rival]), _ENOUGH)
        effects = next(scale.effects(point, left, leader, [rival]))
        number, without = _most_influential(effects, left, lead)
        if not number:
            return None
        number = max(1, int(_SHARE_OF_STEP * number))
        if unseats(without(number)[None])[0]:
            break
        left = without(number)
    low, high = 0, number  # The smallest number of the last part that does.
    while high - low > 1:
        middle = (low + high) // 2
        if unseats(without(middle)[None])[0]:
            high = middle
        else:
            low = middle
    left = without(high)
    while True:
        places = np.flatnonzero((scale.counts - left).ravel() > 0)
        back = np.repeat(left[None], len(places), axis=0)
        back.reshape(len(places), -1)[np.arange(len(places)), places] += 1.0
        enough = unseats(back)
        if not enough.any():
            return left
        left = back[int(np.argmax(enough))]


def _enumerated(
    counts: Float[np.ndarray, "row outcome"],
    most: float,
    unseats: Callable[[np.ndarray], np.ndarray],
) -> tuple[int, Float[np.ndarray, "row outcome"] | None]:
    """Remove sets of fewer than ``most`` votes; return a lower bound, and the rest."""
    flat = counts.ravel()
    kinds = np.flatnonzero(flat > 0)
    left, number = _MOST_REFITS, 1
    while number < min(most, flat.sum() + 1):
        sets = comb(len(kinds) + number - 1, number)
        if sets > left:
            break
        left -= sets
        every = combinations_with_replacement(kinds.tolist(), number)
        for block in batched(every, max(1, _BLOCK // len(flat))):
            gone = np.zeros((len(block), len(flat)))
            np.add.at(gone, (np.arange(len(block))[:, None], np.array(block)), 1.0)
            rest = (flat - gone)[np.all(gone <= flat, axis=1)]
            tables = rest.reshape(-1, *counts.shape)
            enough = unseats(tables)
            if enough.any():
                return number, tables[int(np.argmax(enough))]
        number += 1
    return number, None
