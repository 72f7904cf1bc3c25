"""The end after Ctrl-C: what is on the disk, what is said, and that nothing waits."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import bayesduel
from bayesduel import results
from bayesduel.cli.sweeps import deadline
from bayesduel.cli.sweeps.deadline import ended_in_time, in_time, left_in_time

CALM = "from bayesduel.cli import main; main()"

STUCK = f"""
import time
from bayesduel.experiments import comparison
from bayesduel.simulation import driver

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
        assert ends.event.wait(60)
    assert ends.codes == [130]
    said = capfd.readouterr().err
    assert f"interrupted: kept what was finished in {tmp_path}; go on with" in said


def test_what_ends_itself_is_left_alone(ends, deaf):
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


@pytest.mark.slow
def test_ctrl_c_keeps_pieces_of_a_long_job_and_resume_goes_on(tmp_path):
    out = tmp_path / "out"
    request = ["-i", "cyclic", "-p", "d-ts", "--runs", "6", "--horizon", "500"]
    command = ["compare", *request, "--jobs", "1", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *command], stderr=subprocess.PIPE, text=True
    )
    try:
        while len(kept := [*out.glob(".bayesduel/parts/*.npz")]) < 3:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
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
