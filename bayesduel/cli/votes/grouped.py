"""Groups of votes, each with a fit of its own, and clusters of votes in one fit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import option_error, refuse_given
from bayesduel.cli.output import (
    console,
    print_json,
    save_csv,
    save_json,
    say_warning,
    version,
)
from bayesduel.cli.votes.options import Method
from bayesduel.cli.votes.saved_fits import (
    as_record,
    clusters_said,
    standing_cells,
    with_doubt,
)

if TYPE_CHECKING:
    from bayesduel.cli.votes.options import Scale
    from bayesduel.inference import GroupFits
    from bayesduel.votes import Comparisons

_MANY = 200
"""Rows that are printed without --all."""

By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Fit the votes of each group apart, such as topics; one table of all.",
    ),
]


Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Also say standard errors for votes that hang together, as those of one"
        " judge or of one prompt do.",
    ),
]


def method_of(method: Method, cluster: str | None) -> Method:
    """Return the method, which must have a mode where clusters are named."""
    if cluster is None or method is Method.laplace:
        return method
    if method is not Method.auto:
        rule = f"needs the curvature at a mode, and --method {method.value} has none"
        raise option_error("--cluster", rule, remedy="choose laplace")
    return Method.laplace


def check_by(by: str | None, cluster: str | None, refused: dict[str, Any]) -> None:
    """Refuse options that are about one fit alone, before a file is read."""
    if by is not None and by == cluster:
        raise option_error(
            "--cluster", "must be another column than --by: a group is one", cluster
        )
    if by is not None:
        refuse_given(refused, "is for one fit, and --by makes several")


def show_groups(
    model: Any,
    data: Comparisons,
    probability: float,
    scale: Scale,
    *,
    everything: bool,
    as_json: bool,
    out: Path | None,
    quiet: bool,
    clustered: bool,
    **options: Any,
) -> None:
    """Fit each group; print, and save, who stands where in it."""
    from bayesduel.experiments.progress import progress_reporter
    from bayesduel.inference import fit_groups

    # Fits take about half of the time, and what is said of them the other half.
    number, by = len(data.labels["group"]), "cluster" if clustered else None
    records = []
    with progress_reporter(enabled=not quiet) as bar:
        bar.expect(2 * number)
        found = fit_groups(model, data, "group", **options,
                           on_progress=lambda done, _: bar.count("groups", done)
                           )  # fmt: skip
        for place, group in enumerate(found.remarks):
            bar.count("tables of groups", number + place)
            records.append(_record(found, group, probability, scale, by))
    for record in records:
        for remark in record["remarks"]:
            say_warning(f"{record['group']}: {remark}")
    whole = {"model": repr(model), "interval": probability, "version": version(),
             "groups": records}  # fmt: skip
    if out is not None:
        _save(whole, out, quiet=quiet)
    if as_json:
        print_json(whole)
    else:
        _print(whole, model.title, everything=everything)


def _record(
    found: GroupFits, group: str, probability: float, scale: Scale, by: str | None
) -> dict[str, Any]:
    """Return what is known of a group: of one that has no fit, why."""
    remarks = list(found.remarks[group])
    if group not in found.fits:
        return {"group": group, "remarks": remarks, "arms": [], "parameters": []}
    from bayesduel.errors import FitError

    posterior = found.fits[group]
    try:
        record = as_record(posterior, probability, scale, cluster=by)
    except FitError as error:
        if by is None:
            raise
        # Such as a group of one cluster.
        remarks.append(f"no clustered errors: {error}")
        record = as_record(posterior, probability, scale)
        empty = {"error": math.nan, "error_clustered": math.nan}
        for row in (*record["arms"], *record["parameters"]):
            row |= empty
    arms = [row for row in record["arms"] if row["comparisons"] > 0]
    told = {"remarks": remarks, "arms": arms, "parts": len({a["part"] for a in arms})}
    return {"group": group, **record, **told}


def _rows(whole: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """Return rows of all groups, with the group first."""
    return [
        {"group": record["group"]} | row
        for record in whole["groups"]
        if record[part]
        for row in with_doubt(record, part)
    ]


def _save(whole: dict[str, Any], out: Path, *, quiet: bool) -> None:
    """Write standings.csv and .json, parameters.csv, and the remarks on groups."""
    save_csv(out / "standings.csv", _rows(whole, "arms"), quiet=quiet)
    save_json(out / "standings.json", whole, quiet=quiet)
    if rows := _rows(whole, "parameters"):
        save_csv(out / "parameters.csv", rows, quiet=quiet)


def _print(whole: dict[str, Any], title: str, *, everything: bool) -> None:
    from bayesduel.cli.tables import show, table_of

    fitted = [record for record in whole["groups"] if record["arms"]]
    # A column of parts where some group has several.
    parts = {"parts": max(record["parts"] for record in fitted)}
    heads, rows = [], []
    for record in fitted:
        heads, *cells = standing_cells(record | parts)
        rows += [[record["group"], *each] for each in cells]
    shown = rows if everything else rows[:_MANY]
    table = table_of(("group", *heads), shown, words=("group", "arm"))
    captions = [
        "rank, shared rank, score and P(best) are among the arms of the same group",
        f"intervals hold {whole['interval']:.0%}; bayesduel {whole['version']}",
    ]
    if "clustered" in heads:
        least = min(record.get("clusters", 1) for record in fitted)
        captions.insert(1, f"least of all groups: {clusters_said(least)}")
    doubtful = [each["group"] for each in fitted if each["doubts"]]
    if doubtful:
        captions.insert(0, f"DOUBTFUL: {', '.join(doubtful)}; see the warnings")
    if len(shown) < len(rows):
        captions.insert(0, f"left out: {len(rows) - len(shown)} more rows; see --all")
    show(console(), f"{title} of {len(fitted)} groups", table, *captions)
