"""What a judge has before them, at a terminal or on a page."""

from bayesduel.lazy import lazily

__getattr__, __dir__ = lazily(__name__, {})
