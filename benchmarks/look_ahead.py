"""D-TS by look-ahead against stepping through the rounds."""

from dataclasses import replace

from bayesduel.policies import get

from .timing import Timing, report, time_policy

CASES = (("mslr5-condorcet", 100, 10**6, 20_000), ("sushi", 20, 10**6, 10_000))
"""Matrix, runs, horizon of the look-ahead form, horizon of the step form.

Later rounds cost a step form as much as early ones, so its time per round is taken
from a shorter horizon."""


def main() -> None:
    """Print nanoseconds per round and run, and the ratios."""
    rows: list[dict[str, object]] = []
    for matrix, runs, horizon, short in CASES:
        ahead = time_policy(matrix, get("d-ts"), runs=runs, horizon=horizon)
        step = replace(get("d-ts"), look_ahead=False)  # pyright: ignore
        stepped = time_policy(matrix, step, runs=runs, horizon=short, repetitions=1)
        rows.append(_row(matrix, "look-ahead", ahead, ahead))
        rows.append(_row(matrix, "step, draws its Betas", stepped, ahead))
    report("D-TS per round and run, one core, compilation excluded", rows)


def _row(matrix: str, form: str, timing: Timing, ahead: Timing) -> dict[str, object]:
    return {
        "matrix": matrix,
        "form": form,
        "rounds x runs": timing.rounds,
        "ns per round": timing.nanoseconds_per_round,
        "times look-ahead": timing.nanoseconds_per_round / ahead.nanoseconds_per_round,
        "compile s": timing.compile_seconds,
    }
