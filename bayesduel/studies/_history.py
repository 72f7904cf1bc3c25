"""How certain a study was after so many votes, from its events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.plots.posteriors import short_names
from bayesduel.plots.style import FAINT, StyledFigure, font_style, looks, styled
from bayesduel.studies._fits import fit_votes
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stopping_lines import stopping_of
from bayesduel.studies.stored.events import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["History", "draw_history", "history_of"]

_MOST_POINTS = 25
_MOST_LINES = 6
_DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS = 2e6, 200, 2000
_SMALLEST = 1e-6
"""Probabilities of error below it are drawn there."""


class History(NamedTuple):
    """What was known after ``votes`` votes, imported ones included.

    ``shares`` has, by arm, the probability to be a Copeland winner, nan before an arm
    was there, after it was retired, and while no votes connect all arms; ``errors``, by
    rule, the probability of error.
    """

    votes: list[int]
    shares: dict[str, list[float]]
    errors: dict[str, list[float]]


def history_of(events: Sequence[Event]) -> tuple[StudyState, History]:
    """Replay a study, looking at up to 25 evenly spaced votes; return its end too."""
    answers = [place for place, each in enumerate(events) if each.kind == "answered"]
    chosen = np.linspace(0, len(answers) - 1, min(_MOST_POINTS, len(answers)))
    looked = {answers[int(round(place))] for place in chosen} | {len(events) - 1}
    state = StudyState.begin(events[0])
    found = History([], {}, {})
    for place, event in enumerate(events):
        if place:
            state.apply(event)
        if place in looked and state.num_votes + state.num_imported:
            _look(state, found)
    for values in found.shares.values():
        values += [math.nan] * (len(found.votes) - len(values))
    return state, found


def _look(state: StudyState, found: History) -> None:
    posterior = fit_votes(state, _DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS)
    before = len(found.votes)
    found.votes.append(int(state.num_votes + state.num_imported))
    shares = posterior.winner_shares()["copeland"]
    if len(posterior.parts) > 1:
        # Each part has a best arm of its own, which is another question.
        shares = np.full(len(shares), math.nan)
    for name, share in zip(posterior.arm_names, shares.tolist(), strict=True):
        values = found.shares.setdefault(name, [])
        values += [math.nan] * (before - len(values)) + [share]
    for line in stopping_of(state, posterior):
        if line.is_error:
            error = min(1.0, math.exp(-line.evidence))
            found.errors.setdefault(line.rule, []).append(error)


def draw_history(history: History, delta: float) -> StyledFigure:
    """Draw the probability of being the best, and of an error, over the votes."""
    last = {name: np.nan_to_num(values[-1]) for name, values in history.shares.items()}
    names = sorted(last, key=lambda name: -last[name])[:_MOST_LINES]
    labels = dict(zip(names, short_names(names), strict=True))
    style = font_style(7.0)
    with styled(style):
        figure = StyledFigure(style=style, figsize=(7.0, 5.2), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for name, look in looks(names).items():
            upper.plot(
                history.votes, history.shares[name], look.marker, linestyle=look.line,
                color=look.color, label=labels[name],
            )  # fmt: skip
        upper.set_ylim(-0.03, 1.03)
        upper.set_ylabel("P(no arm beats more others)")
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for rule, look in looks(history.errors).items():
            values = np.maximum(history.errors[rule], _SMALLEST)
            lower.plot(
                history.votes, values, look.marker, linestyle=look.line,
                color=look.color, label=rule,
            )  # fmt: skip
        lower.axhline(delta, color=FAINT, linewidth=0.8)
        lower.set_yscale("log")
        lowest = min(min(values) for values in history.errors.values())
        lower.set_ylim(max(_SMALLEST, min(delta, lowest)) / 3, 2.0)
        lower.set_ylabel("error, if one stops now")
        lower.set_xlabel("votes")
        lower.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
