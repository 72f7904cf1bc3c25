"""Who asks: one file per algorithm, and a registry by name."""

from bayesduel.policies.base import Policy, parameters
from bayesduel.policies.bayesian_bradley_terry import BayesianBradleyTerry
from bayesduel.policies.beat_the_mean import BeatTheMean
from bayesduel.policies.candidate_batches import CandidateComparisons
from bayesduel.policies.ccb import CopelandConfidenceBound
from bayesduel.policies.choice_bandits import ChoiceBandits
from bayesduel.policies.cucb import CombinatorialUCB
from bayesduel.policies.cw_rmed import CWRMED
from bayesduel.policies.delayed_feedback import DelayedFeedback
from bayesduel.policies.double_thompson import DoubleThompson
from bayesduel.policies.doubler import Doubler
from bayesduel.policies.ecw_rmed import ECWRMED
from bayesduel.policies.escb import ESCB
from bayesduel.policies.interleaved_filter import InterleavedFilter
from bayesduel.policies.logit_thompson import LogitThompson
from bayesduel.policies.maxmin_ucb import MaxMinUCB, RecursiveMaxMinUCB
from bayesduel.policies.merge_rucb import MergeRUCB
from bayesduel.policies.mnl_exploration import MNLExploration
from bayesduel.policies.mnl_thompson import MNLThompson
from bayesduel.policies.multisbm import MultiSBM
from bayesduel.policies.pairwise_batches import PairwiseComparisons
from bayesduel.policies.random_pairs import RandomPairs
from bayesduel.policies.random_subsets import RandomSubsets
from bayesduel.policies.rcs import RelativeConfidenceSampling
from bayesduel.policies.registry import (
    get,
    label_of,
    name_of,
    names,
    parse,
    subset_names,
)
from bayesduel.policies.rmed1 import RMED1
from bayesduel.policies.rmed2 import RMED2
from bayesduel.policies.rmed2fh import RMED2FH
from bayesduel.policies.rucb import RelativeUCB
from bayesduel.policies.savage import Savage
from bayesduel.policies.scb import ScalableCopelandBandits
from bayesduel.policies.seeded_batches import SeededComparisons
from bayesduel.policies.self_sparring import SelfSparring
from bayesduel.policies.sparring import Sparring
from bayesduel.policies.stagewise_elimination import StagewiseElimination
from bayesduel.policies.subset_base import SubsetPolicy
from bayesduel.policies.sup_klucb import SupKLUCB
from bayesduel.policies.ucb_without_order import UCBWithoutOrder

__all__ = [
    "CWRMED",
    "ECWRMED",
    "ESCB",
    "RMED1",
    "RMED2",
    "RMED2FH",
    "BeatTheMean",
    "BayesianBradleyTerry",
    "CandidateComparisons",
    "ChoiceBandits",
    "CombinatorialUCB",
    "CopelandConfidenceBound",
    "DelayedFeedback",
    "DoubleThompson",
    "Doubler",
    "InterleavedFilter",
    "LogitThompson",
    "MNLExploration",
    "MNLThompson",
    "MaxMinUCB",
    "MergeRUCB",
    "MultiSBM",
    "PairwiseComparisons",
    "Policy",
    "RandomPairs",
    "RandomSubsets",
    "RecursiveMaxMinUCB",
    "RelativeConfidenceSampling",
    "RelativeUCB",
    "Savage",
    "ScalableCopelandBandits",
    "SeededComparisons",
    "SelfSparring",
    "Sparring",
    "StagewiseElimination",
    "SubsetPolicy",
    "SupKLUCB",
    "UCBWithoutOrder",
    "get",
    "label_of",
    "name_of",
    "names",
    "parameters",
    "parse",
    "subset_names",
]
