"""Who leads without the votes of a judge."""

from __future__ import annotations

from typing import NamedTuple

from bayesduel.studies._fits import LOOK, fit_votes, leader_of, votes_of
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState

__all__ = ["LeftOut", "left_out_of"]


class LeftOut(NamedTuple):
    """Who leads, and by judge who would without their votes; None while nobody does."""

    leader: str | None
    leaders: dict[str, str | None]


def left_out_of(state: StudyState) -> LeftOut:
    """Leave out each judge with a name and votes that count, one at a time.

    Imported votes always count, as nobody knows whose they are.
    """
    units: dict[str, list[Question]] = {}
    for unit in state.questions.values():
        if state.is_vote(unit) and unit.voter is not None:
            units.setdefault(unit.voter, []).append(unit)
    leaders = {judge: _leader(state, votes) for judge, votes in units.items()}
    return LeftOut(_leader(state, []), leaders)


def _leader(state: StudyState, without: list[Question]) -> str | None:
    # As many draws as for the status: nobody is to lead by their luck.
    return leader_of(fit_votes(state, *LOOK, votes=votes_of(state, without=without)))
