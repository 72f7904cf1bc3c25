"""The end after Ctrl-C: what is on the disk, what is said, and that nothing waits."""

import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

import bayesduel
from bayesduel import results
from bayesduel.cli.sweeps import deadline
from bayesduel.cli.sweeps.deadline import ended_in_time, in_time, left_in_time
from tests.processes import PATIENCE, wait_for

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
        if name == "bayesduel.cli.show":
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
from bayesduel.cli import listing

class File:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def list_():
    File()
    time.sleep(3600)

listing.list_ = list_
{CALM}
"""
"""Ctrl-C while a finalizer runs."""

STUCK = f"""
import time
from bayesduel.cli.sweeps import deadline
from bayesduel.experiments import comparison
from bayesduel.simulation import driver

deadline._PATIENCE = {PATIENCE}  # What is said is said by the usual end.
comparison.MOST_SECONDS = 0.0  # Every run is a piece of its own.
plain = driver.run_chunk

def run_chunk(*arguments, runs, **settings):
    if runs.start == 3:
        time.sleep(3600)
    return plain(*arguments, runs=runs, **settings)

driver.run_chunk = run_chunk
{CALM}
"""


@pytest.fixture
def ends(monkeypatch):
    """Return what the process would have ended with, and when that happened."""
    found = SimpleNamespace(codes=[], event=threading.Event())

    def end(code):
        found.codes.append(code)
        found.event.set()

    monkeypatch.setattr(deadline.os, "_exit", end)
    return found


@pytest.fixture
def deaf():
    """Let SIGINT do nothing, as while foreign code runs."""
    plain = signal.signal(signal.SIGINT, lambda number, frame: None)
    yield
    signal.signal(signal.SIGINT, plain)


def test_what_does_not_end_is_ended(ends, deaf, monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(deadline, "_PATIENCE", 0.01)
    with in_time(tmp_path, "what was finished"):
        os.kill(os.getpid(), signal.SIGINT)
        assert ends.event.wait(PATIENCE)
    assert ends.codes == [130]
    said = capfd.readouterr().err
    assert f"interrupted: kept what was finished in {tmp_path}; go on with" in said


def test_many_signals_put_off_no_end(ends, deaf, monkeypatch):
    monkeypatch.setattr(deadline, "_PATIENCE", 0.2)
    with ended_in_time(lambda number: ("in the end", 1)):
        while not ends.event.wait(0.01):
            os.kill(os.getpid(), signal.SIGINT)
    assert ends.codes == [1]


def test_what_ends_itself_is_left_alone(ends, deaf, monkeypatch):
    monkeypatch.setattr(deadline, "_PATIENCE", PATIENCE)
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with ended_in_time(lambda number: ("too late", 1)):
        os.kill(os.getpid(), signal.SIGINT)
    with ended_in_time(lambda number: ("no signal", 1)):
        pass
    assert ends.codes == []
    assert signal.set_wakeup_fd(before) == before


def test_no_other_thread_is_told_of_signals(ends):
    def run():
        with ended_in_time(lambda number: ("", 1)):
            pass

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ends.codes == []


def test_a_process_that_was_interrupted_is_left_at_once(ends, monkeypatch):
    cleaned = []
    monkeypatch.setattr(deadline, "_PATIENCE", PATIENCE)
    monkeypatch.setattr(
        deadline, "atexit", SimpleNamespace(_run_exitfuncs=lambda: cleaned.append(1))
    )
    for code in (0, 1, 2, None, "text"):
        with pytest.raises(SystemExit), left_in_time(128):
            raise SystemExit(code)
    assert (ends.codes, cleaned) == ([], [])
    with left_in_time(128):
        raise SystemExit(130)
    assert (ends.codes, cleaned) == ([130], [1])


def test_what_python_waits_for_in_the_end_is_left(ends, monkeypatch):
    waited = []
    exits = SimpleNamespace(
        _run_exitfuncs=lambda: waited.append(ends.event.wait(PATIENCE))
    )
    monkeypatch.setattr(deadline, "atexit", exits)
    monkeypatch.setattr(deadline, "_PATIENCE", 0.01)
    with left_in_time(128):
        raise SystemExit(143)
    assert (ends.codes[0], waited) == (143, [True])


@pytest.mark.parametrize(
    ("code", "words", "status", "said"),
    [
        (BEGINNING, ["typer", "list", "models"], -signal.SIGINT, ""),
        (BEGINNING, ["bayesduel.cli.show", "show", "d-ts"], 130, "interrupted\n"),
        (BROKEN, ["show", "d-ts"], 130, "interrupted\n"),
        (DEAF, ["list"], 130, "interrupted\n"),
    ],
)
def test_ctrl_c_at_any_moment_of_a_command(code, words, status, said):
    """Python says nothing of what it imports, nor of what it drops."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.slow
def test_ctrl_c_keeps_pieces_of_a_long_job_and_resume_goes_on(tmp_path):
    out = tmp_path / "out"
    request = ["-i", "cyclic", "-p", "d-ts", "--runs", "6", "--horizon", "500"]
    command = ["compare", *request, "--jobs", "1", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *command], stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(lambda: len([*out.glob(".bayesduel/parts/*.npz")]) >= 3, process)
        kept = [*out.glob(".bayesduel/parts/*.npz")]
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"kept 3 finished runs in {out}; go on with" in said
    assert sorted(out.glob(".bayesduel/parts/*.npz")) == sorted(kept)
    subprocess.run([sys.executable, "-c", CALM, *command, "--resume"], check=True)
    whole = tmp_path / "whole"
    bayesduel.compare("cyclic", "d-ts", num_runs=6, horizon=500, out=whole)
    ours, theirs = (each / results.FILE_NAME for each in (out, whole))
    assert ours.read_bytes() == theirs.read_bytes()
    assert not [*out.glob(".bayesduel/parts/*.npz")]
