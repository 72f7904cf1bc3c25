"""In a study, a policy of this package chooses the questions to real judges."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
