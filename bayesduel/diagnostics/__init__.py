"""Fits as ArviZ reads them, and what to ask of a fit before it is believed.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.diagnostics.calibration import Calibration, calibrate
    from bayesduel.diagnostics.cross_validation import compare_models, loo
    from bayesduel.diagnostics.findings import Report
    from bayesduel.diagnostics.fit_report import report
    from bayesduel.diagnostics.left_out_pairs import leave_pairs_out
    from bayesduel.diagnostics.total_order import Transitivity, transitivity
    from bayesduel.inference.datatree import to_datatree

_HOMES = {
    "Calibration": ".calibration",
    "Report": ".findings",
    "Transitivity": ".total_order",
    "calibrate": ".calibration",
    "compare_models": ".cross_validation",
    "leave_pairs_out": ".left_out_pairs",
    "loo": ".cross_validation",
    "report": ".fit_report",
    "to_datatree": "bayesduel.inference.datatree",
    "transitivity": ".total_order",
}

__all__ = [
    "Calibration",
    "Report",
    "Transitivity",
    "calibrate",
    "compare_models",
    "leave_pairs_out",
    "loo",
    "report",
    "to_datatree",
    "transitivity",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
