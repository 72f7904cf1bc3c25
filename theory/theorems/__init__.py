"""Regret bounds of the literature: one file per family, one function per theorem."""

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
from theory.theorems.catalog import AppliedTheorem, Theorem
from theory.theorems.concentration import (
    ComparisonCounts,
    copeland_score_failure,
    double_thompson_counts,
    lowest_index,
    relative_bound_failure,
    relative_bound_failures,
    unoffered_index_range,
)
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

__all__ = [
    "AppliedTheorem",
    "ComparisonCounts",
    "Theorem",
    "batch_radius",
    "batch_ratio",
    "batch_sizes",
    "batched_lower_bound",
    "bounded_reward_order",
    "ccb_order",
    "choice_table_bounds",
    "copeland_score_failure",
    "double_thompson_bound",
    "double_thompson_counts",
    "double_thompson_refined_bound",
    "ecw_kl_sum_bound",
    "ecw_kl_worst_case_bound",
    "ecw_rmed_bound",
    "hard_gap",
    "kl_threshold",
    "kl_ucb_constant",
    "log_inverse_delta",
    "lowest_index",
    "pcomp_bound",
    "relative_bound_failure",
    "relative_bound_failures",
    "rmed1_bound",
    "rucb_bound",
    "scomp2_order",
    "scomp_order",
    "seed_rank_moments",
    "subset_gap_bound",
    "subset_gap_free_bound",
    "subset_lower_order",
    "sup_klucb_constant",
    "unoffered_index_range",
]
