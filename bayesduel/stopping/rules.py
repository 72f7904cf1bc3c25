"""Rules for stopping, on a table of counts; kernels play the same in simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int, Int64
from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError, errors_as
from bayesduel.ops.scalar.compiled import Records, compiled, implement_one, inlined
from bayesduel.stopping._scalar_bets import log_bets, log_stake, log_whole
from bayesduel.stopping.base import (
    NOBODY,
    StoppingRule,
    StoppingState,
    check_rule,
    concluded,
)
from bayesduel.stopping.scalar_rules import GO_ON, ScalarStopping, observe
from theory import anytime_evidence
from theory.arguments import (
    integer_from,
    number_within,
    share_of,
)
from theory.identification.evidence import checked_wins


@dataclass(frozen=True)
class AnytimeEvidence(StoppingRule):
    """Stop when the anytime-valid evidence for an arm reaches log(1/delta).

    Each arm that is no right answer is named with probability at most ``delta``,
    whatever decides about the next duel and however often one looks; see
    :func:`theory.anytime_evidence`, which is the evidence. ``delta`` bounds the
    probability of naming any of them, too, if no pair is at exactly 1/2 or ``width`` is
    above 0; with such pairs and no width that is at most ``2 * delta``. Duels have to
    be counted in the order in which they were asked for: answers that are selected, or
    sorted, by what they say have no guarantee.

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

    delta: float
    width: float = 0.0
    prior: float = 0.5
    weight: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        # The evidence of nothing checks the rest.
        with errors_as(StoppingRuleError):
            self._evidence(np.zeros((2, 2)))

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
        found = self._evidence(wins, unknown)
        leader = int(found.argmax())
        return concluded(leader, float(found[leader]), -math.log(self.delta))

    def _evidence(
        self, wins: ArrayLike, unknown: ArrayLike | None = None
    ) -> np.ndarray:
        return anytime_evidence(
            wins,
            prior=self.prior,
            weight=self.weight,
            width=self.width,
            unknown=unknown,
        )

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        return stopping(
            delta=float(self.delta),
            width=float(self.width),
            prior=float(self.prior),
            weight=self.weight,
        )


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

    delta: float
    prior: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        number_within(self.prior, 0.001, 1000, "prior", kind=StoppingRuleError)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether the leader is probable enough."""
        leader, wrong = log_probability_wrong(checked_wins(wins), float(self.prior))
        return concluded(leader, -wrong, -math.log(self.delta))

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        return posterior_stopping(delta=float(self.delta), prior=float(self.prior))


@dataclass(frozen=True)
class Budget(StoppingRule):
    """Stop after so many duels, and name nobody.

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

    duels: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_duels(self.duels)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether the budget is spent."""
        spent = float(checked_wins(wins).sum())
        limit = float(self.duels)
        return StoppingState(spent >= limit, NOBODY, NOBODY, spent, limit)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping.scalar_rules import budget

        return budget(int(self.duels))


@dataclass(frozen=True)
class LookEvery(StoppingRule):
    """Look at a rule after every so many duels only.

    Parameters
    ----------
    rule : StoppingRule
    duels : int
        At least 1.

    Examples
    --------
    >>> LookEvery(Budget(5), duels=4).evaluate([[0, 4], [2, 0]]).stopped
    False
    >>> LookEvery(Budget(5), duels=3).evaluate([[0, 4], [2, 0]]).stopped
    True
    """

    rule: StoppingRule
    duels: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_rule("rule", self.rule)
        check_duels(self.duels)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether one looks now, and what the rule says then."""
        found = self.rule.evaluate(wins)
        looks = checked_wins(wins).sum() % self.duels == 0
        return found if looks else found._replace(stopped=False, answer=NOBODY)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping.scalar_rules import look_every

        return look_every(self.rule.scalar_stopping(), int(self.duels))


def check_duels(value: Any) -> None:
    """Raise ``StoppingRuleError`` for what is no number of duels."""
    integer_from(value, 1, "duels", kind=StoppingRuleError)


def _check_delta(value: Any) -> None:
    share_of(value, "delta", kind=StoppingRuleError)


# --- The kernel of `AnytimeEvidence`: ``theory.anytime_evidence`` after every duel ----


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
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("better", np.float64),  # [i, j]: won against "i is (clearly) better".
        ("neither", np.float64),
        ("cost", np.float64),  # [i, j]: better less the least of the pair.
    ]
)


class EvidenceKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    beaten: Int[np.ndarray, " K"]
    """Arms beaten at no cost, for every arm; set where evidence is computed."""

    smallest: Float[np.ndarray, " N"]
    """Room for sorting."""


def stopping(
    *, delta: float, width: float, prior: float, weight: float | None
) -> ScalarStopping:
    """Return what stops by anytime-valid evidence; parameters of `AnytimeEvidence`."""

    def initial_state(num_arms: int) -> EvidenceKernel:
        now = np.zeros(1, dtype=_NOW)
        now["threshold"], now["width"], now["prior"] = -math.log(delta), width, prior
        now["stake"] = 1.0 / num_arms if weight is None else weight
        now["near"] = log_whole(prior, 0.5 - width)
        now["far"] = log_whole(prior, 0.5 + width)
        return EvidenceKernel(
            now=now,
            pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
            beaten=np.zeros(num_arms, dtype=np.int64),
            smallest=np.zeros(num_arms + 1),
        )

    return ScalarStopping("evidence", initial_state)


@inlined
def _observe(state: EvidenceKernel, first: int, second: int, won: bool) -> int:
    """Count a duel; return the arm with the most evidence if that suffices."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    _refresh(state, winner, loser)
    if state.now[0].bound < state.now[0].threshold:
        return GO_ON
    return _look(state)


@compiled
def _refresh(state: EvidenceKernel, one: int, other: int) -> None:
    """Find what a pair is worth, and let the bound follow."""
    now = state.now[0]
    forward, backward = state.pairs[one, other], state.pairs[other, one]
    won, lost, prior = forward.wins, backward.wins, now.prior
    low, high = 0.5 - now.width, 0.5 + now.width
    before = forward.better - forward.cost
    # Against "one is clearly better" one bets on less than 1/2 + width.
    above_low, below_low = log_bets(won, lost, prior, low, now.near, now.far)
    above_high, below_high = above_low, below_low
    if now.width > 0.0:
        above_high, below_high = log_bets(won, lost, prior, high, now.far, now.near)
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


@compiled
def _look(state: EvidenceKernel) -> int:
    """Compute the evidence; the first arm that has the most, if it suffices."""
    now, num_arms, leader = state.now[0], len(state.pairs), 0
    now.base = 0.0
    for one in range(num_arms):
        state.beaten[one] = 0
        for other in range(num_arms):
            if other != one:
                state.beaten[one] += state.pairs[one, other].cost == 0.0
        for other in range(one):
            now.base += state.pairs[one, other].better - state.pairs[one, other].cost
    now.bound = -math.inf
    for arm in range(num_arms):
        found = now.base + _least_turned(state, arm)
        if found > now.bound:
            now.bound, leader = found, arm
    return leader if now.bound >= now.threshold else GO_ON


@compiled
def _least_turned(state: EvidenceKernel, arm: int) -> float:
    """Return the least cost at which some rival has more wins than an arm."""
    num_arms, least, lost = len(state.pairs), math.inf, 0
    for other in range(num_arms):
        lost += other != arm and state.pairs[other, arm].cost == 0.0
    for rival in range(num_arms):
        # Needed are num_arms points, two of them by the pair itself.
        if rival != arm and state.beaten[rival] + lost >= num_arms:
            return 0.0
    for rival in range(num_arms):
        if rival != arm:
            missing = num_arms - lost - state.beaten[rival]
            least = min(least, _cost_of_rival(state, arm, rival, missing))
    return least


@inlined
def _cost_of_rival(state: EvidenceKernel, arm: int, rival: int, missing: int) -> float:
    """Return the least cost at which a rival has so many points more."""
    smallest, count = state.smallest, 0
    for other in range(len(state.pairs)):
        if other == arm or other == rival:
            continue
        for cost in (state.pairs[rival, other].cost, state.pairs[other, arm].cost):
            if cost > 0.0 and (count < missing or cost < smallest[count - 1]):
                place = count if count < missing else count - 1
                count = max(count, place + 1)
                while place > 0 and smallest[place - 1] > cost:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = cost
    direct, total = state.pairs[rival, arm].cost, 0.0
    with_direct = direct if direct > 0.0 else math.inf
    for place in range(missing):
        if place == missing - 2:
            with_direct += total
        total = total + smallest[place] if place < count else math.inf
    return min(total, with_direct)


implement_one(observe, EvidenceKernel, _observe)


# --- How probable it is, after the duels, that the leader is no Copeland winner -------


_BLOCK = 64
"""Rivals at a time: their tails stay near the processor."""


def log_probability_wrong(
    wins: Float64[np.ndarray, "K K"], prior: float
) -> tuple[int, float]:
    """Return the leader, and the log of a bound on its probability to be beaten.

    With Q_ij = P(theta_ij > 1/2) of theta_ij ~ Beta(wins_ij + prior, wins_ji + prior)
    the leader has the largest sum of Q; the lowest number of several. An arm i has more
    wins than the leader w exactly where

        2 [i beats w] + sum over j of ([i beats j] + [j beats w]) >= K,

    the signs being independent: a convolution, of positive terms only. These
    probabilities are added up over the rivals.

    Examples
    --------
    >>> leader, wrong = log_probability_wrong(np.array([[0.0, 9.0], [1.0, 0.0]]), 1.0)
    >>> leader, round(math.exp(wrong), 4)
    (0, 0.0059)
    """
    from scipy.special import betainc

    num_arms = len(wins)
    probability = betainc(wins.T + prior, wins + prior, 0.5)
    np.fill_diagonal(probability, 0.0)
    leader = int(probability.sum(axis=1).argmax())
    rivals = np.delete(np.arange(num_arms), leader)
    total = 0.0
    for place in range(0, len(rivals), _BLOCK):
        total += float(
            _beaten(probability, leader, rivals[place : place + _BLOCK]).sum()
        )
    return leader, math.log(total) if total > 0.0 else -math.inf


def _beaten(
    probability: Float64[np.ndarray, "K K"],
    leader: int,
    rivals: Int64[np.ndarray, " rival"],
) -> Float64[np.ndarray, " rival"]:
    """Return the probability of each of some rivals to have more wins."""
    num_arms = len(probability)
    # [r, rival]: probability that the pairs so far supply at least r.
    tail = np.zeros((num_arms + 1, len(rivals)))
    tail[0] = 1.0
    most = 0
    for other in range(num_arms):
        if other == leader:
            continue
        own = probability[rivals, other]
        lost = np.where(rivals == other, 0.0, probability[other, leader])
        for yes in (own, lost):
            most = min(most + 1, num_arms)
            change = tail[:most] - tail[1 : most + 1]
            change *= yes
            tail[1 : most + 1] += change
    direct = probability[rivals, leader]
    return direct * tail[num_arms - 2] + (1 - direct) * tail[num_arms]


_POSTERIOR_NOW = np.dtype(
    [("delta", np.float64), ("prior", np.float64), ("whole", np.float64)]
)

_POSTERIOR_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("probability", np.float64),  # [i, j]: P(theta_ij > 1/2); 0 on the diagonal.
    ]
)


class PosteriorKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    score: Float[np.ndarray, " K"]
    """Expected number of wins."""

    tail: Float[np.ndarray, " N"]
    """[r]: P(the pairs so far supply at least r), of one rival; r up to K."""


def posterior_stopping(*, delta: float, prior: float) -> ScalarStopping:
    """Return what stops by posterior probability."""

    def initial_state(num_arms: int) -> PosteriorKernel:
        now = np.zeros(1, dtype=_POSTERIOR_NOW)
        now["delta"], now["prior"], now["whole"] = delta, prior, log_whole(prior, 0.5)
        pairs = np.zeros((num_arms, num_arms), dtype=_POSTERIOR_PAIR)
        pairs["probability"] = 0.5 * (1.0 - np.eye(num_arms))
        score = np.full(num_arms, 0.5 * (num_arms - 1))
        return PosteriorKernel(now, pairs, score, np.zeros(num_arms + 1))

    return ScalarStopping("posterior", initial_state)


@inlined
def _observe_posterior(
    state: PosteriorKernel, first: int, second: int, won: bool
) -> int:
    """Count a duel; return the leader if it is probable enough."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    _refresh_posterior(state, winner, loser)
    leader = 0
    for arm in range(len(state.pairs)):
        if state.score[arm] > state.score[leader]:
            leader = arm
    return leader if _probability_wrong(state, leader) <= state.now[0].delta else GO_ON


@compiled
def _refresh_posterior(state: PosteriorKernel, one: int, other: int) -> None:
    now = state.now[0]
    forward, backward = state.pairs[one, other], state.pairs[other, one]
    bets = log_bets(forward.wins, backward.wins, now.prior, 0.5, now.whole, now.whole)
    # Both sides of 1/2 in proportion to what bets on them are worth.
    forward.probability = 1.0 / (1.0 + math.exp(min(bets[1] - bets[0], 709.0)))
    backward.probability = 1.0 / (1.0 + math.exp(min(bets[0] - bets[1], 709.0)))
    for arm in (one, other):
        total = 0.0
        for j in range(len(state.pairs)):
            total += state.pairs[arm, j].probability
        state.score[arm] = total


@compiled
def _probability_wrong(state: PosteriorKernel, leader: int) -> float:
    """Add up the probabilities of all rivals to have more wins than the leader."""
    num_arms, tail, total = len(state.pairs), state.tail, 0.0
    for rival in range(num_arms):
        if rival == leader:
            continue
        for needed in range(1, num_arms + 1):
            tail[needed] = 0.0
        tail[0] = 1.0
        for other in range(num_arms):
            if other != rival and other != leader:
                _add(tail, state.pairs[rival, other].probability)
                _add(tail, state.pairs[other, leader].probability)
        direct = state.pairs[rival, leader].probability
        total += direct * tail[num_arms - 2] + (1.0 - direct) * tail[num_arms]
        if total > state.now[0].delta:
            break
    return total


@inlined
def _add(tail: Float[np.ndarray, " N"], probability: float) -> None:
    for needed in range(tail.size - 1, 0, -1):
        tail[needed] = (
            probability * tail[needed - 1] + (1.0 - probability) * tail[needed]
        )


implement_one(observe, PosteriorKernel, _observe_posterior)
