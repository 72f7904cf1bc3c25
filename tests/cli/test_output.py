"""Output on narrow terminals, and without UTF-8."""

import io
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from bayesduel.cli import output
from bayesduel.cli.output import font_warnings
from bayesduel.cli.tables import FittingTable
from bayesduel.errors import MissingGlyphWarning
from tests.command_line import invoke

NAMES = ("a-long-name-of-an-arm", "another long name", "東京")


def standings():
    table = FittingTable(optional=("won",))
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
    command = "bayesduel compare -i mslr5-condorcet -p 'd-ts:alpha=1' --out here"
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
    output.print_data("東京\n")  # It is read back as in a file.
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


HOSTILE = ["be\x1b[31ma", "mi\x9blk", "\u202eale", "wa\nter", "=1+1"]
SHOWN = ["be\\u001b[31ma", "mi\\u009blk", "\\u202eale", "wa\\nter"]


@pytest.mark.parametrize("command", ["bounds", "bounds --all", "fit"])
def test_names_of_arms_do_nothing_to_a_terminal(tmp_path, monkeypatch, command):
    rng = np.random.default_rng(1)
    if command == "fit":
        path = tmp_path / "votes.csv"
        rows = [dict(left=a, right=b, winner=rng.choice(["left", "right"]))
                for a in HOSTILE for b in HOSTILE if a != b]  # fmt: skip
        pd.DataFrame(rows).to_csv(path, index=False)
        words = ["fit", str(path), "--method", "mode", "--out", str(tmp_path / "fit")]
    else:
        path = tmp_path / "matrix.csv"
        names = [name.replace("\n", " ") for name in HOSTILE]
        upper = np.triu(rng.uniform(0.55, 0.9, (5, 5)), 1)
        values = upper + np.tril(1 - upper.T, -1) + np.eye(5) / 2
        pd.DataFrame(values, index=names, columns=names).to_csv(path)
        words = [command.split()[0], str(path), *command.split()[1:]]
    done = invoke(words, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.stderr
    for text in (done.stdout, done.stderr):
        assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text)
    assert "be\\u001b[31ma" in done.stdout
    if command == "fit":
        rows = [line.split()[0] for line in done.stdout.splitlines() if "\\" in line]
        assert sorted(rows) == sorted(SHOWN)
        table = (tmp_path / "fit" / "standings.csv").read_text()
        assert "'=1+1," in table and "\x1b" not in table
        assert "have a ' before them" in done.stderr


@pytest.mark.parametrize(
    "words", [["fit", "no\x1b[2J.csv"], ["bounds", "no\x9b.csv"], ["show", "\x1b["]]
)
def test_errors_and_names_of_files_do_nothing_to_a_terminal(words):
    done = invoke(words)
    assert done.exit_code == 2
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1


def test_colors_are_kept_where_names_are_written_out(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    output.console().print("a\x1b[31mb", style="bold", markup=False)
    assert stream.getvalue() == "\x1b[1ma\\u001b[31mb\x1b[0m\n"
