"""Votes from elsewhere, and answers as tables: what comes into a study and goes out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.errors import StudyError
from bayesduel.files.csv_cells import guarded_frame
from bayesduel.files.folders import as_path, renamed_when_whole
from bayesduel.files.user_files import read_bytes
from bayesduel.studies.disk import PRIVATE, EventLog, write_new, writing_to
from bayesduel.studies.events import (
    BEGINNING,
    Event,
    VoteRow,
    body_text,
    chained,
    named_places,
)
from bayesduel.studies.settings import checked_arm
from bayesduel.studies.state import StudyState
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    import pandas as pd


_SQLITE = b"SQLite format 3\0"
_KEY_LENGTH = 24
"""Hexadecimal digits of a checksum that are kept for each vote: 96 bits."""


# Tables of votes


def rows_of(data: Comparisons | Choices) -> list[VoteRow]:
    """Return the rows of a table that have votes; arms are places in the table."""
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
        counts = [row[shown] for row, shown in zip(data.counts, arms, strict=True)]
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
    """Return rows as a study counts them, arms by their places in it."""
    places = [checked_arm(name, state.arms, argument) for name in names]
    places = [state.merged.get(arm, arm) for arm in places]
    fitting = []
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
            fitting.append(row._replace(arms=arms))
    return fitting


# Other studies, whose votes are known by their content


def is_study(path: str | os.PathLike[str]) -> bool:
    """Say whether a file is that of a study, or the history of one."""
    file = as_path("path", path, StudyError)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        head = stream.read(200)
    return head.startswith(_SQLITE) or (
        head.startswith(b"{") and b'"kind": "created"' in head
    )


def votes_of_study(
    file: str | os.PathLike[str],
) -> tuple[tuple[str, ...], list[VoteRow]]:
    """Return the votes that count in the file of a study, or in its history."""
    events = _events_of(file)
    try:
        state = StudyState.begin(events[0])
        for event in events[1:]:
            state.apply(event)
    except StudyError as error:
        raise StudyError("other", f"{os.fspath(file)}: {error}", file) from error
    answers, rows = dict(_answers(events)), []
    for unit in state.questions.values():
        if state.is_vote(unit):
            key = "".join(answers[order.number] for order in state.orders_of(unit))
            rows += [row._replace(key=key) for row in state.rows_of(unit)]
    for number, votes in state.imports.items():
        keys = _keys_of(events[number - 1], state)
        both = zip(votes.rows, keys, strict=True)
        rows += [row._replace(key=key) for row, key in both if len({*row.arms}) > 1]
    rows = [row for row in rows if not any(state.is_retired[arm] for arm in row.arms)]
    used = sorted({arm for row in rows for arm in row.arms})
    index = {arm: at for at, arm in enumerate(used)}
    return (
        tuple(state.arms[arm] for arm in used),
        [row._replace(arms=tuple(index[arm] for arm in row.arms)) for row in rows],
    )


def new_rows(
    rows: list[VoteRow], events: Sequence[Event], state: StudyState
) -> list[VoteRow]:
    """Return those that a study has not: neither counted, nor taken back itself."""

    def parts(key: str) -> set[str]:
        # The checksums in a key: of one answer, or of those in both orders.
        return {key[at : at + _KEY_LENGTH] for at in range(0, len(key), _KEY_LENGTH)}

    known = {key for _, key in _answers(events)}
    for number in state.imports:
        known.update(*map(parts, _keys_of(events[number - 1], state)))
    return [row for row in rows if known.isdisjoint(parts(row.key))]


def _answers(events: Iterable[Event]) -> Iterator[tuple[int, str]]:
    # The question of each answer, and what the answer is known by.
    digest = BEGINNING
    for event in events:
        # Not the stored checksum: an export has none, and the first format had none.
        text = body_text(event.body)
        digest = chained(digest, event.number, event.time, event.kind, text)
        if event.kind == "answered":
            yield event.body["question"], digest[:_KEY_LENGTH]


def _keys_of(event: Event, state: StudyState) -> list[str]:
    # The keys of the rows of an import; a table has one key for all.
    if "keys" in event.body:
        return event.body["keys"]
    rows = sorted(
        row.written(state.arms[arm] for arm in row.arms)
        for row in map(VoteRow.of_numbers, event.body["counts"])
    )
    key = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:_KEY_LENGTH]
    return [key] * len(rows)


def _events_of(file: str | os.PathLike[str]) -> list[Event]:
    path = as_path("other", file, StudyError)
    content = read_bytes(path, error=StudyError)
    if content.startswith(_SQLITE):
        with closing(EventLog.open(path)) as log:
            return log.read(0)
    types = {"number": int, "time": float, "kind": str, "body": dict}
    try:
        lines = [
            json.loads(line) for line in content.decode().split("\n") if line.strip()
        ]
        events = [Event(**{name: line[name] for name in types}) for line in lines]
        sound = all(
            type(getattr(event, name)) is kind
            for event in events
            for name, kind in types.items()
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        events, sound = [], False
    if not events or not sound:
        rule = "must be the file of a study, or a history"
        remedy = "Study.export writes one"
        raise StudyError("other", rule, str(path), remedy=remedy)
    return events


# Answers in pandas, CSV and Parquet

_COLUMNS = {
    "question": "int64", "left": "object", "right": "object", "answer": "object",
    "winner": "object", "counts": "bool", "gold": "bool", "other_order_of": "Int64",
    "judge": "object", "context": "object", "rule": "object", "seconds": "float64",
    "cost": "float64", "asked": "datetime64[us, UTC]",
    "answered": "datetime64[us, UTC]", "shown": "object", "worst": "object",
}  # fmt: skip


def answers_frame(events: Iterable[Event], state: StudyState) -> pd.DataFrame:
    """Return the answers; see ``Study.to_dataframe``."""
    import pandas as pd

    times = {
        (event.body["question"], event.kind == "answered"): event.time
        for event in events
        if event.kind in ("asked", "gold asked", "answered")
    }
    rows = []
    for question in state.questions.values():
        if question.answer is None or question.withdrawn:
            continue
        number, answer = question.number, question.answer
        shown = state.names_of(question)
        best, worst, *_ = *(shown[at] for at in named_places(answer)), None, None
        context = question.context
        if context is not None and not isinstance(context, str):
            context = json.dumps(context, ensure_ascii=False)
        is_gold = question.gold is not None
        row = (
            number, shown[0], shown[1], answer,
            "tie" if answer == "tie" else best,
            not is_gold and state.is_vote(state.unit_of(question)),
            is_gold, question.twin_of, question.voter, context, question.rule,
            question.seconds, question.cost,
            *(pd.Timestamp(times[number, is_answer], unit="s", tz="UTC")
              for is_answer in (False, True)),
            json.dumps(shown, ensure_ascii=False), worst,
        )  # fmt: skip
        rows.append(dict(zip(_COLUMNS, row, strict=True)))
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV in which no cell is a formula of a spreadsheet."""
    return guarded_frame(frame).to_csv(index=False)


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table to a new file: Parquet where it is called so, else CSV."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        write_new(path, csv_text(frame))
        return
    if path.exists():
        raise StudyError("path", "must be a new file", str(path))
    try:
        with writing_to(path), renamed_when_whole(path, PRIVATE) as unfinished:
            frame.to_parquet(unfinished, index=False)
    except ImportError as error:
        rule = "is to be Parquet, which needs a package that is not installed"
        remedy = "install pyarrow, or name a file that ends in .csv"
        raise StudyError("path", rule, str(path), remedy=remedy) from error
