"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.inference.fitting import fit
    from bayesduel.inference.posterior import Posterior
    from bayesduel.inference.tables import parameters, standings

_HOMES = {
    "Posterior": "posterior",
    "fit": "fitting",
    "parameters": "tables",
    "standings": "tables",
}

__all__ = [
    "Posterior",
    "fit",
    "parameters",
    "standings",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.inference.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
