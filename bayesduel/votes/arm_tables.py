"""Read what is known about arms from users' tables."""

import logging
import os
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import MOST_VOTES, arm_names_of, shortened

_LOGGER = logging.getLogger(__name__)


def read_covariates(
    path: str | os.PathLike[str], arm_names: Sequence[str]
) -> tuple[Float64[np.ndarray, "K covariate"], tuple[str, ...]]:
    r"""Read what is known about each arm, for ``Comparisons.with_covariates``.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8 with a header, perhaps compressed with gzip: an arm a
        row. The column "arm", else the first one, names the arms; all others are
        numbers.
    arm_names : sequence of K str
        The arms whose rows are wanted, in that order. Rows of other arms are left out,
        and named by a log message of level WARNING.

    Returns
    -------
    float64 (K, covariate), tuple of str
        The covariates, in their own units, and the titles of their columns.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If an arm has no row or several, a cell is no number, or there is no column of
        numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("arm,price\ntea,1.5\nmilk,-0.5\n")
    ...     read_covariates(path, ["milk", "tea"])
    (array([[-0.5],
           [ 1.5]]), ('price',))
    """
    table = ColumnTable(path)
    wanted = arm_names_of(arm_names, None)
    arm = "arm" if "arm" in table else table.titles[0]
    titles = [title for title in table.titles if title != arm]
    if not titles:
        rule = f"needs a column of numbers beside {arm!r}, which names the arms"
        raise ComparisonDataError(table.name, rule, table.titles)
    rows = {name: row for row, name in enumerate(table[arm])}
    if len(rows) < table.num_rows:
        names = table[arm]
        row = next(row for row, name in enumerate(names) if rows[name] != row)
        rule = f"row {row} of column {arm!r} is not the only one of {names[row]!r}"
        raise ComparisonDataError(table.name, rule, names[row])
    if lacking := [name for name in wanted if name not in rows]:
        rule = f"column {arm!r} lacks the arms {shortened(lacking)}"
        remedy = "add a row for each arm of the votes"
        raise ComparisonDataError(table.name, rule, table[arm], remedy=remedy)
    if others := [name for name in rows if name not in wanted]:
        _LOGGER.warning(
            "%s: not read: rows of %s, in no vote", table.name, shortened(others)
        )
    most = MOST_VOTES
    columns = np.stack([table.numbers(title, least=-most) for title in titles], axis=1)
    return columns[[rows[name] for name in wanted]], tuple(titles)
