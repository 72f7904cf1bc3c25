"""Posteriors inside policies: compiled states that take vote after vote.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.posteriors.base import PairPosterior
    from bayesduel.posteriors.beta_arms import BetaArms
    from bayesduel.posteriors.beta_pairs import BetaPairs
    from bayesduel.posteriors.hmc import HMC
    from bayesduel.posteriors.laplace import Laplace
    from bayesduel.posteriors.set_laplace import SetLaplace

_HOMES = {
    "HMC": ".hmc",
    "BetaArms": ".beta_arms",
    "BetaPairs": ".beta_pairs",
    "Laplace": ".laplace",
    "PairPosterior": ".base",
    "SetLaplace": ".set_laplace",
}

__all__ = [
    "HMC",
    "BetaArms",
    "BetaPairs",
    "Laplace",
    "PairPosterior",
    "SetLaplace",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
