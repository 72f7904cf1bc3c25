"""Work in this process and in workers, and the progress bar meanwhile."""

import pickle
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import bayesduel
from bayesduel import errors
from bayesduel.errors import ExecutorError, OutputFolderError
from bayesduel.experiments import execute, progress
from bayesduel.experiments.progress import ProgressLines, ProgressReport
from bayesduel.ops.program_cache import kernel_folder
from bayesduel.signals import signals_wait
from bayesduel.simulation import programs


@dataclass(frozen=True)
class Counted:
    """A task that compiles for some seconds and runs for more, of a false clock."""

    name: str
    clock: list
    compiles: float = 0.0
    runs: float = 0.0


def count(task, on_progress=None):
    say = on_progress or float  # None where nobody listens.
    say(0.0)
    task.clock[0] += task.compiles
    for step in range(1, 11):
        say(step / 10)
        task.clock[0] += task.runs / 10
    return task.name


def program_of(task):
    return task.name.partition(" ")[0] or None


def outcomes(tasks, function=count, report=None, **options):
    result = execute.execute(
        function,
        tasks,
        report=report or ProgressReport(),
        words=lambda task: task.name,
        **{"workers": 1, "program": program_of} | options,
    )
    with closing(result):
        yield from result


@pytest.fixture
def engine(monkeypatch):
    """Return a function that runs tasks, and says who did which of them."""
    clock, left = [0.0], []

    def there(pool, most, waiting, *rest):
        left.extend([most, *(task.name for task in waiting)])
        return iter(())

    monkeypatch.setattr(execute, "_execute_there", there)
    monkeypatch.setattr(execute.time, "process_time", lambda: clock[0])

    def run(*seconds, workers=2, try_here=True):
        names = "abcdefgh"[: len(seconds)]
        pairs = zip(names, seconds, strict=True)
        tasks = [Counted(name, clock, *item) for name, item in pairs]
        options = {"workers": workers, "try_here": try_here}
        ended = outcomes(tasks, **options, program=lambda _: ())
        return "".join(value for _, value, _ in ended), left, clock[0]

    return run


@pytest.mark.parametrize(
    ("seconds", "options", "here", "left"),
    [
        (((0.5, 0.9), (0.3, 0.5), (0.1, 1.5)), {}, "abc", []),
        # Compiling took most of the time, and that does not help the other parts.
        ([(6.0, 0.5)] * 3, {}, "a", [4, "b", "c"]),
        (((0.2, 0.5), (0.2, 3600.0), (0.2, 0.5)), {}, "a", [4, "b", "c"]),
        ([(0.1, 0.1)] * 2, {"try_here": False}, "", [4, "a", "b"]),
        ([(9.0, 99.0)] * 2, {"workers": 1}, "ab", []),
    ],
    ids=["seconds", "enough work", "a long task", "workers wanted", "one process"],
)
def test_short_tasks_are_done_here_and_the_rest_by_workers(
    engine, seconds, options, here, left
):
    *result, spent = engine(*seconds, **options)
    assert result == [here, left]
    assert spent < 400


class Here(Executor):
    """Runs tasks at once; loses each of some as often as is said."""

    def __init__(self, losses=(), error=None):
        self.losses = Counter(losses)
        self.error = error or BrokenExecutor("its worker died")
        self.asked = []

    def submit(self, fn, /, task):
        future = Future()
        self.asked.append(task.name)
        try:
            if self.losses[task.name] > 0:
                self.losses[task.name] -= 1
                raise self.error
            future.set_result(fn(task))
        except Exception as error:
            future.set_exception(error)
        return future


def run_all(executor, names="abc"):
    ended = outcomes([Counted(name, [0.0]) for name in names], executor=executor)
    return {task.name: failure and str(failure) for task, _, failure in ended}


@pytest.mark.parametrize(
    ("losses", "error", "failure", "begun"),
    [
        (2, None, None, 3),
        (3, None, "its worker died", 3),
        (1, TypeError("cannot be sent"), "cannot be sent", 1),
    ],
)
def test_a_task_that_is_lost_with_its_worker_is_begun_anew(
    losses, error, failure, begun
):
    """Not again and again, nor what an executor cannot do for another reason."""
    executor = Here({"b": losses}, error)
    assert run_all(executor) == {"a": None, "b": failure, "c": None}
    assert Counter(executor.asked) == {"a": 1, "b": begun, "c": 1}


class Late(Executor):
    """Answers when it is asked to wait, all at once."""

    def __init__(self, monkeypatch):
        self.unanswered, self.held, self.losses = [], [], Counter()
        plain = execute.wait

        def wait(futures, **options):
            dies = any(self.losses[task.name] > 0 for _, _, task in self.unanswered)
            for _, _, task in self.unanswered:
                self.losses[task.name] -= self.losses[task.name] > 0
            while self.unanswered:
                future, fn, task = self.unanswered.pop()
                if dies:
                    future.set_exception(BrokenExecutor("a worker died"))
                else:
                    future.set_result(fn(task))
            return plain(futures, **options)

        monkeypatch.setattr(execute, "wait", wait)

    def submit(self, fn, /, task):
        self.held.append([item[2].name for item in self.unanswered])
        future = Future()
        self.unanswered.append((future, fn, task))
        return future


def test_an_executor_holds_no_more_than_some_tasks(monkeypatch):
    monkeypatch.setattr(execute, "_MOST_SENT", 2)
    executor = Late(monkeypatch)
    assert set(run_all(executor, "abcdefgh")) == {*"abcdefgh"}
    assert max(map(len, executor.held)) == 1


def test_a_task_that_kills_its_worker_takes_no_other_one_with_it(monkeypatch):
    """All that were in the pool are lost at first, then each is begun anew alone."""
    executor = Late(monkeypatch)
    executor.losses["b"] = 100
    result = run_all(executor, "abcdefgh")
    assert result.pop("b") == "a worker died"
    assert result == dict.fromkeys("acdefgh")


@pytest.mark.parametrize("executor", [None, Here()], ids=["here", "executor"])
def test_tasks_that_are_wanted_no_more_are_left_out(executor, monkeypatch):
    monkeypatch.setattr(execute, "_MOST_SENT", 1)
    failed = []

    def fail(task, on_progress=None):
        if task.name == "a 1":
            failed.append("a")
            raise ZeroDivisionError
        return task.name

    tasks = [Counted(name, [0.0]) for name in ("a 1", "a 2", "b 1")]
    options = {"wanted": lambda task: task.name[0] not in failed}
    ended = outcomes(tasks, fail, executor=executor, **options)
    done = [(task.name, failure is None) for task, _, failure in ended]
    assert done == [("a 1", False), ("b 1", True)]


def test_an_executor_that_is_gone_ends_the_sweep():
    class Gone(Executor):
        def submit(self, fn, /, task):
            raise BrokenExecutor("shut down")

    class Cancelling(Executor):
        def submit(self, fn, /, task):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    for executor in (Gone(), Cancelling()):
        with pytest.raises(ExecutorError, match="gone before all chunks were done"):
            run_all(executor)


@pytest.mark.parametrize("executor", [None, Here()], ids=["here", "executor"])
@pytest.mark.parametrize("last", ["a", "abc"])
def test_an_interrupt_waits_for_what_is_being_done(executor, last, monkeypatch, capfd):
    """Nothing that was computed is lost, and nothing new is begun."""
    monkeypatch.setattr(execute, "_MOST_SENT", 1)
    results = []

    def work(task, on_progress=None):
        if task.name == last[-1]:
            signal.raise_signal(signal.SIGINT)
        return task.name

    tasks = [Counted(name, [0.0]) for name in "abc"]
    with pytest.raises(KeyboardInterrupt), signals_wait() as raise_signal:
        for task, _, _ in outcomes(tasks, work, executor=executor):
            results.append(task.name)
            raise_signal()
    assert results == [*last]
    assert "Ctrl-C again ends at once" in capfd.readouterr().err


BEGINNING = """
import os, signal
from multiprocessing import get_context
from bayesduel.signals import unreached_children

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
    assert done.stderr.count("Traceback") == 1  # From the starting process.


def test_one_task_of_each_program_comes_first():
    """A program that is not compiled keeps its place among those that wait."""
    executor = Here()
    names = ("a 1", "a 2", "b 1", "b 2", "c 1")
    list(outcomes([Counted(name, [0.0]) for name in names], executor=executor))
    assert executor.asked == ["a 1", "b 1", "c 1", "a 2", "b 2"]


@pytest.mark.parametrize("at_hand", [{"one", "two", "three", "four"}, {"one"}, set()])
def test_many_programs_that_are_to_be_compiled_go_to_workers(monkeypatch, at_hand):
    there = []
    monkeypatch.setattr(programs, "is_at_hand", at_hand.__contains__)
    monkeypatch.setattr(
        execute, "_execute_there", lambda *all: iter(there.extend(all[2]) or ())
    )
    for names in (("one", "two", "three", "four"), ("one", "two", "three"), ("two",)):
        tasks = [Counted(name, [0.0]) for name in names]
        here = list(outcomes(tasks, workers=2, try_here=True))
        wanted = [0, len(names)] if len({*names} - at_hand) > 3 else [len(names), 0]
        assert [len(here), len(there)] == wanted
        there.clear()


@pytest.mark.parametrize(
    ("at_hand", "here"), [(set(), ["one", "two", "one"]), ({"one", "two"}, ["one"])]
)
def test_compiling_is_no_work_for_which_workers_are_begun(monkeypatch, at_hand, here):
    clock, there = [0.0], []
    monkeypatch.setattr(execute.time, "process_time", lambda: clock[0])
    monkeypatch.setattr(programs, "is_at_hand", at_hand.__contains__)
    monkeypatch.setattr(
        execute, "_execute_there", lambda *all: iter(there.extend(all[2]) or ())
    )
    tasks = [Counted(name, clock, 9.0, 0.5) for name in ("one", "two", "one", "one")]
    ended = outcomes(tasks, workers=2, try_here=True)
    assert [task.name for task, *_ in ended] == here
    assert len(there) == len(tasks) - len(here)


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


def compare(out, **options):
    bayesduel.compare("gap", "rucb", num_runs=3, horizon=9, out=out, **options)
    return (out / "results.nc").read_bytes()


class Travelled(Executor):
    """Runs what has travelled as a pickle, at once."""

    def __init__(self):
        self.sent = []

    def submit(self, fn, /, *arguments):
        future = Future()
        fn, arguments = pickle.loads(pickle.dumps((fn, arguments)))
        future.set_result(fn(*arguments))
        self.sent.append(future.result())
        return future


@pytest.mark.parametrize("shared", [False, True])
def test_an_executor_changes_no_result(tmp_path, shared):
    """Workers that share the folder write to it, and send nothing."""
    whole, executor = compare(tmp_path / "whole"), Travelled()
    assert compare(tmp_path / "out", executor=executor, shared=shared) == whole
    assert [item is None for item in executor.sent] == [shared]


def test_what_a_worker_has_written_and_is_not_seen_is_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "write_chunk", lambda *_: None)
    monkeypatch.setattr("bayesduel.experiments.folder._WAITING_SECONDS", 0.01)
    with pytest.raises(errors.OutputWriteError, match="not seen here"):
        compare(tmp_path / "out", executor=Travelled(), shared=True)


def test_workers_say_that_they_do_not_see_the_folder(tmp_path):
    class Elsewhere(Executor):
        def submit(self, fn, /, task):
            future = Future()
            try:
                future.set_result(fn.func(str(tmp_path / "not here"), task))
            except OutputFolderError as error:
                future.set_exception(error)
            return future

    experiment = bayesduel.Experiment("gap", "rucb", num_runs=3, horizon=9)
    with pytest.raises(OutputFolderError, match="workers do not see .*not here"):
        experiment.run(out=tmp_path / "out", executor=Elsewhere(), shared=True)
    with pytest.raises(OutputFolderError, match="needs a folder"):
        experiment.run(executor=Elsewhere(), shared=True)
    with pytest.raises(errors.SimulationArgumentError, match="workers of an executor"):
        experiment.run(out=tmp_path / "out", shared=True)


def test_the_bar_never_goes_back():
    shares = []

    class Bar:
        def add_task(self, description, total):
            assert total == 3
            return 0

        def update(self, task, *, completed=None, description=None):
            shares.append(completed)

    for executor in (None, Here()):
        shares.clear()
        report = ProgressReport(Bar())
        report.expect(3)
        tasks = [Counted(name, [0.0]) for name in "abc"]
        list(outcomes(tasks, report=report, executor=executor))
        known = [share for share in shares if share is not None]
        assert known == sorted(known) and known[-1] == 3


class InGroups(Executor):
    """Says how many workers it has; loses a worker once with each of some tasks."""

    _max_workers = 2

    def __init__(self, clock, losses=""):
        self.clock, self.losses, self.groups = clock, set(losses), []

    def submit(self, fn, /, function, tasks):
        names = "".join(task.name[0] for task in tasks)
        self.groups.append(names)
        future = Future()
        if lost := self.losses & set(names):
            self.losses -= lost
            future.set_exception(BrokenExecutor("its worker died"))
        else:
            future.set_result(fn(function, tasks))
        return future


def refuse_c(task):
    if task.name[0] == "c":
        raise ValueError("no c")
    return count(task)


@pytest.mark.parametrize("losses", ["", "h", "hk"])
def test_short_tasks_go_together_and_each_has_its_own_outcome(losses, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(execute.time, "process_time", lambda: clock[0])
    letters = "abcdefghijklmnopqrstuvwxyz"
    # The program of a task is its name up to a space: 20 of one, then 6 of another.
    tasks = [
        Counted(f"{item}{' x' if index > 19 else ''}", clock, runs=0.1)
        for index, item in enumerate(letters)
    ]
    executor = InGroups(clock, losses)
    result = list(
        outcomes(
            tasks,
            refuse_c,
            executor=executor,
            workers=2,
            program=lambda task: task.name[2:],
        )
    )
    assert sorted(task.name[0] for task, _, _ in result) == list(letters)
    for task, value, failure in result:
        assert (value, str(failure)) == (
            (None, "no c") if task.name == "c" else (task.name, "None")
        )
    # Alone until it is known how long they last, then for half a second, fewer at the
    # end; those that were lost with their worker alone.
    assert {"a", "b"} <= set(executor.groups)
    assert max(map(len, executor.groups)) in (4, 5)
    assert all(
        len(set(group) & set("uvwxyz")) in (0, len(group)) for group in executor.groups
    )
    for name in losses:
        assert name in executor.groups


class Bar:
    """Takes the place of a bar of rich."""

    def __init__(self):
        self.said = []

    def add_task(self, description, total):
        self.said.append((description, total))
        return 7

    def update(self, task, *, completed=None, description=None):
        assert task == 7
        self.said.append((description, completed))


def test_a_job_says_that_it_compiles_then_how_far_it_is():
    bar, words = Bar(), "D-TS on cyclic"
    report = ProgressReport(bar)
    report.expect(2)
    show = report.update(words)
    show(0.0)
    show(0.25)
    report.finished(words)
    report.compiling(words)
    assert bar.said == [
        ("simulating", 2),
        ("compiling D-TS on cyclic", 0.0),
        ("D-TS on cyclic", 0.25),
        ("D-TS on cyclic", 1),
        ("compiling D-TS on cyclic", None),
    ]


def test_lines_go_on_while_a_job_lasts_and_end():
    """Worker processes tell nothing of a job before its end."""
    lines, said, waited = ProgressLines(), [], []
    report = ProgressReport(lines)
    report.expect(4)
    report.compiling("RUCB on gap")
    report.finished("D-TS on gap")

    def wait(delay):
        waited.append(delay)
        return len(waited) == 3

    lines.speak(said.append, wait, [4, 10, 10, 10])
    assert waited == [4, 10, 10]
    assert said == ["0 s, 25% of 4 chunks: D-TS on gap"] * 2


def test_of_a_single_job_a_line_says_how_long_it_lasts():
    lines = ProgressLines()
    report = ProgressReport(lines)
    report.expect(1)
    report.count("drawing by Markov chains", 0)
    assert lines.line(12.3) == "12 s: drawing by Markov chains"
    report.count("drawing by Markov chains", 1)
    assert lines.line(14) == "14 s, 100% of 1 chunks: drawing by Markov chains"


@pytest.mark.parametrize("enabled", [True, False])
def test_a_log_hears_of_progress(capsys, monkeypatch, enabled):
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.0)
    spoken = progress.ProgressLines.speak

    def speak(lines, say, wait, delays):  # The first line, however fast the block is.
        spoken(lines, say, lambda _: False, [next(iter(delays))])

    monkeypatch.setattr(progress.ProgressLines, "speak", speak)
    with progress.progress_reporter(enabled=enabled) as report:
        report.expect(3)
    assert ("of" in capsys.readouterr().err) is enabled
