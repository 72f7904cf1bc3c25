"""These functions are in theory.theorems. There is one function per theorem."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
