"""Files of votes, and calls that refuse them."""

import pytest

from bayesduel.errors import ComparisonDataError


def written(folder, text, name="votes.csv"):
    """Write a file of votes; return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(words, call, /, *given, **options):
    """Assert that a call refuses its data in these words."""
    with pytest.raises(ComparisonDataError, match=words):
        call(*given, **options)
