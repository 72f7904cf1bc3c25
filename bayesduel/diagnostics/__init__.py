"""Checks of a fit, comparison of models, and export to ArviZ.

Nothing heavy is imported before it is used.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
