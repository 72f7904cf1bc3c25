"""``bayesduel fit-choices``: what attributes are worth, from a file of choices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesduel.cli.fits import save_draws, with_doubt
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.output import Output, console, print_json, say_warning, version
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import WHERE, FitOptions, names_between, require_file

if TYPE_CHECKING:
    from bayesduel.inference import Fit
    from bayesduel.votes import Choices


ChoiceModel = Literal["conditional", "mixed"]

LONG = option(
    "ID,ALTERNATIVE,CHOSEN: Columns of a table with a row for each alternative of "
    "each choice."
)


@command("fit-choices trips.csv --attributes cost,time --choice mode")
def fit_choices(
    *,
    choices: Path = argument(
        "CHOICES: CSV, TSV, JSON or JSON lines, perhaps .gz: a choice a row, with a "
        "column per alternative for each attribute; or --long."
    ),
    attributes: str = option(
        "A,...: price reads price1, price_2 ..., or bus_price; or name the columns: "
        "wait=wait_bus|wait_car, an empty one is 0. Words become 0 and 1.",
        default=...,
    ),
    choice: str = option("COLUMN: Column of the chosen alternative.", default="choice"),
    alternatives: str | None = option(
        "A,...: Default: all with a column for each attribute."
    ),
    long: str | None = LONG,
    available: str | None = option(
        "COLUMN: 1 where an alternative was on offer; named as an attribute is."
    ),
    person: str | None = option("COLUMN: Column of who chose."),
    none: str | None = option('WORD: What stands for "none of them".'),
    where: list[str] | None = WHERE,
    dry_run: bool = option("Only print ten rows, as they were understood."),
    model: ChoiceModel = option(
        "One coefficient for all, or one for each person.", default="conditional"
    ),
    constants: bool = option("Each alternative but the first has a constant."),
    random: str | None = option(
        "A,...: mixed: the coefficients that differ; default: all."
    ),
    prior_scale: float = option(
        "S: Standard deviation of coefficients, in units of the spread of their "
        "attributes; the default is as good as flat.",
        default=100.0,
    ),
    fitting: FitOptions,
    out: Path | None = option("DIR: Save CSV, JSON, netCDF and a figure there."),
    output: Output,
) -> None:
    """Fit a logit to choices, and print what each attribute is worth.

    Columns: estimate and standard error at the mode, which are those of maximum
    likelihood where the prior is wide; mean and interval of the posterior.
    """
    from bayesduel.models.argument_checks import check_probability

    check_probability(fitting.probability)
    if random is not None and model != "mixed":
        rule, remedy = "is for --model mixed", "there coefficients differ"
        raise option_error("--random", rule, remedy=remedy)
    require_file("CHOICES", choices)
    from bayesduel.votes import read_long_choices, read_wide_choices

    names = names_between("--attributes", attributes) or ()
    shared: dict[str, Any] = {
        "available": available,
        "person": person,
        "none": none,
        "where": where or [],
    }
    arms = names_between("--alternatives", alternatives)
    if long is None:
        columns: dict[str, list[str] | None] = {}
        for entry in names:
            name, equals, titles = entry.partition("=")
            columns[name.strip()] = titles.split("|") if equals else None
        data = read_wide_choices(
            choices, choice=choice, attributes=columns, alternatives=arms, **shared
        )
    else:
        if choice != "choice":
            rule = "is for a choice a row, and --long names the column of what was "
            raise option_error("--choice", f"{rule}chosen", choice)
        case, alternative, chosen = names_between("--long", long, 3) or ("", "", "")
        data = read_long_choices(
            choices, case=case, alternative=alternative, chosen=chosen,
            attributes=names, arm_names=arms, **shared,
        )  # fmt: skip
    if dry_run:
        _preview(choices.name, data)
        return
    from bayesduel.inference import fit as fit_model
    from bayesduel.models import ConditionalLogit, MixedLogit

    options: dict[str, Any] = {"constants": constants, "prior_scale": prior_scale}
    logit: Any = ConditionalLogit(**options)
    if model == "mixed":
        logit = MixedLogit(**options, random=names_between("--random", random))
    logit.arrays(data)  # Says what does not fit before a folder is made.
    output.claim(out, "fit")
    output.say(f"{choices.name}: {data}")
    with output.working(fitting.fitting_words(logit)):
        posterior = fit_model(logit, data, **fitting.arguments())
    for remark in posterior.remarks:
        say_warning(remark)
    record = _record(posterior, fitting.probability)
    if output.as_json:
        print_json(record)
    else:
        _print(record)
    if out is not None:
        from bayesduel import plots

        rows = with_doubt(record, "parameters")
        output.save_csv(out / "coefficients.csv", rows)
        output.save_json(out / "coefficients.json", record)
        if data.is_whole:
            save_draws(posterior.to_datatree(log_likelihood=False), out, output)
        else:
            say_warning("no fit.nc: weighted choices cannot be drawn anew")
        figure = plots.coefficients(posterior, probability=fitting.probability)
        output.save_figures({out / "coefficients": figure})


def _preview(name: str, data: Choices) -> None:
    """Print the first choices: what was offered with which attributes, and chosen."""
    assert data.attributes is not None
    # Each of five choices has a row for each alternative.
    rows = [
        (
            label,
            data.arm_names[arm],
            f"{data.counts[row, arm]:g}",
            *(f"{value:g}" for value in data.attributes[row, arm].tolist()),
        )
        for row, label in enumerate(data.row_names[:5])
        for arm in data.offered[row].nonzero()[0].tolist()
    ]
    words = ("choice", "alternative")
    table = table_of((*words, "chosen", *data.attribute_names), rows, words=words)
    show(console(), f"{name}: {data}", table)


def _record(posterior: Fit, probability: float) -> dict[str, Any]:
    """Return coefficients and what was fitted as plain values, for JSON."""
    import numpy as np

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
        **posterior.belief,
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


def _print(record: dict[str, Any]) -> None:
    """Print a row for each coefficient."""
    height = record["log_likelihood"]
    heads = ["mean", "interval"]
    captions = [f"DOUBTFUL: {doubt}" for doubt in record["doubts"]]
    if height is not None:
        heads = ["estimate", "std. error", *heads]
        equal = record["log_likelihood_of_equal_shares"]
        captions.append(
            f"log likelihood at the mode {height:.3f}, of equal shares {equal:.3f}: "
            f"McFadden's R2 is {1.0 - height / equal:.3f}"
        )
    captions += [
        f"utility per unit of the attribute; intervals hold {record['interval']:.0%}",
        f"bayesduel {record['version']}",
    ]
    rows = []
    for row in record["parameters"]:
        at_mode = () if height is None else (row["estimate"], row["standard_error"])
        interval = f"{_digits(row['lower'])} to {_digits(row['upper'])}"
        numbers = [*map(_digits, (*at_mode, row["mean"])), interval]
        rows.append([row["parameter"], *numbers])
    show(console(), record["model"], table_of(["parameter", *heads], rows), *captions)


def _digits(value: float) -> str:
    # Four digits, not in powers of ten where it can be.
    return f"{value:.4g}" if 1e-4 <= abs(value) < 1e4 or not value else f"{value:.3e}"
