"""Public names of the packages."""

from importlib import import_module
from typing import Any

TOPICS = ("theory.bayes", "theory.choice", "theory.copeland_program",
          "theory.divergences", "theory.identification", "theory.theorems")  # fmt: skip

PACKAGES = ("theory", *TOPICS, "bayesduel", "bayesduel.analysis",
            "bayesduel.audits",
            "bayesduel.diagnostics", "bayesduel.errors", "bayesduel.experiments",
            "bayesduel.inference", "bayesduel.instances",
            "bayesduel.instances.worlds", "bayesduel.models",
            "bayesduel.papers", "bayesduel.plots", "bayesduel.policies",
            "bayesduel.policies.over_models", "bayesduel.posteriors",
            "bayesduel.results", "bayesduel.stopping", "bayesduel.studies",
            "bayesduel.votes")  # fmt: skip


def public(*packages: str) -> dict[str, Any]:
    """Return what some packages offer by its full name."""
    return {
        f"{package}.{name}": getattr(import_module(package), name)
        for package in packages
        for name in import_module(package).__all__
    }


def of_theory() -> dict[str, Any]:
    """Return what theory offers, at its top and by topic, by the last name."""
    return {
        name.rpartition(".")[2]: value
        for name, value in public("theory", *TOPICS).items()
    }
