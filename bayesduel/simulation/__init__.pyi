from .environments import PairwiseEnvironment as PairwiseEnvironment
from .environments import SubsetEnvironment as SubsetEnvironment
