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
from theory.copeland_program._costs import losses

__all__ = [
    "cost_tilts",
    "directed_allocation",
    "empty_basis",
    "losses",
    "optimal_basis",
    "price_table",
]
