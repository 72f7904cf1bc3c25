"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
CVXPY and HiGHS are loaded by the functions that need them.
"""

from theory.allocation import AllocationRecord, allocation_table
from theory.batch_sizes import (
    batch_radius,
    batch_ratio,
    batch_sizes,
    kl_threshold,
    log_inverse_delta,
    seed_rank_moments,
)
from theory.batched import (
    batched_lower_bound,
    hard_gap,
    pcomp_bound,
    scomp2_order,
    scomp_order,
)
from theory.bottlenecks import BottleneckRecord, Bottlenecks, bottlenecks
from theory.bound import PowerTerm, RegretBound
from theory.choice_tables import (
    ChoiceTable,
    Inconsistency,
    OrderViolation,
    find_inconsistency,
    find_missing_set,
    find_order_violation,
)
from theory.concentration import (
    ComparisonCounts,
    copeland_score_failure,
    double_thompson_counts,
    lowest_index,
    relative_bound_failure,
    relative_bound_failures,
    unoffered_index_range,
)
from theory.divergences import (
    bernoulli_kl,
    kl_lower,
    kl_to_half,
    kl_upper,
    kl_upper_log,
)
from theory.ecw_rmed import ecw_costs, ecw_evidence
from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.feasibility import counts_suffice
from theory.index_bounds import kl_ucb_constant, rucb_bound, sup_klucb_constant
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
from theory.sensitivity import Sensitivity, one_sided_derivatives, sensitivity
from theory.separation import Violation, find_violations
from theory.subset_regret import SUBSET_REGRET_NOTIONS, subset_cost
from theory.subsets import (
    bounded_reward_order,
    choice_table_bounds,
    subset_gap_bound,
    subset_gap_free_bound,
    subset_lower_order,
)
from theory.templates import candidate_slack, ecw_slack, template_slack
from theory.transitivity import find_cycle, find_intransitive_triple

__all__ = [
    "REGRET_NOTIONS",
    "SUBSET_REGRET_NOTIONS",
    "AllocationRecord",
    "BottleneckRecord",
    "Bottlenecks",
    "Certificate",
    "ChoiceTable",
    "ComparisonCounts",
    "Inconsistency",
    "InvalidPreferenceError",
    "Optimum",
    "OrderViolation",
    "PowerTerm",
    "PreferenceMatrix",
    "ProgramError",
    "RegretBound",
    "Sensitivity",
    "TieError",
    "Violation",
    "allocation_table",
    "batch_radius",
    "batch_ratio",
    "batch_sizes",
    "batched_lower_bound",
    "bernoulli_kl",
    "bottlenecks",
    "bounded_reward_order",
    "candidate_slack",
    "ccb_order",
    "choice_table_bounds",
    "condorcet_lower_bound",
    "copeland_lower_bound",
    "copeland_score_failure",
    "counts_suffice",
    "double_thompson_bound",
    "double_thompson_counts",
    "double_thompson_refined_bound",
    "ecw_costs",
    "ecw_evidence",
    "ecw_kl_sum_bound",
    "ecw_kl_worst_case_bound",
    "ecw_rmed_constant",
    "ecw_slack",
    "find_cycle",
    "find_inconsistency",
    "find_intransitive_triple",
    "find_missing_set",
    "find_order_violation",
    "find_violations",
    "hard_gap",
    "kl_lower",
    "kl_threshold",
    "kl_to_half",
    "kl_ucb_constant",
    "kl_upper",
    "kl_upper_log",
    "log_inverse_delta",
    "lowest_index",
    "one_sided_derivatives",
    "pcomp_bound",
    "relative_bound_failure",
    "relative_bound_failures",
    "rmed1_bound",
    "rucb_bound",
    "scomp2_order",
    "scomp_order",
    "seed_rank_moments",
    "sensitivity",
    "subset_cost",
    "subset_gap_bound",
    "subset_gap_free_bound",
    "subset_lower_order",
    "sup_klucb_constant",
    "template_slack",
    "unoffered_index_range",
]
