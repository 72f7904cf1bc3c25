"""Studies for tests."""

from contextlib import ExitStack

import pytest

from bayesduel.studies import Study, report
from bayesduel.votes import Comparisons
from tests.figures import drawn, saved_undrawn
from tests.studies.helpers import DRINKS, Clock

__all__ = ["MOST_LOOKS", "drawn", "few_looks", "make", "saved_undrawn"]

MOST_LOOKS = report._MOST_POINTS
"""The number of looks outside of tests."""


@pytest.fixture(autouse=True)
def few_looks(monkeypatch):
    """Let reports look at fewer votes of the past: each look is a fit."""
    monkeypatch.setattr(report, "_MOST_POINTS", 3)


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


@pytest.fixture
def voted(make):
    """Make studies of four drinks that begin with votes from before."""

    def voted(wins, policy="balanced", ties=None, arms=DRINKS, **options):
        study = make(policy, arms, **options)
        study.import_votes(Comparisons.from_wins(wins, ties=ties, arm_names=arms))
        return study

    return voted


@pytest.fixture
def study(tmp_path):
    """A study of four drinks, by the clock of this machine."""
    with Study.create(tmp_path / "drinks & <more>.study", DRINKS, "balanced") as made:
        yield made


@pytest.fixture
def page():
    """Serve pages of studies until the test ends; return clients."""
    from tests.studies.serving import Client, served

    with ExitStack() as stack:

        def page(study, **options):
            return Client(stack.enter_context(served(study, **options)))

        yield page


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A client of a page with one open question: nothing may come of refusals."""
    from tests.studies.serving import Client, served

    path = tmp_path_factory.mktemp("studies") / "drinks & <more>.study"
    with Study.create(path, DRINKS, "balanced") as study, served(study) as port:
        client = Client(port)
        client.question()
        yield client
        assert [event.kind for event in study.events()] == ["created", "asked"]
