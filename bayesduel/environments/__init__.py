"""Who answers: environments and their ledgers of plays."""

from bayesduel.environments.pairwise import PairwiseEnvironment
from bayesduel.environments.subsets import SubsetEnvironment

__all__ = ["PairwiseEnvironment", "SubsetEnvironment"]
