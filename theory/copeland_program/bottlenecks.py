"""Which pairs make a constant large: shares, elasticities, and a short report."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from theory.arguments import integer_from, one_of
from theory.copeland_program.allocation import AllocationRecord, allocation_table
from theory.copeland_program.constants import copeland_lower_bound, ecw_rmed_constant
from theory.copeland_program.program_data import PROGRAMS
from theory.copeland_program.sensitivity import sensitivity
from theory.preferences import PreferenceMatrix, as_preference_matrix

ORDERS: tuple[str, ...] = ("share", "elasticity")
"""Ways to order pairs, the largest amount first."""


class BottleneckRecord(AllocationRecord):
    """A record of the allocation with the reaction of the constant to its gap.

    Attributes
    ----------
    derivative : float
        Change of the constant per unit of abs(gap); never positive.
    elasticity : float
        Relative change of the constant per relative change of the gap; never positive.
        Minus infinity for a pair with regret and a certain outcome.
    cumulative_share : float
        Share of this pair and of those before it.
    """

    derivative: float
    elasticity: float
    cumulative_share: float


@dataclass(frozen=True, eq=False)
class Bottlenecks:
    """Pairs in the order of what they contribute to a constant.

    Attributes
    ----------
    program : str
        "cw" or "ecw".
    value : float
        The constant.
    winner : int
        The winner that is cheapest to certify.
    unique : bool
        Whether the optimum is differentiable, see
        `theory.copeland_program.Sensitivity`.
    records : tuple of BottleneckRecord
        Pairs with evidence and regret; ready for JSON, CSV, or a data frame.
    names : tuple of str
        Names of the arms; their numbers if the matrix has none.
    """

    program: str
    value: float
    winner: int
    unique: bool
    records: tuple[BottleneckRecord, ...]
    names: tuple[str, ...]

    def report(self, limit: int = 10) -> str:
        """Write the first ``limit`` pairs as a table, "a > b" if a wins more often."""
        most = integer_from(limit, 0, "limit")
        symbol, title = {
            "cw": ("C*", "Copeland lower bound"),
            "ecw": ("C_E", "constant of ECW-RMED"),
        }[self.program]
        lines = [
            f"{title}: {symbol} = {self.value:.6g}, Copeland regret per unit of log T; "
            f"winner {self.names[self.winner]}"
        ]
        shown = self.records[:most]
        labels = [self._label(record) for record in shown]
        width = max(map(len, ("pair", *labels)))
        lines.append(
            f"{'pair':<{width}}  {'P':>6}  {'share':>6}  {'so far':>6}  "
            f"{'duels':>9}  {'elasticity':>10}"
        )
        for label, record in zip(labels, shown, strict=True):
            ahead = 0.5 + abs(record["gap"])
            lines.append(
                f"{label:<{width}}  {ahead:>6.3f}  {record['share']:>6.1%}  "
                f"{record['cumulative_share']:>6.1%}  "
                f"{record['duels_per_log_round']:>9.4g}  {record['elasticity']:>10.3f}"
            )
        if len(self.records) > most:
            rest = sum(record["share"] for record in self.records[most:])
            lines.append(f"and {len(self.records) - most} more pairs with {rest:.1%}")
        if not self.unique:
            lines.append(
                "More than one allocation is optimal: shares and elasticities are "
                "those of one of them."
            )
        return "\n".join(lines)

    def _label(self, record: BottleneckRecord) -> str:
        first, second = record["first_name"], record["second_name"]
        return f"{first} > {second}" if record["gap"] > 0 else f"{second} > {first}"


def bottlenecks(
    matrix: PreferenceMatrix | ArrayLike, *, program: str = "cw", order: str = "share"
) -> Bottlenecks:
    """Order the pairs of arms by what they contribute to a constant.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
    program : {"cw", "ecw"}
        The constant of `theory.copeland_lower_bound`, or of `theory.ecw_rmed_constant`.
    order : {"share", "elasticity"}
        By the part of the constant that a pair costs, or by how strongly the constant
        reacts to its gap. The orders differ where gaps are large. Equal amounts in
        reading order.

    Returns
    -------
    Bottlenecks
        Records, and a report.

    Raises
    ------
    ProgramError
        If a solver fails, or its result cannot be certified.

    Examples
    --------
    >>> matrix = PreferenceMatrix(
    ...     [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]],
    ...     arm_names=["tea", "coffee", "water"],
    ... )
    >>> print(bottlenecks(matrix).report())
    Copeland lower bound: C* = 15.01, Copeland regret per unit of log T; winner tea
    pair               P   share  so far      duels  elasticity
    tea > coffee   0.600   82.7%   82.7%      49.66      -1.666
    tea > water    0.800   17.3%  100.0%      5.188      -0.373
    """
    one_of(program, PROGRAMS, "program")
    one_of(order, ORDERS, "order")
    checked = as_preference_matrix(matrix)
    found = sensitivity(checked, program=program)
    solve = copeland_lower_bound if program == "cw" else ecw_rmed_constant
    table = [
        row
        for row in allocation_table(solve(checked), checked, used_only=True)
        if row["regret_per_log_round"] > 0
    ]
    amounts = found.share if order == "share" else -found.elasticity
    table.sort(key=lambda row: -amounts[row["first"], row["second"]])
    records: list[BottleneckRecord] = []
    cumulative = 0.0
    for row in table:
        pair = row["first"], row["second"]
        cumulative += row["share"]
        records.append(
            BottleneckRecord(
                **row,
                derivative=float(found.derivative[pair]),
                elasticity=float(found.elasticity[pair]),
                cumulative_share=min(cumulative, 1.0),
            )
        )
    return Bottlenecks(
        program=program,
        value=found.value,
        winner=found.winner,
        unique=found.unique,
        records=tuple(records),
        names=checked.arm_names or tuple(map(str, range(checked.num_arms))),
    )
