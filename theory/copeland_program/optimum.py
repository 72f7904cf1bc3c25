"""Optima of the exploration programs, and lower bounds without trust in a solver.

The dual of the program (P) of `theory.copeland_program.constraints` puts a multiplier
on every constraint; the multipliers on a pair must not exceed its cost, and their sum
is then a lower bound on the cost of every feasible allocation. A constraint with the
sets H and O stands here for all O of its size at once: evidence z on the superiors of a
rival enters through the sum S_b(z) of its b smallest entries, and

    sum over b of multiplier_b S_b(z) <= sum over j of c_j z_j       for all z >= 0

if and only if it does for the indicators of the t cheapest superiors, t = 1, ..., n:
both sides are additive over these when z falls as the cost rises, and sorting z in that
way lowers the right-hand side only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.program_data import ProgramData
from theory.errors import ProgramError
from theory.regret_bound import RegretBound

if TYPE_CHECKING:
    from jaxtyping import Float64


MAXIMAL_GAP = 1e-8  # Largest relative gap between an allocation and its lower bound
MAXIMAL_VIOLATION = 1e-9  # A constraint "sum >= 1" may fall short of 1 by this


@dataclass(frozen=True)
class Certificate:
    """Proof that an allocation is feasible and optimal.

    Both sides are recomputed from the matrix and do not trust the solver: the
    allocation passes a separation oracle, and the multipliers are checked, and shrunk
    where needed, to be feasible in the dual program.

    Attributes
    ----------
    status : str
        What the solver said.
    primal_value : float
        Cost of the allocation.
    dual_bound : float
        A lower bound on the cost of every feasible allocation.
    relative_gap : float
        (primal_value - dual_bound) / primal_value; 0 where both are 0.
    slack : float
        Smallest left-hand side of the constraints "sum >= 1"; infinity if there is no
        constraint.
    num_constraints : int
        Number of explicit constraints that were needed.
    num_rounds : int
        Number of linear programs that were solved, 0 for a closed form.
    """

    status: str
    primal_value: float
    dual_bound: float
    relative_gap: float
    slack: float
    num_constraints: int
    num_rounds: int


class Certified:
    """Base of optima: a number that prints itself with its proof."""

    value: float
    winner: int
    certificate: Certificate

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        model = f", model={model!r}" if (model := getattr(self, "model", "")) else ""
        return (
            f"{type(self).__name__}(value={self.value:.6g}, winner={self.winner}{model}"
            f", relative_gap={self.certificate.relative_gap:.1e})"
        )


@dataclass(frozen=True)
class ActiveConstraint:
    """A cheapest way to be wrong, and what it costs to rule it out.

    Attributes
    ----------
    rival : int
        The arm that would be strictly ahead of the one that is named.
    flips : tuple of (int, int)
        The pairs that would have to go the other way: (winner of the pair, loser), in
        order. Of several sets of superiors of the rival with equal evidence, one.
    multiplier : float
        Its part of the constant, positive; over all of them they add up to it.
    """

    rival: int
    flips: tuple[tuple[int, int], ...]
    multiplier: float


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationBound(Certified):
    """Least cost of naming a Copeland winner, per unit of log(1/delta).

    Attributes
    ----------
    value : float
        The constant T*: duels at unit prices, otherwise in the unit of the prices.
    winner : int
        The Copeland winner that is cheapest to name; the smallest index among those
        whose values agree within a relative 1e-9.
    value_by_winner : dict of int to float
        Value for every arm that can be named.
    evidence : float64 (K, K)
        An optimal allocation x, in [0, 1]: N_ij d_ij / log(1/delta) on every pair,
        symmetric. It need not be the only one.
    duels : float64 (K, K)
        The same as numbers of duels per unit of log(1/delta), x / d. This is also the
        change of the constant per unit of the price of a pair (where the optimum is not
        unique, an element between the one-sided derivatives).
    prices : float64 (K, K)
        Price of a duel of every pair, symmetric; infinite where it cannot be asked, 0
        on the diagonal.
    active : tuple of ActiveConstraint
        The dual solution, the largest multiplier first.
    certificate : Certificate
        Proof for the winner.
    """

    value: float
    winner: int
    value_by_winner: dict[int, float]
    evidence: NDArray[np.float64]
    duels: NDArray[np.float64]
    prices: NDArray[np.float64]
    active: tuple[ActiveConstraint, ...]
    certificate: Certificate


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Certified):
    """Solution of an exploration program.

    Attributes
    ----------
    value : float
        Copeland regret (from losses) per unit of log T, natural logarithm.
    winner : int
        The Copeland winner that is cheapest to certify; the smallest index among those
        whose values agree within a relative 1e-9.
    value_by_winner : dict of int to float
        Value for every winner that was solved for.
    evidence : float64 (K, K)
        An optimal allocation x, in [0, 1]: N_ij d_ij / log T on every pair, symmetric.
        It need not be the only one.
    duels_per_log_round : float64 (K, K)
        The same as numbers of duels per unit of log T, x / d, symmetric.
    certificate : Certificate
        Proof for the winner.
    bound : RegretBound
        The value as a bound on the regret.
    """

    value: float
    winner: int
    value_by_winner: dict[int, float]
    evidence: NDArray[np.float64]
    duels_per_log_round: NDArray[np.float64]
    certificate: Certificate
    bound: RegretBound


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Non-negative multipliers of constraints of (P), R of them."""

    values: NDArray[np.float64]  # (R,): The multipliers.
    rivals: NDArray[np.intp]  # (R,): The arm i2 of the constraint.
    levels: NDArray[np.intp]  # (R,): Its level l.
    inferiors: NDArray[np.bool_]  # (R, K): Its set H.


def dual_bound(instance: ProgramData, winner: int, multipliers: Multipliers) -> float:
    """Return a lower bound on the cost of every feasible allocation."""
    # It is the sum of the multipliers on constraints of (P), negative ones counting as
    # 0. Where those on a pair exceed its cost, its constraints shrink.
    chosen, rivals = multipliers.inferiors, multipliers.rivals
    levels, gaps = multipliers.levels, instance.gaps
    taken = np.take_along_axis(chosen, rivals[:, None], axis=1)[:, 0]
    sizes = np.maximum(instance.losses[rivals] - levels - taken, 0)
    legal = (
        (rivals != winner)
        & (levels >= max(0, instance.least - 1))
        & (levels <= instance.second)
        & (chosen.sum(axis=1) == levels + 1 - instance.least)
        & ~(chosen & ~(gaps[winner] > 0)[None, :]).any(axis=1)
        & (sizes <= instance.losses[rivals] - (gaps[winner, rivals] > 0))
    )
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        raise ProgramError(
            f"constraint {row} (rival {rivals[row]}, level {levels[row]}, inferiors "
            f"{np.flatnonzero(chosen[row]).tolist()}) is not part of the program."
        )
    values = np.maximum(multipliers.values, 0.0)
    used = values @ chosen
    bound = np.divide(
        instance.costs[winner], used, out=np.ones_like(used), where=used > 0
    )
    fit = np.where(chosen, bound[None, :], 1.0).min(axis=1, initial=1.0)

    # used[i2, s] = sum over b > s of (b - s) multiplier[i2, b], s superiors left out.
    num_arms = instance.num_arms
    by_size = np.zeros((num_arms, num_arms + 1))
    np.add.at(by_size, (rivals, sizes), values)
    beyond = np.cumsum(by_size[:, ::-1], axis=1)[:, ::-1]
    used = np.cumsum(beyond[:, :0:-1], axis=1)[:, ::-1]
    cost = instance.costs_of_cheapest(winner)
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
    """Compare both sides of a program; the least left-hand side is ``slack``."""
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
        status, primal_value, lower_bound, gap, slack, num_constraints, num_rounds
    )


def allocation_cost(
    costs: Float64[np.ndarray, "K K"], evidence: Float64[np.ndarray, "K K"]
) -> float:
    """Return the cost of an allocation, summed over unordered pairs."""
    return float(np.triu(costs * evidence).sum())
