"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
CVXPY and HiGHS are loaded by the functions that need them.
"""

from theory.bayes.forward import bayes_regret
from theory.bayes.optimal import bayes_optimal_regret
from theory.bayes.thompson import DoubleThompsonChoices
from theory.choice.order import (
    Inconsistency,
    OrderViolation,
    find_inconsistency,
    find_order_violation,
)
from theory.choice.regret import SUBSET_REGRET_NOTIONS, subset_cost
from theory.choice.tables import ChoiceTable, find_missing_set
from theory.copeland_program._constraints import (
    candidate_slack,
    constraint_slack,
    ecw_slack,
)
from theory.copeland_program._oracle import Violation, find_violations
from theory.copeland_program.allocation import AllocationRecord, allocation_table
from theory.copeland_program.bottlenecks import (
    BottleneckRecord,
    Bottlenecks,
    bottlenecks,
)
from theory.copeland_program.constants import copeland_lower_bound, ecw_rmed_constant
from theory.copeland_program.efficient import ecw_costs, ecw_evidence
from theory.copeland_program.evidence import anytime_evidence, likelihood_evidence
from theory.copeland_program.identification import (
    counts_suffice,
    identification_bound,
)
from theory.copeland_program.optimum import (
    ActiveConstraint,
    Certificate,
    IdentificationBound,
    Optimum,
)
from theory.copeland_program.sensitivity import (
    Sensitivity,
    one_sided_derivatives,
    sensitivity,
)
from theory.divergences import (
    bernoulli_kl,
    kl_lower,
    kl_to_half,
    kl_upper,
    kl_upper_log,
)
from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.preferences import PreferenceMatrix
from theory.regret import REGRET_NOTIONS
from theory.regret_bound import PowerTerm, RegretBound
from theory.structured.bounds import StructuredBound, structured_lower_bound
from theory.theorems.batch_sizes import (
    batch_radius,
    batch_ratio,
    batch_sizes,
    kl_threshold,
    log_inverse_delta,
    seed_rank_moments,
)
from theory.theorems.batched import (
    batched_lower_bound,
    hard_gap,
    pcomp_bound,
    scomp2_order,
    scomp_order,
)
from theory.theorems.catalog import (
    AppliedTheorem,
    Theorem,
    all_bounds,
    known_theorems,
    theorem,
)
from theory.theorems.concentration import (
    ComparisonCounts,
    copeland_score_failure,
    double_thompson_counts,
    lowest_index,
    relative_bound_failure,
    relative_bound_failures,
    unoffered_index_range,
)
from theory.theorems.lower_bounds import condorcet_lower_bound
from theory.theorems.rmed import (
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    ecw_rmed_bound,
    rmed1_bound,
)
from theory.theorems.subsets import (
    bounded_reward_order,
    choice_table_bounds,
    subset_gap_bound,
    subset_gap_free_bound,
    subset_lower_order,
)
from theory.theorems.thompson import (
    double_thompson_bound,
    double_thompson_refined_bound,
)
from theory.theorems.ucb import (
    ccb_order,
    kl_ucb_constant,
    rucb_bound,
    sup_klucb_constant,
)
from theory.transitivity import find_cycle, find_intransitive_triple

__all__ = [
    "ActiveConstraint",
    "AppliedTheorem",
    "REGRET_NOTIONS",
    "SUBSET_REGRET_NOTIONS",
    "AllocationRecord",
    "BottleneckRecord",
    "Bottlenecks",
    "Certificate",
    "ChoiceTable",
    "ComparisonCounts",
    "DoubleThompsonChoices",
    "IdentificationBound",
    "Inconsistency",
    "InvalidPreferenceError",
    "Optimum",
    "OrderViolation",
    "PowerTerm",
    "PreferenceMatrix",
    "ProgramError",
    "RegretBound",
    "Sensitivity",
    "StructuredBound",
    "TieError",
    "Theorem",
    "Violation",
    "all_bounds",
    "allocation_table",
    "anytime_evidence",
    "batch_radius",
    "batch_ratio",
    "batch_sizes",
    "batched_lower_bound",
    "bayes_optimal_regret",
    "bayes_regret",
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
    "ecw_rmed_bound",
    "ecw_rmed_constant",
    "ecw_slack",
    "find_cycle",
    "find_inconsistency",
    "find_intransitive_triple",
    "find_missing_set",
    "find_order_violation",
    "find_violations",
    "hard_gap",
    "identification_bound",
    "kl_lower",
    "kl_threshold",
    "kl_to_half",
    "kl_ucb_constant",
    "kl_upper",
    "kl_upper_log",
    "known_theorems",
    "likelihood_evidence",
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
    "structured_lower_bound",
    "subset_cost",
    "subset_gap_bound",
    "subset_gap_free_bound",
    "subset_lower_order",
    "sup_klucb_constant",
    "constraint_slack",
    "theorem",
    "unoffered_index_range",
]
