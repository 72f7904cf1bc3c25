"""Who answers: environments and their ledgers of plays."""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.simulation.pairwise import PairwiseEnvironment
    from bayesduel.simulation.subsets import SubsetEnvironment

_HOMES = {"PairwiseEnvironment": ".pairwise", "SubsetEnvironment": ".subsets"}

__all__ = ["PairwiseEnvironment", "SubsetEnvironment"]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
