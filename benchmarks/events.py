"""Microseconds per event of every policy, at 5 and at 16 arms."""

from bayesduel.policies import get, names

from .timing import Timing, report, time_policy

CASES = (("mslr5-condorcet", 100, (10**4, 10**6)), ("sushi", 32, (10**4,)))
"""Matrix, runs and horizons."""

_STEPS = 0.2
"""A policy with more events per round than this would spend its time on a longer
horizon doing the same."""


def main() -> None:
    """Print the time per event and the number of events."""
    for matrix, runs, horizons in CASES:
        rows: list[dict[str, object]] = []
        for name in names():
            horizon, timing = _longest(matrix, name, runs, horizons)
            rows.append(
                {
                    "matrix": matrix,
                    "policy": name,
                    "horizon": horizon,
                    "events per run": timing.events / runs,
                    "us per event": timing.microseconds_per_event,
                    "ns per round": timing.nanoseconds_per_round,
                    "compile s": timing.compile_seconds,
                }
            )
        report(f"Events on one core, {matrix}, compilation excluded", rows)


def _longest(
    matrix: str, name: str, runs: int, horizons: tuple[int, ...]
) -> tuple[int, Timing]:
    """Time a policy on the longest horizon that it does not step through."""

    def measured(horizon: int) -> Timing:
        return time_policy(matrix, get(name), runs=runs, horizon=horizon, repetitions=2)

    horizon, *longer = horizons
    timing = measured(horizon)
    for other in longer:
        if timing.events > _STEPS * runs * horizon:
            break
        horizon, timing = other, measured(other)
    return horizon, timing
