"""What a study is about: its arms, and votes that come from elsewhere."""

from bayesduel.package.lazy import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__, {})
