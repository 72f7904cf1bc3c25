"""What is public in `bayesduel.diagnostics`."""

from __future__ import annotations

from bayesduel import diagnostics
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target


def of_diagnostics() -> dict[str, Target]:
    """Return what is public in `bayesduel.diagnostics`."""
    kind, self = diagnostics.Calibration, {"self": Made(v.calibration)}
    bins = [10, 4, 20, 10**9, 3, True]
    units = ["vote", "row", "pair"]
    return {
        "Calibration.histograms": Target(kind.histograms, {"bins": bins}, self),
        "Calibration.p_values": Target(kind.p_values, {"bins": bins}, self),
        "Calibration.smallest_p_value": Target(
            kind.smallest_p_value, {"bins": bins}, self
        ),
        "Calibration.coverage": Target(
            kind.coverage, {"probability": v.PROBABILITIES}, self
        ),
        "calibrate": Target(
            diagnostics.calibrate,
            {
                "model": v.MODELS,
                "data": v.DATA,
                "method": ["exact", "laplace", "svi", "nuts", "auto"],
                "num_simulations": v.NUMBERS,
                "num_draws": v.NUMBERS,
                "thinning": [4, *v.NUMBERS],
                "num_warmup": [300, *v.NUMBERS],
                "resample": [True, False],
                "rng_key": v.KEYS,
                "on_progress": [None],
            },
        ),
        "compare_models": Target(
            diagnostics.compare_models,
            {
                "posteriors": [
                    Made(v.two_fits),
                    Made(v.other_fits),
                    Made(v.one_fit),
                    {"a": 1, "b": None},
                ],
                "unit": units,
                "method": ["stacking", "odd"],
                "round_to": ["none", 2],
            },
        ),
        "leave_pairs_out": Target(
            diagnostics.leave_pairs_out,
            {
                "model": v.MODELS,
                "data": v.DATA,
                "num_draws": v.NUMBERS,
                "rng_key": v.KEYS,
            },
        ),
        "loo": Target(diagnostics.loo, {"posterior": v.POSTERIORS, "unit": units}),
        "report": Target(
            diagnostics.report,
            {
                "posterior": v.POSTERIORS,
                "with_loo": [True, False],
                "with_votes": [True, False],
            },
        ),
        "to_datatree": Target(
            diagnostics.to_datatree,
            {"posterior": v.POSTERIORS, **v.TREE},
        ),
        "transitivity": Target(
            diagnostics.transitivity,
            {
                "data": v.DATA,
                "model": [None, *v.MODELS],
                "prior": [1.0],
                **v.OPTIONS,
                "num_replicates": v.NUMBERS,
            },
        ),
    }
