"""Rules for stopping by evidence, by posterior probability, and by a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError, errors_as
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.stopping.base import (
    NOBODY,
    StoppingRule,
    StoppingState,
    check_duels,
    conclude,
    conclusion,
    implement,
)
from theory import anytime_evidence
from theory.arguments import number_within, share_of
from theory.identification.beta_fraction import incomplete_beta_fraction
from theory.identification.evidence import checked_unknown, checked_wins

_fraction = compiled(incomplete_beta_fraction)


# --- Anytime-valid evidence: ``theory.anytime_evidence``, kept up duel by duel --------


@dataclass(frozen=True)
class AnytimeEvidence(StoppingRule):
    """Stop when the anytime-valid evidence for an arm reaches log(1/delta).

    The probability that a wrong arm is named is at most ``delta`` if no pair is at
    exactly 1/2 or ``width`` is above 0, and otherwise at most ``2 * delta``, however
    duels are chosen and however often one looks. For each wrong arm by itself it is at
    most ``delta`` in any case. :func:`theory.anytime_evidence` is the evidence. Duels
    have to be counted in the order in which they were asked for: answers that are
    selected, or sorted, by what they say have no guarantee.

    Parameters
    ----------
    delta : float
        Above 0, below 1.
    width : float
        At least 0, below 1/2: pairs within ``width`` of 1/2 count either way, so that
        arms close to a winner are right answers as well. Without it two winners that
        differ by a pair at 1/2 are never told apart.
    prior : float
        From 0.001 to 1000: Beta(prior, prior) is the mixture of the bets.
    weight : float, optional
        Between 0 and 1; 1/K by default. Give it where arms may join later: it has to
        be the same all the time.

    Examples
    --------
    >>> rule = AnytimeEvidence(0.01)
    >>> state = rule.evaluate([[0, 300, 90], [200, 0, 80], [10, 20, 0]])
    >>> state.stopped, state.answer, round(state.evidence, 2), round(state.threshold, 2)
    (True, 0, 5.53, 4.61)
    """

    word: ClassVar[str] = "anytime"

    delta: float
    width: float = 0.0
    prior: float = 0.5
    weight: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        # The evidence of nothing checks the rest.
        with errors_as(StoppingRuleError):
            anytime_evidence(
                np.zeros((2, 2)), prior=self.prior, weight=self.weight, width=self.width
            )

    def new_state(self, num_arms: int) -> EvidenceSoFar:
        """Return the state before the first duel."""
        now = np.zeros(1, dtype=_NOW)
        now["threshold"], now["width"] = -math.log(self.delta), self.width
        now["prior"] = prior = float(self.prior)
        now["stake"] = 1.0 / num_arms if self.weight is None else self.weight
        now["near"] = log_whole(prior, 0.5 - self.width)
        now["far"] = log_whole(prior, 0.5 + self.width)
        return EvidenceSoFar(
            now=now,
            pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
            beaten=np.zeros(num_arms, dtype=np.int64),
            smallest=np.zeros(num_arms + 1),
        )

    def evaluate(
        self, wins: ArrayLike, unknown: ArrayLike | None = None
    ) -> StoppingState:
        """Say whether some arm has enough evidence.

        Parameters
        ----------
        wins : array-like (K, K)
            Entry (i, j): number of duels with j that i won.
        unknown : array-like (K, K), optional
            Symmetric: further duels, whose outcomes are not known. They count against
            whichever arm would be named.
        """
        counts = checked_wins(wins)
        state = self.new_state(len(counts))
        if unknown is not None:
            state.pairs["unknown"] = checked_unknown(unknown)
        return conclude(state, counts)


_NOW = np.dtype(
    [
        ("threshold", np.float64),
        ("width", np.float64),
        ("prior", np.float64),
        ("stake", np.float64),
        ("near", np.float64),  # Logs of J(a, a) from 1/2 - width on,
        ("far", np.float64),  # and from 1/2 + width on.
        ("bound", np.float64),  # At least the evidence of every arm.
        ("base", np.float64),  # Sum over the pairs of the least worth of a state.
    ]
)

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won,
        ("unknown", np.int64),  # and those of which nobody knows who won.
        ("better", np.float64),  # [i, j]: won against "i is (clearly) better".
        ("neither", np.float64),
        ("cost", np.float64),  # [i, j]: better less the least of the pair.
    ]
)


class EvidenceSoFar(NamedTuple):
    """The state of `AnytimeEvidence`."""

    now: Records
    pairs: Records
    # Arms beaten at no cost, for every arm; set where evidence is computed.
    beaten: Int[np.ndarray, " K"]
    smallest: Float[np.ndarray, " N"]  # Room for sorting.


def _count_evidence(
    state: EvidenceSoFar, first: int, second: int, won: int, lost: int
) -> None:
    """Find what a pair is worth, and let the bound follow."""
    now = state.now[0]
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    unknown, prior = forward.unknown, now.prior
    if won + lost + unknown == 0:
        return
    forward.wins += won
    backward.wins += lost
    won, lost = forward.wins, backward.wins
    low, high = 0.5 - now.width, 0.5 + now.width
    before = forward.better - forward.cost
    # Against "one is clearly better" one bets on less than 1/2 + width.
    above_low, below_low = bets(won, lost, unknown, prior, low, now.near, now.far)
    above_high, below_high = above_low, below_low
    if now.width > 0.0:
        above_high, below_high = bets(
            won, lost, unknown, prior, high, now.far, now.near
        )
    better, worse = log_stake(below_high, now.stake), log_stake(above_low, now.stake)
    growth = max(better - forward.better, worse - backward.better)
    least = min(better, worse)
    if now.width > 0.0:
        larger, smaller = max(above_high, below_low), min(above_high, below_low)
        mean = larger + math.log1p(math.exp(smaller - larger)) - math.log(2.0)
        neither = log_stake(mean, now.stake)
        growth = max(growth, neither - forward.neither)
        least = min(least, neither)
        forward.neither = backward.neither = neither
    forward.better, backward.better = better, worse
    forward.cost, backward.cost = better - least, worse - least
    now.base += least - before
    now.bound += growth


def _look_at_evidence(state: EvidenceSoFar, in_full: bool) -> StoppingState:
    """Compute the evidence if it can suffice; name the first arm that has the most."""
    now, num_arms, leader = state.now[0], len(state.pairs), 0
    if not in_full and now.bound < now.threshold:
        return conclusion(False, leader, now.bound, now.threshold)
    now.base = 0.0
    for first in range(num_arms):
        state.beaten[first] = 0
        for second in range(num_arms):
            if second != first:
                state.beaten[first] += state.pairs[first, second].cost == 0.0
        for second in range(first):
            now.base += (
                state.pairs[first, second].better - state.pairs[first, second].cost
            )
    now.bound = -math.inf
    for arm in range(num_arms):
        evidence = now.base + _least_turned(state, arm)
        if evidence > now.bound:
            now.bound, leader = evidence, arm
    return conclusion(now.bound >= now.threshold, leader, now.bound, now.threshold)


@compiled
def _least_turned(state: EvidenceSoFar, arm: int) -> float:
    """Return the least cost at which some rival has more wins than an arm."""
    now, num_arms, least, lost = state.now[0], len(state.pairs), math.inf, 0
    for opponent in range(num_arms):
        lost += opponent != arm and state.pairs[opponent, arm].cost == 0.0
    for rival in range(num_arms):
        # Needed are num_arms points, two of them by the pair itself.
        if rival != arm and state.beaten[rival] + lost >= num_arms:
            return 0.0
    for rival in range(num_arms):
        if rival != arm and now.base + least > now.bound:
            missing = num_arms - lost - state.beaten[rival]
            least = min(least, _cost_of_rival(state, arm, rival, missing))
    return least


@compiled
def _cost_of_rival(state: EvidenceSoFar, arm: int, rival: int, missing: int) -> float:
    """Return the least cost at which a rival has so many points more."""
    smallest, count = state.smallest, 0
    for opponent in range(len(state.pairs)):
        if opponent == arm or opponent == rival:
            continue
        for cost in (
            state.pairs[rival, opponent].cost,
            state.pairs[opponent, arm].cost,
        ):
            if cost > 0.0 and (count < missing or cost < smallest[count - 1]):
                index = count if count < missing else count - 1
                count = max(count, index + 1)
                while index > 0 and smallest[index - 1] > cost:
                    smallest[index] = smallest[index - 1]
                    index -= 1
                smallest[index] = cost
    direct, total = state.pairs[rival, arm].cost, 0.0
    with_direct = direct if direct > 0.0 else math.inf
    for index in range(missing):
        if index == missing - 2:
            with_direct += total
        total = total + smallest[index] if index < count else math.inf
    return min(total, with_direct)


implement(EvidenceSoFar, _count_evidence, _look_at_evidence)


# The value of bets on a pair. After w wins and l losses the bet on p > b, b + c = 1,
# with the mixture Beta(a, a) is worth
#
#     E = J(w + a, l + a) / (J(a, a) b^w c^l),   J(x, y) = integral from b to 1 of
#                                                  p^(x - 1) (1 - p)^(y - 1) dp.
#
# By the continued fraction of the incomplete Beta function (Abramowitz and Stegun 1964,
# 26.5.8) the part of it on the side of b away from the mean w / (w + l) is small and
# computed directly, without a Beta function; the other one is the rest of the whole.
# Bets on p < b are those on 1 - p > c.


def log_whole(prior: float, bound: float) -> float:
    """Return the logarithm of J(a, a), once per run and bound."""
    return log_bets(0, 0, prior, bound, 0.0, 0.0)[0]


@compiled
def bets(
    won: int,
    lost: int,
    unknown: int,
    prior: float,
    bound: float,
    above: float,
    below: float,
) -> tuple[float, float]:
    """Return `log_bets`, in each of which the unknown duels are lost."""
    if unknown == 0:
        return log_bets(won, lost, prior, bound, above, below)
    return (
        log_bets(won, lost + unknown, prior, bound, above, below)[0],
        log_bets(won + unknown, lost, prior, bound, above, below)[1],
    )


@compiled
def log_bets(
    won: int, lost: int, prior: float, bound: float, above: float, below: float
) -> tuple[float, float]:
    """Return log E of the bets on p > bound and on p < bound."""
    # ``above`` and ``below`` are `log_whole` of the bound and of 1 - bound.
    x, y, rest = won + prior, lost + prior, 1.0 - bound
    log_bound, log_rest = math.log(bound), math.log(rest)
    both = math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
    both -= won * log_bound + lost * log_rest
    edge = prior * (log_bound + log_rest)
    if bound * (x + y + 2.0) >= x + 1.0:
        small = edge + math.log(_fraction(y, x, rest) / y)
        return small - above, both + math.log1p(-math.exp(small - both)) - below
    small = edge + math.log(_fraction(x, y, bound) / x)
    return both + math.log1p(-math.exp(small - both)) - above, small - below


@compiled
def log_stake(bet: float, stake: float) -> float:
    """Return log(1 - stake + stake exp(bet))."""
    if bet > 0.0:
        return bet + math.log(stake + (1.0 - stake) * math.exp(-bet))
    return math.log1p(stake * math.expm1(bet))


# --- How probable it is that the leader is no Copeland winner -------------------------


@dataclass(frozen=True)
class PosteriorProbability(StoppingRule):
    """Stop when the leader is a Copeland winner with posterior probability 1 - delta.

    Every pair has an independent distribution Beta(prior, prior) before the duels. The
    leader has the largest expected number of wins. Its probability to be beaten is
    bounded by the sum over the rivals of their probabilities to have more wins, each of
    which is exact; the evidence is minus the logarithm of that sum.

    Looked at once, after a number of duels that was fixed before, this is a sensible
    rule. Looked at after every duel it is *no* rate of errors: on some matrices many
    times more than ``delta`` of the names are wrong (see the note on stopping).

    Parameters
    ----------
    delta : float
        Above 0, below 1.
    prior : float
        From 0.001 to 1000.

    Examples
    --------
    >>> rule = PosteriorProbability(0.01)
    >>> state = rule.evaluate([[0, 60, 80], [40, 0, 70], [20, 30, 0]])
    >>> state.stopped, state.leader, round(float(np.exp(-state.evidence)), 4)
    (False, 0, 0.023)
    """

    word: ClassVar[str] = "posterior"

    delta: float
    prior: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        number_within(self.prior, 0.001, 1000, "prior", kind=StoppingRuleError)

    def new_state(self, num_arms: int) -> PosteriorSoFar:
        """Return the state before the first duel."""
        now = np.zeros(1, dtype=_POSTERIOR_NOW)
        now["delta"], now["threshold"] = self.delta, -math.log(self.delta)
        now["prior"], now["whole"] = self.prior, log_whole(float(self.prior), 0.5)
        return PosteriorSoFar(
            now,
            np.zeros((num_arms, num_arms), dtype=np.int64),
            0.5 * (1.0 - np.eye(num_arms)),
            np.full(num_arms, 0.5 * (num_arms - 1)),
            np.zeros(num_arms, dtype=np.bool_),
            np.zeros(num_arms + 1),
        )


_POSTERIOR_NOW = np.dtype(
    [(name, np.float64) for name in ("delta", "threshold", "prior", "whole")]
)


class PosteriorSoFar(NamedTuple):
    """The state of `PosteriorProbability`."""

    now: Records
    wins: Int[np.ndarray, "K K"]
    # [i, j]: Q_ij = P(theta_ij > 1/2); 0 on the diagonal.
    probability: Float[np.ndarray, "K K"]
    score: Float[np.ndarray, " K"]  # Expected number of wins,
    # and whether duels have been counted since it was computed.
    is_old: Bool[np.ndarray, " K"]
    # [r]: P(the pairs so far supply at least r), of one rival; r up to K.
    tail: Float[np.ndarray, " N"]


def _count_posterior(
    state: PosteriorSoFar, first: int, second: int, won: int, lost: int
) -> None:
    if won + lost == 0:
        return
    state.wins[first, second] += won
    state.wins[second, first] += lost
    won, lost, now = state.wins[first, second], state.wins[second, first], state.now[0]
    above, below = log_bets(won, lost, now.prior, 0.5, now.whole, now.whole)
    # Both sides of 1/2 in proportion to what bets on them are worth.
    odds = math.exp(-abs(above - below))
    larger, smaller = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    state.probability[first, second] = larger if above > below else smaller
    state.probability[second, first] = smaller if above > below else larger
    state.is_old[first] = state.is_old[second] = True


def _look_at_posterior(state: PosteriorSoFar, in_full: bool) -> StoppingState:
    """Bound the probability that the leader is beaten.

    With Q_ij of theta_ij ~ Beta(wins_ij + prior, wins_ji + prior) the leader has the
    largest sum of Q; the lowest number of several. An arm i has more wins than the
    leader w exactly where

        2 [i beats w] + sum over j of ([i beats j] + [j beats w]) >= K,

    the signs being independent: a convolution, of positive terms only. These
    probabilities are added up over the rivals.
    """
    now, num_arms, tail = state.now[0], len(state.wins), state.tail
    leader, wrong = 0, 0.0
    for arm in range(num_arms):
        if state.is_old[arm]:
            state.is_old[arm] = False
            state.score[arm] = 0.0
            for opponent in range(num_arms):
                state.score[arm] += state.probability[arm, opponent]
        if state.score[arm] > state.score[leader]:
            leader = arm
    for rival in range(num_arms):
        if rival == leader or (wrong > now.delta and not in_full):
            continue
        for needed in range(1, num_arms + 1):
            tail[needed] = 0.0
        tail[0] = 1.0
        most = 0
        for opponent in range(num_arms):
            if opponent != rival and opponent != leader:
                most += 2
                _add(tail, state.probability[rival, opponent], most - 1)
                _add(tail, state.probability[opponent, leader], most)
        direct = state.probability[rival, leader]
        wrong += direct * tail[num_arms - 2] + (1.0 - direct) * tail[num_arms]
    evidence = -math.log(wrong) if wrong > 0.0 else math.inf
    return conclusion(wrong <= now.delta, leader, evidence, now.threshold)


@compiled
def _add(tail: Float[np.ndarray, " N"], probability: float, number: int) -> None:
    """Let a pair count, the ``number``-th of 2 K - 4."""
    size = tail.size - 1
    least, most = max(1, number - size + 2), min(number, size)
    above = tail[most]
    for needed in range(most, least - 1, -1):
        below = tail[needed - 1]
        tail[needed] = probability * below + (1.0 - probability) * above
        above = below


implement(PosteriorSoFar, _count_posterior, _look_at_posterior)


# --- A budget ------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget(StoppingRule):
    """Stop after a given number of duels, and name no arm.

    Parameters
    ----------
    duels : int
        At least 1.

    Examples
    --------
    >>> rule = AnytimeEvidence(0.01) | Budget(100)
    >>> rule.evaluate([[0, 60], [40, 0]])
    StoppingState(stopped=True, answer=-1, leader=-1, evidence=100.0, threshold=100.0)
    """

    word: ClassVar[str] = "budget"

    duels: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_duels(self.duels)

    def new_state(self, num_arms: int) -> DuelsLeft:
        """Return the duels before the first, and all that there may be."""
        return DuelsLeft(np.array([0, self.duels], dtype=np.int64))


class DuelsLeft(NamedTuple):
    """The state of a `Budget`: duels that were counted, and that there may be."""

    duels: Int[np.ndarray, " 2"]


def _spend(state: DuelsLeft, first: int, second: int, won: int, lost: int) -> None:
    state.duels[0] += won + lost


def _look_at_budget(state: DuelsLeft, in_full: bool) -> StoppingState:
    spent, limit = float(state.duels[0]), float(state.duels[1])
    return conclusion(spent >= limit, NOBODY, spent, limit)


implement(DuelsLeft, _spend, _look_at_budget)


def _check_delta(value: Any) -> None:
    share_of(value, "delta", kind=StoppingRuleError)
