"""Chunks: how a request is cut, and what one of them holds."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import Experiment, results
from bayesduel.experiments import Chunk, chunk
from bayesduel.simulation import driver
from tests.fake_policies import Wanderer, instant_run_chunk
from tests.folders import chunks_of

ROOT = Path(__file__).resolve().parent.parent.parent
SURE = [[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]]


def asked_of(instance="cyclic", policies="rucb", **options):
    request = {"num_runs": 50, "horizon": 200, "seed": 3} | options
    return Experiment(instance, policies, **request)


@pytest.mark.parametrize(
    ("num_runs", "num_arms", "record", "sizes"),
    [
        (1, 5, "plays", [1]),
        (20, 5, "plays", [20]),
        (45, 255, "regret", [20, 20, 5]),
        (3, 256, "plays", [1, 1, 1]),
        (3, 256, "quantiles", [1, 1, 1]),
        (2049, 16, "quantiles", [1024, 1024, 1]),
        (513, 17, "quantiles", [256, 256, 1]),
    ],
)
def test_a_request_is_cut_by_its_size_alone(num_runs, num_arms, record, sizes):
    runs = chunk.runs_of_chunks(num_runs, num_arms, record)
    assert [len(each) for each in runs] == sizes
    assert [number for each in runs for number in each] == [*range(num_runs)]


def test_more_runs_and_policies_have_the_same_chunks_and_others():
    few = {each.digest for each in asked_of(num_runs=40).chunks()}
    more = [
        each.digest for each in asked_of(["cyclic", "gap"], ["d-ts", "rucb"]).chunks()
    ]
    assert len(more) == len({*more}) == 12
    assert few < {*more}
    assert all(len(each) == 64 and each == each.lower() for each in more)


def test_a_chunk_is_frozen_and_travels():
    one, *_ = asked_of().chunks()
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(one)).digest == one.digest
    assert isinstance(one, Chunk)
    with pytest.raises(AttributeError):
        one.runs = range(3)
    assert replace(one, runs=range(3)).digest != one.digest


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("matrix", ["cyclic", SURE], ids=["cyclic", "probability one"])
@pytest.mark.parametrize("num_runs", [1, 25])
def test_chunks_hold_the_runs_of_a_simulation(matrix, num_runs):
    asked = asked_of(matrix, num_runs=num_runs)
    whole = bayesduel.simulate(matrix, "rucb", num_runs=num_runs, horizon=200, seed=3)
    shares = []
    for each in asked.chunks():
        part = bayesduel.simulate_chunk(each, shares.append)
        alone = whole.to_dataset().sel(run=[*each.runs])
        assert part.equals(alone.drop_vars("preference"))
        assert part.attrs["num_runs"] == len(each.runs)
    assert shares[0] == 0 and shares[-1] == 1
    if matrix is SURE:
        # The better arm wins every duel, so arm 0 is named by all.
        assert (whole["recommendation"] == 0).all()
    assert len(asked.run()["/"].descendants) == 2


def test_a_run_of_256_arms_is_a_chunk(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))
    matrix = np.full((256, 256), 0.5)
    asked = Experiment(matrix, Wanderer(), num_runs=3, horizon=10)
    tree = asked.run(out=tmp_path)
    assert len(chunks_of(tmp_path)) == 3
    assert tree["256-arms/Wanderer"].sizes["run"] == 3
    # The matrix has no name, so that its numbers stand in a file.
    again = Experiment.from_file(tmp_path / "experiment.toml")
    assert again.instances == asked.instances


MERGE = """
import sys
import bayesduel
print("ready", flush=True)
sys.stdin.readline()
bayesduel.merge(sys.argv[1])
"""


@pytest.mark.slow
def test_two_processes_that_finish_at_once(tmp_path):
    """One waits for the other, and both write the same file."""
    asked_of().run(out=tmp_path / "whole")
    out = tmp_path / "out"
    for part in ("1/2", "2/2"):
        asked_of().run(out=out, part=part)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MERGE, str(out)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[1] for process in processes]
    # On a busy machine the second one may wait too long, and says so.
    assert all(not each or "is writing to" in each for each in said)
    assert not all(said)
    files = [(tmp_path / name / results.FILE_NAME) for name in ("whole", "out")]
    assert files[0].read_bytes() == files[1].read_bytes()
