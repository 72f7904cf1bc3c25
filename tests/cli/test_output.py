"""What is printed where there is little room, or no UTF-8."""

import io
import json
import os
import re
import subprocess
import sys
import warnings

import pytest
from rich.console import Console

from bayesduel.cli import output
from bayesduel.cli.figures import font_warnings
from bayesduel.cli.tables import new_table
from bayesduel.errors import MissingGlyphWarning

NAMES = ("a-long-name-of-an-arm", "another long name", "東京")


def standings():
    table = new_table(optional=("won",))
    table.add_column("arm", no_wrap=True)
    for head in ("rank", "won", "lost"):
        table.add_column(head, justify="right", no_wrap=True)
    for name in NAMES:
        table.add_row(name, "1-3", "1000000", "2000000")
    return table


def printed(table, width):
    written = io.StringIO()
    Console(file=written, width=width).print(table)
    return written.getvalue()


@pytest.mark.parametrize(
    "width, missing",
    [(60, ""), (40, "won"), (32, "won"), (24, "won, lost"), (12, "won, lost")],
)
def test_names_are_the_last_to_go_and_what_went_is_said(width, missing):
    text = printed(standings(), width)
    assert max(map(len, text.splitlines())) <= width
    # Folded names are whole when read without the breaks.
    letters = re.sub(r"[^a-z東京]", "", text)
    assert all(re.sub(r"[- ]", "", name) in letters for name in NAMES)
    said = " ".join(text.split()).partition(f"no room in {width} columns for: ")[2]
    assert said.strip() == missing
    heads = text.splitlines()[0].split()
    assert heads == ["arm", *(x for x in ("rank", "won", "lost") if x not in said)]


@pytest.mark.parametrize("width", [20, 60])
def test_a_command_to_be_pasted_is_never_broken(width):
    command = (
        "bayesduel compare -i mslr5-condorcet -p 'd-ts:alpha=1' --out here --resume"
    )
    written = io.StringIO()
    screen = Console(file=written, width=width)
    text = f"interrupted: kept the finished runs in here; go on with\n  {command}"
    output.print_text(screen, text)
    output.print_text(screen, f"to measure how often it is wrong: {command}; or do not")
    lines = written.getvalue().splitlines()
    assert sum(command in line for line in lines) == 2
    assert all(len(line) <= width or command in line for line in lines)
    assert " ".join(" ".join(lines[:-1]).split()).startswith(" ".join(text.split()))


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_an_encoding_lacks_is_written_in_ascii(monkeypatch, encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    output.degrade_encodings()
    screen = output.console()
    screen.print("1 ± 2 → 3 …  Ångström √ 東")
    screen.print(standings())
    output.print_json({"arm": "東京"})
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert "-> 3" in text and "sqrt ?" in text and "another long name" in text
    assert "1 +- 2" in text.replace("±", "+-") and "ngstr" in text
    assert json.loads(text[text.index("{") :]) == {"arm": "東京"}
    output.print_data("東京\n")  # What is read back is as in a file.
    stream.flush()
    assert raw.getvalue().endswith("東京\n".encode())


def test_the_command_ends_well_where_names_cannot_be_written(tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("winner,loser\n東京,Ålesund\nÅlesund,東京\n", "utf-8")
    program = "from bayesduel.cli import main; main()"
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program, "fit", votes, "--model", "beta"],
        env=os.environ | {"PYTHONIOENCODING": "cp1252"}, capture_output=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "Ålesund" in ended.stdout.decode("cp1252")
    assert b"??" in ended.stdout and b"Traceback" not in ended.stderr


def test_a_script_without_a_font_is_said_once(capsys):
    for quiet in (False, True):
        with font_warnings(quiet=quiet):
            for _ in range(2):
                warnings.warn(MissingGlyphWarning("no font has 京"), stacklevel=1)
    assert capsys.readouterr().err.count("no font has 京") == 1
