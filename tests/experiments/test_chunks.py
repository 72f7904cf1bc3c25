"""Chunks: how a request is cut, what one of them holds, and what its digest follows."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayesduel
from bayesduel import Experiment, policies, results
from bayesduel.errors import OutputFolderError
from bayesduel.experiments import Chunk, chunk
from bayesduel.experiments.chunk import arrays_of, from_bytes, to_bytes
from bayesduel.ops.code_digest import code_digest
from bayesduel.policies import Policy
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
    assert [len(run) for run in runs] == sizes
    assert [number for run in runs for number in run] == [*range(num_runs)]


def test_more_runs_and_policies_have_the_same_chunks_and_others():
    few = {chunk.digest for chunk in asked_of(num_runs=40).chunks()}
    request = asked_of(["cyclic", "gap"], ["d-ts", "rucb"])
    more = [chunk.digest for chunk in request.chunks()]
    assert len(more) == len({*more}) == 12
    assert few < {*more}
    assert all(len(item) == 64 and item == item.lower() for item in more)


def test_a_chunk_is_frozen_and_travels():
    one, *_ = asked_of().chunks()
    again = pickle.loads(pickle.dumps(one))
    assert isinstance(one, Chunk) and again == one and again.digest == one.digest
    with pytest.raises(AttributeError):
        one.runs = range(3)
    assert replace(one, runs=range(3)).digest != one.digest


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("matrix", ["cyclic", SURE], ids=["cyclic", "probability one"])
@pytest.mark.parametrize("num_runs", [1, 25])
def test_chunks_hold_the_runs_of_a_simulation(matrix, num_runs):
    request = asked_of(matrix, num_runs=num_runs)
    whole = bayesduel.simulate(matrix, "rucb", num_runs=num_runs, horizon=200, seed=3)
    shares = []
    for item in request.chunks():
        part = bayesduel.simulate_chunk(item, shares.append)
        alone = whole.to_dataset().sel(run=[*item.runs])
        assert part.equals(alone.drop_vars("preference"))
        assert part.attrs["num_runs"] == len(item.runs)
    assert shares[0] == 0 and shares[-1] == 1
    if matrix is SURE:
        # The better arm wins every duel, so arm 0 is named by all.
        assert (whole["recommendation"] == 0).all()
    assert len(request.run()["/"].descendants) == 2


def test_a_run_of_256_arms_is_a_chunk(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))
    matrix = np.full((256, 256), 0.5)
    experiment = Experiment(matrix, Wanderer(), num_runs=3, horizon=10)
    tree = experiment.run(out=tmp_path)
    assert len(chunks_of(tmp_path)) == 3
    assert tree["256-arms/Wanderer"].sizes["run"] == 3
    # The matrix has no name, so that its numbers stand in a file.
    again = Experiment.from_file(tmp_path / "experiment.toml")
    assert again.instances == experiment.instances


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
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", MERGE, str(out)]
    processes = [
        subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[1] for process in processes]
    # On a busy machine the second one may wait too long, and says so.
    assert all(not item or "is writing to" in item for item in said)
    assert not all(said)
    files = [(tmp_path / name / results.FILE_NAME) for name in ("whole", "out")]
    assert files[0].read_bytes() == files[1].read_bytes()


RNG = np.random.default_rng(3)
WHOLE = xr.Dataset(
    {
        "regret": (("run", "round"), RNG.gamma(2.0, size=(3, 5))),
        "plays": (("run",), np.array([2**53 + 1, 0, -1])),
        "ended": (("run",), np.array([True, False, True])),
        "share": ((), np.float32(0.1)),
        "bounds": (("run",), np.array([np.inf, -np.inf, np.nan])),
    },
    {"run": [7, 8, 9], "arm": ["東京", "", "Ålesund"], "round": np.arange(5) ** 9},
    {"num_runs": 3, "seconds": 0.1 + 0.2, "label": "é", "none": [1, 2]},
)


@pytest.mark.parametrize(
    "dataset",
    [WHOLE, WHOLE.isel(run=slice(0)), xr.Dataset(attrs={"error": "it failed"})],
    ids=["whole", "no run", "no array"],
)
def test_what_is_written_is_read(dataset):
    data = from_bytes(to_bytes(arrays_of(dataset))).dataset()
    assert data.identical(dataset) and [*data.data_vars] == [*dataset.data_vars]
    for name, values in data.variables.items():
        assert values.dtype == dataset[name].dtype
    for values in data.data_vars.values():
        assert values.to_numpy().flags.writeable


def test_repeated_numbers_take_no_room():
    plays = xr.Dataset({"plays": (("run", "arm"), RNG.integers(0, 200, (1000, 50)))})
    assert len(to_bytes(arrays_of(plays))) < plays.nbytes / 4


SOURCE = """
import math
from bayesduel.policies import DoubleThompson, Policy

WARM_UP = 10
TABLE = {"a": 1.0, "b": (2, 3)}


def helper(x):
    return inner(x) + 1


def inner(x):
    return 2 * x


def unrelated(x):
    return x


class Base(Policy):
    def shared(self):
        return 1


class Own(Base):
    '''Text.'''

    factor: float = 1.0

    def choose(self, state, rng, round_):
        return helper(round_) + WARM_UP + TABLE["a"] + self.shared()

    def update(self, state, rng, round_, first, second, won):
        return [each + 1 for each in (1, 2)]
"""


@pytest.fixture
def digest_of(tmp_path, monkeypatch):
    """Return the digest of ``Own()`` as an edited module defines it."""
    monkeypatch.syspath_prepend(tmp_path)
    count = iter(range(100))

    def digest(*edits):
        source = SOURCE
        for old, new in edits:
            assert old in source
            source = source.replace(old, new)
        folder = tmp_path / str(next(count))
        folder.mkdir()
        (folder / "mine.py").write_text(source)
        monkeypatch.syspath_prepend(folder)
        sys.modules.pop("mine", None)
        import mine

        return code_digest(mine.Own())

    yield digest
    sys.modules.pop("mine", None)


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("helper(round_) +", "helper(round_) -", True),
        ("return inner(x) + 1", "return inner(x) + 2", True),
        ("return 2 * x", "return 3 * x", True),
        ("WARM_UP = 10", "WARM_UP = 11", True),
        ('"b": (2, 3)', '"b": (2, 4)', True),
        ("        return 1\n", "        return 2\n", True),
        ("each + 1 for", "each + 2 for", True),
        ("Own(Base):", "Own(DoubleThompson):", True),
        ("unrelated(x):\n    return x", "unrelated(x):\n    return 2 * x", False),
        ("import math\n", "import math  # for later\n\n\n", False),
        ("def update", "# A comment.\n    def update", False),
    ],
)
def test_what_is_executed_counts_and_nothing_else(digest_of, old, new, counts):
    assert (digest_of((old, new)) != digest_of()) is counts


def test_our_own_policies_have_none():
    for name in ("d-ts", "bt-ts", "ucb-no-order"):
        assert code_digest(policies.get(name)) == ""
    assert code_digest(policies.get("d-ts", every=10)) == ""
    assert code_digest(policies.DelayedFeedback(Wanderer(), 5)) != ""


def test_resuming_after_an_edit_is_refused_and_says_why(tmp_path, monkeypatch):
    out, request = tmp_path / "out", {"num_runs": 2, "horizon": 50}
    bayesduel.compare("cyclic", Wanderer(), out=out, **request)
    plain = Wanderer.start

    def edited(self, problem, rng):
        return plain(self, problem, rng)

    monkeypatch.setattr(Wanderer, "start", edited)
    with pytest.raises(OutputFolderError, match="the source of the policy has changed"):
        bayesduel.compare("cyclic", Wanderer(), out=out, resume=True, **request)


def test_a_class_without_a_file():
    """As in an interactive session, where there is no source to read."""
    space = {"__name__": "__main__", "Policy": Policy}
    digests = []
    for body in ("return 1", "return 2", "return 1"):
        exec(f"class Own(Policy):\n    def choose(self, *a):\n        {body}", space)
        digests.append(code_digest(space["Own"]()))
    assert digests[0] == digests[2] != digests[1]
