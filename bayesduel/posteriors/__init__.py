"""Posteriors inside policies: compiled states that take vote after vote.

Nothing heavy is imported before it is used.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
