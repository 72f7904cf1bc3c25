"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.lazy import lazily

if TYPE_CHECKING:
    from bayesduel.inference.fitting import fit
    from bayesduel.inference.posterior import Posterior
    from bayesduel.inference.tables import parameters, standings

_HOMES = {
    "Posterior": ".posterior",
    "fit": ".fitting",
    "parameters": ".tables",
    "standings": ".tables",
}

_GONE = {"Posterior": "Fit", "parameters": "parameter_summary"}

__all__ = [
    "Posterior",
    "fit",
    "parameters",
    "standings",
]

__getattr__, __dir__ = lazily(__name__, _HOMES, _GONE)
