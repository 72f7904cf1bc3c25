from . import over_models as over_models
from .adversarial.versatile_dueling import VersatileDueling as VersatileDueling
from .batched.candidate_comparisons import CandidateComparisons as CandidateComparisons
from .batched.pairwise_comparisons import PairwiseComparisons as PairwiseComparisons
from .batched.seeded_comparisons import SeededComparisons as SeededComparisons
from .change.monitored_dueling import MonitoredDueling as MonitoredDueling
from .contextual.colstim import CoLSTIM as CoLSTIM
from .contextual.feel_good import FeelGoodThompson as FeelGoodThompson
from .contextual.max_informative_pair import (
    MaximumInformativePair as MaximumInformativePair,
)
from .contextual.pair_ucb import PairUCB as PairUCB
from .contextual.variance_aware import VarianceAware as VarianceAware
from .elimination.beat_the_mean import BeatTheMean as BeatTheMean
from .elimination.generic_exploration import Savage as Savage
from .elimination.interleaved_filter import InterleavedFilter as InterleavedFilter
from .elimination.scalable_copeland_bandits import (
    ScalableCopelandBandits as ScalableCopelandBandits,
)
from .identification.active_winner_recovery import (
    ActiveWinnerRecovery as ActiveWinnerRecovery,
)
from .identification.d_optimal import DOptimal as DOptimal
from .identification.expected_information import (
    ExpectedInformation as ExpectedInformation,
)
from .identification.track_and_stop import TrackAndStop as TrackAndStop
from .lookup import get as get
from .lookup import label_of as label_of
from .lookup import name_of as name_of
from .lookup import names as names
from .lookup import parse_policy as parse_policy
from .lookup import subset_names as subset_names
from .parameter_values import parameters as parameters
from .policy import Duel as Duel
from .policy import Policy as Policy
from .policy import Problem as Problem
from .policy import Wins as Wins
from .policy_around import DelayedFeedback as DelayedFeedback
from .policy_around import WithoutSelfDuels as WithoutSelfDuels
from .random_pairs import RandomPairs as RandomPairs
from .reductions.doubler import Doubler as Doubler
from .reductions.singleton_machines import MultiSBM as MultiSBM
from .reductions.sparring import Sparring as Sparring
from .registry import register as register
from .rmed.copeland_winner import CWRMED as CWRMED
from .rmed.efficient_copeland_winner import ECWRMED as ECWRMED
from .rmed.rmed import RMED1 as RMED1
from .rmed.rmed import RMED2 as RMED2
from .rmed.rmed import RMED2FH as RMED2FH
from .subset_base import Offer as Offer
from .subset_base import SubsetPolicy as SubsetPolicy
from .subsets.choice_bandits import ChoiceBandits as ChoiceBandits
from .subsets.combinatorial_ucb import CombinatorialUCB as CombinatorialUCB
from .subsets.efficient_sampling import ESCB as ESCB
from .subsets.logit_thompson import LogitThompson as LogitThompson
from .subsets.maxmin_ucb import MaxMinUCB as MaxMinUCB
from .subsets.maxmin_ucb import RecursiveMaxMinUCB as RecursiveMaxMinUCB
from .subsets.mnl_exploration import MNLExploration as MNLExploration
from .subsets.mnl_thompson import MNLThompson as MNLThompson
from .subsets.random_subsets import RandomSubsets as RandomSubsets
from .subsets.stagewise_elimination import StagewiseElimination as StagewiseElimination
from .subsets.ucb_without_order import UCBWithoutOrder as UCBWithoutOrder
from .thompson.double_thompson import DoubleThompson as DoubleThompson
from .thompson.relative_confidence_sampling import (
    RelativeConfidenceSampling as RelativeConfidenceSampling,
)
from .thompson.rival_directed import RivalDirectedThompson as RivalDirectedThompson
from .thompson.rival_directed_star import RivalDirectedStar as RivalDirectedStar
from .thompson.self_sparring import SelfSparring as SelfSparring
from .ucb.copeland_confidence_bound import (
    CopelandConfidenceBound as CopelandConfidenceBound,
)
from .ucb.merge_relative_ucb import MergeRUCB as MergeRUCB
from .ucb.relative_ucb import RelativeUCB as RelativeUCB
from .ucb.sup_kl_ucb import SupKLUCB as SupKLUCB
from .weak_regret.beat_the_winner import BeatTheWinner as BeatTheWinner
from .weak_regret.winner_stays import StrongWinnerStays as StrongWinnerStays
from .weak_regret.winner_stays import WinnerStays as WinnerStays
