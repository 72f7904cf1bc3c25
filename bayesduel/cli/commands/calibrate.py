"""``bayesduel calibrate``: whether a way to fit votes keeps what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bayesduel.cli.options import SEED, argument, command, option
from bayesduel.cli.output import Output, console, print_json, version
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import Method, ModelOptions, VoteOptions, preference_model

# Bonferroni-corrected p-value below which ranks are called not uniform.
_SMALL = 0.01


@dataclass(frozen=True)
class CalibrateOptions(ModelOptions, VoteOptions):
    """Votes, and the model that is judged."""


@command("calibrate votes.csv --model bradley-terry")
def calibrate(
    *,
    votes: Path = argument(
        "VOTES: CSV or TSV as for fit: how often each pair was compared is used, not "
        "what the votes say."
    ),
    request: CalibrateOptions,
    method: Method = option(
        "auto: exact for beta, else laplace, as in fit.", default="auto"
    ),
    plain: bool = option("laplace, svi: do not resample by importance."),
    simulations: int = option(
        "N: Data sets to simulate and fit.", default=200, least=20
    ),
    seed: int = SEED,
    out: Path | None = option("DIR: Save JSON and a figure of the ranks there."),
    output: Output,
) -> None:
    """Simulate votes from the model, fit them, and count how often intervals are right.

    Columns: how often intervals of 50% and 90% held the truth, and the p-value of
    uniform ranks, the smallest one for a quantity of several arms.

    Where a column says by how much the first answer of each contest is longer:
    bayesduel calibrate votes.csv --contest-covariate longer --contest-scale 0.5
    """
    request.check_model()
    data = request.read(votes)
    from bayesduel import diagnostics, plots
    from bayesduel.experiments.progress import progress_reporter

    chosen = preference_model(
        request.model, data, request.prior_scale, order_effect=request.order_effect,
        contest_scale=request.contest_scale,
    )  # fmt: skip
    chosen.arrays(data)  # Says what does not fit before anything else is said.
    name = chosen.usual_method if method == "auto" else method
    output.say(f"{votes.name}: {data}; {simulations} data sets by {name}")
    output.claim(out, "calibration")
    with progress_reporter(enabled=not output.quiet) as bar:
        bar.expect(simulations)
        calibration = diagnostics.calibrate(
            chosen, data, method=name, num_simulations=simulations, resample=not plain,
            rng_key=seed, on_progress=partial(bar.count, "data sets"),
        )  # fmt: skip
    smallest = calibration.smallest_p_value()
    half, most, p_values = (
        calibration.coverage(0.5),
        calibration.coverage(0.9),
        calibration.p_values(),
    )
    quantities = [
        {
            "quantity": quantity,
            "coverage_50": float(half[quantity].mean()),
            "coverage_90": float(most[quantity].mean()),
            "p_value": float(p_values[quantity].min()),
        }
        for quantity in calibration.ranks
    ]
    record = {
        "fit": f"{chosen.title} by {name}",
        "simulations": simulations,
        "calibrated": smallest >= _SMALL,
        "smallest_p_value": smallest,
        "quantities": quantities,
        "version": version(),
    }
    if output.as_json:
        print_json(record)
    else:
        verdict = "nothing speaks against it"
        if not record["calibrated"]:
            verdict = "ranks are not uniform: intervals promise what they do not keep"
        rows = [
            (row["quantity"], *(f"{row[key]:.3f}" for key in list(row)[1:]))
            for row in quantities
        ]
        show(
            console(),
            f"{record['fit']}, {simulations} simulations",
            table_of(("quantity", "in 50%", "in 90%", "p"), rows),
            f"{verdict}; smallest p-value, corrected for the number of quantities: "
            f"{smallest:.3f}",
            f"bayesduel {version()}",
        )
    if out is not None:
        output.save_json(out / "calibration.json", record)
        output.save_figures({out / "ranks": plots.calibration(calibration)})
