"""Where something is learnt: first results, every event, many arms, against C++.

``twins.cpp`` holds plain programs that step through the rounds, as anyone could write
them in an afternoon, and one, ``rucb-ahead``, that passes over idle rounds. Both sides
are measured one after the other, in one run and on one core; what counts are the
ratios.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from bayesduel import instances
from bayesduel.policies import get

from .timing import report, time_policy

_SOURCE = Path(__file__).with_name("twins.cpp")
_COMPILERS = ("c++", "g++", "clang++")
_OPTIONS = ("-O2", "-std=c++17")
_REPETITIONS = 3

BOTH = ("d-ts", "d-ts+")
ALL = (*BOTH, "rucb", "rmed1")
AHEAD = ("rucb-ahead",)

EARLY = 20_000

CASES = (
    ("mslr5-non-condorcet", ALL, 20, EARLY),
    ("sushi", ALL, 20, EARLY),
    (64, BOTH, 2, EARLY),
    (100, BOTH, 2, EARLY),
    (500, ("d-ts",), 1, 5_000),
    ("mslr5-condorcet", ALL, 100, 10**6),
    ("sushi", ALL, 20, 10**6),
    ("mslr5-condorcet", AHEAD, 100, 10**6),
    ("sushi", AHEAD, 20, 10**6),
    ("sushi", AHEAD, 20, 10**9),
)
"""Matrix, or number of arms on a scale; policies; runs; horizon."""


def main() -> None:
    """Print microseconds per round of ours and of the twins, and their ratio."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        print("learning: left out, there is no C++ compiler for the twins")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "twins"
        subprocess.run([compiler, *_OPTIONS, "-o", program, _SOURCE], check=True)
        rows = [
            _compared(program, Path(folder) / "matrix.txt", matrix, name, runs, horizon)
            for matrix, names, runs, horizon in CASES
            for name in names
        ]
    report("Rounds on one core beside plain C++, compilation excluded", rows)


def _compared(
    program: Path, file: Path, matrix: str | int, name: str, runs: int, horizon: int
) -> dict[str, object]:
    """Measure a policy and its twin in turns."""
    values = on_a_scale(matrix) if isinstance(matrix, int) else _load(matrix)
    rows = "\n".join(" ".join(map(repr, row)) for row in values.tolist())
    file.write_text(f"{len(values)}\n{rows}\n")
    ours, theirs, first = [], [], 0.0
    for repetition in range(_REPETITIONS):
        policy = get(name.removesuffix("-ahead"))
        timing = time_policy(values, policy, runs=runs, horizon=horizon, repetitions=1)
        ours.append(timing.seconds)
        first = first if repetition else timing.compile_seconds
        arguments = [program, name, file, str(runs), str(horizon)]
        printed = subprocess.run(
            arguments, check=True, capture_output=True, text=True
        ).stdout
        theirs.append(float(printed.split()[0]))
    per_round = 1e6 / (runs * horizon)
    return {
        "matrix": matrix,
        "policy": name,
        "horizon": horizon,
        "runs": runs,
        "us per round": median(ours) * per_round,
        "us per event": timing.microseconds_per_event,
        "twin, us per round": median(theirs) * per_round,
        "twin over ours": median(theirs) / median(ours),
        "compile s": first,
    }


def _load(name: str) -> np.ndarray:
    return np.array(instances.load(name).values)


def on_a_scale(num_arms: int) -> np.ndarray:
    """Return Bradley-Terry preferences with normal utilities, the best arm first."""
    utility = np.sort(np.random.default_rng(0).normal(size=num_arms))[::-1]
    return 1.0 / (1.0 + np.exp(utility[None, :] - utility[:, None]))
