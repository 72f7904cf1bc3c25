"""Reading a million votes, with pandas on the same file as the unit."""

import logging
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from bayesduel.votes import read_comparisons

from .timing import report, time_call

NUM_VOTES = 10**6


def votes(number: int) -> pd.DataFrame:
    """Draw votes of 500 judges on 100 arms, with a column that nobody reads."""
    rng = np.random.default_rng(0)
    first = rng.integers(100, size=number)
    second = (first + rng.integers(1, 100, size=number)) % 100
    arms = np.array([f"model-{arm}" for arm in range(100)])
    return pd.DataFrame(
        {
            "id": np.arange(number),
            "left": arms[first],
            "right": arms[second],
            "winner": rng.choice(["left", "right", "tie"], size=number),
            "judge": [f"j{judge}" for judge in rng.integers(500, size=number)],
        }
    )


def main(number: int = NUM_VOTES) -> None:
    """Print processor time, and its ratio to that of pandas."""
    logging.getLogger("bayesduel").setLevel(logging.ERROR)
    frame, rows = votes(number), []
    with tempfile.TemporaryDirectory() as folder:
        csv, lines = Path(folder, "votes.csv"), Path(folder, "votes.jsonl")
        frame.to_csv(csv, index=False)
        frame.to_json(lines, orient="records", lines=True)
        for path, unit in (
            (csv, lambda: pd.read_csv(csv)),
            (lines, lambda: pd.read_json(lines, lines=True)),
        ):
            plain = time_call(unit)
            for judge in (None, "judge"):
                took = time_call(
                    lambda path=path, judge=judge: read_comparisons(path, judge=judge)
                )
                rows.append(
                    {
                        "file": path.name,
                        "judge": judge or "",
                        "pandas, s": plain,
                        "ours, s": took,
                        "ratio": took / plain,
                    }
                )
    report(f"Reading {number:,} votes", rows)
