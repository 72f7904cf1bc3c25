"""A fit of choices as a table of coefficients on the screen, and as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.cli.figures import save_figures
from bayesduel.cli.output import save_csv, save_json, say_warning, version
from bayesduel.cli.votes.saved_fits import belief_in, save_draws, with_doubt

if TYPE_CHECKING:
    from rich.console import Console

    from bayesduel.inference import Fit


def choice_record(posterior: Fit, probability: float) -> dict[str, Any]:
    """Return coefficients and what was fitted as plain values, for JSON."""
    from bayesduel.inference import parameter_summary

    data, rows = posterior.data, parameter_summary(posterior, probability)
    height = None
    if posterior.converged and "laplace" in posterior.extras:
        mode, errors = posterior.mode, posterior.standard_errors
        height = mode.attrs["log_likelihood"]
        for row in rows:
            name, _, label = row["parameter"].removesuffix("]").partition("[")
            (axis,) = mode[name].dims
            row["estimate"] = float(mode[name].sel({axis: label}))
            row["standard_error"] = float(errors[name].sel({axis: label}))
    offered = data.offered.sum(axis=1) + int(data.outside)
    return {
        **belief_in(posterior),
        "choices": data.num_votes,
        "persons": len(data.person_names) or None,
        "alternatives": list(data.arm_names),
        "interval": probability,
        "log_likelihood": height,
        "log_likelihood_of_equal_shares": -float(
            data.counts.sum(axis=1) @ np.log(offered)
        ),
        "remarks": list(posterior.remarks),
        "version": version(),
        "parameters": rows,
    }


def print_coefficients(screen: Console, record: dict[str, Any]) -> None:
    """Print a row for each coefficient."""
    from bayesduel.cli.tables import show, table_of

    at_mode = record["log_likelihood"] is not None
    heads = ["estimate", "std. error"] if at_mode else []
    rows = []
    for row in record["parameters"]:
        numbers = [row["estimate"], row["standard_error"]] if at_mode else []
        interval = f"{_digits(row['lower'])} to {_digits(row['upper'])}"
        cells = [*map(_digits, numbers), _digits(row["mean"]), interval]
        rows.append([row["parameter"], *cells])
    equal = record["log_likelihood_of_equal_shares"]
    captions = [f"DOUBTFUL: {each}" for each in record["doubts"]]
    if at_mode:
        height = record["log_likelihood"]
        captions.append(
            f"log likelihood at the mode {height:.3f}, of equal shares {equal:.3f}: "
            f"McFadden's R2 is {1.0 - height / equal:.3f}"
        )
    captions += [
        f"utility per unit of the attribute; intervals hold {record['interval']:.0%}",
        f"bayesduel {record['version']}",
    ]
    table = table_of(["parameter", *heads, "mean", "interval"], rows)
    show(screen, record["model"], table, *captions)


def _digits(value: float) -> str:
    """Return a number with four digits, not in powers of ten where it can be."""
    return f"{value:.4g}" if 1e-4 <= abs(value) < 1e4 or not value else f"{value:.3e}"


def save_choices(
    posterior: Fit,
    record: dict[str, Any],
    out: Path,
    probability: float,
    *,
    quiet: bool,
) -> None:
    """Write coefficients.csv and .json, fit.nc, and a figure."""
    from bayesduel import plots

    save_csv(out / "coefficients.csv", with_doubt(record, "parameters"), quiet=quiet)
    save_json(out / "coefficients.json", record, quiet=quiet)
    if posterior.data.is_whole:
        save_draws(posterior.to_datatree(log_likelihood=False), out, quiet=quiet)
    else:
        say_warning("no fit.nc: weighted choices cannot be drawn anew")
    figure = plots.coefficients(posterior, probability=probability)
    save_figures({out / "coefficients": figure}, quiet=quiet)
