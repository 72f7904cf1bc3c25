"""Choice out of subsets: rules, tables of probabilities, notions of regret."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
