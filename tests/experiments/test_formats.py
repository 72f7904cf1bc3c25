"""Results as Zarr, and opened lazily."""

import zipfile

import pytest

import bayesduel
from bayesduel import results
from bayesduel.errors import OutputFolderError
from bayesduel.simulation import driver
from tests.fake_policies import Scripted, Wanderer, instant_run_chunk
from tests.folders import visible

pytest.importorskip("zarr")
pytest.importorskip("dask.array")

ZARR = "results.zarr.zip"


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(results, "_ZARR_RUNS", 4)


def compare(out, **options):
    request = {"num_runs": 10, "horizon": 1000, "seed": 3} | options
    return bayesduel.compare("cyclic", ["d-ts", "rucb"], out=out, **request)


@pytest.fixture
def instant(monkeypatch):
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))


def test_zarr_holds_the_same_as_netcdf(instant, tmp_path):
    """In the order that was asked for, and cut as jobs are."""
    first, second = (
        bayesduel.compare(
            ["sushi", "cyclic"], [Wanderer(), Scripted()], num_runs=10, horizon=100,
            out=tmp_path / format, format=format,
        )
        for format in ("netcdf", "zarr")
    )  # fmt: skip
    assert visible(tmp_path / "zarr") & {ZARR, results.FILE_NAME} == {ZARR}
    for lazy in (False, True):
        result = results.load(tmp_path / "zarr", lazy=lazy)
        paths = [node.path for node in result.subtree]
        assert paths == [node.path for node in first.subtree]
        assert result.equals(second)
        for path in paths:
            assert result[path].to_dataset().equals(first[path].to_dataset())
            assert {*result[path].attrs} == {*first[path].attrs}
        result.close()
    with zipfile.ZipFile(tmp_path / "zarr" / ZARR) as archive:
        inside = [item.rpartition("/") for item in archive.namelist()]
    folders = [folder for folder, _, name in inside if name[0] != "."]
    assert sum(folder.startswith("cyclic/Scripted/plays") for folder in folders) == 3


def test_the_same_request_is_the_same_zarr_file(tmp_path, monkeypatch):
    compare(tmp_path / "one", format="zarr")
    monkeypatch.setattr("bayesduel.experiments.chunk.RUNS_PER_CHUNK", 3)
    compare(tmp_path / "other", format="zarr")
    first, second = ((tmp_path / name / ZARR).read_bytes() for name in ("one", "other"))
    assert first == second


def test_formats_take_the_place_of_one_another(instant, tmp_path):
    compare(tmp_path, num_runs=4)
    compare(tmp_path, format="zarr", resume=True)
    assert {*visible(tmp_path)} & {ZARR, results.FILE_NAME} == {ZARR}
    assert results.load(tmp_path)["cyclic/RUCB"].sizes["run"] == 10
    compare(tmp_path, num_runs=4, overwrite=True)
    assert {*visible(tmp_path)} & {ZARR, results.FILE_NAME} == {results.FILE_NAME}


@pytest.mark.parametrize("format", ["netcdf", "zarr"])
def test_lazy_results_are_read_when_they_are_computed(tmp_path, format, monkeypatch):
    monkeypatch.setattr(results, "_CHUNK_BYTES", 4096)
    tree = compare(tmp_path, format=format)
    opened = results.load(tmp_path, lazy=True)
    regret, plays = (opened["cyclic/D-TS"][name] for name in ("regret", "plays"))
    assert regret.chunks is not None and plays.chunks is not None
    assert len(plays.chunksizes["run"]) > 1
    assert opened.attrs == tree.attrs
    assert bayesduel.analysis.summary(opened) == bayesduel.analysis.summary(tree)
    assert opened.load().equals(tree)
    opened.close()


def test_a_damaged_file_is_refused(instant, tmp_path):
    compare(tmp_path, format="zarr")
    file = tmp_path / ZARR
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    (tmp_path / "moved.zarr.zip").write_bytes(b"nothing")
    for lazy in (False, True):
        with pytest.raises(OutputFolderError, match="is damaged or was changed"):
            results.load(tmp_path, lazy=lazy)
        with pytest.raises(OutputFolderError, match="cannot be read as results"):
            results.load(tmp_path / "moved.zarr.zip", lazy=lazy)


def test_parts_are_merged_to_zarr(instant, tmp_path):
    tree = compare(tmp_path / "whole")
    compare(tmp_path / "out", part="1/1")
    assert bayesduel.merge(tmp_path / "out", format="zarr").equals(tree)
    assert results.load(tmp_path / "out").equals(tree)
