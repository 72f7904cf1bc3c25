"""Who answers: environments and their ledgers of plays."""

from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.subsets import SubsetEnvironment

__all__ = ["PairwiseEnvironment", "SubsetEnvironment"]
