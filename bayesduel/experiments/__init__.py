"""Grids of instances, policies and runs: asked, carried out, kept and read back.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.experiments.running import compare, simulate

_HOMES = {
    "compare": "running",
    "simulate": "running",
}

__all__ = [
    "compare",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.experiments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.experiments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
