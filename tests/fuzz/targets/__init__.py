"""Functions of models, checks, figures and analysis to fuzz, and values for them.

`TARGETS` names every public function, class method and model there.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bayesduel import analysis, diagnostics, inference, models, papers, plots, votes
from tests.fuzz.targets.of_analysis import of_analysis
from tests.fuzz.targets.of_diagnostics import of_diagnostics
from tests.fuzz.targets.of_models import of_models
from tests.fuzz.targets.of_papers import of_papers
from tests.fuzz.targets.of_plots import of_plots
from tests.fuzz.targets.of_votes import of_votes


def together(*packages: Any) -> Any:
    """Return several packages as one."""
    names = {name: getattr(x, name) for x in packages for name in x.__all__}
    return SimpleNamespace(__all__=list(names), **names)


PACKAGES = {
    "models": (together(votes, models, inference), lambda: of_votes() | of_models()),
    "diagnostics": (diagnostics, of_diagnostics),
    "plots": (plots, of_plots),
    "analysis": (analysis, of_analysis),
    "papers": (papers, of_papers),
}

TARGETS = {
    f"{name}.{key}": target
    for name, (_, targets) in PACKAGES.items()
    for key, target in targets().items()
}
