"""Ranges of runs: what jobs are called, what is left of them, what made one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bayesduel.experiments.jobs import JobResult

Place = tuple[str, str]
"""The names of an instance and a policy in results."""


def name_of(place: Place, runs: range) -> str:
    """Return a name that no other job of the same request has."""
    instance, policy = place
    return f"{instance}, {policy}, runs {runs.start} to {runs.stop - 1}"


@dataclass(frozen=True)
class StoredRuns:
    """Some runs of one policy on one instance that are done."""

    place: Place
    runs: range
    whole: ClassVar[None] = None

    @property
    def name(self) -> str:
        """Name of the part that holds them."""
        return name_of(self.place, self.runs)


def gaps(num_runs: int, done: Sequence[range]) -> list[range]:
    """Return the runs from 0 on that are in none of the disjoint ranges."""
    ordered = sorted(done, key=lambda runs: runs.start)
    starts = [0, *(runs.stop for runs in ordered)]
    stops = [*(runs.start for runs in ordered), num_runs]
    return [range(*ends) for ends in zip(starts, stops, strict=True)]


def left(job: Any, is_kept: Callable[[str], bool]) -> Any:
    """Return what is left of a job, from the first run that is not kept; None if none.

    ``is_kept`` says so of the name of a job. What one was cut into lies end to end.
    """
    start, stop = job.runs.start, job.runs.stop
    while start < stop:
        ends = range(stop, start, -1)
        kept = (end for end in ends if is_kept(name_of(job.place, range(start, end))))
        end = next(kept, None)
        if end is None:
            runs = range(start, stop)
            return replace(job, runs=runs, whole=job.whole and runs)
        start = end
    return None


def cut_from_one(finished: Sequence[JobResult], last: JobResult) -> list[JobResult]:
    """Return what a job was cut into, in order, if the last of it is finished now."""
    runs, whole = last.job.runs, last.job.whole
    if whole in (None, runs) or runs.stop != whole.stop:
        return []
    return [
        each
        for each in finished
        if each.job.place == last.job.place and each.job.whole == whole
    ]
