"""Time with look-ahead at 10^6, 10^9 and 10^12 rounds."""

from bayesduel.policies import get

from .timing import report, time_policy

HORIZONS = (10**6, 10**9, 10**12)


def main() -> None:
    """Print the time of 100 runs of D-TS, relative to the first horizon."""
    timings = [
        time_policy("mslr5-condorcet", get("d-ts"), runs=100, horizon=horizon)
        for horizon in HORIZONS
    ]
    report(
        "D-TS on mslr5-condorcet, 100 runs, by horizon",
        [
            {
                "horizon": horizon,
                "seconds": timing.seconds,
                "events per run": timing.events / 100,
                "times the first": timing.seconds / timings[0].seconds,
            }
            for horizon, timing in zip(HORIZONS, timings, strict=True)
        ],
    )
