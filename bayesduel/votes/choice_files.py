"""Read choices from users' tables."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    different_labels,
)
from bayesduel.votes.choices import Choices
from theory.arguments import integer_from

__all__ = ["read_choices", "read_long_choices"]


def _index(argument: str, value: Any) -> int:
    """Return the number that stands for an arm, or for none of them, in a file."""
    most = int(MOST_VOTES)
    return integer_from(value, -most, argument, most, kind=ComparisonDataError)


def read_choices(
    path: str | os.PathLike[str],
    *,
    choice: str = "Choice",
    arm_names: Sequence[str] | None = None,
    first_index: int = 1,
    none: int | None = None,
) -> Choices:
    """Read choices from a table with a 0/1 column for each arm.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8 with a header, perhaps compressed with gzip.
    choice : str
        Column with the number of the chosen arm among the columns of arms.
    arm_names : sequence of str, optional
        The columns of arms, 1 where an arm was on offer; by default all but ``choice``.
    first_index : int
        The number of the first arm.
    none : int, optional
        The number that means that none was chosen. Without it there is no such option.

    Returns
    -------
    Choices
        Counted per subset.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or an arm was chosen that was not on offer.
    """
    table = ColumnTable(path)
    first_index = _index("first_index", first_index)
    none = None if none is None else _index("none", none)
    # A number such as -1 may stand for none.
    chosen = table.whole_numbers(choice, least=-MOST_VOTES).astype(np.int64)
    names = [each for each in table.titles if each != choice]
    names = list(arm_names_of(names if arm_names is None else arm_names, None))
    table.unread([choice, *names])
    offered = np.stack([table.whole_numbers(each) for each in names], axis=1)
    if np.any(offered > 1):
        row, arm = np.argwhere(offered > 1)[0]
        raise ComparisonDataError(
            table.name,
            f"row {row} of column {names[arm]!r} must be 1 where the arm was on "
            f"offer, else 0, but is {offered[row, arm]:g}",
            float(offered[row, arm]),
        )
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    index = chosen - first_index
    bad = ~is_none & ((index < 0) | (index >= len(names)))
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ComparisonDataError(
            table.name,
            f"row {row} chooses {chosen[row]}, but the {len(names)} arms are "
            f"numbered from {first_index}",
            int(chosen[row]),
        )
    counts = np.zeros(offered.shape)
    counts[np.flatnonzero(~is_none), index[~is_none]] = 1.0
    return Choices.from_counts(
        offered > 0, counts, None if none is None else is_none, arm_names=names
    )


def read_long_choices(
    path: str | os.PathLike[str],
    *,
    case: str = "id",
    alternative: str = "alternative",
    chosen: str = "chosen",
    available: str | None = None,
    none: str | None = None,
    arm_names: Sequence[str] | None = None,
) -> Choices:
    r"""Read choices from a table with a row for each alternative of each choice.

    Parameters
    ----------
    path : str or path-like
        A table as :func:`read_comparisons` reads it.
    case : str
        Column that is the same in all rows of one choice. They may stand anywhere.
    alternative : str
        Column with the name of the alternative.
    chosen : str
        Column with 1 where the alternative was chosen, else 0: one of each choice.
    available : str, optional
        Column with 1 where the alternative was on offer, else 0. Without it all rows
        were.
    none : str, optional
        The alternative that stands for "none of them". Without it there is no such
        option.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name but ``none`` is an error.

    Returns
    -------
    Choices
        Counted per subset.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, an alternative is there twice in a choice, none or
        several are chosen, or one that was not on offer.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "trips.csv")
    ...     _ = path.write_text("id,alternative,chosen\n1,bus,1\n1,car,0\n")
    ...     read_long_choices(path)
    Choices(2 arms, 1 subsets, 1 choices)
    """
    table = ColumnTable(path)
    titles = [case, alternative, chosen]
    table.unread([*titles, *([] if available is None else [available])])
    labels = table[alternative]
    if arm_names is None:
        arm_names = different_labels([each for each in labels if each != none])
    names = arm_names_of(arm_names, None)
    # None of them is the last column.
    wide = names if none is None else (*names, none)
    column = arm_positions(alternative, labels, wide)
    cases = {name: row for row, name in enumerate(dict.fromkeys(table[case]))}
    row = np.array([cases[name] for name in table[case]])
    marks = {title: _marks(table, title) for title in (chosen, available) if title}
    offered = np.zeros((len(cases), len(wide)), dtype=np.int64)
    np.add.at(offered, (row, column), 1)
    _check_cases(table, cases, offered.max(axis=1) <= 1, "names an alternative twice")
    here = marks[available] if available else np.ones(table.num_rows, dtype=bool)
    offered[row, column] = here
    counts = np.zeros(offered.shape)
    counts[row, column] = marks[chosen]
    fits = counts.sum(axis=1) == 1
    _check_cases(table, cases, fits, "must choose one alternative")
    on_offer = (counts <= offered).all(axis=1)
    _check_cases(table, cases, on_offer, "chooses what was not on offer")
    size = len(names)
    nothing = None if none is None else counts[:, -1]
    return Choices.from_counts(
        offered[:, :size] > 0, counts[:, :size], nothing, arm_names=names
    )


def _marks(table: ColumnTable, title: str) -> NDArray[np.bool_]:
    """Return a column of 0 and 1, which may be written as words."""
    words = {"0": False, "1": True, "false": False, "true": True, "no": False}
    words |= {"yes": True, "0.0": False, "1.0": True}
    found = np.zeros(table.num_rows, dtype=bool)
    for row, cell in enumerate(table[title]):
        if cell.lower() not in words:
            rule = f"row {row} of column {title!r} must be 1 or 0, but is {cell!r}"
            raise ComparisonDataError(table.name, rule, cell)
        found[row] = words[cell.lower()]
    return found


def _check_cases(
    table: ColumnTable, cases: dict[str, int], fits: NDArray[np.bool_], rule: str
) -> None:
    if not fits.all():
        name = list(cases)[int(np.argmax(~fits))]
        raise ComparisonDataError(table.name, f"the choice {name!r} {rule}", name)
