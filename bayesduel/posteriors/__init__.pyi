from bayesduel.models.in_policies.base import PairPosterior as PairPosterior
from bayesduel.models.in_policies.betas import BetaArms as BetaArms
from bayesduel.models.in_policies.betas import BetaPairs as BetaPairs
from bayesduel.models.in_policies.laplace import HMC as HMC
from bayesduel.models.in_policies.laplace import Laplace as Laplace
from bayesduel.models.in_policies.set_laplace import SetLaplace as SetLaplace
