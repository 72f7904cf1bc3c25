"""Who answers: environments and their ledgers of plays."""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.simulation.environments import PairwiseEnvironment, SubsetEnvironment

_HOMES = {
    "PairwiseEnvironment": ".environments",
    "SubsetEnvironment": ".environments",
}

__all__ = ["PairwiseEnvironment", "SubsetEnvironment"]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
