"""Heuristics: rules that are often used, and promise less than they seem to.

Each of them looks at shares of duels won, whoever they were won against. Looked at once
they have their uses; looked at again and again, or after duels that a policy has
chosen, they name wrong arms more often than their level says.
``bayesduel.analysis.audit_stopping`` measures how often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int

from bayesduel.errors import StoppingRuleError
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.stopping.base import (
    StoppingRule,
    StoppingState,
    check_duels,
    conclusion,
    implement,
)
from theory.arguments import share_of
from theory.identification.beta_fraction import incomplete_beta_fraction

_fraction = compiled(incomplete_beta_fraction)

ROUNDING = 1e-9  # A p-value has to be below its level by more than that share of it.


@dataclass(frozen=True)
class FixedNumber(StoppingRule):
    """Stop after so many duels, and name the arm with the largest share won.

    The heuristic: "we collect 500 votes, and take the first of the table". The number
    is fixed before, so nothing is wrong with looking; but nothing says either how often
    the first of the table is the wrong one.

    Parameters
    ----------
    duels : int
        At least 1.

    Examples
    --------
    >>> FixedNumber(100).evaluate([[0, 60], [40, 0]]).answer
    0
    """

    word: ClassVar[str] = "fixed"

    duels: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_duels(self.duels)

    def new_state(self, num_arms: int) -> Shares:
        """Return the state before the first duel."""
        return _new_state(num_arms, FIXED, float(self.duels))


@dataclass(frozen=True)
class SeparateIntervals(StoppingRule):
    """Stop when the interval of the leader lies above those of all other arms.

    The heuristic: bars around the shares of duels won, "significant" as soon as they no
    longer overlap. An interval is that of Wilson (1927) for the share of its duels that
    an arm has won; without duels it is [0, 1]. Resampling the duels of an arm, the
    bootstrap that is usual in place of it, has the same standard error.

    The leader has the largest share won. Who has met weak arms has a large one, so it
    need not be a Copeland winner, however many duels there are.

    Parameters
    ----------
    level : float
        Of each interval, between 0 and 1; 0.95 is usual.

    References
    ----------
    Wilson (1927).

    Examples
    --------
    >>> rule = SeparateIntervals(0.95)
    >>> (
    ...     rule.evaluate([[0, 60], [40, 0]]).stopped,
    ...     rule.evaluate([[0, 65], [35, 0]]).answer,
    ... )
    (True, 0)
    """

    word: ClassVar[str] = "intervals"

    level: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        share_of(self.level, "level", kind=StoppingRuleError)

    def new_state(self, num_arms: int) -> Shares:
        """Return the state before the first duel."""
        quantile = NormalDist().inv_cdf(0.5 + float(self.level) / 2.0)
        return _new_state(num_arms, INTERVALS, quantile**2)


@dataclass(frozen=True)
class LeaderTest(StoppingRule):
    """Stop when the leader is significantly better than the runner-up.

    The heuristic: after every look, test the first of the table against the second, and
    stop at p < 0.05. The two have the largest shares of duels won, and the test is the
    two-sided binomial one of the duels that they had with each other.

    It is one test in many: of the pair that looks best, at each look.

    Parameters
    ----------
    alpha : float
        Level, between 0 and 1; 0.05 is usual.

    Examples
    --------
    >>> rule = LeaderTest(0.05)
    >>> rule.evaluate([[0, 5], [0, 0]]).stopped, rule.evaluate([[0, 6], [0, 0]]).stopped
    (False, True)
    """

    word: ClassVar[str] = "p-value"

    alpha: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        share_of(self.alpha, "alpha", kind=StoppingRuleError)

    def new_state(self, num_arms: int) -> Shares:
        """Return the state before the first duel."""
        return _new_state(num_arms, TEST, float(self.alpha))


# --- Shares of duels won, and what the heuristics make of them -----------------------


FIXED, INTERVALS, TEST = 0, 1, 2

_NOW = np.dtype(
    [
        ("kind", np.int64),
        # Duels, the square of the normal quantile of the intervals, or the level.
        ("limit", np.float64),
    ]
)

_ARM = np.dtype([("won", np.int64), ("met", np.int64)])


class Shares(NamedTuple):
    """The state of a heuristic: one class, so that one program plays all of them."""

    now: Records
    arms: Records
    wins: Int[np.ndarray, "K K"]


def _new_state(num_arms: int, kind: int, limit: float) -> Shares:
    return Shares(
        np.array([(kind, limit)], dtype=_NOW),
        np.zeros(num_arms, dtype=_ARM),
        np.zeros((num_arms, num_arms), dtype=np.int64),
    )


def _count(state: Shares, first: int, second: int, won: int, lost: int) -> None:
    state.wins[first, second] += won
    state.wins[second, first] += lost
    state.arms[first].won += won
    state.arms[second].won += lost
    state.arms[first].met += won + lost
    state.arms[second].met += won + lost


def _look(state: Shares, in_full: bool) -> StoppingState:
    now, leader = state.now[0], _leader(state, -1)
    if now.kind == FIXED:
        met = 0.0
        for arm in range(state.arms.size):
            met += 0.5 * state.arms[arm].met
        return conclusion(met >= now.limit, leader, met, now.limit)
    if now.kind == INTERVALS:
        apart = math.inf
        for arm in range(state.arms.size):
            if arm != leader:
                gap = _end(state, leader, -1.0) - _end(state, arm, 1.0)
                apart = min(apart, gap)
        return conclusion(apart > 0.0, leader, apart, 0.0)
    second = _leader(state, leader)
    won, lost = state.wins[leader, second], state.wins[second, leader]
    p_value = min(1.0, 2.0 * _lower_half(won, lost + 1)) if won > lost + 1 else 1.0
    evidence = -math.log(p_value) if p_value > 0.0 else math.inf
    stopped = p_value < now.limit * (1.0 - ROUNDING)
    return conclusion(stopped, leader, evidence, -math.log(now.limit))


@compiled
def _lower_half(won: int, lost: int) -> float:
    """Return P(p < 1/2) of the distribution Beta(won, lost), won above lost."""
    both = math.lgamma(won) + math.lgamma(lost) - math.lgamma(won + lost)
    edge = -(won + lost) * math.log(2.0) - both
    return math.exp(edge + math.log(_fraction(won, lost, 0.5) / won))


@compiled
def _leader(state: Shares, without: int) -> int:
    """Return the arm with the largest share won, but for one arm."""
    best, most = -1, -math.inf
    for arm in range(state.arms.size):
        shares = state.arms[arm]
        share = shares.won / shares.met if shares.met > 0 else -1.0
        if arm != without and share > most:
            best, most = arm, share
    return best


@compiled
def _end(state: Shares, arm: int, sign: float) -> float:
    """Return the lower (-1) or upper (1) end of the interval of Wilson."""
    played, square = state.arms[arm].met, state.now[0].limit
    if played == 0:
        return 0.5 + 0.5 * sign
    rate = state.arms[arm].won / played
    spread = rate * (1.0 - rate) / played + square / (4.0 * played * played)
    center = rate + square / (2.0 * played)
    return (center + sign * math.sqrt(square * spread)) / (1.0 + square / played)


implement(Shares, _count, _look)
