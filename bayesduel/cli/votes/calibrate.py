"""``bayesduel calibrate``: whether a way to fit votes keeps what it promises."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.options import (
    flag,
    integer_option,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    seed_option,
)
from bayesduel.cli.output import console, print_json, save_json, say, version
from bayesduel.cli.parse import claim_folder
from bayesduel.cli.votes.chosen_models import check_model, preference_model
from bayesduel.cli.votes.options import (
    Arms,
    ContestCovariate,
    ContestScale,
    Method,
    Model,
    ModelChoice,
    OrderEffect,
    OrderKnown,
    TieColumns,
    Weight,
    Winner,
    Wins,
    Words,
    read_pairs,
    vote_format,
)

if TYPE_CHECKING:
    from bayesduel.diagnostics import Calibration

# Bonferroni-corrected p-value below which ranks are called not uniform.
_SMALL = 0.01


def calibrate(
    votes: Annotated[
        Path,
        typer.Argument(
            metavar="VOTES",
            help="CSV or TSV as for fit: how often each pair was compared"
            " is used, not what the votes say.",
        ),
    ],
    arms: Arms = None,
    winner: Winner = None,
    words: Words = None,
    wins: Wins = None,
    tie_columns: TieColumns = None,
    weight: Weight = None,
    model: ModelChoice = Model.bradley_terry,
    prior_scale: Annotated[
        float | None,
        number_option(metavar="S", help="As in fit: truths are drawn from the prior."),
    ] = None,
    order_effect: OrderEffect = False,
    order_known: OrderKnown = False,
    contest_covariate: ContestCovariate = None,
    contest_scale: ContestScale = None,
    method: Annotated[
        Method, typer.Option(help="auto: exact for beta, else laplace, as in fit.")
    ] = Method.auto,
    plain: Annotated[
        bool, flag("--plain", help="laplace, svi: do not resample by importance.")
    ] = False,
    simulations: Annotated[
        int,
        integer_option(metavar="N", least=20, help="Data sets to simulate and fit."),
    ] = 200,
    seed: Annotated[int, seed_option] = 0,
    as_json: Annotated[bool, json_flag] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save JSON and a figure of the ranks there."),
    ] = None,
    overwrite: Annotated[bool, overwrite_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Simulate votes from the model, fit them, and count how often intervals are right.

    Columns: how often intervals of 50% and 90% held the truth, and the p-value of
    uniform ranks, the smallest one for a quantity of several arms.

    Where a column says by how much the first answer of each contest is longer:
    bayesduel calibrate votes.csv --contest-covariate longer --contest-scale 0.5
    """  # fmt: skip
    check_model(
        model,
        order_effect=order_effect,
        contest_covariate=contest_covariate or (),
        contest_scale=contest_scale,
    )
    reading = vote_format(
        arms=arms, winner=winner, words=words, wins=wins, ties=tie_columns,
        weight=weight, order_known=order_known,
        contest_covariates=tuple(contest_covariate or ()),
    )  # fmt: skip
    data = read_pairs(votes, reading)
    from bayesduel.diagnostics import calibrate as calibrate_model
    from bayesduel.experiments.progress import progress_reporter

    chosen = preference_model(
        model, data, prior_scale, order_effect=order_effect, contest_scale=contest_scale
    )
    chosen.arrays(data)  # Says what does not fit before anything else is said.
    name = chosen.usual_method if method is Method.auto else method.value
    say(f"{votes.name}: {data}; {simulations} data sets by {name}", quiet=quiet)
    if out is not None:
        claim_folder(out, kind="calibration", overwrite=overwrite)
    with progress_reporter(enabled=not quiet) as bar:
        bar.expect(simulations)
        found = calibrate_model(
            chosen,
            data,
            method=name,
            num_simulations=simulations,
            resample=not plain,
            rng_key=seed,
            on_progress=partial(bar.count, "data sets"),
        )
    record = _record(found, simulations, f"{chosen.title} by {name}")
    if as_json:
        print_json(record)
    else:
        _show(record)
    if out is not None:
        from bayesduel import plots
        from bayesduel.cli.figures import save_figures

        save_json(out / "calibration.json", record, quiet=quiet)
        save_figures({out / "ranks": plots.calibration(found)}, quiet=quiet)


def _record(found: Calibration, simulations: int, title: str) -> dict[str, Any]:
    """Return what was found as plain values."""
    smallest = found.smallest_p_value()
    half, most, p_values = found.coverage(0.5), found.coverage(0.9), found.p_values()
    rows: list[dict[str, Any]] = [
        {
            "quantity": name,
            "coverage_50": float(half[name].mean()),
            "coverage_90": float(most[name].mean()),
            "p_value": float(p_values[name].min()),
        }
        for name in found.ranks
    ]
    return {
        "fit": title,
        "simulations": simulations,
        "calibrated": smallest >= _SMALL,
        "smallest_p_value": smallest,
        "quantities": rows,
        "version": version(),
    }


def _show(record: dict[str, Any]) -> None:
    from bayesduel.cli.tables import show, table_of

    verdict = (
        "nothing speaks against it"
        if record["calibrated"]
        else "ranks are not uniform: intervals promise what they do not keep"
    )
    keys = ("coverage_50", "coverage_90", "p_value")
    rows = [
        (row["quantity"], *(f"{row[key]:.3f}" for key in keys))
        for row in record["quantities"]
    ]
    table = table_of(("quantity", "in 50%", "in 90%", "p"), rows)
    captions = [
        f"{verdict}; smallest p-value, corrected for the number of quantities: "
        f"{record['smallest_p_value']:.3f}",
        f"bayesduel {record['version']}",
    ]
    title = f"{record['fit']}, {record['simulations']} simulations"
    show(console(), title, table, *captions)
