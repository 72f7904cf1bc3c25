"""Two votes on one question, asked in both orders, as one vote."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._row_columns import NEUTRAL, groups_of
from theory.arguments import one_of

_LOGGER = logging.getLogger(__name__)

_REMEDY = (
    "name what was asked (context) and who judged (judge), so that each of them has "
    "one vote in either order"
)


def both_orders_as_one(data: Any, contradiction: str) -> Any:
    """See :meth:`Comparisons.with_both_orders_as_one`."""
    one_of(contradiction, ("tie", "nothing"), "contradiction", kind=ComparisonDataError)
    if not data.order_known or NEUTRAL in data.columns:
        rule = (
            "must be True for all votes (no column 'neutral'), for two orders to meet"
        )
        raise ComparisonDataError("order_known", rule, data.order_known)
    voted = data.counts.sum(axis=1) > 0
    rows = np.flatnonzero(voted)
    low, high = np.sort([data.first[rows], data.second[rows]], axis=0)
    backward = (data.first[rows] > data.second[rows]).astype(np.int64)
    extra = data._extra.of_rows(rows).turned(backward == 1)
    keys = [low * data.num_arms + high, *extra.columns.values()]
    places, unit = groups_of(keys)
    row_of = np.full((len(places), 2), -1)
    row_of[unit, backward] = rows
    complete = np.all(row_of >= 0, axis=1)
    _say_what_is_alone(data, row_of[~complete], rows)
    pairs = row_of[complete]
    counts = _joined(data, pairs, contradiction)
    said = counts.sum(axis=1) > 0
    kept, shown = pairs[said, 0], counts[said]
    return replace(
        data,
        first=data.first[kept],
        second=data.second[kept],
        counts=shown,
        order_known=False,
        columns={name: each[kept] for name, each in data.columns.items()},
    )


def _joined(
    data: Any, pairs: Int64[np.ndarray, "unit 2"], contradiction: str
) -> Float64[np.ndarray, "unit 3"]:
    """Return what both orders say together: votes for the first arm, second, ties."""
    there, back = data.counts[pairs[:, 0]], data.counts[pairs[:, 1]][:, [1, 0, 2]]
    for rows, votes in zip(pairs.T, (there, back), strict=True):
        several = (votes > 0).sum(axis=1) > 1
        if np.any(several):
            row = int(rows[np.argmax(several)])
            rule = f"holds votes that differ, of {data.row_names[row]} in one order"
            raise ComparisonDataError(
                "counts", rule, data.counts[row].tolist(), index=row, remedy=_REMEDY
            )
    agree = np.argmax(there, axis=1) == np.argmax(back, axis=1)
    counts = np.where(agree[:, None], (there + back) / 2.0, 0.0)
    if contradiction == "tie":
        counts[~agree, 2] = (there + back)[~agree].sum(axis=1) / 2.0
    return counts


def _say_what_is_alone(
    data: Any,
    alone: Int64[np.ndarray, "unit 2"],
    rows: Int64[np.ndarray, " row"],
) -> None:
    """Tell of votes without one in the other order, which all of them may be."""
    if len(alone) == len(rows):
        rule = "holds no question that was answered in both orders"
        raise ComparisonDataError("data", rule, len(rows), remedy=_REMEDY)
    if len(alone):
        lonely = data.row_names[int(alone.max(axis=1)[0])]
        _LOGGER.warning(
            "%d of %d rows of votes left out without one in the other order, as %s",
            len(alone),
            len(rows),
            lonely,
        )
