"""A sweep in parts: several processes write to one folder, and one of them joins."""

import json

import numpy as np
import pytest

import bayesduel
import theory
from bayesduel import results
from bayesduel.errors import (
    DamagedPartWarning,
    OutputFolderError,
    SimulationArgumentError,
)
from bayesduel.experiments import comparison, nodes
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.simulation import driver

REQUEST = {"num_runs": 10, "horizon": 1000, "seed": 3}
POLICIES = ["d-ts", "rucb"]


@pytest.fixture(autouse=True)
def _small_jobs(monkeypatch):
    monkeypatch.setattr(comparison, "RUNS_PER_JOB", 4)


@pytest.fixture
def compare(monkeypatch):
    """Return a comparison that also says which jobs it has done."""
    plain = comparison.SimulationJob.run
    done = []

    def run(own, on_progress=None):
        done.append(own.name)
        return plain(own, on_progress)

    monkeypatch.setattr(comparison.SimulationJob, "run", run)

    def compare(out, policies=POLICIES, **options):
        done.clear()
        bayesduel.compare("cyclic", policies, out=out, **REQUEST | options)
        return list(done)

    return compare


@pytest.fixture
def whole(compare, tmp_path):
    jobs = compare(tmp_path / "whole")
    assert len(jobs) == 6
    return content(tmp_path / "whole")


def content(out):
    return (out / results.FILE_NAME).read_bytes()


def test_parts_are_joined_to_the_whole(compare, whole, tmp_path):
    """Jobs are cut more finely for so many processes, and none is done twice."""
    out = tmp_path / "out"
    done = [compare(out, part=f"{number}/7") for number in range(7, 0, -1)]
    names = [name for each in done for name in each]
    assert len(names) == len({*names}) == 8
    assert not (out / results.FILE_NAME).exists()
    assert compare(out, resume=True) == []
    assert content(out) == whole


def test_merge_gives_the_whole_and_needs_nothing_but_the_folder(
    compare, whole, tmp_path
):
    out = tmp_path / "out"
    for number in (3, 1, 2):
        compare(out, part=f"{number}/3")
    tree = bayesduel.merge(out)
    assert content(out) == whole
    assert tree.equals(results.load(tmp_path / "whole"))
    assert not [*out.glob(".bayesduel/parts/*")]
    assert bayesduel.merge(out).equals(tree)
    assert content(out) == whole


def test_merge_of_summaries_changes_nothing_when_repeated(
    compare, tmp_path, monkeypatch
):
    monkeypatch.setattr(comparison, "RUNS_PER_SUMMARY", 2)
    request = {"record": "quantiles", "num_runs": 7}
    compare(tmp_path / "whole", **request)
    for number in (2, 1, 3):
        compare(tmp_path / "out", part=f"{number}/3", **request)
    for _ in range(2):
        bayesduel.merge(tmp_path / "out")
        assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.slow
def test_merge_of_worlds_of_subsets(tmp_path):
    asked = bayesduel.Experiment("camera", "random-subsets", num_runs=3, horizon=9)
    asked.run(out=tmp_path / "whole")
    asked.run(out=tmp_path / "out", part="1/1")
    bayesduel.merge(tmp_path / "out")
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_merge_names_the_parts_that_are_missing_and_keeps_the_others(
    compare, whole, tmp_path
):
    out = tmp_path / "out"
    for number in (1, 4):
        compare(out, part=f"{number}/5")
    before = sorted(out.glob(".bayesduel/parts/*"))
    named = r"3 of its 5 parts: 2-3,5; .*part[= ]2/5"
    with pytest.raises(OutputFolderError, match=named):
        bayesduel.merge(out)
    assert sorted(out.glob(".bayesduel/parts/*")) == before
    assert compare(out, part="1/5") == []
    for number in (2, 3, 5):
        compare(out, part=f"{number}/5")
    bayesduel.merge(out)
    assert content(out) == whole


def test_a_damaged_part_is_named_and_done_again(compare, whole, tmp_path):
    out = tmp_path / "out"
    for number in (1, 2):
        compare(out, part=f"{number}/2")
    done = sorted(out.glob(".bayesduel/parts/*.npz"))
    # Not the plan, which is smaller than what holds plays of four runs.
    damaged = max(done, key=lambda file: file.stat().st_size)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    with (
        pytest.warns(DamagedPartWarning),
        pytest.raises(OutputFolderError, match="lacks 1 jobs of 1 of its 2 parts"),
    ):
        bayesduel.merge(out)
    with pytest.warns(DamagedPartWarning):
        redone = [len(compare(out, part=f"{number}/2")) for number in (1, 2)]
    assert sorted(redone) == [0, 1]
    bayesduel.merge(out)
    assert content(out) == whole


def test_merge_waits_for_parts_and_needs_some(compare, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesduel.experiments.owned_folder._LOOKING_SECONDS", 0.1)
    out = tmp_path / "out"
    with pytest.raises(OutputFolderError, match="holds no results"):
        bayesduel.merge(out)
    assert not out.exists()
    compare(out, part="1/1")
    with claim(out, "1-of-1"):
        with pytest.raises(OutputFolderError, match="share 1-of-1"):
            bayesduel.merge(out)
    # Of a comparison that was not in parts.
    claim(tmp_path / "begun").release()
    with pytest.raises(OutputFolderError, match="holds no parts"):
        bayesduel.merge(tmp_path / "begun")


def test_parts_are_of_one_number(compare, tmp_path):
    compare(tmp_path, part="1/2")
    with pytest.raises(OutputFolderError, match="holds parts of 2"):
        compare(tmp_path, part="1/3")


def test_what_is_missing_is_done_when_parts_are_joined(compare, whole, tmp_path):
    out = tmp_path / "out"
    first = compare(out, part="1/2")
    assert compare(out, part="1/2") == []
    rest = compare(out, resume=True)
    assert {*first}.isdisjoint(rest) and len(first) + len(rest) == 6
    assert content(out) == whole
    with pytest.raises(OutputFolderError, match="joined"):
        compare(out, part="2/2")


def claim(path, share=""):
    return OwnedFolder.claim(path, kind="comparison", resume=True, share=share)


def test_parts_may_be_written_at_the_same_time_but_not_beside_all(tmp_path):
    with claim(tmp_path, "1-of-2"), claim(tmp_path, "2-of-2"):
        with pytest.raises(OutputFolderError, match="writing to share 1-of-2 of"):
            claim(tmp_path, "1-of-2")
    with claim(tmp_path, "1-of-2") as part:
        # What it is writing must not be swept away.
        (part.path / ".bayesduel/parts/.bayesduel-0123456789abcdef.unfinished").touch()
        with claim(tmp_path, "2-of-2"):
            assert [*tmp_path.rglob("*.unfinished")]


def test_all_results_wait_for_parts_and_parts_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesduel.experiments.owned_folder._LOOKING_SECONDS", 0.1)
    with claim(tmp_path, "1-of-2"):
        with pytest.raises(OutputFolderError, match="share 1-of-2"):
            claim(tmp_path)
    with claim(tmp_path), pytest.raises(OutputFolderError, match="is writing to"):
        claim(tmp_path, "2-of-2")
    claim(tmp_path).release()


def test_parts_are_of_one_request(compare, tmp_path):
    compare(tmp_path, part="1/2")
    with pytest.raises(OutputFolderError, match="another seed"):
        compare(tmp_path, part="2/2", seed=4)
    with pytest.raises(OutputFolderError, match="another policies"):
        compare(tmp_path, ["d-ts"], part="2/2")
    marker = json.loads((tmp_path / ".bayesduel/marker.json").read_text())
    assert marker["request"]["policies"] == ["D-TS", "RUCB"]


def test_runs_are_of_one_program(compare, tmp_path, monkeypatch):
    compare(tmp_path / "parts", part="1/2")
    compare(tmp_path / "whole", num_runs=2)
    node = results.load(tmp_path / "whole")["cyclic/D-TS"]
    assert node.attrs["program"] == "kernel-1"
    monkeypatch.setattr(driver, "PROGRAMS", {"scalar": "kernel-2", "jax": "jax-1"})
    for name, options in (("parts", {"part": "2/2"}), ("whole", {"resume": True})):
        with pytest.raises(OutputFolderError, match="kernel-1; here kernel-2"):
            compare(tmp_path / name, **options)


def test_results_without_a_program_are_read_but_not_continued(compare, tmp_path):
    old = nodes.Configuration.fingerprint
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            nodes.Configuration,
            "fingerprint",
            lambda own: {k: v for k, v in old(own).items() if k != "program"},
        )
        compare(tmp_path, num_runs=2)
    assert results.load(tmp_path)["cyclic/D-TS"].sizes["run"] == 2
    with pytest.raises(OutputFolderError, match="whose program is not recorded; here"):
        compare(tmp_path, resume=True)


def test_a_part_of_an_edited_instance_is_refused_before_it_is_computed(tmp_path):
    """The name of the matrix is the same, so the words of both requests are."""

    def play(value, part):
        values = np.full((3, 3), 0.5)
        values[0, 1], values[1, 0] = value, 1 - value
        matrix = theory.PreferenceMatrix(values, name="mine")
        bayesduel.compare(
            matrix, "rucb", num_runs=2, horizon=9, out=tmp_path, part=part
        )

    play(0.7, "1/2")
    before = sorted(tmp_path.glob(".bayesduel/parts/*"))
    with pytest.raises(OutputFolderError, match="another matrix_sha256"):
        play(0.8, "2/2")
    assert sorted(tmp_path.glob(".bayesduel/parts/*")) == before


@pytest.mark.parametrize("part", ["0/3", "4/3", "1/2/3", 2])
def test_a_part_is_one_of_several(compare, tmp_path, part):
    with pytest.raises(SimulationArgumentError, match="3/10"):
        compare(tmp_path, part=part)


def test_a_part_needs_a_folder_and_replaces_nothing(compare, tmp_path):
    with pytest.raises(OutputFolderError, match="needs a folder"):
        compare(None, part="1/2")
    with pytest.raises(OutputFolderError, match="excludes overwrite"):
        compare(tmp_path, part="1/2", overwrite=True)
