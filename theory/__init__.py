"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
CVXPY and HiGHS are loaded by the functions that need them.
"""

from theory.allocation import AllocationRecord, allocation_table
from theory.bound import RegretBound
from theory.divergences import bernoulli_kl, kl_lower, kl_to_half, kl_upper
from theory.ecw_rmed import ecw_costs, ecw_evidence
from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.feasibility import counts_suffice
from theory.lower_bounds import copeland_lower_bound, ecw_rmed_constant
from theory.optimum import Certificate, Optimum
from theory.preferences import PreferenceMatrix
from theory.regret_bounds import (
    ccb_order,
    condorcet_lower_bound,
    double_thompson_bound,
    double_thompson_refined_bound,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    rmed1_bound,
)
from theory.regret_notions import REGRET_NOTIONS
from theory.separation import Violation, find_violations
from theory.templates import candidate_slack, ecw_slack, template_slack

__all__ = [
    "REGRET_NOTIONS",
    "AllocationRecord",
    "Certificate",
    "InvalidPreferenceError",
    "Optimum",
    "PreferenceMatrix",
    "ProgramError",
    "RegretBound",
    "TieError",
    "Violation",
    "allocation_table",
    "bernoulli_kl",
    "candidate_slack",
    "ccb_order",
    "condorcet_lower_bound",
    "copeland_lower_bound",
    "counts_suffice",
    "double_thompson_bound",
    "double_thompson_refined_bound",
    "ecw_costs",
    "ecw_evidence",
    "ecw_kl_sum_bound",
    "ecw_kl_worst_case_bound",
    "ecw_rmed_constant",
    "ecw_slack",
    "find_violations",
    "kl_lower",
    "kl_to_half",
    "kl_upper",
    "rmed1_bound",
    "template_slack",
]
