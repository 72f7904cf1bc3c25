"""Solving the optimal program for a basis that outlives its prices.

On NumPy arrays only; what to do with a basis is in `theory.copeland_program._basis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program._basis import (
    ROWS_PER_ARM,
    Basis,
    allocation,
    empty_basis,
    multipliers,
    price_table,
    stays_optimal,
    tilted_costs,
)
from theory.copeland_program._cutting_planes import CuttingPlanes, surviving_prefixes
from theory.copeland_program._oracle import ConstraintFamilies
from theory.copeland_program._superiors import superiors_of_costs
from theory.copeland_program.certificate import (
    MAXIMAL_GAP,
    MAXIMAL_VIOLATION,
    allocation_cost,
)
from theory.copeland_program.program_data import ProgramData
from theory.errors import ProgramError

if TYPE_CHECKING:
    from jaxtyping import Float64


def optimal_basis(gaps: Float64[np.ndarray, "K K"]) -> Basis:
    """Solve the optimal program of a matrix with a single Copeland winner.

    Parameters
    ----------
    gaps : float (K, K)
        Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie. A tied pair
        belongs to no constraint, even if it touches the winner. One arm has fewer
        losses than all others.

    Returns
    -------
    Basis
        The optimum of the tilted prices, checked: its allocation passes the separation
        oracle, its multipliers are feasible, and their values agree. A basis with more
        than 3 K constraints has signs 0 and no inverse: it is good for these gaps only.

    Raises
    ------
    ProgramError
        If the solver fails or the check does.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), eq. 2.

    Examples
    --------
    >>> import numpy as np
    >>> from theory.copeland_program._basis import (
    ...     allocation,
    ...     price_table,
    ...     stays_optimal,
    ... )
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> basis = optimal_basis(gaps)
    >>> allocation(basis, price_table(gaps, 0))
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    >>> bool(stays_optimal(basis, price_table(1.1 * gaps, 0).prices))
    True
    """
    instance = ProgramData.from_superiors(
        gaps, superiors_of_costs(gaps, tilted_costs(gaps))
    )
    (winner,) = instance.winners
    families = ConstraintFamilies(instance, winner)
    program = CuttingPlanes(families, surviving_prefixes(families))
    program.run()
    basis = _basis_of(program)
    _check(basis, families)
    if basis.columns.size > ROWS_PER_ARM * instance.num_arms:
        return empty_basis(instance.num_arms)._replace(amounts=basis.amounts)
    return _padded(basis, instance.num_arms)


def _basis_of(program: CuttingPlanes) -> Basis:
    """Read the basis of a solved program."""
    families, prefixes = program.families, program.prefixes
    instance, winner = families.instance, families.winner
    num_arms, num_own = instance.num_arms, program.num_own
    import highspy

    basic = highspy.HighsBasisStatus.kBasic
    status = program.solver.getBasis()
    columns = np.flatnonzero([each == basic for each in status.col_status])
    binding = np.flatnonzero([each != basic for each in status.row_status])

    matrix = np.zeros((len(program.rows), num_own + prefixes.costs.size))
    for dense, row in zip(matrix, program.rows.values(), strict=True):
        dense[row.columns] = row.entries
    solution = np.array(program.solver.getSolution().col_value)

    # A prefix that leaves s of n superiors out ends at place n - s - 1.
    members = (instance.gaps < 0) & (np.arange(num_arms) != winner)[None, :]
    ends = members.sum(axis=1)[prefixes.rivals] - prefixes.left_out - 1
    place = np.concatenate(
        (
            winner * num_arms + families.inferiors,
            prefixes.rivals * num_arms + ends,
        )
    )
    amounts = np.zeros(num_arms * num_arms)
    amounts[place] = np.maximum(solution, 0.0)
    amounts = amounts.reshape(num_arms, num_arms)
    ordered = np.cumsum(amounts[:, ::-1], axis=1)[:, ::-1]
    ordered[winner] = amounts[winner]
    return Basis(
        signs=np.sign(instance.gaps).astype(np.int8),
        # Vertices have small denominators: drop what the solver's path left behind.
        amounts=np.minimum(np.round(ordered, 12), 1.0),
        columns=place[columns].astype(np.int32),
        inverse=np.linalg.inv(matrix[np.ix_(binding, columns)].T),
        loads=_loads(program, binding, members.sum(axis=1)),
    )


def _loads(
    program: CuttingPlanes, binding: NDArray[np.intp], pool_sizes: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Return the coefficients of some constraints at every place of the price table."""
    families, rows = program.families, list(program.rows.values())
    instance, winner = families.instance, families.winner
    loads = np.zeros((binding.size, instance.num_arms, instance.num_arms), np.int8)
    t = np.arange(1, instance.num_arms + 1)
    for load, place in zip(loads, binding.tolist(), strict=True):
        rival, level, chosen, *_ = rows[place]
        inferiors = families.inferiors[chosen]
        load[winner, inferiors] = 1
        size = instance.losses[rival] - level - (rival in inferiors)
        gains = np.maximum(size - pool_sizes[rival] + t, 0)
        if size > 0:
            load[rival] = np.where(t <= pool_sizes[rival], gains, 0)
    return loads


def _check(basis: Basis, families: ConstraintFamilies) -> None:
    """Compare both sides of the program; raise if they do not prove the optimum."""
    table = price_table(families.instance.gaps, families.winner)
    evidence = allocation(basis, table)
    slack = families.slack(evidence)
    value = allocation_cost(families.instance.costs, evidence)
    gap = abs(value - float(multipliers(basis, table.prices).sum()))
    dual = stays_optimal(basis, table.prices, MAXIMAL_VIOLATION)
    if slack < 1.0 - MAXIMAL_VIOLATION or gap > MAXIMAL_GAP * value or not dual:
        raise ProgramError(
            f"the program was not solved: value {value!r}, gap {gap:.3g} (at most "
            f"{MAXIMAL_GAP:g} of it), smallest left-hand side {slack!r} (at least 1), "
            f"multipliers {'' if dual else 'not '}feasible. Pairs next to a tie can be "
            "too close for floating point."
        )


def _padded(basis: Basis, num_arms: int) -> Basis:
    """Bring a basis into the fixed shape."""
    size = basis.columns.size
    padded = empty_basis(num_arms)
    padded.columns[:size] = basis.columns
    padded.inverse[:size, :size] = basis.inverse
    padded.loads[:size] = basis.loads
    return padded._replace(signs=basis.signs, amounts=basis.amounts)
