"""Choice out of subsets: rules, tables of probabilities, notions of regret."""

from theory.choice.order import (
    Inconsistency,
    OrderViolation,
    find_inconsistency,
    find_order_violation,
)
from theory.choice.regret import SUBSET_REGRET_NOTIONS, subset_cost
from theory.choice.tables import find_missing_set

__all__ = [
    "Inconsistency",
    "OrderViolation",
    "SUBSET_REGRET_NOTIONS",
    "find_inconsistency",
    "find_missing_set",
    "find_order_violation",
    "subset_cost",
]
