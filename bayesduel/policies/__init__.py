"""Policies of dueling bandits, and functions that find them by name."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
