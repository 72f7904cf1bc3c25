"""A command whose reader has gone, as in ``| head``, ends without a word."""

import subprocess
import sys

import pytest

from tests.processes import PATIENCE

RUN = "from bayesduel.cli.app import run; run()"
BROKEN = 141
"""128 + SIGPIPE, as shells say of `cat` and of `grep`."""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal of a broken pipe"
)


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "study --help",
        "--version",
        "list",
        "list --json",
        "bounds cyclic",
        "bounds cyclic --json",
        "show d-ts",
        "config -i cyclic -p d-ts",
        "reproduce --list",
    ],
)
@pytest.mark.parametrize("stderr", [subprocess.PIPE, subprocess.STDOUT])
def test_it_ends_quietly_where_nobody_reads(words, stderr):
    command = [sys.executable, "-c", RUN, *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as process:
        process.stdout.close()
        assert process.wait(PATIENCE) == BROKEN
        if process.stderr is not None:
            assert process.stderr.read() == b""


def test_a_reader_who_stays_gets_all_of_it():
    command = [sys.executable, "-c", RUN, "bounds", "cyclic"]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and b"27.5" in done.stdout


def test_a_broken_pipe_of_something_else_is_no_end(monkeypatch):
    from bayesduel.cli import errors

    monkeypatch.setattr(errors, "_has_no_reader", lambda descriptor: False)
    with pytest.raises(BrokenPipeError), errors.quiet_pipes():
        raise BrokenPipeError
