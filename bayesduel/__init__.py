"""Dueling bandits: exact simulation, regret theory, Bayesian preference models.

Nothing heavy is imported before it is used: JAX, NumPyro, CVXPY and ArviZ cost seconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel import analysis, datasets, errors, plots, policies, results
    from bayesduel.datasets import load
    from bayesduel.experiments import compare, simulate

    __version__: str

__all__ = [
    "__version__",
    "analysis",
    "compare",
    "datasets",
    "errors",
    "load",
    "plots",
    "policies",
    "results",
    "simulate",
]

_MODULES = {"analysis", "datasets", "errors", "plots", "policies", "results"}
_FUNCTIONS = {
    "compare": "bayesduel.experiments",
    "load": "bayesduel.datasets",
    "simulate": "bayesduel.experiments",
}


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in _MODULES:
        return import_module(f"bayesduel.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("bayesduel")
    raise AttributeError(f"module 'bayesduel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
