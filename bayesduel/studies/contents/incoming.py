"""Votes from elsewhere as rows of a study: of its kind, between its arms."""

from __future__ import annotations

import numpy as np

from bayesduel.errors import StudyError
from bayesduel.studies._settings import checked_arm
from bayesduel.studies.replay.questions import VoteRow
from bayesduel.studies.replay.state import StudyState
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons

__all__ = ["fitting_rows", "rows_of"]


def rows_of(data: Comparisons | Choices) -> list[VoteRow]:
    """Return the rows of a table that have votes; arms are places in the table.

    Raises
    ------
    StudyError
        If votes are weighted or split, or some chose none of the arms.
    """
    if not data.is_whole:
        rule, remedy = "must hold whole votes", "count every vote once"
        raise StudyError("votes", rule, data, remedy=remedy)
    if isinstance(data, Comparisons):
        data = data.without_columns()
        arms = np.stack([data.first, data.second], axis=1).tolist()
        counts = data.counts.tolist()
    else:
        if data.counts[:, -1].any():
            rule, remedy = "must choose an arm in each row", "leave out the others"
            raise StudyError("votes", rule, data, remedy=remedy)
        arms = [np.flatnonzero(offered).tolist() for offered in data.offered]
        counts = [row[own] for row, own in zip(data.counts, arms, strict=True)]
    worst = getattr(data, "worst", None)
    last = [False] * len(arms) if worst is None else worst.tolist()
    return [
        VoteRow((*shown,), (*map(int, votes),), worst=is_worst)
        for shown, votes, is_worst in zip(arms, counts, last, strict=True)
        if sum(votes)
    ]


def fitting_rows(
    state: StudyState, rows: list[VoteRow], names: tuple[str, ...], argument: str
) -> list[VoteRow]:
    """Return rows as a study counts them, arms by their places in it.

    Those of arms that were merged into the same one are left out. A study of sets takes
    votes between two arms as choices out of these.

    Raises
    ------
    StudyError
        If an arm is unknown, or rows are of another kind than the study.
    """
    places = [checked_arm(each, state.arms, argument) for each in names]
    places = [state.merged.get(place, place) for place in places]
    found = []
    for row in rows:
        arms = tuple(places[arm] for arm in row.arms)
        of_pairs = len(row.counts) > len(arms)
        if not (state.is_of_sets or of_pairs):
            rule = "must be votes between two arms, as this is a study of pairs"
            raise StudyError(argument, rule, [state.arms[arm] for arm in arms])
        if state.is_of_sets:
            if of_pairs and row.counts[2]:
                rule = "must hold no ties: of a set judges name the best"
                raise StudyError(argument, rule, [state.arms[arm] for arm in arms])
            # In one order, by which the same votes are known again.
            both = sorted(zip(arms, row.counts, strict=not of_pairs))
            row = row._replace(counts=tuple(count for _, count in both))
            arms = tuple(arm for arm, _ in both)
        if len({*arms}) > 1:
            found.append(row._replace(arms=arms))
    return found
