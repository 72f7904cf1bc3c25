"""Kernels without the names that Numba calls private: the same digits, no error."""

import os
import subprocess
import sys

import pytest
from numba.core.codegen import CPUCodegen, JITCodeLibrary

from bayesduel.ops.scalar._own_code import _NEEDED, _NEEDED_TO_LOAD, lacking
from tests.ops.without_private_names import digests


def plays_without(names: list[str]) -> list[str]:
    """Return digests of the plays, as a process without the names prints them."""
    command = [sys.executable, "-m", "tests.ops.without_private_names", *names]
    done = subprocess.run(  # noqa: S603
        command,
        env=os.environ | {"BAYESDUEL_CACHE": "off"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_kernels_play_the_same_where_the_private_names_are_hidden():
    names = ["rucb", "self-sparring"]
    assert plays_without(names) == digests(names, hidden=False)


def test_missing_members_are_named():
    class Bare:
        """A library of some other version."""

    assert lacking() == [] == lacking(JITCodeLibrary, CPUCodegen)
    assert lacking(Bare, CPUCodegen) == list(_NEEDED)
    assert lacking(JITCodeLibrary, Bare) == ["_module_pass_manager"]
    assert lacking(programs=Bare) == [*_NEEDED_TO_LOAD]
