"""Results of simulations as files: write them, and read them back."""

from bayesduel.experiments.results import FILE_NAME, load, save

__all__ = ["FILE_NAME", "load", "save"]
