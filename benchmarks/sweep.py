"""A sweep that loses a worker every minute: time, memory, disk, and the same file.

``python -m benchmarks.sweep`` plays a million runs of D-TS on two worker processes of
Dask, which write summaries to a shared folder; one of them is killed every ``--every``
seconds. It begins with the first 10^4 runs, whose file must be the one of a single
process, and goes on from there. A quarter of an hour of two cores;
``--runs 2e4 --every 45`` tries it.
"""

import argparse
import hashlib
import os
import random
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from distributed import Client, LocalCluster

import bayesduel
from bayesduel.analysis import slope
from theory import copeland_lower_bound

from .timing import report

MATRIX, POLICY = "mslr5-condorcet", "d-ts"
HORIZON, FROM_ROUND = 10**6, 10**5
FIRST_RUNS = 10**4
SEED = 20
_LOOKS_PER_SECOND = 5


class Watch:
    """A thread that watches the disk and kills workers while a sweep runs."""

    def __init__(self, folder: Path, cluster: LocalCluster, every: float) -> None:
        self.folder, self.cluster, self.every = folder, cluster, every
        self.killed, self.most_bytes = 0, 0
        self._done = threading.Event()

    def go(self) -> None:
        """Look at the disk, and kill a worker now and then, until it is the end."""
        rng, due = random.Random(SEED), time.monotonic() + self.every
        while not self._done.wait(1 / _LOOKS_PER_SECOND):
            self.most_bytes = max(self.most_bytes, size_of(self.folder))
            # One that dies while it is started is not started again.
            known = getattr(self.cluster.scheduler, "workers", {})
            nannies = list(self.cluster.workers.values())
            ready = [each for each in nannies if each.worker_address in known]
            if ready and time.monotonic() > due:
                due = time.monotonic() + self.every
                with suppress(ProcessLookupError, TypeError):
                    os.kill(rng.choice(ready).pid, signal.SIGKILL)
                    self.killed += 1

    def end(self) -> None:
        """Let the thread end."""
        self._done.set()


def size_of(folder: Path) -> int:
    """Return the bytes of the files in a folder; others may remove some meanwhile."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def digest(folder: Path) -> str:
    """Return the start of the hash of the results in a folder."""
    return hashlib.sha256((folder / "results.nc").read_bytes()).hexdigest()[:16]


def peak_megabytes(who: int) -> float:
    """Return the largest resident memory of this process, or of one of its own."""
    return resource.getrusage(who).ru_maxrss / 1024


@contextmanager
def watched(folder: Path, cluster: LocalCluster, every: float) -> Iterator[Watch]:
    """Watch a folder and kill workers while the block runs."""
    watch = Watch(folder, cluster, every)
    thread = threading.Thread(target=watch.go)
    thread.start()
    try:
        yield watch
    finally:
        watch.end()
        thread.join()


def main() -> None:
    """Print what a sweep took, and the slope that it measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1e6)
    parser.add_argument("--every", type=float, default=60.0, help="seconds")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run(int(asked.runs), asked.every, Path(scratch))


def run(num_runs: int, every: float, scratch: Path) -> None:
    """Carry the sweep out, and report."""
    first_runs, out = min(FIRST_RUNS, num_runs), scratch / "sweep"

    def sweep(runs: int, **options: object) -> None:
        asked = bayesduel.Experiment(
            MATRIX,
            POLICY,
            num_runs=runs,
            horizon=HORIZON,
            seed=SEED,
            record="quantiles",
        )
        asked.run(**options)  # pyright: ignore[reportArgumentType]

    began = time.monotonic()
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )
    # A worker that is not there in time, on a busy machine, would not be replaced.
    cluster.adapt(minimum=2, maximum=2)
    with cluster, Client(cluster) as client, watched(out, cluster, every) as watch:
        there = {"executor": client.get_executor(pure=False), "shared": True}
        sweep(first_runs, out=out, **there)
        first_digest = digest(out)
        sweep(num_runs, out=out, resume=True, progress=True, **there)
    seconds = time.monotonic() - began
    memory = peak_megabytes(resource.RUSAGE_SELF)
    # Workers are processes of this one, and all have ended.
    of_workers = peak_megabytes(resource.RUSAGE_CHILDREN)
    alone = scratch / "alone"
    sweep(first_runs, out=alone, jobs=1)
    found = slope(bayesduel.results.load(out), FROM_ROUND, HORIZON)
    constant = copeland_lower_bound(bayesduel.load(MATRIX)).value
    report(
        f"{num_runs:,} runs of {POLICY} on {MATRIX} to {HORIZON:,} rounds, two workers",
        [
            {
                "seconds": seconds,
                "workers killed": watch.killed,
                "client MB": memory,
                "largest worker MB": of_workers,
                "most disk MB": watch.most_bytes / 1e6,
                "results MB": (out / "results.nc").stat().st_size / 1e6,
            }
        ],
    )
    report(
        f"The first {first_runs:,} runs",
        [{"on the cluster": first_digest, "in process": digest(alone)}],
    )
    print(
        f"slope from {FROM_ROUND:,} to {HORIZON:,} rounds: {found.value:.3f} ± "
        f"{found.standard_error:.3f}; constant of the lower bound: {constant:.3f}"
    )
    if digest(alone) != first_digest:
        raise SystemExit("the first runs are not the same")


if __name__ == "__main__":
    main()
