"""Reading users' files: what is accepted, and what every refusal says."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesduel import instances
from bayesduel.instances.files import parse_table
from theory import InvalidPreferenceError, PreferenceMatrix, identification_bound

VALUES = [[0.5, 0.7, 0.9], [0.3, 0.5, 0.625], [0.1, 0.375, 0.5]]
ROWS = ["0.5 0.7 0.9", "0.3 0.5 0.625", "0.1 0.375 0.5"]
PLAIN = "\n".join(ROWS)


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def _table(separator, *, header="", names=""):
    """Write VALUES with a header row and a first column of one-letter names."""
    lines = [separator.join(header)] if header else []
    for row, text in enumerate(ROWS):
        cells = text.split()
        lines.append(separator.join([names[row], *cells] if names else cells))
    return "\n".join(lines) + "\n"


ACCEPTED = {
    "spaces": PLAIN,
    "no newline at the end, aligned": " 0.5  0.7   0.9\n0.3 0.5   0.625\n0.1 0.375 0.5",
    "commas": _table(","),
    "commas and spaces": PLAIN.replace(" ", ", "),
    "semicolons": _table(";"),
    "decimal commas": _table(";").replace(".", ","),
    "tabs": _table("\t"),
    "windows": _table(",").replace("\n", "\r\n"),
    "old mac": _table(",").replace("\n", "\r"),
    "byte order mark": "\ufeff" + _table(","),
    "comments and blank lines": "# a comment, with 3 words\n\n" + PLAIN + "\n\n# end\n",
    "exponents": PLAIN.replace("0.625", "6.25e-1"),
    "quotes": _table(",").replace("0.5", '"0.5"'),
}

NAMED = {
    "header": _table(",", header="abc"),
    "first column": _table(",", names="abc"),
    "both": _table(",", header=" abc", names="abc"),
    "both, R's way": _table(",", header="abc", names="abc"),
    "both, named corner": _table(",", header="xabc", names="abc"),
    "semicolons, decimal commas": _table(";", header=" abc", names="abc").replace(
        ".", ","
    ),
    "tabs": _table("\t", header="abc"),
    "spaces": _table(" ", header="abc", names="abc"),
    "spaces, first column": _table(" ", names="abc"),
    "quoted": _table(",", header="abc").replace("a,b,c", '"a","b","c"'),
}

NUMBERED = {
    "header": _table(",", header="123"),
    "pandas": _table(",", header=" 123", names="123"),
    "named corner": _table(",", header="x123", names="123"),
    "first column": _table(",", names="123"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_text_without_names(case, tmp_path):
    path = write(tmp_path, ACCEPTED[case])
    matrix = instances.load(path)
    assert matrix.values.tolist() == VALUES
    assert matrix.arm_names is None
    assert matrix.name == "table"
    assert matrix.source == f"file {path}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        *((text, ("a", "b", "c")) for text in NAMED.values()),
        *((text, ("1", "2", "3")) for text in NUMBERED.values()),
    ],
    ids=[*NAMED, *(f"numbers: {case}" for case in NUMBERED)],
)
def test_text_with_names(text, names, tmp_path):
    matrix = instances.load(write(tmp_path, text))
    assert matrix.values.tolist() == VALUES
    assert matrix.arm_names == names


def test_names_may_hold_separators_and_spaces(tmp_path):
    for name, cell, comma in (
        ("tea, black", '"tea, black"', ";"),
        ("tea, black", '"tea, black"', ","),
        ("green tea", "green tea", ","),
    ):
        text = f"{cell};coffee\n0.5;0.7\n0.3;0.5".replace(";", comma)
        names = instances.load(write(tmp_path, text)).arm_names
        assert names == (name, "coffee")


def test_matrix_of_certain_outcomes_is_not_taken_for_labels(tmp_path):
    text = "0.5 1 0\n0 0.5 1\n1 0 0.5"
    matrix = instances.load(write(tmp_path, text))
    assert matrix.values.tolist() == [[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]]


@pytest.mark.parametrize("name", ["t.tsv", "t.TXT", "t", "t.matrix"])
def test_endings_do_not_matter_for_the_content(name, tmp_path):
    path = write(tmp_path, PLAIN, name)
    assert instances.load(str(path)).values.tolist() == VALUES
    assert instances.load(path).name == "t"


def test_what_is_taken_for_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PLAIN, "gap")
    write(tmp_path, PLAIN, "mine.csv")
    assert instances.load("gap").num_arms == 5
    assert instances.load("./gap").values.tolist() == VALUES
    assert instances.load(Path("gap")).values.tolist() == VALUES
    assert instances.load("mine.csv").values.tolist() == VALUES
    with pytest.raises(FileNotFoundError, match=r"other\.csv does not exist"):
        instances.load("other.csv")
    with pytest.raises(FileNotFoundError, match="other does not exist"):
        instances.load("./other")


BAD_TEXTS = {
    "empty": ("", "the file must hold numbers"),
    "comments only": ("# nothing\n", "the file must hold numbers"),
    "header only": ("a,b,c\n", "line 1: the table ends after its header"),
    "not square": (
        "0.5 0.7 0.9\n0.3 0.5 0.6\n",
        r"square, got \(2, 3\); there are 2 rows",
    ),
    "one arm": ("0.5\n", r"at least 2 x 2"),
    "ragged": ("0.5 0.7 0.9\n0.3 0.5\n0.1 0.4 0.5", "line 2 has 2 cells, but line 1"),
    "number of arms first": (f"3\n{PLAIN}", "line 2 has 3 cells, but line 1 has 1"),
    "nan": (PLAIN.replace("0.625", "nan"), "line 2, column 3: nan is not a probab"),
    "infinite": (PLAIN.replace("0.625", "inf"), "line 2, column 3: inf is not a prob"),
    "infinite label": (
        "1 inf\n0.5 1\n0 0.5",
        r"square, got \(3, 2\); there are 3",
    ),
    "above 1": (PLAIN.replace("0.9", "1.9"), "line 1, column 3: 1.9 is not a probab"),
    "counts": ("0 5\n3 0\n", r"line 1, column 2: 5 is not a probability"),
    "text inside": (PLAIN.replace("0.625", "oops"), "line 2, column 3: 'oops' is not"),
    "text in the first row": (
        PLAIN.replace("0.7", "oops"),
        "line 1, column 2: 'oops' is not a number",
    ),
    "text after comments": (
        "# first\n\n" + PLAIN.replace("0.375", "x"),
        "line 5, column 2: 'x' is not a number",
    ),
    "underscore": (PLAIN.replace("0.375", "0.3_75"), "column 2: '0.3_75' is not a num"),
    "empty cell": ("0.5,,0.9\n0.3,0.5,0.6\n0.1,0.4,0.5", "line 1, column 2: the cell"),
    "trailing separator": ("0.5,0.7,\n0.3,0.5,", "of 3 entries, the last of them"),
    "open quote": ('0.5,"0.7\n0.3,0.5', "line 1, column 2: '\"0.7' is not a number"),
    "do not add up": (PLAIN.replace("0.625", "0.6"), r"\(1, 2\): 0\.6 \+ 0\.375"),
    "diagonal": (PLAIN.replace("0.3 0.5", "0.3 0.4"), r"\[1, 1\] .*, got 0\.4"),
    "header too long": (_table(",", header="abcde"), "the header has 5 cells"),
    "header too short": (_table(",", header="ab"), "the header has 2 cells"),
    "names twice": (
        _table(",", header="aba"),
        "distinct and not empty, got 'a'",
    ),
    "name missing": (_table(",", header="a c"), "got ''; rename arm 1"),
    "rows in another order": (
        _table(",", header=" abc", names="acb"),
        "column 'b' stands where row 'c' does",
    ),
    "utf-16": ("0\x00.\x005\x00", "nor text in UTF-8"),
}


# Pieces that tables are made of, and some that they should not hold.
PIECES = st.sampled_from(
    [*"0.5 0.25,1;\t\n\r\"'#-_eE", "0.5", "0.75", "nan", "inf", "1e400", "a", "\0", "é"]
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_or_refused(text):
    try:
        values, arm_names = parse_table(text)
    except InvalidPreferenceError as error:
        assert str(error)
    else:
        assert values.shape == (len(values), len(values))
        assert ((values >= 0) & (values <= 1)).all()
        assert len(arm_names) in (0, len(values))


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_bad_text_is_refused_with_its_place(case, tmp_path):
    text, message = BAD_TEXTS[case]
    path = write(tmp_path, text)
    with pytest.raises(InvalidPreferenceError, match=message) as caught:
        instances.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_folders_and_missing_files(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a"):
        instances.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=re.escape("none.npy does not exist")):
        instances.load(tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        instances.load(tmp_path / "missing" / "none.npy")


SMALL = {
    "pref_arxiv": "arxiv",
    "pref_cyclic": "cyclic",
    "pref_arithmetic": "arithmetic",
    "mslr_5_non_condorcet": "mslr5-non-condorcet",
}


@pytest.mark.shared
@pytest.mark.parametrize("stem", SMALL)
def test_public_text_files_agree_with_the_printed_ones(stem, shared_dir):
    path = shared_dir / "data" / "small_matrices" / f"{stem}.txt"
    assert instances.load(path) == instances.load(SMALL[stem])


@pytest.mark.shared
def test_eight_digit_mslr_file_rounds_to_the_printed_one(shared_dir):
    folder = shared_dir / "data" / "small_matrices"
    matrix = instances.load(folder / "mslr_informational_5_condorcet.txt")
    assert isinstance(matrix, PreferenceMatrix)
    printed = instances.load("mslr5-condorcet")
    # The largest difference, at (0, 4), is 0.76547422 against 0.765.
    difference = np.abs(matrix.values - printed.values)
    assert np.unravel_index(difference.argmax(), (5, 5)) in ((0, 4), (4, 0))
    assert difference.max() < 0.0005
    assert (np.sign(matrix.gaps) == np.sign(printed.gaps)).all()


@pytest.mark.parametrize("corner", ["", "arm,"])
def test_prices_are_read_with_their_names(corner, tmp_path):
    path = tmp_path / "prices.csv"
    names = ["tea,", "coffee,", "water,"] if corner else [""] * 3
    rows = ["0,inf,12", "inf,0,0.5", "12,0.5,0"]
    body = "".join(f"{name}{row}\n" for name, row in zip(names, rows, strict=True))
    path.write_text(f"{corner}tea,coffee,water\n{body}")
    table = instances.read_prices(path)
    assert list(table.index) == list(table.columns) == ["tea", "coffee", "water"]
    assert table.loc["tea", "coffee"] == np.inf and table.loc["water", "coffee"] == 0.5
    matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    drinks = PreferenceMatrix(matrix, arm_names=["water", "tea", "coffee"])
    bound = identification_bound(drinks, table)
    assert bound.prices[0].tolist() == [0.0, 12.0, 0.5]


def test_prices_without_names_and_as_arrays(tmp_path):
    (tmp_path / "prices.csv").write_text("0 3\n3 0\n")
    np.save(tmp_path / "prices.npy", [[0, 3], [3, 0]])
    for name in ("prices.csv", "prices.npy"):
        table = instances.read_prices(tmp_path / name)
        assert table.to_numpy().tolist() == [[0, 3], [3, 0]]
        assert list(table.index) == [0, 1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("arm,price\ntea,1\ncoffee,0.5\nwater,inf\n", ["tea", "coffee", "water"]),
        ("Arm;Price\ntea;1\ncoffee;0,5\nwater;inf\n", ["tea", "coffee", "water"]),
        ("tea\t1\ncoffee\t0.5\nwater\tinf\n", ["tea", "coffee", "water"]),
        ("model,dollars\ntea,1\ncoffee,0.5\nwater,inf\n", ["tea", "coffee", "water"]),
        ("arm,price\n0,1\n1,0.5\n2,inf\n", ["0", "1", "2"]),
    ],
)
def test_prices_of_arms_are_added_up(text, names, tmp_path):
    (tmp_path / "prices.csv").write_text(text)
    table = instances.read_prices(tmp_path / "prices.csv")
    assert [*table.index] == [*table.columns] == names
    prices = np.array([1, 0.5, np.inf])
    assert np.array_equal(table.to_numpy(), prices[:, None] + prices)
    values = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    drinks = PreferenceMatrix(values, arm_names=names, prices=table)
    assert drinks.prices[0].tolist() == [0.0, 1.5, np.inf]


def test_two_columns_of_numbers_are_a_table_of_two_arms(tmp_path):
    (tmp_path / "prices.csv").write_text("tea,coffee\n0,0.25\n0.25,0\n")
    table = instances.read_prices(tmp_path / "prices.csv")
    assert table.loc["tea", "coffee"] == 0.25 and len(table) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,price\ntea,1\ntea,2\n", "arm names must be distinct"),
        ("arm,price\ntea,-1\nmilk,2\n", "line 2, column 2: -1 is not a price"),
        ("arm,price\ntea,much\nmilk,2\n", "line 2, column 2: 'much' is not a number"),
        ("arm,price\ntea,1\n", "at least 2 x 2"),
        ("arm,price\ntea,1\nmilk\n", "has 1 cells|must be square"),
        ("0,-1\n-1,0\n", "line 1, column 2: -1 is not a price; entries must be 0 or"),
        ("0,nan\nnan,0\n", "line 1, column 2: nan is not a price"),
        ("a,b\n0,many\nmany,0\n", "line 2, column 2: 'many' is not a number"),
        ("0,1.5,2\n1.5,0,3\n", "must be square, or have the columns arm and price"),
        ("0,1\n2,0\n", r"the table\[0, 1\] must be symmetric"),
        ("a\n0\n", "at least 2 x 2"),
    ],
)
def test_bad_prices_are_refused_with_their_place(text, message, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(text)
    with pytest.raises(InvalidPreferenceError, match=message) as caught:
        instances.read_prices(path)
    assert str(caught.value).startswith(f"{path}: ")
