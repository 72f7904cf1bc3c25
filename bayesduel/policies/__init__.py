"""Who asks: one file per algorithm, and a registry by name."""

from typing import Any

from bayesduel.package.lazy import warn_of_other_name
from bayesduel.policies import over_models
from bayesduel.policies.batched.candidate_comparisons import CandidateComparisons
from bayesduel.policies.batched.pairwise_comparisons import PairwiseComparisons
from bayesduel.policies.batched.seeded_comparisons import SeededComparisons
from bayesduel.policies.delayed_feedback import DelayedFeedback
from bayesduel.policies.elimination.beat_the_mean import BeatTheMean
from bayesduel.policies.elimination.generic_exploration import Savage
from bayesduel.policies.elimination.interleaved_filter import InterleavedFilter
from bayesduel.policies.elimination.scalable_copeland_bandits import (
    ScalableCopelandBandits,
)
from bayesduel.policies.identification.active_winner_recovery import (
    ActiveWinnerRecovery,
)
from bayesduel.policies.identification.d_optimal import DOptimal
from bayesduel.policies.identification.expected_information import (
    ExpectedInformation,
)
from bayesduel.policies.identification.track_and_stop import TrackAndStop
from bayesduel.policies.lookup import (
    get,
    label_of,
    name_of,
    names,
    parse_policy,
    subset_names,
)
from bayesduel.policies.parameters import parameters
from bayesduel.policies.policy import Duel, Policy, Wins
from bayesduel.policies.random_pairs import RandomPairs
from bayesduel.policies.reductions.doubler import Doubler
from bayesduel.policies.reductions.singleton_machines import MultiSBM
from bayesduel.policies.reductions.sparring import Sparring
from bayesduel.policies.registry import register
from bayesduel.policies.rmed.copeland_winner import CWRMED
from bayesduel.policies.rmed.efficient_copeland_winner import ECWRMED
from bayesduel.policies.rmed.rmed1 import RMED1
from bayesduel.policies.rmed.rmed2 import RMED2
from bayesduel.policies.rmed.rmed2_fixed_horizon import RMED2FH
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from bayesduel.policies.subsets.choice_bandits import ChoiceBandits
from bayesduel.policies.subsets.combinatorial_ucb import CombinatorialUCB
from bayesduel.policies.subsets.efficient_sampling import ESCB
from bayesduel.policies.subsets.logit_thompson import LogitThompson
from bayesduel.policies.subsets.maxmin_ucb import MaxMinUCB, RecursiveMaxMinUCB
from bayesduel.policies.subsets.mnl_exploration import MNLExploration
from bayesduel.policies.subsets.mnl_thompson import MNLThompson
from bayesduel.policies.subsets.random_subsets import RandomSubsets
from bayesduel.policies.subsets.stagewise_elimination import StagewiseElimination
from bayesduel.policies.subsets.ucb_without_order import UCBWithoutOrder
from bayesduel.policies.thompson.double_thompson import DoubleThompson
from bayesduel.policies.thompson.relative_confidence_sampling import (
    RelativeConfidenceSampling,
)
from bayesduel.policies.thompson.rival_directed import RivalDirectedThompson
from bayesduel.policies.thompson.self_sparring import SelfSparring
from bayesduel.policies.ucb.copeland_confidence_bound import CopelandConfidenceBound
from bayesduel.policies.ucb.merge_relative_ucb import MergeRUCB
from bayesduel.policies.ucb.relative_ucb import RelativeUCB
from bayesduel.policies.ucb.sup_kl_ucb import SupKLUCB
from bayesduel.policies.without_self_duels import WithoutSelfDuels

__all__ = [
    "CWRMED",
    "ECWRMED",
    "ESCB",
    "RMED1",
    "RMED2",
    "RMED2FH",
    "ActiveWinnerRecovery",
    "BeatTheMean",
    "CandidateComparisons",
    "ChoiceBandits",
    "CombinatorialUCB",
    "CopelandConfidenceBound",
    "DOptimal",
    "DelayedFeedback",
    "DoubleThompson",
    "Doubler",
    "Duel",
    "ExpectedInformation",
    "InterleavedFilter",
    "LogitThompson",
    "MNLExploration",
    "MNLThompson",
    "MaxMinUCB",
    "MergeRUCB",
    "MultiSBM",
    "Offer",
    "PairwiseComparisons",
    "Policy",
    "RandomPairs",
    "RandomSubsets",
    "RecursiveMaxMinUCB",
    "RelativeConfidenceSampling",
    "RelativeUCB",
    "RivalDirectedThompson",
    "Savage",
    "ScalableCopelandBandits",
    "SeededComparisons",
    "SelfSparring",
    "Sparring",
    "StagewiseElimination",
    "SubsetPolicy",
    "SupKLUCB",
    "TrackAndStop",
    "UCBWithoutOrder",
    "Wins",
    "WithoutSelfDuels",
    "get",
    "label_of",
    "name_of",
    "names",
    "over_models",
    "parameters",
    "parse_policy",
    "register",
    "subset_names",
]

_GONE = {"parse": "parse_policy"}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return what was called otherwise, with a warning."""
    if name not in _GONE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_of_other_name(__name__, name, _GONE[name])
    return globals()[_GONE[name]]
