"""Read best and worst of several (MaxDiff) from users' tables."""

import os
from collections.abc import Sequence

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import arm_names_of, arm_positions, labels_of
from bayesduel.votes.comparisons import Comparisons

__all__ = ["read_best_worst"]


def read_best_worst(
    path: str | os.PathLike[str],
    *,
    shown: Sequence[str] | None = None,
    best: str = "best",
    worst: str = "worst",
    arm_names: Sequence[str] | None = None,
) -> Comparisons:
    r"""Read a table whose rows show several arms, and name the best and the worst.

    The best arm of a row wins against all others of it, and all others win against the
    worst: from n arms follow 2 n - 3 votes.

    Parameters
    ----------
    path : str or path-like
        A table as :func:`read_comparisons` reads it.
    shown : sequence of str, optional
        Columns with the names of the arms that were shown; an empty cell is none. By
        default all other columns.
    best, worst : str
        Columns with the names of the two arms that were picked.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.

    Returns
    -------
    Comparisons
        The order in which arms were shown is not known.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, an arm is shown twice in a row, or one was picked that
        was not shown, or the same as best and worst; names the row, from 0.

    Notes
    -----
    Votes of one row depend on one another. A model of pairs takes them for independent,
    so that its intervals are somewhat too narrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("a,b,c,best,worst\ntea,milk,ale,milk,ale\n")
    ...     read_best_worst(path).row_names
    ['ale vs milk', 'ale vs tea', 'milk vs tea']
    """
    table = ColumnTable(path)
    if shown is None:
        shown = [title for title in table.titles if title not in (best, worst)]
    columns = [table[str(title)] for title in labels_of("shown", shown)]
    table.unread([*map(str, shown), best, worst])
    pairs: list[tuple[str, str]] = []
    for row, (top, bottom) in enumerate(zip(table[best], table[worst], strict=True)):
        arms = [column[row] for column in columns if column[row]]
        _check_row(table.name, row, arms, (top, bottom))
        pairs += [(top, arm) for arm in arms if arm != top]
        pairs += [(arm, bottom) for arm in arms if arm not in (top, bottom)]
    if arm_names is None:
        arm_names = sorted({arm for pair in pairs for arm in pair})
    names = arm_names_of(arm_names, None)
    won, lost = (
        arm_positions("shown", side, names) for side in zip(*pairs, strict=True)
    )
    counts = np.zeros((len(pairs), 3))
    counts[:, 0] = 1.0
    return Comparisons.from_rows(names, won, lost, counts)


def _check_row(name: str, row: int, arms: list[str], picked: tuple[str, str]) -> None:
    if len(set(arms)) < len(arms):
        rule = f"row {row} shows an arm twice: {', '.join(arms)}"
        raise ComparisonDataError(name, rule, arms)
    for arm in picked:
        if arm not in arms:
            rule = f"row {row} picks {arm!r}, but shows {', '.join(arms)}"
            raise ComparisonDataError(name, rule, arm)
    if picked[0] == picked[1]:
        rule = f"row {row} picks {picked[0]!r} as best and as worst"
        raise ComparisonDataError(name, rule, picked)
