from .base import PairPosterior as PairPosterior
from .betas import BetaArms as BetaArms
from .betas import BetaPairs as BetaPairs
from .hmc import HMC as HMC
from .laplace import Laplace as Laplace
from .set_laplace import SetLaplace as SetLaplace
