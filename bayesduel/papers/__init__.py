"""Repeat the experiments of papers, and check what the papers say of them.

Nothing heavy is imported before it is used.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
