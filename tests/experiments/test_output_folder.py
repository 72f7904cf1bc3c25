"""The folder of a comparison: who may write to it, and what an interrupt leaves."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayesduel
from bayesduel import results
from bayesduel.errors import DamagedPartWarning, OutputFolderError
from bayesduel.experiments import comparison
from bayesduel.experiments.owned_folder import write_part
from bayesduel.experiments.stored import part_files
from bayesduel.simulation import driver
from tests.fake_policies import Broken, Scripted, Wanderer, instant_run_chunk
from tests.folders import WHOLE, same_tree, visible

POLICIES = [Wanderer(), Scripted()]
BASIC = {"num_runs": 100, "horizon": 1000, "seed": 5}
"""Two jobs per policy."""


@pytest.fixture
def calls(monkeypatch):
    """Simulate in no time; return what was really simulated, in order."""
    found = []
    monkeypatch.setattr(comparison, "RUNS_PER_JOB", 64)
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk(found))
    return found


def compare(out, policies=POLICIES, matrix="cyclic", **options):
    return bayesduel.compare(matrix, policies, out=out, **(BASIC | options))


def parts_of(out):
    return sorted((out / ".bayesduel/parts").glob("*.npz"))


class Interrupting:
    """A simulator that is interrupted at a given call."""

    def __init__(self, calls, at):
        self.plain, self.calls, self.at = instant_run_chunk(calls), calls, at

    def __call__(self, *arguments, **options):
        if len(self.calls) == self.at:
            raise KeyboardInterrupt
        return self.plain(*arguments, **options)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder that holds three of four jobs, and one that holds everything."""
    parts, whole, calls = *map(tmp_path_factory.mktemp, ("parts", "whole")), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "RUNS_PER_JOB", 64)
        patch.setattr(driver, "run_chunk", Interrupting(calls, 3))
        with pytest.raises(KeyboardInterrupt):
            compare(parts)
        assert len(parts_of(parts)) == 3
        assert not (parts / "results.nc").exists()
        shutil.copytree(parts, whole, dirs_exist_ok=True)
        patch.setattr(driver, "run_chunk", instant_run_chunk(calls))
        compare(whole, resume=True)
    return {"parts": parts, "whole": whole}


@pytest.fixture
def interrupted(calls, written, tmp_path):
    """Return a folder that holds three of four jobs."""
    return shutil.copytree(written["parts"], tmp_path / "out")


@pytest.fixture(params=["parts", "whole"])
def begun(request, calls, written, tmp_path):
    """Return a folder that was interrupted, as it is and when it was completed."""
    return shutil.copytree(written[request.param], tmp_path / "out")


# Which folders may be written to


@pytest.mark.parametrize("kind", [str, pytest.param(Path, marks=pytest.mark.slow)])
def test_a_new_or_empty_folder(calls, tmp_path, kind):
    for out in (tmp_path / "new" / "deep", tmp_path / "empty"):
        out.mkdir(parents=True) if out.name == "empty" else None
        tree = compare(kind(out))
        assert visible(out) == WHOLE
        same_tree(results.load(out), tree)


@pytest.mark.parametrize("content", ["results.nc", "notes.txt", ".hidden"])
@pytest.mark.parametrize("options", [{}, {"resume": True}, {"overwrite": True}])
def test_a_folder_that_is_not_ours(calls, tmp_path, content, options):
    (tmp_path / content).write_text("mine")
    with pytest.raises(OutputFolderError) as raised:
        compare(tmp_path, **options)
    for words in ("out", str(tmp_path), "not empty", "marker", "yours", "new or empty"):
        assert words in str(raised.value)
    assert not calls
    assert [each.name for each in tmp_path.iterdir()] == [content]
    assert (tmp_path / content).read_text() == "mine"


def test_a_place_that_cannot_be_written_to(calls, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for place in (file, file / "below"):
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(OutputFolderError, match=f"cannot write to {place}"):
                compare(place, **options)
    assert not calls
    assert file.read_text() == "mine"


def test_a_folder_without_permission(calls, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputFolderError, match="cannot write to .*Permission denied"):
        compare(tmp_path / "new")
    assert not calls


@pytest.mark.parametrize(
    ("out", "options", "words"),
    [
        (None, {"resume": True}, "resume needs a folder; give out"),
        (None, {"overwrite": True}, "overwrite needs a folder; give out"),
        ("new", {"resume": True, "overwrite": True}, "exclude each other"),
    ],
)
def test_options_that_do_not_fit(calls, tmp_path, out, options, words):
    with pytest.raises(OutputFolderError, match=words):
        compare(out and tmp_path / out, **options)
    assert not calls
    assert not [*tmp_path.iterdir()]


def test_no_folder_writes_nothing(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare(None)
    assert not [*tmp_path.iterdir()]


def test_overwrite_replaces_results_and_nothing_else(calls, interrupted):
    (interrupted / "notes.txt").write_text("mine")
    tree = compare(interrupted, seed=6, overwrite=True)
    assert len(calls) == 4
    same_tree(results.load(interrupted), tree)
    assert visible(interrupted) == {*WHOLE, "notes.txt"}
    again = compare(interrupted, seed=7, overwrite=True)
    same_tree(results.load(interrupted), again)
    assert again.attrs["seed"] == 7


# What an interrupt leaves, and going on from it


def test_only_what_is_missing_is_simulated(calls, interrupted):
    resumed = compare(interrupted, resume=True)
    assert calls == [(Scripted(), range(50, 100))]
    same_tree(resumed, compare(None))
    same_tree(results.load(interrupted), resumed)
    assert visible(interrupted) == WHOLE
    assert not parts_of(interrupted)


def test_going_on_twice(calls, interrupted, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(driver, "run_chunk", Interrupting(calls, 0))
        with pytest.raises(KeyboardInterrupt) as raised:
            compare(interrupted, resume=True)
    assert len(parts_of(interrupted)) == 3
    # What was finished before is part of what is handed over.
    partial = raised.value.partial["cyclic"]
    assert partial["Wanderer"].sizes["run"] == 100
    assert partial["Scripted"].sizes["run"] == 50
    same_tree(compare(interrupted, resume=True), compare(None))


def test_resuming_what_is_complete_simulates_nothing(calls, tmp_path):
    first = compare(tmp_path)
    del calls[:]
    again = compare(tmp_path, resume=True)
    assert not calls
    same_tree(first, again)
    for name in ("run_seconds", "compile_seconds"):
        node = again["cyclic/Wanderer"]
        assert node.attrs[name] == pytest.approx(first["cyclic/Wanderer"].attrs[name])


def test_resuming_in_an_empty_folder_starts(calls, tmp_path):
    compare(tmp_path, resume=True)
    assert len(calls) == 4


@pytest.mark.parametrize(
    "damage",
    ["half", "bit", *(pytest.param(each, marks=pytest.mark.slow)
                      for each in ("empty", "text", "other"))],
)  # fmt: skip
def test_a_damaged_part_is_simulated_again(calls, interrupted, damage):
    file = parts_of(interrupted)[0]
    content = file.read_bytes()
    if damage == "other":
        xr.Dataset({"x": ("y", [1.0])}).to_netcdf(file, engine="h5netcdf")
    else:
        file.write_bytes(
            {
                "half": content[: len(content) // 2],
                "empty": b"",
                "text": b"no",
                "bit": bytes([*content[:-100], content[-100] ^ 1, *content[-99:]]),
            }[damage]
        )
    with pytest.warns(DamagedPartWarning, match=file.name):
        resumed = compare(interrupted, resume=True)
    assert len(calls) == 2
    same_tree(resumed, compare(None))


def test_a_half_written_part_is_not_read(calls, interrupted):
    """It has another name until it is whole."""
    unfinished = ".bayesduel-0123456789abcdef.unfinished"
    (interrupted / ".bayesduel/parts" / unfinished).write_bytes(b"half of it")
    (interrupted / unfinished).write_bytes(b"half of it")
    resumed = compare(interrupted, resume=True)
    assert len(calls) == 1
    same_tree(resumed, compare(None))
    assert visible(interrupted) == WHOLE
    assert not parts_of(interrupted)


def test_an_interrupt_while_a_part_is_written(calls, tmp_path, monkeypatch):
    plain = os.fsync

    def half(descriptor):
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", half)
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path)
    assert len(parts_of(tmp_path)) == 1
    assert not list(tmp_path.rglob("*.unfinished"))
    del calls[:]
    same_tree(compare(tmp_path, resume=True), compare(None))


def test_damaged_results_are_refused(calls, tmp_path):
    """They may be worth more than a new simulation: only the user knows."""
    compare(tmp_path)
    file = tmp_path / "results.nc"
    file.write_bytes(file.read_bytes()[:1000])
    del calls[:]
    with pytest.raises(OutputFolderError, match="damaged or was changed"):
        compare(tmp_path, resume=True)
    assert not calls
    compare(tmp_path, overwrite=True)


CHANGES = {
    "seed": ({"seed": 6}, "another seed"),
    "horizon": ({"horizon": 2000}, "another horizon"),
    "checkpoints": ({"checkpoints": [10, 100]}, "another checkpoints"),
    "shuffle": ({"shuffle": False}, "another shuffle"),
    "regret": ({"regret": ["copeland", "weak"]}, "another regret"),
    "matrix": ({}, "another matrix_sha256"),
    "parameters": ({}, "which this request would drop"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_resuming_another_request_is_refused(calls, begun, change):
    options, words = CHANGES[change]

    def written():
        files = (each for each in begun.rglob("*") if each.suffix in (".nc", ".npz"))
        return {each: each.stat().st_mtime_ns for each in files}

    before = written()
    assert before
    matrix = bayesduel.load("cyclic")
    if change == "matrix":
        values = np.array(matrix.values)
        values[0, 1], values[1, 0] = 0.65, 0.35
        matrix = bayesduel.instances.load("cyclic").__class__(values, name="cyclic")
    policies = [Wanderer(2.0), Scripted()] if change == "parameters" else POLICIES
    with pytest.raises(OutputFolderError) as raised:
        compare(begun, policies, matrix, resume=True, **options)
    assert words in str(raised.value)
    for word in ("Wanderer on cyclic", "overwrite", str(begun)):
        assert word in str(raised.value)
    assert not calls
    assert before == written()


def test_resuming_never_drops_what_was_not_asked_for(calls, begun):
    """A policy, a matrix or runs that the new request leaves out are not deleted."""
    complete = not parts_of(begun)
    for options, words in (
        ({"policies": [Scripted()]}, "Wanderer on cyclic"),
        ({"matrix": "gap"}, "on cyclic"),
        ({"num_runs": 30}, "run 99" if complete else "run "),
    ):
        with pytest.raises(OutputFolderError) as raised:
            compare(begun, resume=True, **options)
        assert words in str(raised.value)
        assert "overwrite" in str(raised.value)
    assert not calls
    same_tree(compare(begun, resume=True), compare(None))


def test_other_results_are_not_replaced_by_resuming(calls, tmp_path):
    """What ``simulate`` returned, saved under the same file name."""
    single = bayesduel.simulate("cyclic", Wanderer(), **BASIC)
    results.save(single, tmp_path / "results.nc")
    del calls[:]
    for options in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(OutputFolderError, match="may hold files of yours"):
            compare(tmp_path, **options)
    assert not calls
    assert results.load(tmp_path).attrs["policy"] == "Wanderer"


def test_a_request_may_grow(calls, begun):
    """More policies, matrices and runs keep what is there."""
    more = [*POLICIES, Broken()]
    resumed = compare(begun, more, ["cyclic", "gap"], resume=True, num_runs=150)
    same_tree(resumed, compare(None, more, ["cyclic", "gap"], num_runs=150))
    same_tree(results.load(begun), resumed)
    for node in resumed["cyclic"].children.values():
        assert "error" in node.attrs or not np.isnan(node["regret"].values).any()


def test_runs_that_were_cut_otherwise_are_kept(calls, interrupted):
    """130 runs are cut into jobs of 44, where the folder holds 50, 50 and 50."""
    resumed = compare(interrupted, resume=True, num_runs=130)
    assert calls == [
        (Wanderer(), range(100, 130)),
        (Scripted(), range(50, 94)),
        (Scripted(), range(94, 130)),
    ]
    same_tree(resumed, compare(None, num_runs=130))


def test_parts_that_overlap_count_once(calls, interrupted):
    """As when two comparisons with other cuts have written to one folder."""
    whole = interrupted.parent / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "RUNS_PER_JOB", 30)
        patch.setattr(driver, "run_chunk", Interrupting(calls, 2))
        with pytest.raises(KeyboardInterrupt):
            compare(whole)
    for part in parts_of(whole):
        part.rename(interrupted / ".bayesduel/parts" / part.name)
    assert len(parts_of(interrupted)) == 5
    same_tree(compare(interrupted, resume=True), compare(None))


def test_fewer_notions_are_a_part_of_what_is_there(calls, tmp_path, monkeypatch):
    notions = ["weak", "copeland", "borda"]
    with monkeypatch.context() as patch:
        patch.setattr(driver, "run_chunk", Interrupting(calls, 3))
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path, regret=notions)
    resumed = compare(tmp_path, regret=["borda", "copeland"], resume=True)
    same_tree(resumed, compare(None, regret=["borda", "copeland"]))
    assert resumed["cyclic/Scripted/notion"].values.tolist() == ["borda", "copeland"]


# Policies that fail


def test_a_failed_policy_is_tried_again_and_nothing_else(calls, tmp_path, monkeypatch):
    plain, broken = instant_run_chunk(calls), [Wanderer(), Scripted()]

    def failing(environment, policy, **options):
        if isinstance(policy, Scripted) and options["runs"].start > 0:
            raise MemoryError("not now")
        return plain(environment, policy, **options)

    with monkeypatch.context() as patch:
        patch.setattr(driver, "run_chunk", failing)
        tree = compare(tmp_path, broken)
    assert tree["cyclic/Scripted"].attrs["error"] == "MemoryError: not now"
    assert not tree["cyclic/Scripted"].data_vars
    same_tree(results.load(tmp_path), tree)
    del calls[:]
    resumed = compare(tmp_path, broken, resume=True)
    # Its first job had been finished and kept.
    assert calls == [(Scripted(), range(50, 100))]
    same_tree(resumed, compare(None, broken))
    assert visible(tmp_path) == WHOLE


def test_parts_say_what_they_are(calls, interrupted):
    found = []
    for file in parts_of(interrupted):
        dataset = part_files.dataset_from_bytes(file.read_bytes())
        found.append((dataset.attrs["policy"], dataset["run"].values.tolist()))
        assert json.loads(dataset.attrs["fingerprint"])["seed"] == 5
    expected = [("Scripted", 0, 50), ("Wanderer", 0, 50), ("Wanderer", 50, 100)]
    assert sorted(found) == [(name, [*range(a, b)]) for name, a, b in expected]


def test_parts_of_earlier_versions_are_gone_on_with(calls, interrupted):
    """They were netCDF."""
    kept = parts_of(interrupted)
    for file in kept:
        old = results.to_bytes(part_files.dataset_from_bytes(file.read_bytes()))
        name = file.name.rpartition("-")[0].removesuffix("-")
        write_part(interrupted, name, "nc", old)
        file.unlink()
    calls.clear()
    resumed = compare(interrupted, resume=True)
    assert len(calls) == 4 - len(kept)
    same_tree(resumed, compare(None))
