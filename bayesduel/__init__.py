"""Dueling bandits: exact simulation, regret theory, Bayesian preference models.

Nothing heavy is imported before it is used: JAX, NumPyro, CVXPY and ArviZ cost seconds.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesduel.experiments.companions import add_maker
from bayesduel.lazy import submodule

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
        posteriors,
        results,
        stopping,
        studies,
        votes,
    )
    from bayesduel.experiments import Experiment, compare, merge, simulate
    from bayesduel.instances import load

    __version__: str

__all__ = [
    "Experiment",
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
    "posteriors",
    "results",
    "simulate",
    "stopping",
    "studies",
    "votes",
]

_FUNCTIONS = {
    "Experiment": "bayesduel.experiments",
    "compare": "bayesduel.experiments",
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
    if name == "__version__":
        from bayesduel.version import package_version

        return package_version()
    return submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
