"""These functions check a fit, compare models, and export fits to ArviZ.

Nothing heavy is imported before it is used.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
