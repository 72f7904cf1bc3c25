"""Fits as ArviZ reads them, and what to ask of a fit before it is believed.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.diagnostics.calibration import Calibration, calibrate
    from bayesduel.diagnostics.cross_validation import compare, leave_pairs_out, loo
    from bayesduel.diagnostics.datatree import to_datatree
    from bayesduel.diagnostics.fit_report import Report, report
    from bayesduel.diagnostics.total_order import Transitivity, transitivity

_HOMES = {
    "Calibration": "calibration",
    "Report": "fit_report",
    "Transitivity": "total_order",
    "calibrate": "calibration",
    "compare": "cross_validation",
    "leave_pairs_out": "cross_validation",
    "loo": "cross_validation",
    "report": "fit_report",
    "to_datatree": "datatree",
    "transitivity": "total_order",
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
        return getattr(import_module(f"bayesduel.diagnostics.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.diagnostics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
