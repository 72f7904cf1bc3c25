"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.inference.fit_result import Fit
    from bayesduel.inference.fitting import fit
    from bayesduel.inference.tables import parameter_summary, standings

_HOMES = {
    "Fit": ".fit_result",
    "fit": ".fitting",
    "parameter_summary": ".tables",
    "standings": ".tables",
}

_GONE = {"Posterior": "Fit", "parameters": "parameter_summary"}

__all__ = [
    "Fit",
    "fit",
    "parameter_summary",
    "standings",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES, _GONE)
