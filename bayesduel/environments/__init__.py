"""Who answers: environments and their ledgers of plays."""

from bayesduel.environments.pairwise import PairwiseEnvironment

__all__ = ["PairwiseEnvironment"]
