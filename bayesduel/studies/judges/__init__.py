"""What a judge has before them, at a terminal or on a page."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
