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
from theory.copeland_program._constraints import superior_sums
from theory.copeland_program._costs import evidence_costs, losses
from theory.copeland_program._superiors import RankedSuperiors, superiors_by_counting

__all__ = [
    "RankedSuperiors",
    "cost_tilts",
    "directed_allocation",
    "empty_basis",
    "evidence_costs",
    "losses",
    "optimal_basis",
    "superiors_by_counting",
    "price_table",
    "superior_sums",
]
