"""Exact Bayes regret of three arms: of the best policy there is, and of given rules."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
