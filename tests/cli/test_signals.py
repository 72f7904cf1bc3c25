"""The end after Ctrl-C or of a pipe: what is kept and said, and that nothing waits."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

import bayesduel
from bayesduel import results
from bayesduel.cli import errors
from bayesduel.signals import Terminated, heard, signals_raise, signals_wait
from tests.folders import chunks_of
from tests.processes import PATIENCE, wait_for

SHOW = "bayesduel.cli.commands.show"
CALM = "from bayesduel.cli import main; main()"

BEGINNING = f"""
import os, signal, sys

moment = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == moment:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
{CALM}
"""
"""Ctrl-C while a module is imported."""

BROKEN = f"""
import os, signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "bayesduel.cli.commands.show":
            try:
                os.kill(os.getpid(), signal.SIGINT)
                compile("0", "", "eval")
            except BaseException:
                os.abort()

sys.meta_path.insert(0, Finder())
{CALM}
"""
"""Ctrl-C while a module is imported that ends the process if that raises."""

DEAF = f"""
import os, signal, time
from bayesduel.cli.commands import list as listing
from bayesduel.cli.options import command

class File:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def list_():
    File()
    time.sleep(3600)

list_.__module__ = listing.__name__
command("list")(list_)
{CALM}
"""
"""Ctrl-C while a finalizer runs: Python drops what that raises."""

FOREIGN = f"""
import ctypes
from bayesduel.cli.commands import list as listing
from bayesduel.cli.options import command

libc = ctypes.CDLL(None)

def list_():
    print("busy", flush=True)
    # Does not return for a signal, as a compiler: it waits for a condition for ever.
    mutex, condition = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    libc.pthread_mutex_lock(mutex)
    libc.pthread_cond_wait(condition, mutex)

list_.__module__ = listing.__name__
command("list")(list_)
{CALM}
"""
"""A command within compiled code, which Python cannot interrupt."""

STUCK = f"""
import time
from bayesduel.experiments import chunk
from bayesduel.simulation import driver

chunk.RUNS_PER_CHUNK = 1
plain = driver.run_chunk

def run_chunk(*arguments, runs, **settings):
    found = plain(*arguments, runs=runs, **settings)
    if runs.start == 3:
        time.sleep({{seconds}})
    return found

driver.run_chunk = run_chunk
{CALM}
"""


@pytest.fixture
def raised():
    result, plain = [], signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda number, frame: result.append(number))
    yield result
    signal.signal(signal.SIGTERM, plain)


def test_the_first_signal_waits_and_the_second_raises(capfd):
    reached = []
    with pytest.raises(KeyboardInterrupt), signals_wait():
        signal.raise_signal(signal.SIGINT)
        reached.append(1)
        signal.raise_signal(signal.SIGINT)
        reached.append(2)
    assert reached == [1]
    assert capfd.readouterr().err.count("Ctrl-C again ends at once") == 1
    assert not heard
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_raises_at_the_end_or_where_it_is_looked_for(capfd):
    with pytest.raises(KeyboardInterrupt), signals_wait():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), signals_wait() as raise_signal:
        raise_signal()
        signal.raise_signal(signal.SIGINT)
        raise_signal()
        pytest.fail("it did not raise")
    with signals_wait() as raise_signal:
        raise_signal()  # Nothing is left of the signals before.


def test_an_error_after_a_signal_came_of_it(capfd):
    """Raised within an archive it becomes a ``ValueError``, for example."""
    with pytest.raises(KeyboardInterrupt), signals_wait():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("an open writing handle")


def test_handlers_of_the_caller_are_called(raised, capfd):
    with signals_wait():
        signal.raise_signal(signal.SIGTERM)
        assert raised == []
    assert raised == [signal.SIGTERM]


def test_a_command_ends_by_sigterm_as_by_ctrl_c(monkeypatch, capfd):
    plain = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(Terminated, match="SIGTERM"), signals_raise():
            with signals_wait():
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, plain)
        heard.clear()


def test_other_threads_are_left_alone():
    def run():
        with signals_raise(), signals_wait() as raise_signal:
            raise_signal()

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("code", "words", "status", "said"),
    [
        (BEGINNING, ["typer", "list", "models"], -signal.SIGINT, ""),
        (BEGINNING, [SHOW, "show", "d-ts"], 130, "interrupted\n"),
        (BROKEN, ["show", "d-ts"], 130, "interrupted\n"),
    ],
)
def test_ctrl_c_at_any_moment_of_a_command(code, words, status, said):
    """Python says nothing of what it imports, nor of what it drops."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.parametrize("code", [DEAF, FOREIGN], ids=["dropped", "foreign"])
def test_a_second_ctrl_c_ends_what_heard_nothing_of_the_first(code):
    """Compiled code goes on for as long as it takes, and Python with it."""
    command, pipe = [sys.executable, "-c", code, "list"], subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    if code is FOREIGN:
        assert process.stdout.readline() == "busy\n"
    try:
        for _ in range(100):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
                break
        else:
            pytest.fail("it does not end")
        process.communicate()
    finally:
        process.kill()
    assert process.returncode in (130, -signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3, 3600])
def test_ctrl_c_keeps_the_chunk_that_is_simulated_and_resume_goes_on(tmp_path, seconds):
    """A second one does not wait for that chunk."""
    out = tmp_path / "out"
    request = ["-i", "cyclic", "-p", "d-ts", "--runs", "6", "--horizon", "500"]
    command = ["compare", *request, "--jobs", "1", "--out", str(out)]
    stuck = [sys.executable, "-c", STUCK.format(seconds=seconds), *command]
    process = subprocess.Popen(stuck, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(chunks_of(out)) >= 3, process)
        process.send_signal(signal.SIGINT)
        said = ""
        while "Ctrl-C again ends at once" not in said:
            said += process.stderr.readline()
        if seconds > 60:
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    stored = 3 if seconds > 60 else 4
    assert len(chunks_of(out)) == stored
    if seconds < 60:
        assert f"kept 4 finished runs in {out}; go on with" in said
    code = STUCK.format(seconds=0)
    subprocess.run([sys.executable, "-c", code, *command, "--resume"], check=True)
    whole = tmp_path / "whole"
    bayesduel.compare("cyclic", "d-ts", num_runs=6, horizon=500, out=whole)
    ours, theirs = (item / results.FILE_NAME for item in (out, whole))
    assert ours.read_bytes() == theirs.read_bytes()


RUN_APP = "from bayesduel.cli.app import run; run()"
NO_READER = 141
"""128 + SIGPIPE, as shells say of `cat` and of `grep`."""


WITHOUT_READER = """
import os, sys
from functools import cache
import jaxtyping, typer.main, typer.rich_utils
from bayesduel import experiments, instances, policies
from bayesduel.cli.app import app, run

typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(app)
for words in sys.argv[1:]:
    for others in (1,), (1, 2):
        if os.fork() == 0:
            sys.argv = ["-c", *words.split()]
            output, pipe = os.pipe()
            os.close(output)
            for descriptor in others:
                os.dup2(pipe, descriptor)
            run()
            sys.exit()
        print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""
"""Commands whose output nobody reads, nor their errors the second time: children of a
process that has imported what takes long."""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal of a broken pipe"
)
def test_it_ends_quietly_where_nobody_reads():
    lines = ["--help", "study --help", "--version", "list", "list --json",
             "bounds cyclic", "bounds cyclic --json", "show d-ts",
             "config -i cyclic -p d-ts", "reproduce --list"]  # fmt: skip
    command = [sys.executable, "-c", WITHOUT_READER, *lines]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert [*map(int, done.stdout.split())] == [NO_READER] * 2 * len(lines)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_who_stays_gets_all_of_it():
    command = [sys.executable, "-c", RUN_APP, "bounds", "cyclic"]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and b"27.5" in done.stdout


def test_a_broken_pipe_of_something_else_is_no_end(monkeypatch):
    monkeypatch.setattr(errors, "_has_no_reader", lambda descriptor: False)
    with pytest.raises(BrokenPipeError), errors.quiet_pipes():
        raise BrokenPipeError
