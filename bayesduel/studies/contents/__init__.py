"""What a study is about: its arms, and votes that come from elsewhere."""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
