"""Dueling bandits: exact simulation, regret theory, Bayesian preference models.

Nothing heavy is imported before it is used: JAX, NumPyro, CVXPY and ArviZ cost seconds.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesduel.experiments.companions import add_maker

if TYPE_CHECKING:
    from bayesduel import (
        analysis,
        diagnostics,
        errors,
        inference,
        instances,
        models,
        papers,
        plots,
        policies,
        stopping,
        studies,
        votes,
    )
    from bayesduel.experiments import Experiment, compare, merge, results, simulate
    from bayesduel.instances import load
    from bayesduel.policies.policy import Duel, Policy

    __version__: str

__all__ = [
    "Duel",
    "Experiment",
    "Policy",
    "__version__",
    "analysis",
    "compare",
    "diagnostics",
    "errors",
    "inference",
    "instances",
    "load",
    "merge",
    "models",
    "papers",
    "plots",
    "policies",
    "results",
    "simulate",
    "stopping",
    "studies",
    "votes",
]

_MODULES = {
    "analysis",
    "diagnostics",
    "errors",
    "inference",
    "instances",
    "models",
    "papers",
    "plots",
    "policies",
    "results",
    "stopping",
    "studies",
    "votes",
}
_FUNCTIONS = {
    "Duel": "bayesduel.policies",
    "Experiment": "bayesduel.experiments",
    "compare": "bayesduel.experiments",
    "Policy": "bayesduel.policies",
    "load": "bayesduel.instances",
    "merge": "bayesduel.experiments",
    "simulate": "bayesduel.experiments",
}


def _summary_files(tree: Any) -> Mapping[str, bytes]:
    from bayesduel.analysis.summary_files import summary_files

    return summary_files(tree)


add_maker("summary", _summary_files)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in _MODULES:
        # Results are read where experiments are kept.
        home = "experiments." if name == "results" else ""
        return import_module(f"bayesduel.{home}{name}")
    if name == "__version__":
        from bayesduel.version import package_version

        return package_version()
    raise AttributeError(f"module 'bayesduel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
