"""The command line, called within the process of a test."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from unittest import mock

from typer import testing
from typer.main import get_command

from bayesduel.cli.app import app

_made_once = cache(get_command)
"""The command that parses lines.

Typer reads the signatures of all commands to make it, which takes ten times as long as
a line that is refused.
"""


def invoke(words: Sequence[str], **options: Any) -> Any:
    """Type a line; return what it printed and how it ended."""
    with mock.patch.object(testing, "_get_command", _made_once):
        return testing.CliRunner().invoke(app, words, **options)
