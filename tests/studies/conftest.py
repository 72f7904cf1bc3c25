"""Studies for tests."""

import pytest

from bayesduel.studies import Study, _history
from tests.figures import drawn, saved_undrawn
from tests.studies.helpers import DRINKS, Clock

__all__ = ["MOST_LOOKS", "drawn", "few_looks", "make", "saved_undrawn"]

MOST_LOOKS = _history._MOST_POINTS
"""As many as users get."""


@pytest.fixture(autouse=True)
def few_looks(monkeypatch):
    """Let reports look at fewer votes of the past: each look is a fit."""
    monkeypatch.setattr(_history, "_MOST_POINTS", 3)


@pytest.fixture
def make(tmp_path):
    """Make studies whose clock stands still until it is told."""
    clock, made = Clock(), []

    def make(policy="balanced", arms=DRINKS[:3], **options):
        study = Study.create(tmp_path / f"{len(made)}.study", arms, policy, **options)
        study._clock = clock
        study._current().time = clock.now
        study.clock = clock
        made.append(study)
        return study

    yield make
    for study in made:
        study.close()
