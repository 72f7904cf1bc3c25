"""Results on disk; the module is :mod:`bayesduel.experiments.results`."""

import sys

from bayesduel.experiments import results
from bayesduel.experiments.results import FILE_NAME, FILE_NAMES, load, save

__all__ = ["FILE_NAME", "FILE_NAMES", "load", "save"]

# One module under two names: ``import bayesduel.results`` finds it, too.
sys.modules[__name__] = results
