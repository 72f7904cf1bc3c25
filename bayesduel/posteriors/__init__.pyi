from .base import PairPosterior as PairPosterior
from .beta_arms import BetaArms as BetaArms
from .beta_pairs import BetaPairs as BetaPairs
from .hmc import HMC as HMC
from .laplace import Laplace as Laplace
from .set_laplace import SetLaplace as SetLaplace
