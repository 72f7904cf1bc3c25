"""What is done here, and what worker processes are started for."""

import pickle
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

import bayesduel
from bayesduel.errors import (
    ExecutorError,
    OutputFolderError,
    SimulationArgumentError,
)
from bayesduel.experiments import engines
from bayesduel.experiments.engines import run_jobs
from bayesduel.experiments.jobs import Written
from bayesduel.experiments.progress import ProgressReport
from bayesduel.program_cache import kernel_folder
from bayesduel.simulation import programs


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
        return (self.name,)

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

    def run_there(executor, most, jobs, *rest):
        left.extend([most, *(job.name for job in jobs)])

    monkeypatch.setattr(engines, "_processes", nullcontext)
    monkeypatch.setattr(engines, "_run_there", run_there)
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
    assert (here, left) == ("a", [2, "b", "c"])


def test_a_long_job_is_begun_anew_by_a_worker(engine):
    here, left, seconds = engine((0.2, 0.5), (0.2, 3600.0), (0.2, 0.5))
    assert (here, left) == ("a", [2, "b", "c"])
    assert seconds < 400


def test_workers_that_were_asked_for_get_everything(engine):
    here, left, _ = engine((0.1, 0.1), (0.1, 0.1), try_here=False)
    assert (here, left) == ("", [2, "a", "b"])


def test_one_process_does_everything_itself(engine):
    here, left, _ = engine((9.0, 99.0), (9.0, 99.0), workers=1)
    assert (here, left) == ("ab", [])


class Lossy(Executor):
    """Runs jobs at once; loses each of some as often as is said."""

    def __init__(self, losses, error=None):
        self.losses = Counter(losses)
        self.error = error or BrokenExecutor("its worker died")
        self.asked = []

    def submit(self, fn, /, job):
        future = Future()
        self.asked.append(job.name)
        if self.losses[job.name] > 0:
            self.losses[job.name] -= 1
            future.set_exception(self.error)
        else:
            future.set_result(fn(job))
        return future


def run_all(executor, names="abc"):
    found = []
    jobs = [Counted(name, [0.0]) for name in names]
    run_jobs(jobs, 1, found.append, ProgressReport(), executor=executor)
    return {each.job.name: each.failure and str(each.failure) for each in found}


@pytest.mark.parametrize(
    ("losses", "error", "failure", "begun"),
    [
        (2, None, None, 3),
        (3, None, "its worker died", 3),
        (1, TypeError("cannot be sent"), "cannot be sent", 1),
    ],
)
def test_a_job_that_is_lost_with_its_worker_is_begun_anew(
    losses, error, failure, begun
):
    """Not again and again, nor what an executor cannot do for another reason."""
    executor = Lossy({"b": losses}, error)
    assert run_all(executor) == {"a": None, "b": failure, "c": None}
    assert Counter(executor.asked) == {"a": 1, "b": begun, "c": 1}


def test_an_executor_holds_no_more_than_some_jobs(monkeypatch):
    monkeypatch.setattr(engines, "_MOST_SENT", 2)
    held = []

    class Late(Lossy):
        """Answers when it is asked to wait, all at once."""

        def submit(self, fn, /, job):
            held.append(len(unanswered))
            future = Future()
            unanswered.append((future, fn(job)))
            return future

    unanswered = []
    plain = engines.wait

    def wait(futures, **options):
        while unanswered:
            future, outcome = unanswered.pop()
            future.set_result(outcome)
        return plain(futures, **options)

    monkeypatch.setattr(engines, "wait", wait)
    assert set(run_all(Late({}), "abcdefgh")) == {*"abcdefgh"}
    assert max(held) == 1


def test_an_executor_that_is_gone_ends_the_sweep():
    class Gone(Executor):
        def submit(self, fn, /, job):
            raise BrokenExecutor("shut down")

    class Cancelling(Executor):
        def submit(self, fn, /, job):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    for executor in (Gone(), Cancelling()):
        with pytest.raises(ExecutorError, match="gone before all jobs were done"):
            run_all(executor)


@pytest.fixture
def drop_interrupt(monkeypatch):
    """Return a function that is interrupted in a finalizer, where nobody hears it."""
    dropped = []

    class File:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def drop():
        File()
        assert dropped == [KeyboardInterrupt]

    monkeypatch.setattr(
        sys, "unraisablehook", lambda each: dropped.append(each.exc_type)
    )
    plain = signal.getsignal(signal.SIGINT)
    yield drop
    assert signal.getsignal(signal.SIGINT) is plain


@pytest.mark.parametrize("executor", [None, Lossy({})], ids=["here", "executor"])
@pytest.mark.parametrize("kept", ["a", "abc"])
def test_an_interrupt_waits_for_what_is_written(executor, kept, monkeypatch):
    """NumPy's archives turn it into a ``ValueError``, and the part would be lost."""
    monkeypatch.setattr(engines, "_MOST_SENT", 1)
    found = []

    def keep(result):
        if result.value == kept[-1]:
            signal.raise_signal(signal.SIGINT)
        found.append(result.value)

    jobs = [Counted(name, [0.0]) for name in "abc"]
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, 1, keep, ProgressReport(), executor=executor)
    assert found == [*kept]


def test_a_second_interrupt_waits_for_nothing():
    reached = []

    def keep(result):
        signal.raise_signal(signal.SIGINT)
        reached.append(1)
        signal.raise_signal(signal.SIGINT)
        reached.append(2)

    with pytest.raises(KeyboardInterrupt):
        run_jobs([Counted("a", [0.0])], 1, keep, ProgressReport())
    assert reached == [1]


def test_an_interrupt_that_a_library_hides_ends_the_sweep():
    """What is raised while an archive is closed is a ``ValueError``."""

    class Archive(Executor):
        def submit(self, fn, /, *args):
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                raise ValueError("an open writing handle")

    jobs = [Counted("a", [0.0])]
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, 1, [].append, ProgressReport(), executor=Archive())


BEGINNING = """
import os, signal
from multiprocessing import get_context
from bayesduel.experiments.interrupts import unreached_children

with unreached_children():
    process = get_context("spawn").Process(target=print, args=("goes on",))
    process.start()
    os.kill(process.pid, signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    try:
        process.join()
    except KeyboardInterrupt:
        print("too early", flush=True)
"""


def test_ctrl_c_reaches_no_worker_that_begins():
    """It is sent to all processes of a terminal; one that imports cannot ignore it."""
    command = [sys.executable, "-c", BEGINNING]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "goes on\n"
    assert done.stderr.count("Traceback") == 1  # Of the one that begins them.


def test_an_interrupt_while_workers_are_asked_to_end_ends_them(monkeypatch):
    """Python would wait without end for one that was not asked."""
    asked = []

    def shutdown(pool, *, cancel_futures=False):
        asked.append(cancel_futures)
        if not cancel_futures:
            raise KeyboardInterrupt

    monkeypatch.setattr(engines._Processes, "shutdown", shutdown)
    with pytest.raises(KeyboardInterrupt), engines._processes(2):
        pass
    assert asked == [False, True]


@pytest.mark.parametrize("executor", [None, Lossy({})], ids=["here", "executor"])
def test_an_interrupt_that_python_drops_ends_the_sweep(executor, drop_interrupt):
    class Progress(ProgressReport):
        def finished(self, job):
            drop_interrupt()

    found = []
    jobs = [Counted("a", [0.0])]
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, 1, found.append, Progress(), executor=executor)
    assert [each.value for each in found] == ["a"]


def test_an_interrupt_that_python_drops_ends_a_long_job(drop_interrupt):
    said = []

    class Interrupted(Counted):
        def run(self, on_progress=None):
            drop_interrupt()
            for step in range(1, 11):
                said.append(step)
                on_progress(step / 10)

    with pytest.raises(KeyboardInterrupt):
        run_jobs([Interrupted("a", [0.0])], 1, said.append, ProgressReport())
    assert said == [1]


@dataclass(frozen=True)
class Compiled(Counted):
    """A job whose program is the first letter of its name, if any."""

    @property
    def program(self):
        return self.name.partition(" ")[0] or None


def test_one_job_of_each_program_comes_first():
    """What is not compiled keeps its place among those that wait."""
    executor = Lossy({})
    names = ("a 1", "a 2", "b 1", " 1", "b 2", " 2", "c 1")
    jobs = [Compiled(name, [0.0]) for name in names]
    run_jobs(jobs, 1, lambda result: None, ProgressReport(), executor=executor)
    assert executor.asked == ["a 1", "b 1", " 1", " 2", "c 1", "a 2", "b 2"]


@pytest.mark.parametrize("at_hand", [{"one", "two"}, {"one"}, set()])
def test_several_programs_that_are_to_be_compiled_go_to_workers(monkeypatch, at_hand):
    here, there = [], []
    monkeypatch.setattr(programs, "is_at_hand", at_hand.__contains__)
    monkeypatch.setattr(engines, "_processes", lambda workers: nullcontext(there))
    monkeypatch.setattr(
        engines, "_run_there", lambda pool, most, jobs, *others: pool.extend(jobs)
    )
    monkeypatch.setattr(
        engines, "_run_here", lambda jobs, *others: (here.extend(jobs), jobs.clear())
    )

    for names in (("one", "two"), ("one", "one"), ("two",)):
        jobs = [Compiled(name, [0.0]) for name in names]
        run_jobs(jobs, 2, lambda result: None, ProgressReport(), try_here=True)
        apart = len({*names} - at_hand) > 1
        assert [len(here), len(there)] == ([0, len(jobs)] if apart else [len(jobs), 0])
        here.clear()
        there.clear()


def test_a_program_is_at_hand_in_memory_or_on_the_disk(monkeypatch, tmp_path):
    loop = SimpleNamespace(signatures=[])
    monkeypatch.setattr(programs, "program", lambda name: loop)
    monkeypatch.setenv("BAYESDUEL_CACHE", str(tmp_path))
    assert not programs.is_at_hand("rucb")
    loop.signatures.append("of a matrix")
    assert programs.is_at_hand("rucb")
    loop.signatures.clear()
    folder = kernel_folder("rucb")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "play.nbi").touch()
    assert programs.is_at_hand("rucb") and not programs.is_at_hand("rmed1")
    monkeypatch.setenv("BAYESDUEL_CACHE", "off")
    assert not programs.is_at_hand("rucb")


def test_workers_write_what_they_compute_and_send_nothing(tmp_path):
    sent = []

    class Here(Executor):
        def submit(self, fn, /, *arguments):
            future = Future()
            future.set_result(fn(*pickle.loads(pickle.dumps(arguments))))
            sent.append(future.result()[0])
            return future

    def compare(out, **options):
        bayesduel.compare("gap", "rucb", num_runs=3, horizon=9, out=out, **options)
        return (out / "results.nc").read_bytes()

    whole = compare(tmp_path / "whole")
    assert compare(tmp_path / "out", executor=Here(), shared=True) == whole
    assert [type(each) for each in sent] == [Written]
    assert len(pickle.dumps(sent)) < 300
    assert not [*tmp_path.glob("out/.bayesduel/parts/*")]


def test_workers_say_that_they_do_not_see_the_folder(tmp_path):
    class Elsewhere(Executor):
        def submit(self, fn, /, job, write):
            future = Future()
            future.set_result(fn(job, replace(write, folder=tmp_path / "not here")))
            return future

    asked = bayesduel.Experiment("gap", "rucb", num_runs=3, horizon=9)
    with pytest.raises(OutputFolderError, match="workers do not see .*not here"):
        asked.run(out=tmp_path / "out", executor=Elsewhere(), shared=True)
    with pytest.raises(OutputFolderError, match="needs a folder"):
        asked.run(executor=Elsewhere(), shared=True)
    with pytest.raises(SimulationArgumentError, match="workers of an executor"):
        asked.run(out=tmp_path / "out", shared=True)
