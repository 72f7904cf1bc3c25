"""What is fuzzed of models, diagnostics, figures and analysis, and with which values.

`TARGETS` names every public function, class method and model there.
"""

from __future__ import annotations

from bayesduel import analysis, diagnostics, models, plots
from tests.fuzz.targets.of_analysis import of_analysis
from tests.fuzz.targets.of_diagnostics import of_diagnostics
from tests.fuzz.targets.of_models import of_models
from tests.fuzz.targets.of_plots import of_plots

PACKAGES = {
    "models": (models, of_models),
    "diagnostics": (diagnostics, of_diagnostics),
    "plots": (plots, of_plots),
    "analysis": (analysis, of_analysis),
}

TARGETS = {
    f"{name}.{key}": target
    for name, (_, targets) in PACKAGES.items()
    for key, target in targets().items()
}
