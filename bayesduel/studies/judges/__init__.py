"""What a judge has before them, at a terminal or on a page."""

from bayesduel.package.lazy import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__, {})
