"""The answers of a study as a table, one a row: in pandas, CSV and Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.errors import StudyError
from bayesduel.files.csv_cells import guarded_frame
from bayesduel.files.folders import renamed_when_whole
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.disk import PRIVATE, writing_to
from bayesduel.studies.stored.event_log import write_new
from bayesduel.studies.stored.events import Event, named_places

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["answers_frame", "csv_text", "write_frame"]

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

    asked, answered = {}, {}
    for event in events:
        if event.kind in ("asked", "gold asked"):
            asked[event.body["question"]] = event.time
        elif event.kind == "answered":
            answered[event.body["question"]] = event.time
    rows = []
    for each in state.questions.values():
        if each.answer is None or each.withdrawn:
            continue
        shown = state.names_of(each)
        named = [shown[place] for place in named_places(each.answer)]
        best, worst, *_ = *named, None, None
        context = each.context
        if context is not None and not isinstance(context, str):
            context = json.dumps(context, ensure_ascii=False)
        rows.append(
            {
                "question": each.number,
                "left": shown[0],
                "right": shown[1],
                "answer": each.answer,
                "winner": "tie" if each.answer == "tie" else best,
                "counts": each.gold is None and state.is_vote(state.unit_of(each)),
                "gold": each.gold is not None,
                "other_order_of": each.twin_of,
                "judge": each.voter,
                "context": context,
                "rule": each.rule,
                "seconds": each.seconds,
                "cost": each.cost,
                "asked": pd.Timestamp(asked[each.number], unit="s", tz="UTC"),
                "answered": pd.Timestamp(answered[each.number], unit="s", tz="UTC"),
                "shown": json.dumps(shown, ensure_ascii=False),
                "worst": worst,
            }
        )
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
