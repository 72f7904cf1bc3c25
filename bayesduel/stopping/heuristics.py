"""Heuristics: rules that are often used, and promise less than they seem to.

Each of them looks at shares of duels won, whoever they were won against. Looked at once
they have their uses; looked at again and again, or after duels that a policy has
chosen, they name wrong arms more often than their level says.
``bayesduel.analysis.audit_stopping`` measures how often.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError
from bayesduel.ops.scalar.compiled import Records, compiled, implement_one, inlined
from bayesduel.stopping._scalar_bets import lower_half
from bayesduel.stopping.base import StoppingRule, StoppingState, concluded
from bayesduel.stopping.rules import check_duels
from bayesduel.stopping.scalar_rules import GO_ON, ScalarStopping, observe
from theory.arguments import share_of
from theory.identification.evidence import checked_wins

ROUNDING = 1e-9
"""A p-value has to be below its level by more than that share of it."""


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

    duels: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_duels(self.duels)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether there are enough duels."""
        counts = checked_wins(wins)
        leader = int(shares_won(counts)[0].argmax())
        spent, limit = float(counts.sum()), float(self.duels)
        return concluded(leader, spent, limit, stopped=spent >= limit)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        return stopping(FIXED, duels=int(self.duels))


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

    level: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        share_of(self.level, "level", kind=StoppingRuleError)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether the leader's interval is apart; the evidence is by how much."""
        rates, met = shares_won(checked_wins(wins))
        leader = int(rates.argmax())
        square = _normal_quantile(self.level) ** 2
        played = np.maximum(met, 1.0)
        shrunk = 1.0 + square / played
        centers = (rates + square / (2.0 * played)) / shrunk
        spread = rates * (1.0 - rates) / played + square / (4.0 * played**2)
        halves = np.sqrt(square * np.maximum(spread, 0.0)) / shrunk
        highs = np.where(met > 0, centers + halves, 1.0)
        low = float(centers[leader] - halves[leader]) if met[leader] else 0.0
        apart = low - float(np.delete(highs, leader).max())
        return concluded(leader, apart, 0.0, stopped=apart > 0.0)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        return stopping(INTERVALS, square=_normal_quantile(self.level) ** 2)


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

    alpha: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        share_of(self.alpha, "alpha", kind=StoppingRuleError)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether p is below the level; the evidence is -log p."""
        from scipy.special import betainc

        counts = checked_wins(wins)
        rates, _ = shares_won(counts)
        leader = int(rates.argmax())
        rates[leader] = -math.inf
        second = int(rates.argmax())
        won, lost = counts[leader, second], counts[second, leader]
        probability = 1.0
        if won > lost + 1:
            probability = 2.0 * float(betainc(won, lost + 1.0, 0.5))
        evidence = -math.log(probability) if probability > 0.0 else math.inf
        stopped = probability < self.alpha * (1.0 - ROUNDING)
        return concluded(leader, evidence, -math.log(self.alpha), stopped=stopped)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        return stopping(TEST, level=float(self.alpha) * (1.0 - ROUNDING))


def shares_won(
    wins: Float64[np.ndarray, "K K"],
) -> tuple[Float64[np.ndarray, " K"], Float64[np.ndarray, " K"]]:
    """Return the share of its duels that each arm has won, and how many they were.

    -1 for an arm without duels, which so comes last.
    """
    won = wins.sum(axis=1)
    met = won + wins.sum(axis=0)
    return np.where(met > 0, won / np.maximum(met, 1.0), -1.0), met


def _normal_quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + float(level) / 2.0))


# --- The kernel of the heuristics: shares of duels won, and what is made of them ------


FIXED, INTERVALS, TEST = 0, 1, 2

_NOW = np.dtype(
    [
        ("kind", np.int64),
        ("left", np.int64),  # Of a fixed number of duels.
        ("square", np.float64),  # Of the normal quantile of the intervals.
        ("level", np.float64),  # Of the test.
    ]
)

_ARM = np.dtype([("won", np.int64), ("met", np.int64)])

_PAIR = np.dtype([("wins", np.int64)])


class HeuristicKernel(NamedTuple):
    """The state of one run."""

    now: Records
    arms: Records
    pairs: Records


def stopping(
    kind: int, *, duels: int = 0, square: float = 0.0, level: float = 0.0
) -> ScalarStopping:
    """Return what stops by one of the heuristics."""

    def initial_state(num_arms: int) -> HeuristicKernel:
        now = np.zeros(1, dtype=_NOW)
        now["kind"], now["left"], now["square"], now["level"] = (
            kind, duels, square, level,
        )  # fmt: skip
        return HeuristicKernel(
            now=now,
            arms=np.zeros(num_arms, dtype=_ARM),
            pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
        )

    return ScalarStopping("heuristic", initial_state)


@inlined
def _observe(state: HeuristicKernel, first: int, second: int, won: bool) -> int:
    """Count a duel; return the leader if the heuristic is content with it."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    state.arms[winner].won += 1
    state.arms[winner].met += 1
    state.arms[loser].met += 1
    return _look(state)


@compiled
def _look(state: HeuristicKernel) -> int:
    now = state.now[0]
    if now.kind == FIXED:
        now.left -= 1
        return _leader(state, -1) if now.left <= 0 else GO_ON
    leader = _leader(state, -1)
    if now.kind == INTERVALS:
        return leader if _is_apart(state, leader) else GO_ON
    second = _leader(state, leader)
    won, lost = state.pairs[leader, second].wins, state.pairs[second, leader].wins
    if won <= lost + 1:
        return GO_ON
    return leader if 2.0 * lower_half(won, lost + 1) < now.level else GO_ON


@inlined
def _leader(state: HeuristicKernel, without: int) -> int:
    """Return the arm with the largest share won, but for one arm."""
    best, most = -1, -math.inf
    for arm in range(state.arms.size):
        each = state.arms[arm]
        share = each.won / each.met if each.met > 0 else -1.0
        if arm != without and share > most:
            best, most = arm, share
    return best


@inlined
def _is_apart(state: HeuristicKernel, leader: int) -> bool:
    """Say whether the lower end of the leader's interval is above all upper ends."""
    low = _end(state, leader, -1.0)
    for arm in range(state.arms.size):
        if arm != leader and _end(state, arm, 1.0) >= low:
            return False
    return True


@inlined
def _end(state: HeuristicKernel, arm: int, sign: float) -> float:
    """Return the lower (-1) or upper (1) end of the interval of Wilson."""
    played, square = state.arms[arm].met, state.now[0].square
    if played == 0:
        return 0.5 + 0.5 * sign
    rate = state.arms[arm].won / played
    spread = rate * (1.0 - rate) / played + square / (4.0 * played * played)
    center = rate + square / (2.0 * played)
    return (center + sign * math.sqrt(square * spread)) / (1.0 + square / played)


implement_one(observe, HeuristicKernel, _observe)
