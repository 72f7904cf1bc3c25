"""Microseconds per event of every policy, at 5 and at 16 arms."""

from bayesduel.policies import get, names

from .timing import report, time_policy

CASES = (("mslr5-condorcet", 100, 10**6), ("sushi", 32, 10**4))


def main() -> None:
    """Print the time per event and the number of events."""
    rows: list[dict[str, object]] = []
    for matrix, runs, horizon in CASES:
        for name in names():
            timing = time_policy(
                matrix, get(name), runs=runs, horizon=horizon, repetitions=2
            )
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
    report("Events on one core, compilation excluded", rows)
