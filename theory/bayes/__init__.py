"""Exact Bayes regret on three arms, of the optimal policy and of given policies."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
