"""Studies: the policies of this package ask real judges."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
