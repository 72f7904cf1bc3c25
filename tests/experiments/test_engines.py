"""What is done here, and what worker processes are started for."""

from dataclasses import dataclass

import pytest

from bayesduel.experiments import engines
from bayesduel.experiments.engines import run_jobs
from bayesduel.progress import ProgressReport


@dataclass(frozen=True)
class Counted:
    """A job that compiles for some seconds and runs for some more, of a false clock."""

    name: str
    clock: list
    compiles: float = 0.0
    runs: float = 0.0
    words: str = "counting"

    @property
    def program(self):
        return self.name

    def run(self, on_progress=None):
        say = on_progress or float  # None where nobody listens.
        say(0.0)
        self.clock[0] += self.compiles
        for step in range(1, 11):
            say(step / 10)
            self.clock[0] += self.runs / 10
        return self.name


@pytest.fixture
def engine(monkeypatch):
    """Return a function that runs jobs, and says who did which of them."""
    clock, left = [0.0], []

    class Workers:
        def __init__(self, workers, on_disk):
            left.append((workers, on_disk))

        def run(self, jobs, keep, report, check_interrupt):
            left.extend(job.name for job in jobs)

    monkeypatch.setattr(engines, "_Dispatcher", Workers)
    monkeypatch.setattr(engines.time, "process_time", lambda: clock[0])

    def run(*seconds, workers=2, try_here=True):
        names = "abcdefgh"[: len(seconds)]
        jobs = [
            Counted(name, clock, *each)
            for name, each in zip(names, seconds, strict=True)
        ]
        found = []
        report = ProgressReport()
        run_jobs(jobs, workers, found.append, report, try_here=try_here)
        return "".join(each.value for each in found), left, clock[0]

    return run


def test_what_is_done_within_seconds_needs_no_worker(engine):
    here, left, _ = engine((0.5, 0.9), (0.3, 0.5), (0.1, 1.5))
    assert (here, left) == ("abc", [])


def test_the_rest_goes_to_workers_once_there_was_enough_work(engine):
    here, left, _ = engine((6.0, 0.5), (6.0, 0.5), (6.0, 0.5))
    # What took long was compiling, which is of no use to anybody else.
    assert (here, left) == ("a", [(2, {"a"}), "b", "c"])


def test_a_long_job_is_begun_anew_by_a_worker(engine):
    here, left, seconds = engine((0.2, 0.5), (0.2, 3600.0), (0.2, 0.5))
    assert (here, left) == ("a", [(2, {"a"}), "b", "c"])
    assert seconds < 400


def test_workers_that_were_asked_for_get_everything(engine):
    here, left, _ = engine((0.1, 0.1), (0.1, 0.1), try_here=False)
    assert (here, left) == ("", [(2, set()), "a", "b"])


@pytest.mark.parametrize("try_here", [False, True])
def test_one_process_does_everything_itself(engine, try_here):
    here, left, _ = engine((9.0, 99.0), (9.0, 99.0), workers=1, try_here=try_here)
    assert (here, left) == ("ab", [])
