"""Public functions to fuzz in `bayesduel.plots`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from bayesduel import plots
from tests import fake_results as fake
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target


def of_plots() -> dict[str, Target]:
    """Return what is public in `bayesduel.plots`."""
    width = {"width": v.FIGURE_SIZES["width"]}
    bounds = [
        "auto",
        None,
        Made(v.bound),
        [Made(v.bound)],
        {"mslr5-condorcet": None},
        "lower",
        ["lower", "d-ts"],
        "all",
        ["x"],
        Made(v.applied),
        3,
    ]
    arms = [3, 1, *v.NUMBERS]
    of_fit = {"posterior": v.POSTERIORS, **width}
    return {
        "allocation": target(
            plots.allocation,
            v.FIGURE_SIZES,
            matrix=[fake.CONDORCET, fake.TIED, v.WINS, Made(v.frame)],
            optima=[Made(v.optima), Made(v.structured), None, {}, {"x": 3}, {1: None}],
        ),
        "coefficients": target(
            plots.coefficients,
            of_fit,
            posterior=[Made(v.priced_fit), *v.POSTERIORS],
            probability=v.PROBABILITIES,
        ),
        "calibration": target(
            plots.calibration,
            width,
            found=[Made(v.calibration), None],
            probability=v.PROBABILITIES,
        ),
        "forest": target(
            plots.forest,
            of_fit,
            scale=["utility", "elo", "glicko"],
            anchor=[None, ("tea", 1000.0), ("wine", 0), "tea"],
            by=["score", "rank", "x"],
            probability=v.PROBABILITIES,
            max_arms=arms,
        ),
        "heat_map": target(plots.heat_map, of_fit, max_arms=arms),
        "winners": target(plots.winners, of_fit, max_arms=arms),
        "pair": target(
            plots.pair,
            of_fit,
            first=["tea", "milk", "wine"],
            second=["milk", "tea", 1],
            probability=v.PROBABILITIES,
            scale=["probability", "elo", "odd"],
        ),
        "predictive_check": target(
            plots.predictive_check, of_fit, rng_key=v.KEYS, num_draws=v.NUMBERS
        ),
        "regret": target(
            plots.regret,
            v.FIGURE_SIZES,
            result=v.RESULTS,
            notion=v.NOTION,
            band=["standard error", "quantiles 25-75", "none", "x"],
            bounds=bounds,
            anchor=[None, 1000, 7, 10**6],
            log_x=[True, False],
            log_y=[None, False, True],
            columns=[None, 1, 2, 10**9],
            labels=["auto", "direct", "legend", "x"],
        ),
        "false_stops": target(plots.false_stops, v.FIGURE_SIZES, audit=[Made(v.audit)]),
        "save": target(
            plots.save,
            figure=[Made(v.plain_figure), Made(v.node), Figure],
            stem=[Path("figure"), "figure", Path(), Path("no/where"), Path("/")],
            formats=[["svg"], "svg", ["exe"], [1], []],
        ),
        "slope_ratios": target(
            plots.slope_ratios,
            v.FIGURE_SIZES,
            result=v.RESULTS,
            from_round=[None, 1000, 7, 10**6],
            to_round=[None, 10**6, 1000],
            notion=v.NOTION,
        ),
        "sweep": target(
            plots.sweep,
            v.FIGURE_SIZES,
            result=[Made(v.swept_tree), *v.RESULTS],
            parameter=[None, "alpha", "every", "beta"],
            at=[None, 1000, [10**4, 10**6], 7, []],
            notion=v.NOTION,
            band=["standard error", "quantiles 25-75", "none", "x"],
            log_x=[None, True, False],
            log_y=[False, True],
        ),
        "survival": target(
            plots.survival,
            v.FIGURE_SIZES,
            result=v.RESULTS,
            checkpoint=[None, 1000, 7, 10**6],
            notion=v.NOTION,
        ),
        "slopes": target(
            plots.slopes,
            v.FIGURE_SIZES,
            result=v.RESULTS,
            from_round=[None, 1000, 7, 10**6],
            to_round=[None, 10**6, 1000],
            notion=v.NOTION,
            band=["standard error", "none", "x"],
            bound=bounds,
        ),
    }
