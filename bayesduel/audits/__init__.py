"""Audits of finished leaderboards.

``audit(votes)`` checks a finished leaderboard; print its result.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
