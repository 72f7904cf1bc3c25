"""Comparisons over real processes: how they are cut, what fails, what is kept."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel.experiments import chunk
from bayesduel.simulation import driver
from tests.fake_policies import (
    Broken,
    Deadly,
    Sleepy,
    Wanderer,
    instant_run_chunk,
)
from tests.processes import PATIENCE, wait_for, wait_for_end

ROOT = Path(__file__).resolve().parent.parent.parent
REQUEST = {"num_runs": 70, "horizon": 300, "seed": 5}
RUNS_PER_CHUNK = 35
"""Two chunks per policy."""


@pytest.fixture(autouse=True)
def _few_chunks(monkeypatch):
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", RUNS_PER_CHUNK)


@pytest.fixture(scope="module")
def whole():
    """Return what one process says, in one piece per policy."""
    return {
        name: bayesduel.simulate("cyclic", policy, **REQUEST)
        for name, policy in (("Wanderer", Wanderer()), ("Sleepy", Sleepy()))
    }


@pytest.mark.slow
def test_a_killed_worker_loses_its_own_policy_only(whole):
    """And a policy that fails in one, its own chunks."""
    tree = bayesduel.compare(
        "cyclic", [Deadly(), Wanderer(), Broken()], jobs=2, **REQUEST
    )
    assert "unexpectedly terminated" in tree["cyclic/Deadly"].attrs["error"]
    np.testing.assert_array_equal(
        tree["cyclic/Wanderer/plays"], whole["Wanderer"]["plays"]
    )
    assert "cannot be made" in tree["cyclic/Broken"].attrs["error"]
    assert not tree["cyclic/Broken"].data_vars


SCRIPT = """
import bayesduel
from bayesduel.experiments import results
from bayesduel.experiments import chunk
from tests.fake_policies import Sleepy, Wanderer
chunk.RUNS_PER_CHUNK = {size}
bayesduel.compare("cyclic", [Wanderer(), Sleepy()], jobs=2, out={out!r}, **{request})
"""


@contextmanager
def two_workers(out, finished):
    """Start a comparison that falls asleep, and wait until so many chunks are done."""
    # Without a cache of the user's the workers share one of their own.
    own = {"PYTHONPATH": str(ROOT), "SLEEPY_SECONDS": "3600"}
    environment = os.environ | own
    del environment["JAX_COMPILATION_CACHE_DIR"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            SCRIPT.format(out=str(out), request=REQUEST, size=RUNS_PER_CHUNK),
        ],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
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
    tree = bayesduel.compare("cyclic", policies, out=out, resume=True, **REQUEST)
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
