"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
