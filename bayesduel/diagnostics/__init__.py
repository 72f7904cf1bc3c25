"""Fits as ArviZ reads them, and what to ask of a fit before it is believed.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.diagnostics.calibration import Calibration, calibrate
    from bayesduel.diagnostics.cross_validation import compare, leave_pairs_out, loo
    from bayesduel.diagnostics.fit_report import Report, report
    from bayesduel.diagnostics.total_order import Transitivity, transitivity
    from bayesduel.inference.datatree import to_datatree

_HOMES = {
    "Calibration": "diagnostics.calibration",
    "Report": "diagnostics.fit_report",
    "Transitivity": "diagnostics.total_order",
    "calibrate": "diagnostics.calibration",
    "compare": "diagnostics.cross_validation",
    "leave_pairs_out": "diagnostics.cross_validation",
    "loo": "diagnostics.cross_validation",
    "report": "diagnostics.fit_report",
    "to_datatree": "inference.datatree",
    "transitivity": "diagnostics.total_order",
}

__all__ = [
    "Calibration",
    "Report",
    "Transitivity",
    "calibrate",
    "compare",
    "leave_pairs_out",
    "loo",
    "report",
    "to_datatree",
    "transitivity",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.diagnostics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
