"""The how-to on worlds: its files are short, and its commands and cells run."""

import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from bayesduel.arguments import literals
from bayesduel.errors import AssumptionWarning
from tests.command_line import invoke

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "my_world.md"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not PAGE.is_file(), reason="the documentation is not part of the distribution"
)


def files():
    """Return the files of the page by the names that it gives them."""
    results = {}
    for cell in CELL.findall(PAGE.read_text("utf-8")):
        if "\nclass " in cell:
            name = re.findall(r"`(\w+\.py)`", PAGE.read_text().partition(cell)[0])[-1]
            # The code after the class in a cell is for the page only.
            results[name] = cell.partition("\n\n\nresult =")[0].rstrip() + "\n"
    assert list(results) == ["mine.py", "linear.py", "known.py"]
    return results


def commands():
    """Return the commands with few and short runs."""
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    results = []
    for line in lines:
        line = re.sub(r" --(horizon|runs|out) \S+", "", line)
        results.append(shlex.split(line)[1:] + ["--horizon", "40", "--runs", "2"])
    assert len(results) == 5
    return results


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [item for item in sys.path if item])
    yield tmp_path
    for name in files():
        sys.modules.pop(name.removesuffix(".py"), None)
    literals.FOLDERS.clear()


def test_each_file_has_at_most_forty_lines():
    for name, text in files().items():
        assert len(text.splitlines()) <= 40, name


@pytest.mark.slow
@pytest.mark.parametrize("words", commands(), ids=lambda words: words[2])
def test_commands_run_in_the_folder_of_the_files(here, words):
    done = invoke([*words, "--quiet"])
    assert done.exit_code == 0, done.stderr


def test_a_world_and_a_rule_of_a_file_are_compared_and_drawn(here):
    words = ["compare", "-i", "mine:Drift:speed=1e-4|1e-3", "-p", "mine:Rule", "-p"]
    words += ["random", "--horizon", "50", "--runs", "2", "--out", "drift", "--quiet"]
    done = invoke(words)
    assert done.exit_code == 0, done.stderr
    assert (here / "drift" / "regret.png").is_file()
    assert "Drift:speed=0.001" in done.stdout and "weak regret" in done.stdout
    again = invoke([*words, "--resume"])
    assert again.exit_code == 0, again.stderr


@pytest.mark.slow
def test_cells_run(here, monkeypatch):
    """With fewer rounds; the build of the documentation runs them as they are."""
    names = {"__name__": "documentation"}
    for cell in CELL.findall(PAGE.read_text("utf-8")):
        short = re.sub(r"horizon=[0-9_]+", "horizon=40", cell)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            exec(compile(short, PAGE.name, "exec"), names)
    labels = {*names["result"]["linear-contexts:contexts=fixed"].children}
    assert labels == {"Known", "MaxPair"}
