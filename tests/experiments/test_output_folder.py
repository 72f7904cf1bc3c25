"""The folder of a comparison: who may write to it, and what an interrupt leaves."""

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import results
from bayesduel.errors import DamagedPartWarning, Interrupted, OutputFolderError
from bayesduel.experiments import assemble, chunk
from bayesduel.simulation import driver
from tests.fake_policies import Broken, Scripted, Wanderer, instant_run_chunk
from tests.folders import WHOLE, chunks_of, same_tree, visible
from theory import PreferenceMatrix

POLICIES = [Wanderer(), Scripted()]
BASIC = {"num_runs": 100, "horizon": 1000, "seed": 5}
"""Two chunks per policy."""


@pytest.fixture
def calls(monkeypatch):
    """Simulate in no time; return what was really simulated, in order."""
    collected = []
    monkeypatch.setattr(chunk, "RUNS_PER_CHUNK", 50)
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk(collected))
    return collected


def compare(out, policies=POLICIES, matrix="cyclic", **options):
    return bayesduel.compare(matrix, policies, out=out, **(BASIC | options))


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
    """Return a folder of three of the four jobs, one of all, and what they hold."""
    parts, whole, calls = *map(tmp_path_factory.mktemp, ("parts", "whole")), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk, "RUNS_PER_CHUNK", 50)
        patch.setattr(driver, "run_chunk", Interrupting(calls, 3))
        with pytest.raises(KeyboardInterrupt):
            compare(parts)
        assert len(chunks_of(parts)) == 3
        assert not (parts / "results.nc").exists()
        shutil.copytree(parts, whole, dirs_exist_ok=True)
        patch.setattr(driver, "run_chunk", instant_run_chunk(calls))
        compare(whole, resume=True)
        return {"parts": parts, "whole": whole, "tree": compare(None)}


@pytest.fixture
def expected(written):
    return written["tree"]


@pytest.fixture
def interrupted(calls, written, tmp_path):
    """Return a folder that holds three of four jobs."""
    return shutil.copytree(written["parts"], tmp_path / "out")


@pytest.fixture(params=["parts", "whole"])
def begun(request, calls, written, tmp_path):
    """Return a folder that was interrupted, as it is and when it was completed."""
    return shutil.copytree(written[request.param], tmp_path / "out")


def test_a_new_or_empty_folder(calls, expected, tmp_path):
    (tmp_path / "empty").mkdir()
    for out in (tmp_path / "new" / "deep", str(tmp_path / "empty")):
        same_tree(compare(out), expected)
        assert visible(Path(out)) == WHOLE
        same_tree(results.load(out), expected)


def test_overwrite_replaces_results_and_nothing_else(calls, interrupted):
    (interrupted / "notes.txt").write_text("mine")
    tree = compare(interrupted, seed=6, overwrite=True)
    assert len(calls) == 4
    same_tree(results.load(interrupted), tree)
    assert visible(interrupted) == {*WHOLE, "notes.txt"}
    compare(interrupted, seed=7, overwrite=True)
    assert results.load(interrupted).attrs["seed"] == 7


def test_only_what_is_missing_is_simulated(calls, expected, interrupted):
    resumed = compare(interrupted, resume=True)
    assert calls == [(Scripted(), range(50, 100))]
    same_tree(resumed, expected)
    same_tree(results.load(interrupted), expected)
    assert visible(interrupted) == WHOLE
    assert len(chunks_of(interrupted)) == 4


def test_going_on_twice(calls, expected, interrupted, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(driver, "run_chunk", Interrupting(calls, 0))
        with pytest.raises(KeyboardInterrupt) as raised:
            compare(interrupted, resume=True)
    assert len(chunks_of(interrupted)) == 3
    # Runs that were finished before are part of the partial result.
    partial = raised.value.partial["cyclic"]
    assert partial["Wanderer"].sizes["run"] == 100
    assert partial["Scripted"].sizes["run"] == 50
    same_tree(compare(interrupted, resume=True), expected)


def test_an_interrupt_waits_for_the_results(calls, monkeypatch, tmp_path):
    """xarray, interrupted while it writes, may keep a lock for good."""

    def to_bytes(*given):
        signal.raise_signal(signal.SIGINT)
        return plain(*given)

    plain = results.to_bytes
    monkeypatch.setattr(assemble, "to_bytes", to_bytes)
    with pytest.raises(Interrupted):
        compare(tmp_path)
    assert visible(tmp_path) == WHOLE
    same_tree(results.load(tmp_path), compare(None))


def test_resuming_what_is_complete_simulates_nothing(calls, tmp_path):
    first = compare(tmp_path)
    del calls[:]
    again = compare(tmp_path, resume=True)
    assert not calls
    same_tree(first, again)
    one, second = (tree["cyclic/Wanderer"].attrs for tree in (first, again))
    for name in ("run_seconds", "compile_seconds"):
        assert second[name] == pytest.approx(one[name])


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-100],
        lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        lambda data: b"",
        lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    ],
    ids=["cut", "flipped", "empty", "header"],
)
def test_a_damaged_chunk_is_simulated_again(calls, expected, interrupted, damage):
    file = chunks_of(interrupted)[0]
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(DamagedPartWarning, match=file.name):
        resumed = compare(interrupted, resume=True)
    assert len(calls) == 2
    same_tree(resumed, expected)


def test_an_interrupt_while_a_part_is_written(calls, expected, tmp_path, monkeypatch):
    plain = os.replace

    def half(*names):
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", half)
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path)
    assert len(chunks_of(tmp_path)) == 1
    assert not list(tmp_path.rglob("*.unfinished"))
    same_tree(compare(tmp_path, resume=True), expected)


def test_damaged_results_are_made_anew_of_the_chunks(calls, written, tmp_path):
    out = shutil.copytree(written["whole"], tmp_path / "out")
    file = out / "results.nc"
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    with pytest.raises(OutputFolderError, match="damaged or was changed"):
        results.load(out)
    compare(out, resume=True)
    assert not calls
    assert file.read_bytes() == whole


def edited():
    values = np.array(bayesduel.load("cyclic").values)
    values[0, 1], values[1, 0] = 0.65, 0.35
    return PreferenceMatrix(values, name="cyclic")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 6}, "another seed"),
        ({"regret": ["copeland", "weak"]}, "another regret"),
        ({"matrix": edited()}, "another matrix_sha256"),
        ({"regret": ["copeland", "borda"]}, "another regret"),
        ({"policies": [Wanderer(2.0), Scripted()]}, "which this request would drop"),
    ],
)
def test_resuming_another_request_is_refused(calls, interrupted, options, words):
    """Other differences between requests are tested in ``test_results.py``."""
    before = {item: item.read_bytes() for item in chunks_of(interrupted)}
    with pytest.raises(OutputFolderError) as raised:
        compare(interrupted, resume=True, **options)
    for word in (words, "Wanderer on cyclic", "overwrite", str(interrupted)):
        assert word in str(raised.value)
    assert not calls
    assert before == {item: item.read_bytes() for item in chunks_of(interrupted)}


def test_resuming_never_drops_what_was_not_asked_for(calls, expected, begun):
    """A policy, a matrix or runs that the new request leaves out are not deleted."""
    for options, words in (
        ({"policies": [Scripted()]}, "Wanderer on cyclic up to run 99"),
        ({"matrix": "gap"}, "on cyclic"),
        ({"num_runs": 99}, "on cyclic up to run 99"),
    ):
        with pytest.raises(OutputFolderError, match=f"{words}.* would drop") as raised:
            compare(begun, resume=True, **options)
        assert "overwrite" in str(raised.value)
    assert not calls
    same_tree(compare(begun, resume=True), expected)


def test_a_request_may_grow(calls, begun):
    """More policies, matrices and runs keep what is there."""
    more = [*POLICIES, Broken()]
    resumed = compare(begun, more, ["cyclic", "gap"], resume=True, num_runs=150)
    same_tree(resumed, compare(None, more, ["cyclic", "gap"], num_runs=150))


def test_another_seed_has_other_chunks(calls, interrupted):
    """The chunks of the first one are lost by overwriting only."""
    first = chunks_of(interrupted)
    with pytest.raises(OutputFolderError, match="another seed .5, not 6."):
        compare(interrupted, resume=True, seed=6)
    tree = compare(interrupted.parent / "six", seed=6)
    for file in chunks_of(interrupted.parent / "six"):
        shutil.copy(file, interrupted / "chunks")
    assert {*first} < {*chunks_of(interrupted)}
    compare(interrupted, resume=True)
    assert results.load(interrupted).attrs["seed"] == 5
    assert tree.attrs["seed"] == 6


def test_results_of_earlier_versions_are_read_and_not_continued(calls, tmp_path):
    tree = compare(tmp_path)
    marker = tmp_path / ".bayesduel/marker.json"
    marker.write_text(marker.read_text().replace('"format": 2', '"format": 1'))
    old = tmp_path / ".bayesduel/parts" / f"0123456789abcdef-{'0' * 32}.npz"
    old.parent.mkdir()
    old.touch()
    same_tree(results.load(tmp_path), tree)
    with pytest.raises(OutputFolderError, match="earlier version.*overwrite") as raised:
        compare(tmp_path, resume=True)
    assert "read and drawn" in str(raised.value)
    same_tree(compare(tmp_path, overwrite=True), tree)
    assert not old.parent.exists()


def test_more_runs_begin_with_the_same_chunks(calls, interrupted):
    resumed = compare(interrupted, resume=True, num_runs=130)
    assert calls == [
        (Wanderer(), range(100, 130)),
        (Scripted(), range(50, 100)),
        (Scripted(), range(100, 130)),
    ]
    same_tree(resumed, compare(None, num_runs=130))


def test_a_failed_policy_is_tried_again_and_nothing_else(
    calls, expected, tmp_path, monkeypatch
):
    plain = instant_run_chunk(calls)

    def failing(environment, policy, **options):
        if isinstance(policy, Scripted) and options["runs"].start > 0:
            raise MemoryError("not now")
        return plain(environment, policy, **options)

    with monkeypatch.context() as patch:
        patch.setattr(driver, "run_chunk", failing)
        tree = compare(tmp_path)
    assert tree["cyclic/Scripted"].attrs["error"] == "MemoryError: not now"
    assert not tree["cyclic/Scripted"].data_vars
    same_tree(results.load(tmp_path), tree)
    del calls[:]
    resumed = compare(tmp_path, resume=True)
    # Its first job had been finished and kept.
    assert calls == [(Scripted(), range(50, 100))]
    same_tree(resumed, expected)
