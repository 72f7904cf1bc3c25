"""Grids of instances, policies and runs: asked, carried out, kept and read back.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.experiments.experiment import Experiment
    from bayesduel.experiments.running import compare, simulate
    from bayesduel.experiments.stored.merging import merge

_HOMES = {
    "Experiment": ".experiment",
    "compare": ".running",
    "merge": ".stored.merging",
    "simulate": ".running",
}

__all__ = [
    "Experiment",
    "compare",
    "merge",
    "simulate",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
