"""Fits as records for JSON, as tables on the screen, and as files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.output import Messages, console
from bayesduel.cli.tables import show, table_of

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.diagnostics import Report
    from bayesduel.inference import Fit

MANY = 40  # Arms that are printed without --all.

# Numbers in a variable from which compressing it is worth the time.
_LARGE = 10_000
_FEW_CLUSTERS = 40
_ERRORS = ("error", "error_clustered")
_COUNTS = ("comparisons", "wins", "losses", "ties")  # Which whole ballots have not.


def rows_of_arms(numbers: xr.Dataset) -> list[dict[str, Any]]:
    """Return a row for each arm of its numbers."""
    columns = {str(name): column.values.tolist() for name, column in numbers.items()}
    return [
        {"arm": arm} | {name: values[row] for name, values in columns.items()}
        for row, arm in enumerate(numbers["arm"].values.tolist())
    ]


Cells = list[list[str]]  # A table as texts, its heads first.


def standing_cells(record: dict[str, Any]) -> Cells:
    """Return the table of arms."""
    arms, several = record["arms"], record["parts"] > 1
    has_errors = bool(arms) and "error" in arms[0]
    has_counts = not arms or _COUNTS[0] in arms[0]
    score = {"utility": "utility", "elo": "Elo"}.get(record["score"], "P(win)")
    form = "z.0f" if record["score"] == "elo" else "z.3f"
    heads = ["arm", *["part"] * several, "rank", "shared", score, "interval"]
    heads += ["error", "clustered"] * has_errors + ["P(best)"]
    table = [heads + ["votes", "won", "lost", "tied"] * has_counts]
    for row in arms:
        low, high = row["rank_lower"], row["rank_upper"]
        errors = [f"{row[key]:{form}}" for key in _ERRORS if key in row]
        # An arm that is alone in its part has no rank.
        standing = ["-"] * (5 + len(errors)) if math.isnan(low) else [
            str(low) if low == high else f"{low}-{high}",
            str(row["rank_shared"]),
            f"{row['score']:{form}}",
            f"{row['score_lower']:{form}} to {row['score_upper']:{form}}",
            *errors,
            f"{row['p_best']:.3f}",
        ]  # fmt: skip
        counts = [row[key] for key in _COUNTS if key in row]
        table.append(
            [row["arm"], *[str(row["part"])] * several, *standing,
             *(f"{count:g}" if count % 1 else f"{int(count)}" for count in counts)]
        )  # fmt: skip
    return table


def _parameter_cells(parameters: list[dict[str, Any]]) -> Cells:
    errors = [key for key in _ERRORS if key in parameters[0]]
    heads = ["parameter", "mean", "interval", *["error", "clustered"][: len(errors)]]
    rows = [
        [
            row["parameter"],
            _digits(row["mean"]),
            f"{_digits(row['lower'])} to {_digits(row['upper'])}",
            *(_digits(row[key]) for key in errors),
            row["meaning"],
        ]
        for row in parameters
    ]
    return [[*heads, "meaning"], *rows]


def _digits(value: float) -> str:
    # Three decimals; three digits of what is per unit of a large number.
    return f"{value:z.3f}" if abs(value) >= 0.01 or not value else f"{value:.3g}"


def _contrast_cells(rows: list[dict[str, Any]], reference: str) -> Cells:
    equivalent = "p_equivalent" in rows[0]
    heads = ["arm", f"minus {reference}", "interval", "P(better)"]
    table = [heads + ["P(equivalent)"] * equivalent]
    for row in rows:
        form = "z.0f" if max(abs(row["lower"]), abs(row["upper"])) >= 50 else "z.3f"
        cells = [
            row["arm"],
            f"{row['mean']:{form}}",
            f"{row['lower']:{form}} to {row['upper']:{form}}",
            f"{row['p_better']:.3f}",
        ]
        table.append([*cells, f"{row['p_equivalent']:.3f}"] if equivalent else cells)
    return table


def clusters_said(number: int) -> str:
    """Return what a table says of its two kinds of standard errors."""
    few = ", rather too small with so few" if number < _FEW_CLUSTERS else ""
    return (
        f"error: standard error by the model; clustered: where {number} clusters are "
        f"independent, and not votes{few}"
    )


def print_standings(title: str, record: dict[str, Any], *, everything: bool) -> None:
    """Print a record with one row per arm, the best first."""
    heads, *rows = standing_cells(record)
    shown = rows if everything else rows[:MANY]
    several, anchor = record["parts"] > 1, record["anchor"]
    of_utilities = record["score"] in ("utility", "elo")
    zero = "the mean of its part" if several else "the mean of all arms"
    if anchor is not None:
        zero = f"{anchor[0]}, which has {anchor[1]:g}"
    score = f"{heads[3 + several]}: relative to {zero}"
    if not of_utilities:
        of = " of its part" * several
        score = f"P(win): mean probability of beating another arm{of}"
    captions = [
        *(f"DOUBTFUL: {doubt}" for doubt in record["doubts"]),
        f"{score}; intervals hold {record['interval']:.0%}; P(best): "
        f"{record['p_best']}",
        f"bayesduel {record['version']}",
    ]
    if several:
        captions.insert(
            0,
            f"no votes connect the {record['parts']} parts: rank, "
            f"{heads[4]} and P(best) are among the arms of the same part, "
            "and cannot be compared across parts",
        )
    elif not of_utilities:
        exists = record["condorcet_exists"]
        captions.insert(1, f"an arm that beats every other one exists: {exists:.2f}")
    if "clusters" in record:
        captions.insert(1, clusters_said(record["clusters"]))
    if hidden := len(rows) - len(shown):
        captions.insert(0, f"left out: {hidden} more arms; see --all")
    show(console(), title, table_of(heads, shown), *captions)
    print_parameters(record["parameters"])
    if "contrasts" in record:
        rows = record["contrasts"] if everything else record["contrasts"][:MANY]
        print_contrasts(rows, record["reference"], record["equivalent"])


def print_parameters(
    parameters: list[dict[str, Any]], at_mode: float | None = None
) -> None:
    """Print what belongs to no arm, if anything; at a mode with that interval."""
    if parameters:
        heads, *rows = _parameter_cells(parameters)
        table = table_of(heads, rows, words=("parameter", "meaning"))
        held = f"mean: at the mode; intervals hold {at_mode:.0%}" if at_mode else ""
        show(console(), "of all arms", table, *([held] if held else []))


def print_contrasts(
    rows: list[dict[str, Any]], reference: str, equivalent: float | None
) -> None:
    """Print how far arms are from the reference arm."""
    heads, *cells = _contrast_cells(rows, reference)
    least = f"equivalent: differ by at most {equivalent or 0:g}"
    captions = [] if equivalent is None else [least]
    show(console(), f"differences from {reference}", table_of(heads, cells), *captions)


def save_fit(
    posterior: Fit,
    record: dict[str, Any],
    out: Path,
    scale: str,
    check: Report | None,
    messages: Messages,
    *,
    log_likelihood: bool,
) -> None:
    """Write standings.csv, .json and .md, parameters.csv, fit.nc, and figures."""
    from bayesduel import plots
    from bayesduel.cli.output import say_warning

    probability, anchor, data = record["interval"], record["anchor"], posterior.data
    text = markdown(record)
    messages.save_csv(out / "standings.csv", with_doubt(record, "arms"))
    messages.save_json(out / "standings.json", record)
    if check is not None:
        messages.save_text(out / "check.txt", f"{check}\n")
        text += f"\n```\n{check.short()}\n```\n"
    messages.save_text(out / "standings.md", text)
    for part in ("parameters", "contrasts"):
        if record.get(part):
            messages.save_csv(out / f"{part}.csv", with_doubt(record, part))
    of_pairs = _COUNTS[0] in record["arms"][0]
    if not of_pairs or data.is_whole:
        save_draws(posterior.to_datatree(log_likelihood=log_likelihood), out, messages)
    else:
        say_warning("no fit.nc: split or weighted votes cannot be drawn anew")
    figures = {
        "forest": plots.forest(
            posterior, probability=probability, scale=scale, anchor=anchor
        ),
        "ranks": plots.forest(posterior, by="rank", probability=probability),
        "winners": plots.winners(posterior),
    }
    if of_pairs:
        best_two = (row["arm"] for row in record["arms"][:2])
        unit = "elo" if scale == "elo" else "probability"
        figures["best-two"] = plots.pair(
            posterior, *best_two, probability=probability, scale=unit
        )
        figures["preferences"] = plots.heat_map(posterior)
        if data.is_whole and data.without_ties().num_votes:
            figures["check"] = plots.predictive_check(posterior)
    messages.save_figures({out / name: figure for name, figure in figures.items()})


def with_doubt(record: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """Return rows of a record with the doubts about the fit in each."""
    return [row | {"doubt": "; ".join(record["doubts"])} for row in record[part]]


def save_draws(tree: xr.DataTree, out: Path, messages: Messages) -> None:
    """Write fit.nc, its larger variables compressed, counts in few bytes."""
    import numpy as np

    encoding: dict[str, dict[str, dict[str, Any]]] = {}
    for node in tree.subtree:
        encoding[node.path] = {}
        for name, variable in node.data_vars.items():
            if variable.size > _LARGE:
                packed: dict[str, Any] = {"zlib": True, "complevel": 4}
                if variable.dtype.kind == "i":
                    packed["dtype"] = np.min_scalar_type(-int(variable.max()) - 1)
                encoding[node.path][str(name)] = packed
    tree.to_netcdf(out / "fit.nc", engine="h5netcdf", encoding=encoding)
    messages.say(f"saved {out / 'fit.nc'}")


def markdown(record: dict[str, Any]) -> str:
    """Return a record as tables in Markdown."""
    tables = [standing_cells(record)]
    if record["parameters"]:
        tables.append(_parameter_cells(record["parameters"]))
    if "contrasts" in record:
        tables.append(_contrast_cells(record["contrasts"], record["reference"]))
    parts = []
    for heads, *rows in tables:
        words = {heads[0], "meaning"}
        sides = [":--" if head in words else "--:" for head in heads]
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (heads, *rows)]
        cells.insert(1, sides)
        parts.append("".join(f"| {' | '.join(row)} |\n" for row in cells))
    text = "\n".join(parts)
    return text + "".join(f"\nDOUBTFUL: {doubt}\n" for doubt in record["doubts"])
