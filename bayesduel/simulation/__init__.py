"""Who answers: environments and their ledgers of plays."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
