"""The tutorial on studies: its commands are typed as they stand, its outputs held."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import urllib.request
from pathlib import Path

import pytest

from tests.processes import PATIENCE, wait_for
from tests.studies.serving import ROOT

PAGE = ROOT / "docs" / "tutorial_study.md"
BLOCK = re.compile(r"^```(console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
KEYS = ("s", "s", "q")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PAGE.is_file(), reason="the documentation is not part of the distribution"
    ),
]


@pytest.fixture
def shell(tmp_path):
    """Commands start in an empty folder, with this Python and this package."""
    plain = {name: item for name, item in os.environ.items() if name != "FORCE_COLOR"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = plain | {
        "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "88", "NO_COLOR": "1",
    }  # fmt: skip
    return {"cwd": folder, "env": environment}


def typed(command, shell):
    """Run a command in a terminal, and press a key whenever it waits for one."""
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=inside, stdout=inside, stderr=inside,
        start_new_session=True, **shell,
    )  # fmt: skip
    os.close(inside)
    said, pressed = "", 0
    while True:
        assert select.select([terminal], [], [], PATIENCE)[0], said
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the other end is closed.
            part = b""
        if not part:
            break
        said += part.decode("utf-8", "replace")
        while pressed < min(said.count("q: quit"), len(KEYS)):
            # Keys that are typed before the program listens would be dropped.
            wait_for(
                lambda: not termios.tcgetattr(terminal)[3] & termios.ICANON, process
            )
            os.write(terminal, KEYS[pressed].encode())
            pressed += 1
    os.close(terminal)
    assert process.wait(PATIENCE) == 0, said
    return said


def served(command, shell):
    """Run a command that serves a page, open the page, and press Ctrl-C."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **shell,
    )  # fmt: skip
    try:
        address = process.stdout.readline() if process.stdout else ""
        with urllib.request.urlopen(address.strip(), timeout=PATIENCE) as reply:
            assert "<title>slogans</title>" in reply.read().decode()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted: 0 answers stored" in said


def entered(block, shell):
    """Run a block of commands, without what a person has set; return what it writes."""
    done = subprocess.run(
        ["bash", "--norc", "-i", "-c", block],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=PATIENCE, **shell,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    # Without a terminal an interactive shell complains first.
    lines = done.stdout.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("bash: "))


def words(text):
    """Return the words of a text, without its numbers and its lines of ornament."""
    return re.sub(r"[\d.,]*\d|─+", "", text).split()


def test_the_commands_give_what_the_page_shows(shell):
    said, shown = "", 0
    for kind, block in BLOCK.findall(PAGE.read_text("utf-8")):
        if kind == "text":
            assert words(said) == words(block)
            shown += 1
        elif "study vote" in block:
            said = typed(block, shell)
            assert "Ask less, learn more." in said and "one.txt" not in said
            assert "answers stored: 2" in said
        elif "study page" in block:
            served(block.splitlines()[-1], shell)
        else:
            said = entered(block, shell)
    assert shown == 3
    assert (shell["cwd"] / "slogans.study.html").is_file()
