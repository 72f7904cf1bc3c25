"""Comparisons over real processes: how they are cut, what fails, what is kept."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayesduel
from tests.fake_policies import Broken, Deadly, Scripted, Sleepy, Wanderer

ROOT = Path(__file__).resolve().parent.parent
REQUEST = {"num_runs": 70, "horizon": 2000, "seed": 5}
"""Two jobs per policy in one process as in two."""


def same(one, other):
    """Everything but seconds and dates."""
    assert one.equals(other)
    assert {node.path for node in one.subtree} == {node.path for node in other.subtree}


@pytest.fixture(scope="module")
def whole():
    """Return what one process says, in one piece per policy."""
    return {
        name: bayesduel.simulate("cyclic", policy, **REQUEST)
        for name, policy in (("Wanderer", Wanderer()), ("Sleepy", Sleepy()))
    }


def test_two_processes_say_what_one_says(whole):
    """Also with the jobs cut otherwise, and with a policy that waits for the host."""
    policies = [Wanderer(), Sleepy()]
    one, two = (
        bayesduel.compare("cyclic", policies, jobs=jobs, **REQUEST) for jobs in (1, 2)
    )
    same(one, two)
    for name, alone in whole.items():
        for variable in ("plays", "regret", "recommendation"):
            np.testing.assert_array_equal(
                one[f"cyclic/{name}"][variable], alone[variable]
            )
    assert len(np.unique(one["cyclic/Wanderer/plays"], axis=0)) > 60


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_loses_nothing_of_the_others(whole, jobs, tmp_path):
    tree = bayesduel.compare(
        "cyclic", [Broken(), Wanderer()], jobs=jobs, out=tmp_path / "out", **REQUEST
    )
    assert "cannot be made" in tree["cyclic/Broken"].attrs["error"]
    assert not tree["cyclic/Broken"].data_vars
    for kept in (tree, xr.open_datatree(tmp_path / "out" / "results.nc")):
        np.testing.assert_array_equal(
            kept["cyclic/Wanderer/plays"], whole["Wanderer"]["plays"]
        )


def test_a_killed_worker_loses_its_own_job_only(whole):
    tree = bayesduel.compare(
        "cyclic", [Deadly(), Wanderer(), Scripted()], jobs=2, **REQUEST
    )
    assert "terminated abruptly" in tree["cyclic/Deadly"].attrs["error"]
    np.testing.assert_array_equal(
        tree["cyclic/Wanderer/plays"], whole["Wanderer"]["plays"]
    )
    assert tree["cyclic/Scripted"].sizes["run"] == REQUEST["num_runs"]


def ends(group, seconds=20.0):
    """Say whether a group of processes has ended, or does so soon."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


SCRIPT = """
import signal
# Under a shell that runs the tests in the background Ctrl-C would be ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import bayesduel
from tests.fake_policies import Sleepy, Wanderer
bayesduel.compare("cyclic", [Wanderer(), Sleepy()], jobs=2, out={out!r}, **{request})
"""


def test_an_interrupt_keeps_what_is_finished_and_resume_goes_on(whole, tmp_path):
    """Ctrl-C reaches the whole group of processes, and all of them end."""
    out = tmp_path / "out"
    # Without a cache of the user's the workers share one of their own.
    own = {"PYTHONPATH": str(ROOT), "SLEEPY_SECONDS": "3600"}
    environment = os.environ | own
    del environment["JAX_COMPILATION_CACHE_DIR"]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(out=str(out), request=REQUEST)],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    wanted, deadline = 2, time.monotonic() + 240
    while len(list(out.glob("parts/*.nc"))) < wanted and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    try:
        errors = process.communicate(timeout=120)[1]
        assert "KeyboardInterrupt" in errors
        assert ends(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(list(out.glob("parts/*.nc"))) == wanted
    assert not (out / "results.nc").exists()

    policies = [Wanderer(), Sleepy()]
    tree = bayesduel.compare("cyclic", policies, out=out, resume=True, **REQUEST)
    for name, alone in whole.items():
        np.testing.assert_array_equal(tree[f"cyclic/{name}/plays"], alone["plays"])
