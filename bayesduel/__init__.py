"""Dueling bandits: exact simulation, regret theory, Bayesian preference models.

Nothing heavy is imported before it is used: JAX, NumPyro, CVXPY and ArviZ cost seconds.
"""

from typing import TYPE_CHECKING, Any

from bayesduel.package.lazy import lazy_attributes

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
    from bayesduel.experiments.results import load as load_results
    from bayesduel.instances import load
    from bayesduel.policies.policy import Duel, Policy, Wins

    __version__: str

__all__ = [
    "Duel",
    "Experiment",
    "Policy",
    "Wins",
    "__version__",
    "analysis",
    "compare",
    "diagnostics",
    "errors",
    "inference",
    "instances",
    "load",
    "load_results",
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

_HOMES = {
    "Duel": ".policies",
    "Experiment": ".experiments",
    "Policy": ".policies",
    "Wins": ".policies",
    "compare": ".experiments",
    "load": ".instances",
    "merge": ".experiments",
    "simulate": ".experiments",
}


_get, _ = lazy_attributes(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from bayesduel.package.version import package_version

        return package_version()
    if name == "load_results":
        from bayesduel.results import load

        return load
    return _get(name)


def __dir__() -> list[str]:
    return sorted(__all__)
