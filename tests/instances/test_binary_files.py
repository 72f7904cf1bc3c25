"""NPY and NPZ files, damaged files, and repair."""

import io
import logging
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesduel import instances
from bayesduel.instances import load, read_matrix
from theory import InvalidPreferenceError

VALUES = [[0.5, 0.7, 0.9], [0.3, 0.5, 0.625], [0.1, 0.375, 0.5]]
PLAIN = "0.5 0.7 0.9\n0.3 0.5 0.625\n0.1 0.375 0.5"


def _write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_bytes(text.encode())
    return path


def test_npy_and_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(VALUES))
    np.savez(tmp_path / "b.npz", whatever=np.array(VALUES))
    np.savez_compressed(tmp_path / "c.npz", x=np.array(VALUES), y=np.eye(3) / 2)
    np.save(tmp_path / "d.npy", np.asfortranarray(VALUES))
    np.save(tmp_path / "e.npy", np.array([[0.5, 1], [0, 0.5]], dtype=">f4"))
    (tmp_path / "npz_without_ending").write_bytes((tmp_path / "b.npz").read_bytes())
    assert instances.load(tmp_path / "a.npy").values.tolist() == VALUES
    assert instances.load(tmp_path / "a.npy").name == "a"
    assert instances.load(tmp_path / "b.npz").values.tolist() == VALUES
    assert instances.load(tmp_path / "b.npz", key="whatever").name == "b"
    assert instances.load(tmp_path / "c.npz", key="x").values.tolist() == VALUES
    assert instances.load(tmp_path / "d.npy").values.tolist() == VALUES
    assert instances.load(tmp_path / "e.npy").values.tolist() == [[0.5, 1], [0, 0.5]]
    path = tmp_path / "npz_without_ending"
    assert instances.read_matrix(path).values.tolist() == VALUES


def _npy(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore
    return stream.getvalue()


GOOD = np.array(VALUES)
BAD_BYTES = {
    "pickled": (_npy(np.array([[None, 1]], dtype=object), allow_pickle=True), "pickle"),
    "bare pickle": (pickle.dumps(VALUES), "neither an NPY or NPZ file nor text"),
    "cut off": (_npy(GOOD)[:-8], "the array cannot be read"),
    "header cut off": (_npy(GOOD)[:20], "the array cannot be read"),
    "vector": (_npy(GOOD[0]), r"must be square, got \(3,\)"),
    "not square": (_npy(GOOD[:2]), r"must be square, got \(2, 3\)"),
    "three axes": (_npy(np.full((2, 2, 2), 0.5)), r"got \(2, 2, 2\)"),
    "one arm": (_npy(np.array([[0.5]])), "at least 2 x 2"),
    "no arms": (_npy(np.empty((0, 0))), "at least 2 x 2"),
    "nan": (_npy(np.where(GOOD == 0.9, np.nan, GOOD)), r"\[0, 2\] .*, got nan"),
    "out of range": (_npy(np.where(GOOD == 0.9, 1.9, GOOD)), r"\[0, 2\] .*, got 1\.9"),
    "does not add up": (_npy(np.where(GOOD == 0.9, 0.8, GOOD)), r"\(0, 2\): 0\.8 \+ 0"),
    "complex": (_npy(GOOD + 0j), "real numbers, got 'complex128'"),
    "strings": (_npy(GOOD.astype(str)), "real numbers, got '<U32'"),
    "two arrays": (_npz(x=GOOD, y=GOOD), "exactly one, but x, y.*key="),
    "no arrays": (_npz(), "exactly one, but none"),
    "npz cut off": (_npz(x=GOOD)[:-30], "NPZ file is damaged"),
    "other archive": (b"PK\x03\x04 something", "NPZ file is damaged"),
    "picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "neither an NPY or NPZ file nor text"),
}


@pytest.mark.parametrize("case", BAD_BYTES)
def test_bad_binary_files_are_refused(case: str, tmp_path: Path) -> None:
    content, message = BAD_BYTES[case]
    path = tmp_path / "matrix.bin"
    path.write_bytes(content)
    with pytest.raises(InvalidPreferenceError, match=message) as caught:
        instances.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_pickles_are_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return (tmp_path.joinpath("touched").touch, ())

    bomb = np.array([[Bomb()]], dtype=object)
    for name, content in {
        "a.npy": _npy(bomb, allow_pickle=True),
        "b.npz": _npz(x=bomb),
        "c.npy": pickle.dumps(Bomb()),
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidPreferenceError):
            instances.load(tmp_path / name)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("kind", ["npy", "npz", "text"])
def test_damaged_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    text = b",a,b,c\na,0.5,0.7,0.9\nb,0.3,0.5,0.625\nc,0.1,0.375,0.5\n"
    content = {"npy": _npy(GOOD), "npz": _npz(x=GOOD), "text": text}[kind]
    rng = np.random.default_rng(20)
    path = tmp_path / "damaged"
    refused = 0
    for _ in range(300):
        damaged = bytearray(content)
        for position in rng.integers(len(content), size=2):
            damaged[position] = rng.integers(256)
        cut = int(rng.integers(len(content)))
        path.write_bytes(damaged[: cut if rng.random() < 0.3 else None])
        try:
            matrix = instances.load(path)
        except InvalidPreferenceError:
            refused += 1
        else:
            assert matrix.num_arms >= 2
    assert refused > 0


def test_keys(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", x=GOOD, y=GOOD)
    with pytest.raises(
        InvalidPreferenceError, match="key must name an array.* x, y, got 'z'"
    ):
        instances.load(tmp_path / "two.npz", key="z")
    with pytest.raises(
        InvalidPreferenceError, match="key must be left out: it is for NPZ files"
    ):
        instances.load(_write(tmp_path, PLAIN), key="x")
    with pytest.raises(
        ValueError,
        match="key must be left out: it is for NPZ files, and 'gap' is a name",
    ):
        instances.load("gap", key="x")


class TestRepair:
    """Deviations of the sum below 1e-3 are divided out on request only."""

    # (0, 1) adds up to 1.0005 and (1, 2) to 0.9998.
    TEXT = "0.5 0.7003 0.9\n0.3002 0.5 0.625\n0.1 0.3748 0.5\n"

    def test_is_offered_where_it_helps(self, tmp_path: Path) -> None:
        path = _write(tmp_path, self.TEXT)
        with pytest.raises(InvalidPreferenceError) as caught:
            instances.load(path)
        message = str(caught.value)
        assert "2 pairs deviate by less than 0.001" in message
        assert "(0, 1): 0.7003 + 0.3002" in message
        assert "repair=True" in message

    def test_divides_by_the_sum_and_reports(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = _write(tmp_path, self.TEXT)
        with caplog.at_level(logging.WARNING, logger="bayesduel"):
            matrix = instances.load(path, repair=True)
        np.testing.assert_allclose(
            matrix.values,
            [
                [0.5, 0.7003 / 1.0005, 0.9],
                [0.3002 / 1.0005, 0.5, 0.625 / 0.9998],
                [0.1, 0.3748 / 0.9998, 0.5],
            ],
            rtol=0,
            atol=1e-15,
        )
        assert matrix.values[0, 2] == 0.9
        assert matrix.source is not None
        assert "repaired: 2 pairs" in matrix.source
        assert "(0, 1)" in matrix.source
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "repaired: 2 pairs" in caplog.text
        assert str(path) in caplog.text

    def test_touches_nothing_else(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        matrix = instances.load(_write(tmp_path, PLAIN), repair=True)
        assert matrix.values.tolist() == VALUES
        assert "repaired" not in (matrix.source or "")
        assert caplog.records == []
        assert instances.load("gap", repair=True) == instances.load("gap")

    def test_diagonal(self, tmp_path: Path) -> None:
        path = _write(tmp_path, "0.5003 0.7\n0.3 0.5\n")
        assert instances.load(path, repair=True).values.tolist() == [
            [0.5, 0.7],
            [0.3, 0.5],
        ]

    def test_refuses_larger_faults(self, tmp_path: Path) -> None:
        for text in (
            self.TEXT.replace("0.9", "0.901"),
            self.TEXT.replace("0.9", "0.89"),
        ):
            path = _write(tmp_path, text)
            with pytest.raises(InvalidPreferenceError, match=r"\(0, 2\)") as caught:
                instances.load(path, repair=True)
            assert "repair" not in str(caught.value)


def float32_matrix():
    """Entries whose mirror images do not add up to 1 within 1e-9, as JAX makes them."""
    values = np.array([[0.5, 0.7, 0.1], [0.3, 0.5, 0.55], [0.9, 0.45, 0.5]], np.float32)
    assert np.abs(values.astype(float) + values.T.astype(float) - 1).max() > 1e-9
    return values


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("kind", ["npy", "npz", "array", "frame"])
def test_float32_is_accepted_within_its_rounding(tmp_path, kind, repair):
    values = float32_matrix()
    given = {
        "array": values,
        "frame": pd.DataFrame(values),
        "npy": tmp_path / "a.npy",
        "npz": tmp_path / "a.npz",
    }[kind]
    if kind == "npy":
        np.save(given, values)
    if kind == "npz":
        np.savez(given, values)
    matrix = load(given, repair=repair)
    np.testing.assert_allclose(matrix.values, values, atol=1.2e-7)
    np.testing.assert_array_equal(matrix.values + matrix.values.T, 1.0)


def test_a_float32_matrix_with_a_real_fault_is_refused():
    values = float32_matrix()
    values[0, 1] += np.float32(1e-5)
    with pytest.raises(InvalidPreferenceError, match="1 pair deviate"):
        load(values)
    repaired = load(values, repair=True).values
    assert repaired[0, 1] + repaired[1, 0] == 1.0


@pytest.mark.parametrize("path", [5, None, b"a.csv", "", "a\0b", ["a.csv"]])
def test_what_is_no_path_to_a_matrix(path):
    with pytest.raises(InvalidPreferenceError, match="path must be a path"):
        read_matrix(path)
