"""The optimal exploration program of Copeland dueling bandits, and its efficient form.

Komiyama, Honda and Nakagawa (2016): how often every pair must be compared, per log
round, by any algorithm that is consistent. `theory.copeland_program.statement` is the
program as it reads; `constants` solves it, certified; `efficient` is the closed form of
ECW-RMED. Files whose name begins with an underscore make it fast; what a compiled
policy needs of them is offered here.
"""

from theory.copeland_program._basis import (
    cost_tilts,
    directed_allocation,
    empty_basis,
    price_table,
)
from theory.copeland_program._basis_reuse import optimal_basis
from theory.copeland_program._constraints import (
    candidate_slack,
    constraint_slack,
    ecw_slack,
)
from theory.copeland_program._costs import losses
from theory.copeland_program._oracle import Violation, find_violations
from theory.copeland_program.allocation import AllocationRecord, allocation_table
from theory.copeland_program.bottlenecks import BottleneckRecord, Bottlenecks
from theory.copeland_program.efficient import ecw_costs, ecw_evidence
from theory.copeland_program.optimum import ActiveConstraint
from theory.copeland_program.sensitivity import Sensitivity, one_sided_derivatives

__all__ = [
    "ActiveConstraint",
    "AllocationRecord",
    "BottleneckRecord",
    "Bottlenecks",
    "Sensitivity",
    "Violation",
    "allocation_table",
    "candidate_slack",
    "constraint_slack",
    "cost_tilts",
    "directed_allocation",
    "ecw_costs",
    "ecw_evidence",
    "ecw_slack",
    "empty_basis",
    "find_violations",
    "losses",
    "one_sided_derivatives",
    "optimal_basis",
    "price_table",
]
