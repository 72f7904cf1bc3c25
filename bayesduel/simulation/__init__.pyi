from .runs import PairwiseEnvironment as PairwiseEnvironment
from .runs import SubsetEnvironment as SubsetEnvironment
