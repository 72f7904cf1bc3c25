"""Killed and interrupted processes: what fails and is kept, and that resume goes on."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import results
from bayesduel.experiments import chunk
from bayesduel.simulation import driver
from tests.fake_policies import (
    Broken,
    Deadly,
    Scripted,
    Sleepy,
    Wanderer,
    instant_run_chunk,
)
from tests.folders import content_of
from tests.processes import PATIENCE, wait_for, wait_for_end

ROOT = Path(__file__).resolve().parent.parent.parent
LONG = {"num_runs": 70, "horizon": 300, "seed": 5}
RUNS_PER_CHUNK = 35
"""Two chunks per policy."""


@pytest.fixture(autouse=True)
def _few_chunks(monkeypatch):
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", RUNS_PER_CHUNK)


@pytest.fixture(scope="module")
def whole():
    return {
        name: bayesduel.simulate("cyclic", policy, **LONG)
        for name, policy in (("Wanderer", Wanderer()), ("Sleepy", Sleepy()))
    }


@pytest.mark.slow
def test_a_killed_worker_loses_its_own_policy_only(whole):
    """And a policy that fails in one, its own chunks."""
    policies = [Deadly(), Wanderer(), Broken()]
    tree = bayesduel.compare("cyclic", policies, jobs=2, **LONG)
    assert "unexpectedly terminated" in tree["cyclic/Deadly"].attrs["error"]
    plays = tree["cyclic/Wanderer/plays"]
    np.testing.assert_array_equal(plays, whole["Wanderer"]["plays"])
    assert "cannot be made" in tree["cyclic/Broken"].attrs["error"]
    assert not tree["cyclic/Broken"].data_vars


SCRIPT = """
import bayesduel
from bayesduel.experiments import chunk
from tests.fake_policies import Sleepy, Wanderer
chunk.RUNS_PER_CHUNK = {size}
bayesduel.compare("cyclic", [Wanderer(), Sleepy()], jobs=2, out={out!r}, **{request})
"""


@contextmanager
def two_workers(out, finished):
    """Start a comparison that falls asleep, and wait until so many chunks are done."""
    # Without a cache of the user's the workers share one of their own.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SLEEPY_SECONDS": "3600"}
    del environment["JAX_COMPILATION_CACHE_DIR"]
    code = SCRIPT.format(out=str(out), request=LONG, size=RUNS_PER_CHUNK)
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE,
        start_new_session=True, text=True,
    )  # fmt: skip
    try:
        wait_for(lambda: len([*out.glob("chunks/*.chunk")]) >= finished, process)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished_and_resume_goes_on(whole, tmp_path):
    """Ctrl-C reaches the whole group of processes, and all of them end."""
    out, wanted = tmp_path / "out", 2
    with two_workers(out, wanted) as process:
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.readline()
        assert "waiting for the chunk" in said  # A worker is asleep, for an hour.
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=PATIENCE)[1]
        assert "KeyboardInterrupt" in errors
        wait_for_end(process.pid)
    assert len(list(out.glob("chunks/*.chunk"))) == wanted
    assert not (out / "results.nc").exists()

    policies = [Wanderer(), Sleepy()]
    tree = bayesduel.compare("cyclic", policies, out=out, resume=True, **LONG)
    for name, alone in whole.items():
        np.testing.assert_array_equal(tree[f"cyclic/{name}/plays"], alone["plays"])


@pytest.mark.slow
def test_workers_end_with_the_process_that_wants_their_results(tmp_path):
    """Killed, it can tell them nothing."""
    with two_workers(tmp_path / "out", 1) as process:
        process.kill()
        process.wait()
        wait_for_end(process.pid)


@pytest.mark.parametrize(("num_arms", "sizes"), [(255, [35, 35]), (256, [1] * 70)])
def test_runs_that_are_played_one_by_one_are_chunks_of_their_own(
    num_arms, sizes, monkeypatch
):
    """A policy of many arms would otherwise keep one core busy and the other idle."""
    calls = []
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk(calls))
    matrix = np.full((num_arms, num_arms), 0.5)
    bayesduel.compare(matrix, Wanderer(), num_runs=70, horizon=10, jobs=1)
    assert [len(runs) for _, runs in calls] == sizes


NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
POLICIES = [Wanderer(), Scripted()]
REQUEST = {"num_runs": 24, "horizon": 1000, "seed": 5}


def killed(action, seconds):
    """Run an action in a copy of this process, which dies after so much processor time.

    By a signal that ends a process as SIGKILL does.
    """
    with warnings.catch_warnings():
        # Other threads do not live on in the copy, and nothing here waits for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        child = os.fork()
    if child:
        wait_for(lambda: os.waitpid(child, os.WNOHANG)[0])
        return
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        action()
    finally:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied by fork")
@pytest.mark.slow
def test_killed_at_any_moment_of_writing(tmp_path, monkeypatch):
    """The simulator is instant, so that most kills hit the writing of files."""
    kills = 100 if NIGHTLY else 15
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", 3)
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))
    for name in ("whole", "again"):  # The first one imports.
        begun = time.process_time()
        bayesduel.compare("cyclic", POLICIES, out=tmp_path / name, **REQUEST)
        seconds = time.process_time() - begun
    whole, rng = content_of(tmp_path / "whole"), random.Random(8)
    collected = {"whole": 0, "parts": 0, "nothing": 0}
    for number in range(kills):
        out = tmp_path / str(number)

        def action(out=out):
            bayesduel.compare("cyclic", POLICIES, out=out, **REQUEST)

        killed(action, rng.uniform(0.001, 1.1 * seconds))
        if (out / results.FILE_NAME).exists():
            collected["whole"] += 1
            assert content_of(out) == whole
        else:
            collected["parts" if list(out.rglob("*.chunk")) else "nothing"] += 1
        bayesduel.compare("cyclic", POLICIES, out=out, resume=True, **REQUEST)
        assert content_of(out) == whole
        assert not [*out.rglob("*.unfinished")]
        assert len([*out.rglob("*.chunk")]) == 16
    assert collected["parts"] > kills // 4, f"the kills missed the writing: {collected}"
