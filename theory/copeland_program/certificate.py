"""Lower bounds on the optimum from multipliers, without trust in a solver.

The dual of the program (P) of `theory.copeland_program._constraints` puts a multiplier
on every constraint; the multipliers on a pair must not exceed its cost, and their sum
is then a lower bound on the cost of every feasible allocation. A constraint with the
sets H and O stands here for all O of its size at once: evidence z on the superiors of a
rival enters through the sum S_b(z) of its b smallest entries, and

    sum over b of multiplier_b S_b(z) <= sum over j of c_j z_j       for all z >= 0

holds if and only if it does for the indicators of the t cheapest superiors, t = 1, ...,
n: both sides are additive over these when z falls as the cost rises, and sorting z in
that way lowers the right-hand side only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.optimum import Certificate
from theory.copeland_program.program_data import ProgramData
from theory.errors import ProgramError

if TYPE_CHECKING:
    from jaxtyping import Float64


MAXIMAL_GAP = 1e-8
"""Largest relative gap between an allocation and its lower bound."""

MAXIMAL_VIOLATION = 1e-9
"""A constraint "sum >= 1" may fall short of 1 by this."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Non-negative multipliers of constraints of (P), R of them."""

    values: NDArray[np.float64]  # (R,): The multipliers.
    rivals: NDArray[np.intp]  # (R,): The arm i2 of the constraint.
    levels: NDArray[np.intp]  # (R,): Its level l.
    inferiors: NDArray[np.bool_]  # (R, K): Its set H.


def dual_bound(instance: ProgramData, winner: int, multipliers: Multipliers) -> float:
    """Return a lower bound on the cost of every feasible allocation.

    It is the sum of the multipliers, which may be any numbers on constraints of (P): a
    constraint that is none raises `ProgramError`. Negative multipliers count as 0.
    Where the multipliers on a pair exceed its cost, every constraint that contains the
    pair is shrunk until they fit.
    """
    chosen, rivals = multipliers.inferiors, multipliers.rivals
    values = np.maximum(multipliers.values, 0.0)
    sizes = _superior_sizes(instance, winner, multipliers)
    fit = np.ones_like(values)

    used = values @ chosen
    own = np.divide(
        instance.costs[winner], used, out=np.ones_like(used), where=used > 0
    )
    if chosen.any():
        fit = np.minimum(fit, np.where(chosen, own[None, :], 1.0).min(axis=1))

    # used[i2, s] = sum over b > s of (b - s) multiplier[i2, b], s superiors left out.
    num_arms = instance.num_arms
    by_size = np.zeros((num_arms, num_arms + 1))
    np.add.at(by_size, (rivals, sizes), values)
    beyond = np.cumsum(by_size[:, ::-1], axis=1)[:, ::-1]
    used = np.cumsum(beyond[:, :0:-1], axis=1)[:, ::-1]
    cost = _costs_without(instance, winner)
    room = np.divide(cost, used, out=np.ones_like(used), where=used > 0)
    # A constraint with b superiors takes part for s = 0, ..., b - 1.
    least = np.minimum.accumulate(room, axis=1)[rivals, np.maximum(sizes, 1) - 1]
    fit = np.minimum(fit, np.where(sizes > 0, least, 1.0))
    return float((values * fit).sum())


def certify(
    *,
    status: str,
    primal_value: float,
    lower_bound: float,
    slack: float,
    num_constraints: int,
    num_rounds: int,
) -> Certificate:
    """Compare both sides of a program.

    `ProgramError` if the allocation is not feasible, its smallest left-hand side of
    "sum >= 1" being ``slack``, or the relative gap exceeds 1e-8.
    """
    difference = primal_value - lower_bound
    gap = difference / primal_value if primal_value > 0 else float(abs(difference))
    if not (slack >= 1.0 - MAXIMAL_VIOLATION and abs(gap) <= MAXIMAL_GAP):
        raise ProgramError(
            f"the program was not solved: solver status {status!r}, value "
            f"{primal_value!r}, lower bound {lower_bound!r}, relative gap {gap:.3g} "
            f"(at most {MAXIMAL_GAP:g}), smallest left-hand side {slack!r} (at least "
            "1). Pairs next to a tie can be too close for floating point."
        )
    return Certificate(
        status=status,
        primal_value=primal_value,
        dual_bound=lower_bound,
        relative_gap=gap,
        slack=slack,
        num_constraints=num_constraints,
        num_rounds=num_rounds,
    )


def allocation_cost(
    costs: Float64[np.ndarray, "K K"], evidence: Float64[np.ndarray, "K K"]
) -> float:
    """Return the cost of an allocation, summed over unordered pairs."""
    return float(np.triu(costs * evidence).sum())


def _superior_sizes(
    instance: ProgramData, winner: int, multipliers: Multipliers
) -> NDArray[np.intp]:
    """Check that every constraint is one of (P), and return the sizes of its sets O."""
    chosen, rivals, levels = (
        multipliers.inferiors,
        multipliers.rivals,
        multipliers.levels,
    )
    gaps, least = instance.gaps, instance.least
    taken = np.take_along_axis(chosen, rivals[:, None], axis=1)[:, 0]
    sizes = np.maximum(instance.losses[rivals] - levels - taken, 0)
    superiors = instance.losses[rivals] - (gaps[winner, rivals] > 0)
    legal = (
        (rivals != winner)
        & (levels >= max(0, least - 1))
        & (levels <= instance.second)
        & (chosen.sum(axis=1) == levels + 1 - least)
        & ~(chosen & ~(gaps[winner] > 0)[None, :]).any(axis=1)
        & (sizes <= superiors)
    )
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        raise ProgramError(
            f"constraint {row} (rival {rivals[row]}, level {levels[row]}, inferiors "
            f"{np.flatnonzero(chosen[row]).tolist()}) is not part of the program."
        )
    return sizes


def _costs_without(instance: ProgramData, winner: int) -> NDArray[np.float64]:
    """Cost of all superiors of i2 but the s dearest and i1, float (K, K), column s.

    Infinity where fewer than one superior would be left.
    """
    members = instance.gaps < 0
    members[:, winner] = False
    priced = np.sort(np.where(members, instance.costs, np.inf), axis=1)
    sums = np.cumsum(priced, axis=1)
    left = members.sum(axis=1)[:, None] - np.arange(instance.num_arms)[None, :]
    costs = np.take_along_axis(sums, np.maximum(left - 1, 0), axis=1)
    return np.where(left > 0, costs, np.inf)
