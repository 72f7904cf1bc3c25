"""NPY and NPZ files, damaged files, and repair."""

import gzip
import io
import logging
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from bayesduel.instances import load, read_matrix
from tests.instances.test_files import PLAIN, VALUES, write
from theory import InvalidPreferenceError


def test_npy_and_npz(tmp_path):
    np.savez(tmp_path / "b.npz", whatever=np.array(VALUES))
    np.savez_compressed(tmp_path / "c.npz", x=np.array(VALUES), y=np.eye(3) / 2)
    np.save(tmp_path / "d.npy", np.asfortranarray(VALUES))
    np.save(tmp_path / "e.npy", np.array([[0.5, 1], [0, 0.5]], dtype=">f4"))
    (tmp_path / "npz_without_ending").write_bytes((tmp_path / "b.npz").read_bytes())
    for name, key in (("b.npz", None), ("b.npz", "whatever"), ("c.npz", "x")):
        assert load(tmp_path / name, key=key).values.tolist() == VALUES
    assert load(tmp_path / "d.npy").values.tolist() == VALUES
    assert load(tmp_path / "d.npy").name == "d"
    assert load(tmp_path / "e.npy").values.tolist() == [[0.5, 1], [0, 0.5]]
    assert read_matrix(tmp_path / "npz_without_ending").values.tolist() == VALUES


def _npy(array, *, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def _npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore
    return stream.getvalue()


GOOD = np.array(VALUES)
BAD_BYTES = {
    "pickled": (_npy(np.array([[None, 1]], dtype=object), allow_pickle=True), "pickle"),
    "bare pickle": (pickle.dumps(VALUES), "neither an NPY or NPZ file nor text"),
    "cut off": (_npy(GOOD)[:-8], "the array cannot be read"),
    "vector": (_npy(GOOD[0]), r"must be square, got \(3,\)"),
    "not square": (_npy(GOOD[:2]), r"must be square, got \(2, 3\)"),
    "one arm": (_npy(np.array([[0.5]])), "at least 2 x 2"),
    "nan": (_npy(np.where(GOOD == 0.9, np.nan, GOOD)), r"\[0, 2\] .*, got nan"),
    "complex": (_npy(GOOD + 0j), "real numbers, got 'complex128'"),
    "strings": (_npy(GOOD.astype(str)), "real numbers, got '<U32'"),
    "two arrays": (_npz(x=GOOD, y=GOOD), "exactly one, but x, y.*key="),
    "no arrays": (_npz(), "exactly one, but none"),
    "npz cut off": (_npz(x=GOOD)[:-30], "NPZ file is damaged"),
    "other archive": (b"PK\x03\x04 something", "NPZ file is damaged"),
    "picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "neither an NPY or NPZ file nor text"),
}


@pytest.mark.parametrize("case", BAD_BYTES)
def test_bad_binary_files_are_refused(case, tmp_path):
    content, message = BAD_BYTES[case]
    path = tmp_path / "matrix.bin"
    path.write_bytes(content)
    with pytest.raises(InvalidPreferenceError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_pickles_are_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("touched").touch, ())

    bomb = np.array([[Bomb()]], dtype=object)
    for name, content in {
        "a.npy": _npy(bomb, allow_pickle=True),
        "b.npz": _npz(x=bomb),
        "c.npy": pickle.dumps(Bomb()),
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidPreferenceError):
            load(tmp_path / name)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("kind", ["npy", "npz", "text"])
def test_damaged_files_are_read_or_refused(kind, tmp_path):
    text = b",a,b,c\na,0.5,0.7,0.9\nb,0.3,0.5,0.625\nc,0.1,0.375,0.5\n"
    content = {"npy": _npy(GOOD), "npz": _npz(x=GOOD), "text": text}[kind]
    rng = np.random.default_rng(20)
    path = tmp_path / "damaged"
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        for position in rng.integers(len(content), size=2):
            damaged[position] = rng.integers(256)
        cut = int(rng.integers(len(content)))
        path.write_bytes(damaged[: cut if rng.random() < 0.3 else None])
        try:
            matrix = load(path)
        except InvalidPreferenceError:
            refused += 1
        else:
            assert matrix.num_arms >= 2
    assert refused > 0


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("two.npz", "z", "key must name an array.* x, y, got 'z'"),
        ("table.csv", "x", "key must be left out: it is for NPZ files"),
    ],
)
def test_keys(name, key, text, tmp_path):
    np.savez(tmp_path / "two.npz", x=GOOD, y=GOOD)
    write(tmp_path, PLAIN)
    with pytest.raises(InvalidPreferenceError, match=text):
        load(tmp_path / name, key=key)
    with pytest.raises(ValueError, match="for NPZ files, and 'gap' is a name"):
        load("gap", key=key)


# Deviations of the sum below 1e-3 are divided out on request only: here (0, 1) adds up
# to 1.0005 and (1, 2) to 0.9998.
DEVIATING = "0.5 0.7003 0.9\n0.3002 0.5 0.625\n0.1 0.3748 0.5\n"


def test_repair_is_offered_where_it_helps(tmp_path):
    path = write(tmp_path, DEVIATING)
    with pytest.raises(InvalidPreferenceError) as caught:
        load(path)
    message = str(caught.value)
    assert "2 pairs deviate by less than 0.001" in message
    assert "(0, 1): 0.7003 + 0.3002" in message
    assert "repair=True" in message


def test_repair_divides_by_the_sum_and_reports(tmp_path, caplog):
    path = write(tmp_path, DEVIATING)
    with caplog.at_level(logging.WARNING, logger="bayesduel"):
        matrix = load(path, repair=True)
    expected = np.array(VALUES)
    expected[0, 1], expected[1, 0] = 0.7003 / 1.0005, 0.3002 / 1.0005
    expected[1, 2], expected[2, 1] = 0.625 / 0.9998, 0.3748 / 0.9998
    np.testing.assert_allclose(matrix.values, expected, rtol=0, atol=1e-15)
    assert matrix.values[0, 2] == 0.9
    assert matrix.source is not None
    assert "repaired: 2 pairs" in matrix.source
    assert "(0, 1)" in matrix.source
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "repaired: 2 pairs" in caplog.text
    assert str(path) in caplog.text


def test_repair_touches_nothing_else(tmp_path, caplog):
    matrix = load(write(tmp_path, PLAIN), repair=True)
    assert matrix.values.tolist() == VALUES
    assert "repaired" not in (matrix.source or "")
    assert caplog.records == []
    assert load("gap", repair=True) == load("gap")
    diagonal = write(tmp_path, "0.5003 0.7\n0.3 0.5\n")
    assert load(diagonal, repair=True).values.tolist() == [[0.5, 0.7], [0.3, 0.5]]


@pytest.mark.parametrize("entry", ["0.901", "0.89"])
def test_repair_refuses_larger_faults(entry, tmp_path):
    path = write(tmp_path, DEVIATING.replace("0.9", entry))
    with pytest.raises(InvalidPreferenceError, match=r"\(0, 2\)") as caught:
        load(path, repair=True)
    assert "repair=True" not in str(caught.value)


def float32_matrix():
    """Entries whose mirror images do not add up to 1 within 1e-9, as JAX makes them."""
    values = np.array([[0.5, 0.7, 0.1], [0.3, 0.5, 0.55], [0.9, 0.45, 0.5]], np.float32)
    assert np.abs(values.astype(float) + values.T.astype(float) - 1).max() > 1e-9
    return values


@pytest.mark.parametrize("kind", ["npy", "npz", "array", "frame"])
def test_float32_is_accepted_within_its_rounding(tmp_path, kind):
    values = float32_matrix()
    given = tmp_path / f"a.{kind}"
    if kind == "npy":
        np.save(given, values)
    elif kind == "npz":
        np.savez(given, values)
    else:
        given = values if kind == "array" else pd.DataFrame(values)
    for repair in (False, True):
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


def _header(shape, kind="<f8", version=1):
    stream = io.BytesIO()
    described = {"descr": kind, "fortran_order": False, "shape": shape}
    getattr(np.lib.format, f"write_array_header_{version}_0")(stream, described)
    return stream.getvalue()


HEADERS = {
    "many arms": (_header((11_000, 11_000)), "must have at most 5000 arms, got 11000"),
    "bytes": (_header((11_000, 11_000), "|u1", 2), "must have at most 5000 arms"),
    "long": (_header((10**9,)), r"must be square, got \(1000000000,\)"),
    "wide": (_header((2, 10**9)), r"must be square, got \(2, 1000000000\)"),
    "deep": (_header((9, 9, 10**7)), "must be square"),
    "complex": (_header((9000, 9000), "<c16"), "must hold real numbers"),
    "texts": (_header((3, 3), "<U99999999"), "must hold real numbers"),
    "records": (_header((3, 3), [("a", "<f8", 10**8)]), "must hold real numbers"),
    "objects": (_header((9000, 9000), "|O"), "pickled objects, which are never loaded"),
}


@pytest.mark.parametrize("case", HEADERS)
@pytest.mark.parametrize("kind", ["npy", "npz", "npy.gz"])
def test_headers_are_checked_before_anything_is_unpacked(
    case, kind, tmp_path, monkeypatch
):
    header, message = HEADERS[case]
    # The data behind the header are 3 MB, not the gigabyte that it states.
    content, path = header + bytes(3 * 10**6), tmp_path / f"bomb.{kind}"
    if kind == "npy":
        path.write_bytes(content)
    elif kind == "npy.gz":
        path.write_bytes(gzip.compress(content))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("p.npy", content)
    unpacked = []
    for stream in (zipfile.ZipExtFile, gzip.GzipFile):

        def read(self, size=-1, plain=stream.read):
            unpacked.append(plain(self, size))
            return unpacked[-1]

        monkeypatch.setattr(stream, "read", read)
    with pytest.raises(InvalidPreferenceError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sum(map(len, unpacked)) <= 20_000


@pytest.mark.parametrize(("text", "message"), [
    ("0.5,0.5\n" * 6000, "must have at most 5000 arms, got 5999"),
    ("0\n" * 10**6, "must have at most 5000 arms, and a row of each"),
    ("0," * 10**6, "at most 5000 arms, and line 1 has 2000000 characters"),
    ("0 " * 10**6, "at most 5000 arms, and line 1 has 1999999 characters"),
    (("0;" * 6000 + "0\n") * 3, "must have at most 5000 arms, got 5999"),
])  # fmt: skip
def test_texts_of_too_many_arms_are_not_cut_into_cells(tmp_path, text, message):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InvalidPreferenceError, match=message):
        load(path)


def test_an_archive_of_very_many_arrays_lists_a_few(tmp_path):
    np.savez(tmp_path / "many.npz", **{f"x{number}": 0 for number in range(200)})
    with pytest.raises(InvalidPreferenceError, match=r"x115, \.\.\.") as caught:
        load(tmp_path / "many.npz")
    assert len(str(caught.value)) < 400
