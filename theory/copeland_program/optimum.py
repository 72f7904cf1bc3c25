"""Certified optima of the exploration programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.regret_bound import RegretBound


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
class IdentificationBound:
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

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"IdentificationBound(value={self.value:.6g}, winner={self.winner}, "
            f"relative_gap={self.certificate.relative_gap:.1e})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
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

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"Optimum(value={self.value:.6g}, winner={self.winner}, "
            f"relative_gap={self.certificate.relative_gap:.1e})"
        )
