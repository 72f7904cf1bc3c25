"""One row per policy and instance: final regret, slope, bound, ratio; all regret."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    checkpoint_index,
    measurements,
    recorded_notion,
    run_numbers,
)
from bayesduel.analysis.slopes import Slope, slope, slope_span
from bayesduel.analysis.text import (
    aligned,
    format_number,
    format_rounds,
    format_with_error,
    regret_words,
)
from bayesduel.errors import ArgumentError
from bayesduel.files.csv_cells import guarded_rows
from theory import REGRET_NOTIONS

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.analysis.measured_nodes import Result


@dataclass(frozen=True)
class FinalRegret:
    """Cumulative regret at the last checkpoint, over runs.

    Attributes
    ----------
    mean, standard_error, std, median, quantile_10, quantile_90 : float
        Regret in the notion of the summary. The standard error and the standard
        deviation (n - 1) of a single run are ``math.inf``: nothing is known of them.
    """

    mean: float
    standard_error: float
    std: float
    median: float
    quantile_10: float
    quantile_90: float


@dataclass(frozen=True)
class SummaryRow:
    """One policy on one instance, beside the lower bound that applies to it.

    Attributes
    ----------
    instance, policy : str
        Where it was measured.
    num_runs, horizon : int
        Number of runs and last checkpoint (0 if the policy failed).
    regret : FinalRegret or None
        None if the policy failed.
    slope : Slope or None
        Over the last decades; None after a failure or where all runs have a single
        checkpoint.
    lower_bound : float or None
        Constant of the lower bound on this regret per unit of natural log T; of a
        policy over a model, the one for policies that know the model.
    lower_bound_winner : int or None
        The winner that attains it, zero-based.
    ratio : float or None
        slope / lower_bound.
    note : str
        Why a number is missing, e.g. "lower bound: not defined (tie between 4 and 6)".
    error : str
        Why the policy failed; empty if it did not.
    look_ahead : bool or None
        Whether idle rounds were jumped over; None where the result does not say it.
    stopped_runs, stopped_at_mean, wrong_names : int, float, int or None
        Of runs with a rule for stopping: how many it ended, after how many rounds on
        average, and how many named an arm that is no Copeland winner. None without a
        rule, and `stopped_at_mean` where none was ended.
    run_seconds, compile_seconds : float or None
        What the runs took on this machine; None where that was not kept, as in files.
    """

    instance: str
    policy: str
    num_runs: int
    horizon: int
    regret: FinalRegret | None
    slope: Slope | None
    lower_bound: float | None
    lower_bound_winner: int | None
    ratio: float | None
    note: str
    error: str
    look_ahead: bool | None = None
    stopped_runs: int | None = None
    stopped_at_mean: float | None = None
    wrong_names: int | None = None
    run_seconds: float | None = None
    compile_seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, those of `regret` and `slope` one by one.

        Returns
        -------
        dict
            With keys such as ``regret_mean`` and ``slope_standard_error``, and None for
            numbers that are missing or not finite: what JSON can hold.
        """
        values: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            kind = {"regret": FinalRegret, "slope": Slope}.get(field.name)
            if kind is None:
                values[field.name] = value
                continue
            for part in (x.name for x in fields(kind) if x.name != "notion"):
                name = "slope" if part == "value" else f"{field.name}_{part}"
                values[name] = None if value is None else getattr(value, part)
        return {
            name: None if isinstance(x, float) and not math.isfinite(x) else x
            for name, x in values.items()
        }


@dataclass(frozen=True)
class Summary:
    """Rows of :func:`summary`; prints as a table.

    Attributes
    ----------
    rows : tuple of SummaryRow
        In the order of the result tree.
    notion : str
        Which regret.
    seed, version : str
        Of the simulation, as recorded.
    """

    rows: tuple[SummaryRow, ...]
    notion: str
    seed: str
    version: str

    HEADER = ("instance", "policy", "runs", "T", "regret", "median", "10-90 %",
              "slope", "lower bound", "ratio")  # fmt: skip

    def cells(self) -> list[tuple[str, ...]]:
        """Return the table as text, one tuple per row, in the order of ``HEADER``."""
        return [_row_cells(row) for row in self.rows]

    def notes(self) -> list[str]:
        """Return why numbers are missing, each reason once per instance."""
        texts = [f"{row.instance}: {row.note}" for row in self.rows if row.note]
        failed = [
            f"{row.instance}: {row.policy} failed: {row.error}"
            for row in self.rows
            if row.error
        ]
        return list(dict.fromkeys(texts + failed))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per policy and instance, missing numbers as nan.

        Returns
        -------
        pandas.DataFrame
            What `to_dicts` returns, a column per key.

        Examples
        --------
        >>> import bayesduel
        >>> from bayesduel.analysis import summary
        >>> result = bayesduel.compare(
        ...     ["cyclic"], ["d-ts", "rucb"], num_runs=8, horizon=1000
        ... )
        >>> table = summary(result).to_dataframe().set_index("policy")
        >>> bool(table.loc["D-TS", "regret_mean"] < table.loc["RUCB", "regret_mean"])
        True
        """
        import pandas as pd

        frame = pd.DataFrame(self.to_dicts())
        # Numbers that are missing are nan, also where all are.
        missing = frame.columns[frame.isna().all()]
        return frame.astype(dict.fromkeys(missing, float))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one row per policy and instance, missing numbers as None.

        ``bayesduel compare --json`` prints these rows, for every notion that was
        recorded, and ``summary.json`` and ``summary.csv`` hold them.

        Returns
        -------
        list of dict
            The notion of regret, and :meth:`SummaryRow.to_dict`.
        """
        return [
            {"instance": row.instance, "policy": row.policy, "notion": self.notion}
            | row.to_dict()
            for row in self.rows
        ]

    def __str__(self) -> str:
        """Return an aligned plain-text table with seed and version."""
        caption = (
            f"{regret_words(self.notion)}; slope and lower bound per unit of natural "
            f"log t; seed {self.seed}, bayesduel {self.version}"
        )
        return "\n".join([*aligned(self.HEADER, self.cells()), *self.notes(), caption])


def bound_text(row: SummaryRow) -> str:
    """Return the constant of the lower bound of a row as tables write it."""
    return "-" if row.lower_bound is None else f"{row.lower_bound:.1f}"


def _row_cells(row: SummaryRow) -> tuple[str, ...]:
    names, final, slope = (row.instance, row.policy), row.regret, row.slope
    if final is None:
        return (*names, "-", "-", "failed", *"-----")
    return (
        *names,
        str(row.num_runs),
        format_rounds(row.horizon),
        format_with_error(final.mean, final.standard_error),
        format_number(final.median),
        f"{format_number(final.quantile_10)} to {format_number(final.quantile_90)}",
        format_with_error(slope.value, slope.standard_error) if slope else "-",
        bound_text(row),
        "-" if row.ratio is None else f"{row.ratio:.2f}",
    )


def summary(
    comparison: Result,
    *,
    notion: str | None = None,
    from_round: int | None = None,
    to_round: int | None = None,
) -> Summary:
    """Summarize a comparison: final regret, slope, lower bound, their ratio.

    Parameters
    ----------
    comparison : xarray.DataTree, xarray.Dataset or list of Measurement
        What :func:`bayesduel.compare` or :func:`bayesduel.simulate` returned, or what
        :func:`bayesduel.analysis.measurements` made of it.
    notion : str, optional
        Which of the recorded notions of regret is summarized. By default Copeland
        regret, or the first recorded notion if Copeland regret was not recorded. There
        are lower bounds for Copeland regret and for the mean gap to a Condorcet winner.
        For other notions the row says that there is none.
    from_round, to_round : int, optional
        Checkpoints between which the slope is measured. By default these are the last
        two decades, that is, from the checkpoint nearest (in log t) to horizon / 100 up
        to the horizon, for each policy.

    Returns
    -------
    Summary
        The summary, with one row per policy and instance. Instances with ties and
        failed policies also have a row, which says in words why numbers are missing.

    Raises
    ------
    ValueError
        When the notion was not recorded or a round is no checkpoint.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> rounds = np.array([100, 1000, 10000])
    >>> regret = np.log(rounds) * np.array([[2.0], [4.0]])
    >>> data = xr.Dataset(
    ...     {"regret": (("notion", "run", "checkpoint"), regret[None])},
    ...     coords={"notion": ["copeland"], "checkpoint": rounds},
    ...     attrs={"instance": "toy", "policy": "P"},
    ... )
    >>> row = summary(data).rows[0]
    >>> print(row.slope, "|", row.note)
    3.0 ± 1.0 per log-round | lower bound: the result does not hold the matrix
    """
    measured = measurements(comparison)
    notion = recorded_notion(measured, notion)
    if not isinstance(notion, str):
        raise ArgumentError("notion", "must be the name of one", notion)
    rows = tuple(_summary_row(one, notion, from_round, to_round) for one in measured)
    attrs = {**measured[0].data.attrs, **getattr(comparison, "attrs", {})}
    return Summary(
        rows, notion, str(attrs.get("seed", "?")), str(attrs.get("version", "?"))
    )


def _summary_row(
    measured: Measurement, notion: str, from_round: int | None, to_round: int | None
) -> SummaryRow:
    names = (measured.instance, measured.policy)
    lower, winner, note = None, None, ""
    if notion in REGRET_NOTIONS or "lower_bounds" in measured.data.attrs:
        lower, winner, note = measured.lower_slope(notion)
    bound = None if lower is None else float(lower.log_coefficient)
    attrs = measured.data.attrs
    others: dict[str, Any] = {
        "look_ahead": bool(attrs["look_ahead"]) if "look_ahead" in attrs else None,
        **_stops(measured),
    }
    for name in ("run_seconds", "compile_seconds"):
        others[name] = float(attrs[name]) if name in attrs else None
    if not measured.has_regret:
        return SummaryRow(
            *names, 0, 0, None, None, bound, winner, None, note, measured.error,
            **others,
        )  # fmt: skip
    rounds, measured_slope = measured.rounds, None
    if to_round is not None:
        rounds = rounds[: checkpoint_index(rounds, to_round, "to_round") + 1]
    if rounds.size > 1:
        span = slope_span([measured], from_round, to_round)
        measured_slope = slope(measured, *span, notion)
    else:
        note = "; ".join(filter(None, [note, "slope: needs two checkpoints"]))
    ratio = measured_slope.value / bound if measured_slope and bound else None
    statistics = measured.statistics(notion)
    low, median, high = (float(q[-1]) for q in statistics.quantiles([0.1, 0.5, 0.9]))
    regret = FinalRegret(
        float(statistics.mean[-1]),
        float(statistics.standard_error[-1]),
        float(statistics.standard_deviation[-1]),
        median,
        low,
        high,
    )
    return SummaryRow(
        *names, statistics.num_runs, int(measured.rounds[-1]), regret, measured_slope,
        bound, winner, ratio, note, "", **others,
    )  # fmt: skip


def _stops(measured: Measurement) -> dict[str, Any]:
    """Return how many runs a rule ended, after how many rounds, how many wrongly."""
    matrix = measured.matrix if "stopped_at" in measured.data else None
    if matrix is None:
        return {}
    ended = measured.data["stopped_at"].to_numpy()
    named = measured.data["answer"].to_numpy()
    stopped, winners = ended > 0, matrix.copeland_winners
    wrong = (named >= 0) & ~np.isin(named, winners)
    return {
        "stopped_runs": int(stopped.sum()),
        "stopped_at_mean": float(ended[stopped].mean()) if stopped.any() else None,
        "wrong_names": int(wrong.sum()),
    }


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
    for measured in measurements(result):
        if not measured.has_regret:
            continue
        regret = measured.regret(notion)
        runs, rounds = regret.shape
        columns = {
            "instance": measured.instance,
            "policy": measured.policy,
            "run": np.repeat(run_numbers(measured), rounds),
            "checkpoint": np.tile(measured.rounds, runs),
            "regret": regret.ravel(),
        }
        parts.append(pd.DataFrame(columns))
    if not parts:
        names = ["instance", "policy", "run", "checkpoint", "regret"]
        return pd.DataFrame(columns=names)
    return pd.concat(parts, ignore_index=True)


# --- The summary as files: ``summary.csv`` and ``summary.json`` -----------------------


def by_notion(
    measured: Sequence[Measurement],
    notions: Mapping[str, Sequence[str]],
    *,
    main: bool = False,
) -> list[tuple[str, list[Measurement]]]:
    """Return every notion of regret with what is of instances that record it."""
    recorded = {
        name: recorded_here[:1] if main else recorded_here
        for name, recorded_here in notions.items()
    }
    return [
        (notion, [one for one in measured if notion in recorded[one.instance]])
        for notion in dict.fromkeys(
            notion for recorded_here in recorded.values() for notion in recorded_here
        )
    ]


def summary_files(
    result: Result, summarize: Callable[..., Summary] = summary
) -> dict[str, bytes]:
    """Return ``summary.csv`` and ``summary.json`` of what ``compare`` returned."""
    times = {"run_seconds": None, "compile_seconds": None}
    rows = [row | times for row in summary_rows(result, summarize)]
    text = io.StringIO()
    guarded = guarded_rows(rows)
    table = csv.DictWriter(text, list(guarded[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(guarded)
    return {
        "summary.csv": text.getvalue().encode(),
        "summary.json": json.dumps(rows, indent=2, ensure_ascii=False).encode(),
    }


def summary_rows(
    result: Result, summarize: Callable[..., Summary] = summary
) -> list[dict[str, Any]]:
    """Return a row per instance, policy and notion of regret, in this order."""
    measured = measurements(result)
    rows = [
        row
        for notion, part in by_notion(measured, _recorded(measured))
        for row in summarize(part, notion=notion).to_dicts()
    ]
    order = [(one.instance, one.policy) for one in measured]
    return sorted(rows, key=lambda row: order.index((row["instance"], row["policy"])))


def _recorded(measured: Sequence[Measurement]) -> dict[str, tuple[str, ...]]:
    """Return the notions of each instance; where all failed, those of the others."""
    recorded: dict[str, tuple[str, ...]] = {}
    for one in measured:
        recorded[one.instance] = recorded.get(one.instance) or one.notions
    others = tuple(
        dict.fromkeys(notion for notions in recorded.values() for notion in notions)
    )
    return {
        name: notions or others or ("copeland",) for name, notions in recorded.items()
    }
