"""kill -9 at any moment, then resume: the final file is the uninterrupted one.

Of a process whose simulator is instant, so that most kills hit the writing of files.
That workers end with their process is asked in ``test_experiments.py``.
"""

import os
import random
import signal
import time
import warnings
from pathlib import Path

import pytest

import bayesduel
from bayesduel import results
from bayesduel.experiments import chunk
from bayesduel.simulation import driver
from tests.fake_policies import Scripted, Wanderer, instant_run_chunk
from tests.processes import wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
POLICIES = [Wanderer(), Scripted()]
REQUEST = {"num_runs": 24, "horizon": 1000, "seed": 5}


def content(out):
    return (out / results.FILE_NAME).read_bytes()


def killed(action, seconds):
    """Run an action in a copy of this process, which dies after so much work.

    Of processor time: on a busy machine a pause would end anywhere. By a signal that
    ends a process as SIGKILL does.
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
    kills = 100 if NIGHTLY else 15
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", 3)
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))
    for name in ("whole", "again"):  # The first one imports.
        begun = time.process_time()
        bayesduel.compare("cyclic", POLICIES, out=tmp_path / name, **REQUEST)
        seconds = time.process_time() - begun
    whole, rng = content(tmp_path / "whole"), random.Random(8)
    found = {"whole": 0, "parts": 0, "nothing": 0}
    for number in range(kills):
        out = tmp_path / str(number)

        def action(out=out):
            bayesduel.compare("cyclic", POLICIES, out=out, **REQUEST)

        killed(action, rng.uniform(0.001, 1.1 * seconds))
        if (out / results.FILE_NAME).exists():
            found["whole"] += 1
            assert content(out) == whole
        else:
            found["parts" if list(out.rglob("*.chunk")) else "nothing"] += 1
        bayesduel.compare("cyclic", POLICIES, out=out, resume=True, **REQUEST)
        assert content(out) == whole
        assert not [*out.rglob("*.unfinished")]
        assert len([*out.rglob("*.chunk")]) == 16
    assert found["parts"] > kills // 4, f"the kills missed the writing: {found}"
