"""What tests of studies share."""

import dataclasses

import numpy as np

from bayesduel.studies import Study
from bayesduel.studies.replay.state import StudyState

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
        names = [each.name for each in dataclasses.fields(one)]
        return all(same(getattr(one, each), getattr(other, each)) for each in names)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return one == other


def assert_replays(study: Study) -> None:
    """Hold a study against what its file says to somebody who opens it."""
    with Study.open(study.path) as other:
        state = study._current()
        assert same(state, other._current())
    counted = state.wins + state.wins.T + state.ties + state.out
    assert (state.told_pairs == counted).all()
    waiting = [each for each in state.requests.values()
               if each.issued < each.duel["votes"]]  # fmt: skip
    assert list(state.unissued.values()) == waiting


class Clock:
    """A clock that a test sets."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


WORDS = ("left", "right", "tie", "skip")
"""Answers."""


def better_of(ticket, order=("good", *DRINKS, "bad")):
    """Return what somebody says who always knows."""
    return "left" if order.index(ticket.left) < order.index(ticket.right) else "right"


def mirrored(word):
    return {"left": "right", "right": "left"}.get(word, word)


def told(study, judge, number, answer):
    """Ask and tell, one after the other."""
    for _ in range(number):
        for ticket in study.ask(judge=judge):
            study.tell(ticket, answer(ticket))
