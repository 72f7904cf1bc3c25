"""Regret of a result as a table with one row per run and checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import (
    measurements,
    recorded_notion,
    run_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.analysis.measured_nodes import Result


def regret_dataframe(result: Result, *, notion: str | None = None) -> pd.DataFrame:
    """Return cumulative regret in long form.

    Parameters
    ----------
    result : xarray.DataTree or xarray.Dataset
        What :func:`bayesduel.compare` or :func:`bayesduel.simulate` returned.
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.

    Returns
    -------
    pandas.DataFrame
        Columns ``instance``, ``policy``, ``run``, ``checkpoint`` (rounds) and
        ``regret``, in the order of the result. Policies that failed have no rows.

    Raises
    ------
    ValueError
        When the notion was not recorded.

    Examples
    --------
    >>> import bayesduel
    >>> from bayesduel.analysis import regret_dataframe
    >>> result = bayesduel.compare(
    ...     ["cyclic"], ["d-ts", "rucb"], num_runs=2, horizon=100, checkpoints=[10, 100]
    ... )
    >>> regret_dataframe(result)[["policy", "run", "checkpoint"]]
      policy  run  checkpoint
    0   D-TS    0          10
    1   D-TS    0         100
    2   D-TS    1          10
    3   D-TS    1         100
    4   RUCB    0          10
    5   RUCB    0         100
    6   RUCB    1          10
    7   RUCB    1         100
    """
    import pandas as pd

    notion = recorded_notion(result, notion)
    parts = []
    for each in measurements(result):
        if not each.has_regret:
            continue
        regret = each.regret(notion)
        runs, rounds = regret.shape
        columns = {
            "instance": each.instance,
            "policy": each.policy,
            "run": np.repeat(run_numbers(each), rounds),
            "checkpoint": np.tile(each.rounds, runs),
            "regret": regret.ravel(),
        }
        parts.append(pd.DataFrame(columns))
    if not parts:
        names = ["instance", "policy", "run", "checkpoint", "regret"]
        return pd.DataFrame(columns=names)
    return pd.concat(parts, ignore_index=True)
