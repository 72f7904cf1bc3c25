"""Slow NumPy twins of the policies: other programs, the same reading of the papers.

Nothing here imports JAX or `bayesduel`. What a twin shares with its policy is the
description that both were written from: what the paper says, how its gaps were
filled, and conventions (docs/evidence.md lists them twin by twin). An error there is in
both, and no comparison of the two shows it. Each twin performs one round at a time and
spells its rule out literally, so that a fast policy can be compared with it: duel by
duel where the rule is deterministic, in distribution where it is random.

A twin is a class with

- ``__init__(num_arms, rng, **parameters)``, with the parameters of its policy:
  ``alpha`` is the factor of log t in confidence bounds. Rules that walk through the
  arms or the pairs in a fixed order take it as ``order``, a permutation of the arms, by
  default the identity;
- ``choose() -> (first, second)`` for the round about to be played, whose index is
  ``t = rounds + 1`` with ``rounds`` the number of rounds played so far;
- ``update(first, second, first_won)``, called once after each ``choose()``;
- ``recommend() -> arm``.

Its file says which policy it is a twin of, ``IN_DISTRIBUTION = {"rucb": RelativeUCB}``
where policy and twin draw, ``DUEL_BY_DUEL`` where nothing is random.
"""

from importlib import import_module
from pkgutil import iter_modules

# ruff: noqa: F401 - the names by which tests import what is here.
from tests.reference.bradley_terry_thompson import BayesianBradleyTerry
from tests.reference.common import (
    bernoulli_divergence,
    copeland_regret,
    divergence_from_half,
    duels_of,
    plays_of_twins,
    relative_bounds,
    simulate,
)
from tests.reference.copeland_confidence_bound import CopelandConfidenceBound
from tests.reference.copeland_winner_rmed import CopelandRMED
from tests.reference.d_optimal import DOptimal
from tests.reference.double_thompson import DoubleThompson, DoubleThompsonPlus
from tests.reference.efficient_copeland_winner_rmed import EfficientCopelandRMED
from tests.reference.expected_information import ExpectedInformation
from tests.reference.explore_then_exploit import (
    BeatTheMean,
    InterleavedFilter,
    Savage,
)
from tests.reference.merge_relative_ucb import MergeRUCB
from tests.reference.parwis import PARWiS
from tests.reference.reductions import Doubler, MultiSBM, Sparring
from tests.reference.relative_confidence_sampling import RelativeConfidenceSampling
from tests.reference.relative_ucb import RelativeUCB
from tests.reference.rival_directed import RivalDirected
from tests.reference.rival_directed_star import RivalDirectedStar
from tests.reference.rival_over_scale import RivalOverScale
from tests.reference.rmed1 import RMED1
from tests.reference.rmed2 import RMED2, RMED2FH
from tests.reference.scalable_copeland_bandits import ScalableCopelandBandits
from tests.reference.self_sparring import SelfSparring
from tests.reference.sup_kl_ucb import SupKLUCB
from tests.reference.track_and_stop import TrackAndStop
from tests.reference.versatile_dueling import VersatileDueling
from tests.reference.weak_regret import BeatTheWinner, StrongWinnerStays, WinnerStays


def twins_that(how):
    """Return by policy the twins that are compared in one of the two ways."""
    by_name = {}
    for module in iter_modules(__path__, f"{__name__}."):
        if not module.name.rpartition(".")[2].startswith("test_"):
            by_name |= getattr(import_module(module.name), how, {})
    return by_name
