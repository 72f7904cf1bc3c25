"""Helpers that tests of studies share."""

import dataclasses
from contextlib import suppress

import numpy as np
import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Study
from bayesduel.studies.events import Event
from bayesduel.studies.state import StudyState

DRINKS = ["tea", "coffee", "milk", "water"]


def same(one, other) -> bool:
    """Say whether two states, or parts of them, are equal."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, StudyState):
        return vars(one).keys() == vars(other).keys() and all(
            same(vars(one)[name], vars(other)[name]) for name in vars(one)
        )
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return one == other


def append(study, kind, body):
    """Write an event into a study as it stands, whatever it says."""
    state = study._current()
    event = Event(state.last + 1, study._clock(), kind, body)
    state.apply(study._log.append(event, state.digest))


def assert_replays(study: Study) -> None:
    """Hold a study against what its file says to somebody who opens it."""
    with Study.open(study.path) as second:
        state = study._current()
        assert same(state, second._current())
    counted = state.wins + state.wins.T + state.ties + state.out
    assert (state.policy_pairs == counted).all()
    waiting = [x for x in state.requests.values() if x.issued < x.duel["votes"]]
    assert list(state.unissued.values()) == waiting


class Clock:
    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


WORDS = ("left", "right", "tie", "skip")
"""Answers."""


def better_of(ticket, order=("good", *DRINKS, "bad")):
    """Return what somebody says who always knows."""
    return "left" if order.index(ticket.left) < order.index(ticket.right) else "right"


def happens(study, rng, steps, answer):
    """Let judges and whoever leads the study do this and that, at random."""
    for _ in range(steps):
        study.clock.now += rng.choice([0, 1, 40])
        number = len(study._current().questions)
        deed = rng.choice(["ask", "ask", "tell", "tell", "tell", "undo", "withdraw",
                           "judge", "retire"])  # fmt: skip
        if deed == "ask":
            study.ask(rng.randint(1, 3), judge=rng.choice(["Ada", "Bob", None]))
        elif deed == "judge":
            study.set_judge(rng.choice(["Ada", "Bob"]), trusted=rng.random() < 0.5)
        elif deed == "retire" and rng.random() < 0.1 and len(study.arms) > 3:
            study.retire_arm(rng.choice(study.arms))
        elif number and deed != "retire":
            with suppress(StudyError):  # Answered or withdrawn.
                given = [answer()] if deed == "tell" else []
                getattr(study, deed)(rng.randint(1, number), *given)


def mirrored(word):
    return {"left": "right", "right": "left"}.get(word, word)


def tell_answer(study, judge, number, answer):
    for _ in range(number):
        for ticket in study.ask(judge=judge):
            study.tell(ticket, answer(ticket))


def refused(words, call, /, *given, **options):
    """Assert that a study refuses a call in these words."""
    with pytest.raises(StudyError, match=words):
        call(*given, **options)
