"""Votes: comparisons, ballots and choices, and readers of users' files.

Nothing heavy is imported before it is used.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
