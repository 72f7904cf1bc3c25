"""Comparisons out of choices, and sets of strong rivals built from them.

Saha and Gopalan (2019): a choice out of a set, or a ranking of it, is broken into
comparisons of the chosen arm with the others.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.ops.rules import among_largest, last_round_within, only


def break_ranking(
    wins: Int[np.ndarray, "n n"],
    subset: Bool[np.ndarray, " n"],
    rewards: Float[np.ndarray, " n"],
) -> None:
    """Count each ranked arm as a winner against every offered arm behind it."""
    for winner in range(len(rewards)):
        if rewards[winner] > 0.0:
            for loser in range(len(rewards)):
                if subset[loser] and rewards[loser] < rewards[winner]:
                    wins[winner, loser] += 1


class Bounds(NamedTuple):
    """Confidence bounds of a round: mean +- sqrt(alpha log t / n)."""

    wins: Int[np.ndarray, "n n"]
    alpha: float
    round_: int
    log_round: float


def bounds_at(wins: Int[np.ndarray, "n n"], alpha: float, round_: int) -> Bounds:
    """Return the bounds of a round."""
    return Bounds(wins, alpha, round_, math.log(float(round_)))


def upper_bound(bounds: Bounds, arm: int, rival: int) -> float:
    """Return u_ij = mean + sqrt(alpha log t / n), 2 if never compared."""
    won = bounds.wins[arm, rival]
    number = won + bounds.wins[rival, arm]
    if number == 0:
        return 2.0
    return won / number + math.sqrt(bounds.alpha * bounds.log_round / number)


def log_last_beaten(bounds: Bounds, arm: int, rival: int) -> float:
    """Return the log of the last round at which u_ij < 1/2, below 0 if none."""
    # That is n (mean - 1/2)^2 / alpha. Both forms of a rule ask here, so they never
    # disagree.
    lead = bounds.wins[rival, arm] - bounds.wins[arm, rival]
    if lead <= 0:
        return -1.0
    number = bounds.wins[rival, arm] + bounds.wins[arm, rival]
    return float(lead) * lead / (4.0 * bounds.alpha * number)


def is_beaten(bounds: Bounds, arm: int, among: Bool[np.ndarray, " n"]) -> bool:
    """Say whether one of these surely beats an arm: u_ij < 1/2."""
    for rival in range(len(among)):
        if among[rival] and bounds.log_round <= log_last_beaten(bounds, arm, rival):
            return True
    return False


def unbeaten(bounds: Bounds, among: Bool[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Mark those of some arms that none of them surely beats."""
    mask = np.zeros(len(among), dtype=np.bool_)
    for arm in range(len(among)):
        mask[arm] = among[arm] and not is_beaten(bounds, arm, among)
    return mask


def settled_rounds(bounds: Bounds) -> int:
    """Count the rounds from now in which no surely beaten arm gets better."""
    joins = math.inf
    for arm in range(len(bounds.wins)):
        last = -1.0
        for rival in range(len(bounds.wins)):
            last = max(last, log_last_beaten(bounds, arm, rival))
        if last >= bounds.log_round:
            joins = min(joins, last)
    return last_round_within(joins, bounds.round_) - bounds.round_ + 1


def add_rivals(
    rng: Generator,
    bounds: Bounds,
    level: Bool[np.ndarray, " n"],
    subset: Bool[np.ndarray, " n"],
    missing: int,
) -> int:
    """Add up to ``missing`` arms of a level to a set; return how many were added."""
    # The first is uniform among them; then the one whose smallest u against those of
    # the level that are already in is largest.
    closest = np.full(len(level), math.inf)
    left = level.copy()
    for added in range(missing):
        best, largest, number = -1, -1.0, 0
        for arm in range(len(level)):
            if left[arm]:
                largest, number, leads = among_largest(
                    rng, closest[arm], largest, number
                )
                if leads:
                    best = arm
        if best < 0:
            return added
        subset[best], left[best] = True, False
        for arm in range(len(level)):
            if left[arm]:
                closest[arm] = min(closest[arm], upper_bound(bounds, arm, best))
    return missing


def least_beaten(
    rng: Generator, bounds: Bounds, among: Bool[np.ndarray, " n"]
) -> Bool[np.ndarray, " n"]:
    """Mark the one of some arms with the largest smallest u against the others."""
    best, largest, number = 0, -1.0, 0
    for arm in range(len(among)):
        if among[arm]:
            weakest = math.inf
            for rival in range(len(among)):
                if among[rival] and rival != arm:
                    weakest = min(weakest, upper_bound(bounds, arm, rival))
            largest, number, leads = among_largest(rng, weakest, largest, number)
            if leads:
                best = arm
    return only(best, len(among))
