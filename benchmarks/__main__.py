"""Run all benchmarks of speed, or those named: `python -m benchmarks horizon events`.

`slopes` is about regret, `replay` and `recovery` are about votes, not speed, and take
long: they run if they are named.
"""

import sys

from benchmarks import (
    commands,
    events,
    fits,
    horizon,
    learning,
    look_ahead,
    lower_bounds,
    players,
    reading,
    recovery,
    replay,
    slopes,
    studies,
    worlds,
)
from benchmarks.timing import pin_to_one_core

BENCHMARKS = {
    "look_ahead": look_ahead.main,
    "horizon": horizon.main,
    "events": events.main,
    "learning": learning.main,
    "lower_bounds": lower_bounds.main,
    "players": players.main,
    "commands": commands.main,
    "reading": reading.main,
    "fits": fits.main,
    "slopes": slopes.main,
    "studies": studies.main,
    "worlds": worlds.main,
    "replay": replay.main,
    "recovery": recovery.main,
}

ON_REQUEST = ("slopes", "replay", "recovery")


def main() -> None:
    """Run the benchmarks named on the command line."""
    chosen = sys.argv[1:] or [name for name in BENCHMARKS if name not in ON_REQUEST]
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    pin_to_one_core()
    for name in chosen:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
