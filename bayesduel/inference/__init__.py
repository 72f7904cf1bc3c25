"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.inference.differences.of_draws import contrasts
    from bayesduel.inference.differences.sparse_mode import ModeFit, fit_mode
    from bayesduel.inference.fits.fit_result import Fit
    from bayesduel.inference.fitting import fit
    from bayesduel.inference.groups import GroupFits, fit_groups
    from bayesduel.inference.tables import parameter_summary, standings

_HOMES = {
    "Fit": ".fits.fit_result",
    "GroupFits": ".groups",
    "ModeFit": ".differences.sparse_mode",
    "contrasts": ".differences.of_draws",
    "fit": ".fitting",
    "fit_groups": ".groups",
    "fit_mode": ".differences.sparse_mode",
    "parameter_summary": ".tables",
    "standings": ".tables",
}

_GONE = {"Posterior": "Fit", "parameters": "parameter_summary"}

__all__ = [
    "Fit",
    "GroupFits",
    "ModeFit",
    "contrasts",
    "fit",
    "fit_groups",
    "fit_mode",
    "parameter_summary",
    "standings",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES, _GONE)
