"""Who answers: duels, or offers of sets."""

from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.subsets import SubsetEnvironment

Environment = PairwiseEnvironment | SubsetEnvironment
"""What a policy is simulated in."""
