"""Families of preference matrices: by formula or drawn at random.

A function that draws or shuffles takes a ``numpy.random.Generator`` as its first
argument and returns an `GeneratedInstance`, the matrix together with the permutation of
its arms. The fixed instances `zoghi500` and ``batched_*`` return the matrix itself.
"""

from bayesduel.instances.generators.batched import (
    batched_all_ties,
    batched_gap,
    batched_one_winner,
    batched_two_levels,
    syn_cd,
)
from bayesduel.instances.generators.features import (
    linear_utilities,
    random_linear_utilities,
)
from bayesduel.instances.generators.instance import GeneratedInstance
from bayesduel.instances.generators.orders import (
    equal_gap,
    hard_condorcet,
    linear_order,
    mallows,
    zoghi500,
)
from bayesduel.instances.generators.uniform import WINNERS, uniform_random
from bayesduel.instances.generators.utilities import (
    LINKS,
    UTILITY_PROFILES,
    bradley_terry,
    from_utilities,
    geometric_order,
    rum_gaussian,
    syn_btl,
)

__all__ = [
    "LINKS",
    "UTILITY_PROFILES",
    "WINNERS",
    "GeneratedInstance",
    "batched_all_ties",
    "batched_gap",
    "batched_one_winner",
    "batched_two_levels",
    "bradley_terry",
    "equal_gap",
    "from_utilities",
    "geometric_order",
    "hard_condorcet",
    "linear_order",
    "linear_utilities",
    "mallows",
    "random_linear_utilities",
    "rum_gaussian",
    "syn_btl",
    "syn_cd",
    "uniform_random",
    "zoghi500",
]
