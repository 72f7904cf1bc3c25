"""A sweep in parts: several processes write to one folder, and one of them joins."""

import json
import os
import shutil

import numpy as np
import pytest

import bayesduel
import theory
from bayesduel import results
from bayesduel.errors import DamagedPartWarning, OutputFolderError
from bayesduel.errors import SimulationArgumentError as ArgumentError
from bayesduel.experiments import chunk, execute
from bayesduel.experiments.folder import RunFolder
from bayesduel.simulation import driver
from tests.folders import chunks_of, content_of

REQUEST = {"num_runs": 10, "horizon": 1000, "seed": 3}
POLICIES = ["d-ts", "rucb"]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", 4)


@pytest.fixture
def compare(monkeypatch):
    """Return a comparison that also says which chunks it has simulated."""
    plain = execute.chunk_arrays
    done = []

    def simulate_chunk(chunk, on_progress=None):
        done.append(chunk.digest)
        return plain(chunk, on_progress)

    monkeypatch.setattr(execute, "chunk_arrays", simulate_chunk)

    def compare(out, policies=POLICIES, **options):
        done.clear()
        bayesduel.compare("cyclic", policies, out=out, **REQUEST | options)
        return list(done)

    return compare


@pytest.fixture
def whole(compare, tmp_path):
    jobs = compare(tmp_path / "whole")
    assert len(jobs) == 6
    return content_of(tmp_path / "whole")


def test_parts_are_joined_to_the_whole(compare, whole, tmp_path):
    """More parts than chunks are fine, and no chunk is simulated twice."""
    out = tmp_path / "out"
    done = [compare(out, part=f"{number}/7") for number in range(7, 0, -1)]
    names = [name for item in done for name in item]
    assert len(names) == len({*names}) == 6
    assert not (out / results.FILE_NAME).exists()
    assert compare(out, resume=True) == []
    assert content_of(out) == whole


def test_merge_gives_the_whole_and_needs_nothing_but_the_folder(
    compare, whole, tmp_path
):
    out = tmp_path / "out"
    for number in (3, 1, 2):
        compare(out, part=f"{number}/3")
    tree = bayesduel.merge(out)
    assert content_of(out) == whole
    assert tree.equals(results.load(tmp_path / "whole"))
    assert len(chunks_of(out)) == 6
    assert bayesduel.merge(out).equals(tree)
    assert content_of(out) == whole


def test_merge_of_summaries_changes_nothing_when_repeated(
    compare, tmp_path, monkeypatch
):
    monkeypatch.setattr(chunk, "RUNS_PER_SUMMARY", (2, 2))
    request = {"record": "quantiles", "num_runs": 7}
    compare(tmp_path / "whole", **request)
    for number in (2, 1, 3):
        compare(tmp_path / "out", part=f"{number}/3", **request)
    for _ in range(2):
        bayesduel.merge(tmp_path / "out")
        assert content_of(tmp_path / "out") == content_of(tmp_path / "whole")


@pytest.mark.slow
def test_merge_of_worlds_of_subsets(tmp_path):
    experiment = bayesduel.Experiment("camera", "random-subsets", num_runs=3, horizon=9)
    experiment.run(out=tmp_path / "whole")
    experiment.run(out=tmp_path / "out", part="1/1")
    bayesduel.merge(tmp_path / "out")
    assert content_of(tmp_path / "out") == content_of(tmp_path / "whole")


def test_merge_names_the_parts_that_are_missing_and_keeps_the_others(
    compare, whole, tmp_path
):
    out = tmp_path / "out"
    for number in (1, 4):
        compare(out, part=f"{number}/5")
    before = chunks_of(out)
    named = r"3 of its 5 parts: 2-3,5; .*part[= ]2/5"
    with pytest.raises(OutputFolderError, match=named):
        bayesduel.merge(out)
    assert chunks_of(out) == before
    assert compare(out, part="1/5") == []
    for number in (2, 3, 5):
        compare(out, part=f"{number}/5")
    bayesduel.merge(out)
    assert content_of(out) == whole


def test_a_damaged_part_is_named_and_done_again(compare, whole, tmp_path):
    out = tmp_path / "out"
    for number in (1, 2):
        compare(out, part=f"{number}/2")
    damaged = chunks_of(out)[2]
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    with (
        pytest.warns(DamagedPartWarning),
        pytest.raises(OutputFolderError, match="lacks 1 chunks of 1 of its 2 parts"),
    ):
        bayesduel.merge(out)
    with pytest.warns(DamagedPartWarning):
        damaged.write_bytes(b"half of it")
        redone = [len(compare(out, part=f"{number}/2")) for number in (1, 2)]
    assert sorted(redone) == [0, 1]
    bayesduel.merge(out)
    assert content_of(out) == whole


def test_merge_needs_parts(compare, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(OutputFolderError, match="holds no results"):
        bayesduel.merge(out)
    assert not out.exists()
    RunFolder.claim(out, kind="comparison").release()
    with pytest.raises(OutputFolderError, match="holds no parts"):
        bayesduel.merge(out)


def test_chunks_of_several_machines_are_copied_into_one_folder(
    compare, whole, tmp_path
):
    for number in (1, 2, 3):
        compare(tmp_path / str(number), part=f"{number}/3")
    for number in (1, 3):
        for file in chunks_of(tmp_path / str(number)):
            shutil.copy(file, tmp_path / "2/chunks")
    bayesduel.merge(tmp_path / "2")
    assert content_of(tmp_path / "2") == whole


def test_parts_run_beside_one_another_and_wait_for_whoever_finishes(
    compare, whole, tmp_path, monkeypatch
):
    """A part holds no lock while it simulates; a process that finishes does."""
    monkeypatch.setattr("bayesduel.experiments.folder._WAITING_SECONDS", 0.1)
    out, plain, started = tmp_path / "out", driver.run_chunk, []

    def run_chunk(*arguments, **options):
        if not started:
            started.append(1)
            collected = {"instances": "cyclic", "policies": POLICIES, **REQUEST}
            bayesduel.compare(out=out, part="2/2", **collected)
        return plain(*arguments, **options)

    monkeypatch.setattr(driver, "run_chunk", run_chunk)
    compare(out, part="1/2")
    bayesduel.merge(out)
    assert content_of(out) == whole
    with RunFolder.claim(out, kind="comparison", resume=True):
        for action in (lambda: bayesduel.merge(out), lambda: compare(out, part="1/2")):
            with pytest.raises(OutputFolderError, match="is writing to"):
                action()


def test_a_file_that_a_cleaning_process_removes_is_written_again(
    compare, whole, tmp_path, monkeypatch
):
    """Whoever resumes removes what killed processes left, and cannot tell it apart."""
    plain, removed = os.replace, []

    def replace(source, target):
        if (
            str(source).endswith(".unfinished")
            and "chunks" in str(source)
            and not removed
        ):
            removed.append(source)
            os.unlink(source)
        return plain(source, target)

    monkeypatch.setattr(os, "replace", replace)
    compare(tmp_path / "out")
    assert removed
    assert content_of(tmp_path / "out") == whole


def test_what_is_missing_is_done_when_parts_are_joined(compare, whole, tmp_path):
    out = tmp_path / "out"
    first = compare(out, part="1/2")
    assert compare(out, part="1/2") == []
    rest = compare(out, resume=True)
    assert {*first}.isdisjoint(rest) and len(first) + len(rest) == 6
    assert content_of(out) == whole
    with pytest.raises(OutputFolderError, match="results of all parts"):
        compare(out, part="2/2")


def test_runs_are_of_one_program(compare, tmp_path, monkeypatch):
    compare(tmp_path / "parts", part="1/2")
    compare(tmp_path / "whole", num_runs=2)
    node = results.load(tmp_path / "whole")["cyclic/D-TS"]
    assert node.attrs["program"] == "kernel-1"
    monkeypatch.setattr(driver, "PROGRAMS", {"scalar": "kernel-2", "jax": "jax-1"})
    for name, options in (("parts", {"part": "2/2"}), ("whole", {"resume": True})):
        with pytest.raises(OutputFolderError, match="program .kernel-1; here kernel-2"):
            compare(tmp_path / name, **options)


def test_a_part_of_an_edited_instance_is_refused_before_it_is_computed(tmp_path):
    """The name of the matrix is the same, so the words of both requests are."""

    def play(value, part):
        values = np.full((3, 3), 0.5)
        values[0, 1], values[1, 0] = value, 1 - value
        matrix = theory.PreferenceMatrix(values, name="mine")
        options = {"num_runs": 2, "horizon": 9, "out": tmp_path, "part": part}
        bayesduel.compare(matrix, "rucb", **options)

    play(0.7, "1/2")
    before = chunks_of(tmp_path)
    with pytest.raises(OutputFolderError, match="another matrix_sha256"):
        play(0.8, "2/2")
    assert chunks_of(tmp_path) == before


@pytest.mark.parametrize(
    ("policies", "options", "error", "words"),
    [
        (POLICIES, {"part": "1/3"}, OutputFolderError, "holds parts of 2"),
        (POLICIES, {"seed": 4}, OutputFolderError, "another seed"),
        (["d-ts"], {}, OutputFolderError, "RUCB on cyclic .* would drop"),
        ([*POLICIES, "rmed1"], {}, OutputFolderError, "parts of a smaller request"),
        (POLICIES, {"overwrite": True}, OutputFolderError, "excludes overwrite"),
        (POLICIES, {"out": None}, OutputFolderError, "needs a folder"),
        (POLICIES, {"part": "0/3"}, ArgumentError, "3/10"),
        (POLICIES, {"part": "4/3"}, ArgumentError, "3/10"),
        (POLICIES, {"part": "1/2/3"}, ArgumentError, "3/10"),
        (POLICIES, {"part": 2}, ArgumentError, "3/10"),
    ],
)
def test_a_part_is_one_of_several_of_one_request(
    compare, tmp_path, policies, options, error, words
):
    compare(tmp_path, part="1/2")
    with pytest.raises(error, match=words):
        compare(**{"out": tmp_path, "policies": policies, "part": "2/2"} | options)
    marker = json.loads((tmp_path / ".bayesduel/marker.json").read_text())
    places = marker["request"]["places"]
    assert [index["policy"] for index in places] == ["D-TS", "RUCB"]
