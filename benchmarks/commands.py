"""Commands from the shell: warm, with nothing compiled yet, and by Dask.

Processor time of the command and all its processes. The unit u is that of importing
NumPy, scipy.special and pandas, measured before each command: it takes out how fast the
machine is, and how busy.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from .timing import report

_UNIT = [sys.executable, "-c", "import numpy, scipy.special, pandas"]
_COMMAND = [str(Path(sys.executable).with_name("bayesduel"))]
_THREE = ["-p", "rucb", "-p", "rmed1", "-p", "d-ts"]
_SHORT = ["compare", "-i", "cyclic", "--runs", "20", "--horizon", "1e4"]
_LONG = ["compare", "-i", "cyclic", "-p", "d-ts", "--horizon", "1e5", "--jobs", "2"]
_COLD = ("rucb", "rmed1", "ecw-rmed", "rd-ts", "cw-rmed", "d-ts")
_REPETITIONS = 3


def main() -> None:
    """Print processor seconds and multiples of the unit."""
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder, "votes.csv")
        _write_votes(votes)
        warm = {
            "--help": ["--help"],
            "list": ["list"],
            "fit, 1,000 votes of 10 arms": ["fit", str(votes)],
            "compare, 3 policies": [*_SHORT, *_THREE],
        }
        report(
            "Commands whose programs are on the disk",
            [_measure(name, command) for name, command in warm.items()],
        )
        cold = {name: [*_SHORT, "-p", name] for name in _COLD}
        cold["rucb, rmed1 and d-ts"] = [*_SHORT, *_THREE]
        report(
            "The first compare with a policy: everything is compiled",
            [_measure(*each, cache=folder, repetitions=1) for each in cold.items()],
        )
        shared = [
            _measure(f"{runs} runs, {how}", [*_LONG, "--runs", runs, *options])
            for runs in ("8000", "40000")
            for how, options in (("2 processes", []), ("Dask", ["--dask", "local"]))
        ]
        report("D-TS to 10^5 rounds by two workers", shared)


def _measure(
    name: str, command: list[str], cache: str = "", repetitions: int = _REPETITIONS
) -> dict[str, object]:
    seconds, units = [], []
    if not cache:
        _seconds([*_COMMAND, *command])
    for repetition in range(repetitions):
        empty = f"{cache}/{name}-{repetition}" if cache else ""
        unit = _seconds(_UNIT)
        seconds.append(_seconds([*_COMMAND, *command], cache=empty))
        units.append(seconds[-1] / unit)
    return {"command": name, "CPU s": median(seconds), "u": median(units)}


def _seconds(command: list[str], cache: str = "") -> float:
    """Return the processor time of a command and the processes that it waits for."""
    environment = {**os.environ, **({"BAYESDUEL_CACHE": cache} if cache else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write_votes(path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = [rng.choice(10, 2, replace=False) for _ in range(1_000)]
    worth = np.exp(rng.normal(size=10))
    rows = [
        (one, other)
        if rng.random() < worth[one] / (worth[one] + worth[other])
        else (other, one)
        for one, other in pairs
    ]
    lines = [f"arm {winner},arm {loser}" for winner, loser in rows]
    path.write_text("\n".join(["winner,loser", *lines]) + "\n")
