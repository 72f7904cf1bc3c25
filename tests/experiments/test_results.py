"""Results keep what was simulated, and say truly where it comes from."""

import errno
import hashlib
import json
import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import bayesduel
from bayesduel import results
from bayesduel.errors import OutputFolderError, OutputWriteError
from bayesduel.experiments import Experiment, chunk, execute
from bayesduel.experiments.assemble import Gathered
from bayesduel.experiments.problems import problem_of
from bayesduel.policies import parse_policy
from bayesduel.simulation import driver
from bayesduel.simulation.driver import RunRecords
from bayesduel.stopping import parse_rule
from tests.fake_policies import Wanderer
from tests.policies.instances import CONDORCET
from theory import PreferenceMatrix

CHECKPOINTS = (10, 1000, 2**62)
NAMES = ("apple", "pêche", "Zwetschge", "梨")
FRUIT = PreferenceMatrix(CONDORCET, name="fruit", arm_names=NAMES)


def settings(policy="d-ts", notions=("copeland", "weak"), **changes):
    values = {
        "problem": problem_of(FRUIT), "policy": policy, "notions": notions,
        "checkpoints": CHECKPOINTS, "seed": 3, "shuffle": True, "record": "plays",
        "stopping": None,
    } | changes  # fmt: skip
    problem, policy = values.pop("problem"), values.pop("policy")
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    values |= {"notions": {problem.name: values["notions"]}}
    asked_for = SimpleNamespace(horizon=values["checkpoints"][-1], **values)
    return problem.instance, policy, chunk.settings_of(asked_for, problem, policy)


def plays_of(runs, rng):
    """Return plays that add up, in the upper triangle, increasing in time."""
    steps = np.diff([0, *CHECKPOINTS])
    upper = np.flatnonzero(np.triu(np.ones((4, 4))))
    plays = np.zeros((len(runs), len(steps), 16), dtype=np.int64)
    for run in range(len(runs)):
        for index, step in enumerate(steps):
            cuts = np.sort(rng.integers(0, step, len(upper) - 1, endpoint=True))
            plays[run, index, upper] = np.diff([0, *cuts, step])
    return np.cumsum(plays, axis=1).reshape(len(runs), len(steps), 4, 4)


def dataset_of(runs=range(3), given=None):
    instance, policy, settled = given or settings()
    rng = np.random.default_rng([1, runs.start])
    result = RunRecords(
        ledger={"plays": plays_of(runs, rng)},
        recommendation=rng.integers(0, 4, len(runs), dtype=np.int32),
        info={},
        events=rng.integers(1, 99, len(runs), dtype=np.uint32),
        run_seconds=1.5,
        compile_seconds=2.0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "run_chunk", lambda *_, **__: result)
        return chunk.simulate_chunk(chunk.Chunk(instance, policy, runs, settled))


def joined(parts):
    """Return what chunks make together, whatever order they come in."""
    options = {"num_runs": 9, "checkpoints": CHECKPOINTS, "horizon": 2**62}
    experiment = Experiment(settings()[0], "d-ts", **options)
    gathered = Gathered(experiment.request(), {})
    for part in parts:
        runs = part["run"].values
        runs = range(int(runs[0]), int(runs[-1]) + 1)
        gathered.add(("fruit", "D-TS"), runs, chunk.arrays_of(part))
    return gathered.tree()["fruit/D-TS"].to_dataset()


@cache
def tree():
    """Return two instances, names with signs in them, a failure, empty texts."""
    plain = PreferenceMatrix(CONDORCET[:3, :3], source="a test")
    odd = settings("d-ts:alpha=0.6,look_ahead=false", ("borda",))
    instance, policy, given = settings("d-ts+")
    failing = chunk.Chunk(instance, policy, range(3), given)
    failure = RuntimeError("'no' \"memory\" \N{INFINITY}\n" + "x" * 100_000)
    instances = {"fruit": settings()[0], "3-arms": plain}
    contents = {f"/{name}": problem_of(x).dataset() for name, x in instances.items()}
    contents |= {
        "/": xr.Dataset(attrs={"seed": 3, "created": "now"}),
        "/fruit/D-TS": dataset_of(),
        f"/fruit/{odd[1].label}": dataset_of(given=odd),
        "/fruit/D-TS+": execute._failed(failing, failure, 3),
    }
    return xr.DataTree.from_dict(contents)


def assert_same(one, other):
    """Compare every node, variable, coordinate, dtype and attribute."""
    assert [node.path for node in one.subtree] == [node.path for node in other.subtree]
    for ours, theirs in zip(one.subtree, other.subtree, strict=True):
        assert {*ours.variables} == {*theirs.variables}
        assert {*ours.coords} == {*theirs.coords}
        assert dict(ours.attrs) == dict(theirs.attrs)
        for name in ours.variables:
            mine, yours = ours[name], theirs[name]
            assert mine.dims == yours.dims
            np.testing.assert_array_equal(mine.values, yours.values)
            if mine.dtype.kind in "iufb":
                assert mine.dtype == yours.dtype
            else:
                assert all(isinstance(value, str) for value in yours.values.tolist())
            assert dict(mine.attrs) == dict(yours.attrs)


def test_regret_is_plays_times_gaps():
    dataset = dataset_of()
    for notion in ("copeland", "weak"):
        per_pair = settings()[0].regret_per_pair(notion)
        expected = np.einsum("rcij,ij->rc", dataset["plays"].values, np.triu(per_pair))
        result = dataset["regret"].sel(notion=notion)
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert dataset["regret"].values.max() > 0


def test_dims_dtypes_and_coordinates():
    dataset = dataset_of(range(5, 9))
    assert {name: (item.dims, item.dtype.str) for name, item in dataset.items()} == {
        "regret": (("notion", "run", "checkpoint"), "<f8"),
        "plays": (("run", "checkpoint", "arm", "opponent"), "<i8"),
        "recommendation": (("run",), "<i8"),
        "num_events": (("run",), "<i8"),
    }
    assert dataset["checkpoint"].dtype == np.int64
    assert {name: item.values.tolist() for name, item in dataset.coords.items()} == {
        "run": [5, 6, 7, 8], "checkpoint": [*CHECKPOINTS], "arm": [*NAMES],
        "opponent": [*NAMES], "notion": ["copeland", "weak"],
    }  # fmt: skip


def test_chunks_are_joined_in_the_order_of_runs():
    runs = (range(5, 9), range(0, 2), range(2, 5))
    parts = [dataset_of(run) for run in runs]
    whole = joined(parts)
    assert whole["run"].values.tolist() == list(range(9))
    for part in parts:
        for name in part.variables:
            given = whole.sel(run=part["run"])[name]
            np.testing.assert_array_equal(given.values, part[name].values)
            assert given.dtype == part[name].dtype
    assert whole.attrs["num_runs"] == 9
    assert whole.attrs["events"] == whole["num_events"].values.sum()
    assert whole.attrs["run_seconds"] == pytest.approx(4.5)
    assert whole.attrs["compile_seconds"] == pytest.approx(6.0)
    rest = {"num_runs", "events", "run_seconds", "compile_seconds"}
    for name, value in parts[0].attrs.items():
        assert name in rest or whole.attrs[name] == value


OTHER = PreferenceMatrix(CONDORCET.T, name="fruit", arm_names=NAMES)
RENAMED = PreferenceMatrix(CONDORCET, name="fruit", arm_names=NAMES[::-1])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"seed": 4}, "seed"),
        ({"shuffle": False}, "shuffle"),
        ({"checkpoints": (10, 2**62)}, "checkpoints"),
        ({"checkpoints": (10, 1000)}, "horizon"),
        ({"policy": "d-ts:alpha=0.6"}, "parameters"),
        ({"policy": "rucb"}, "policy_name"),
        ({"notions": ("weak", "copeland")}, "regret"),
        ({"record": "regret"}, "record"),
        ({"stopping": parse_rule("budget:duels=9")}, "stopping"),
        ({"problem": problem_of(OTHER)}, "matrix_sha256"),
        ({"problem": problem_of(RENAMED)}, "arm_names"),
        ({"policy": "tests.fake_policies:Wanderer"}, "code"),
    ],
)
def test_digests_tell_requests_apart(change, name):
    (*_, ours), (*_, theirs) = settings(), settings(**change)
    first, second = (json.loads(item.request) for item in (ours, theirs))
    assert first[name] != second[name]
    digests = {chunk.chunk_digest(x.request, range(3)) for x in (ours, theirs)}
    assert len(digests) == 2


def test_a_digest_is_of_canonical_json():
    instance, policy, given = settings()
    piece = chunk.Chunk(instance, policy, range(3, 7), given)
    whole = {"runs": [3, 7], "request": json.loads(given.request)}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    assert piece.digest == hashlib.sha256(text.encode()).hexdigest()
    digests = {replace(piece, runs=runs).digest for runs in (range(3), range(3, 6))}
    assert len(digests | {piece.digest}) == 3


def test_everything_survives_a_file(tmp_path):
    original = tree()
    path = results.save(original, tmp_path / "deep" / "er" / "results.nc")
    assert path == tmp_path / "deep" / "er" / "results.nc"
    loaded = results.load(path.parent)
    path.unlink()  # Loaded results no longer need it, and can be saved.
    assert_same(original, results.load(results.save(loaded, path.parent / "b.nc")))
    assert [file.name for file in path.parent.iterdir()] == ["b.nc"]


def test_files_are_not_replaced_unasked(tmp_path):
    path = tmp_path / "results.nc"
    path.write_text("something else")
    with pytest.raises(OutputFolderError, match=r"results\.nc exists; pass overwrite"):
        results.save(tree(), path)
    assert path.read_text() == "something else"
    results.save(tree(), path, overwrite=True)
    assert results.load(path).attrs["seed"] == 3


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    path = results.save(tree(), tmp_path / "results.nc")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputWriteError, match="No space left on device"):
        results.save(tree(), path, overwrite=True)
    monkeypatch.undo()
    assert_same(tree(), results.load(path))
    assert [file.name for file in tmp_path.iterdir()] == ["results.nc"]


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(OutputFolderError, match="nowhere does not exist; give the fol"):
        results.load(tmp_path / "nowhere")
    with pytest.raises(OutputFolderError, match=r"results\.nc does not exist"):
        results.load(tmp_path)
    whole = results.save(tree(), tmp_path / "results.nc").read_bytes()
    wrong = tmp_path / "wrong.nc"
    for content in (b"", b"not a result", whole[: len(whole) // 2], whole[:100]):
        wrong.write_bytes(content)
        with pytest.raises(OutputFolderError, match=r"wrong\.nc cannot be read as"):
            results.load(wrong)


@pytest.fixture(scope="module")
def simulated():
    matrix = PreferenceMatrix(CONDORCET, name="fruit", arm_names=NAMES, source="me")
    before = datetime.now(UTC).replace(microsecond=0)
    result = bayesduel.simulate(
        matrix, Wanderer(scale=1.5), num_runs=4, horizon=300, checkpoints=[7], seed=11,
        regret=["borda", "copeland"], shuffle=False,
    )  # fmt: skip
    return matrix, result, before


def test_attributes_of_a_simulation_are_true(simulated):
    matrix, result, before = simulated
    attributes = dict(result.attrs)
    created = datetime.fromisoformat(attributes.pop("created"))
    assert before <= created <= datetime.now(UTC)
    assert attributes.pop("run_seconds") > 0
    assert attributes.pop("compile_seconds") > 0
    assert attributes.pop("device")
    versions = json.loads(attributes.pop("versions"))
    assert versions == {
        "python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib", "numpy", "xarray")},
    }
    checksum = hashlib.sha256(np.array(CONDORCET, dtype="<f8").tobytes()).hexdigest()
    assert attributes.pop("matrix_sha256") == matrix.checksum == checksum
    fingerprint = json.loads(attributes.pop("fingerprint"))
    assert fingerprint["checkpoints"] == [7, 300]
    assert attributes.pop("events") == int(result["num_events"].sum())
    assert json.loads(attributes.pop("parameters")) == {"scale": 1.5, "bulk": 1}
    assert attributes == {
        "instance": "fruit", "policy": "Wanderer:scale=1.5", "policy_name": "Wanderer",
        "num_runs": 4, "horizon": 300, "seed": 11, "look_ahead": 0,
        "program": "numpy-1", "shuffle": 0, "version": version("bayesduel"),
    }  # fmt: skip


def test_a_simulation_holds_its_matrix_and_what_was_asked(simulated, tmp_path):
    matrix, result, _ = simulated
    np.testing.assert_array_equal(result["preference"].values, matrix.values)
    assert result["notion"].values.tolist() == ["borda", "copeland"]
    assert result["checkpoint"].values.tolist() == [7, 300]
    assert np.all(result["plays"].sum(["arm", "opponent"]) == result["checkpoint"])
    assert_same(result, results.load(results.save(result, tmp_path / "one.nc")))


@pytest.mark.parametrize(("text", "expected"), [("true", 1), ("false", 0)])
def test_whether_a_policy_looks_ahead_is_recorded(text, expected):
    policy = parse_policy(f"d-ts:look_ahead={text}")
    piece = chunk.Chunk(settings()[0], policy, range(3), settings(policy)[2])
    assert chunk.node_attributes(piece)["look_ahead"] == expected
