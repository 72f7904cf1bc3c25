"""Public functions to fuzz in `bayesduel.diagnostics`."""

from __future__ import annotations

from bayesduel import diagnostics
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target


def of_diagnostics() -> dict[str, Target]:
    """Return what is public in `bayesduel.diagnostics`."""
    kind, calibration = diagnostics.Calibration, Made(v.calibration)
    bins = [10, 4, 20, 10**9, 3, True]
    units = ["vote", "row", "pair"]
    return {
        "Calibration.histograms": target(kind.histograms, of=calibration, bins=bins),
        "Calibration.p_values": target(kind.p_values, of=calibration, bins=bins),
        "Calibration.smallest_p_value": target(
            kind.smallest_p_value, of=calibration, bins=bins
        ),
        "Calibration.coverage": target(
            kind.coverage, of=calibration, probability=v.PROBABILITIES
        ),
        "calibrate": target(
            diagnostics.calibrate,
            model=v.MODELS,
            data=v.DATA,
            method=["exact", "laplace", "svi", "nuts", "auto"],
            num_simulations=v.NUMBERS,
            num_draws=v.NUMBERS,
            thinning=[4, *v.NUMBERS],
            num_warmup=[300, *v.NUMBERS],
            resample=[True, False],
            rng_key=v.KEYS,
            on_progress=[None],
        ),
        "compare_models": target(
            diagnostics.compare_models,
            posteriors=[
                Made(v.two_fits),
                Made(v.other_fits),
                Made(v.one_fit),
                {"a": 1, "b": None},
            ],
            unit=units,
            method=["stacking", "odd"],
            round_to=["none", 2],
        ),
        "leave_pairs_out": target(
            diagnostics.leave_pairs_out,
            model=v.MODELS,
            data=v.DATA,
            num_draws=v.NUMBERS,
            rng_key=v.KEYS,
        ),
        "loo": target(diagnostics.loo, posterior=v.POSTERIORS, unit=units),
        "report": target(
            diagnostics.report,
            posterior=v.POSTERIORS,
            with_loo=[True, False],
            with_votes=[True, False],
        ),
        "to_datatree": target(diagnostics.to_datatree, v.TREE, posterior=v.POSTERIORS),
        "transitivity": target(
            diagnostics.transitivity,
            v.OPTIONS,
            data=v.DATA,
            model=[None, *v.MODELS],
            prior=[1.0],
            num_replicates=v.NUMBERS,
        ),
    }
