"""Regret bounds of the literature: one file per family, one function per theorem."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
