"""Who leads without the votes of a judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bayesduel.studies._fits import fit_votes, leader_of
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.votes.comparisons import Comparisons

__all__ = ["LeftOut", "left_out_of"]

_DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS = 1e6, 200, 2000


class LeftOut(NamedTuple):
    """Who leads, and by judge who would without their votes; None while nobody does."""

    leader: str | None
    leaders: dict[str, str | None]

    @property
    def changing(self) -> tuple[str, ...]:
        """Judges without whom another arm would lead, or none."""
        return tuple(
            judge for judge, leader in self.leaders.items() if leader != self.leader
        )


def left_out_of(state: StudyState) -> LeftOut:
    """Leave out each judge with a name and votes that count, one at a time.

    Imported votes always count, as nobody knows whose they are.
    """
    units: dict[str, list[Question]] = {}
    for unit in state.questions.values():
        if state.is_vote(unit) and unit.voter is not None:
            units.setdefault(unit.voter, []).append(unit)
    leaders = {judge: _leader(state, votes) for judge, votes in units.items()}
    return LeftOut(_leader(state, ()), leaders)


def _leader(state: StudyState, without: Iterable[Question]) -> str | None:
    wins, ties = state.wins.copy(), state.ties.copy()
    for unit in without:
        pair = unit.left, unit.right
        if unit.outcome == "tie":
            ties[pair] -= 1
            ties[pair[::-1]] -= 1
        else:
            wins[pair if unit.outcome == "left" else pair[::-1]] -= 1
    both = np.ix_(state.active, state.active)
    names = [state.arms[arm] for arm in state.active]
    votes = Comparisons.from_wins(wins[both], ties=ties[both], arm_names=names)
    draws = _DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS
    return leader_of(fit_votes(state, *draws, votes=votes))
