"""Functions of kernels that become machine code with their callers."""

import re
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.compiler import standalone


@compiled
def _halved(values: np.ndarray, index: int) -> float:
    return 0.5 * values[index]


@compiled
def _sum_of_halves(values: np.ndarray) -> float:
    total = 0.0
    for index in range(values.size):
        total += _halved(values, index)
    return total


def test_part_is_linked_with_what_it_calls():
    """Through another part and by itself, into two functions of two modules."""
    one = standalone(lambda values: _sum_of_halves(values) + _halved(values, 0))
    other = standalone(lambda values: _halved(values, 1) - _sum_of_halves(values))
    values = np.array([3.0, 5.0, 7.0])
    assert one(values) == 9.0
    assert other(values) == -5.0


def test_part_is_made_machine_code_once(monkeypatch):
    """Only of the function that Python calls, and not of each that it calls."""
    finished = []
    original = JITCodeLibrary._finalize_specific

    def finish(library):
        finished.append(library.name)
        original(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", finish)

    @compiled
    def below(x):
        return x + 1.0

    @compiled
    def between(x):
        return 2.0 * below(x)

    @njit
    def above(x):
        return between(x) + below(x)

    assert above(1.0) == 6.0
    names = [name.rpartition(".")[2] for name in finished]
    assert names.count("above") == 1
    assert not {"below", "between"} & set(names)


def test_parts_have_no_name_in_the_machine_code():
    """Or a program loaded later could be linked to the parts of another one."""

    def two_draws(rng):
        return rng.binomial(1000, 0.3) + rng.binomial(1000, 0.3)

    program = standalone(two_draws)
    program(np.random.default_rng(0))
    (assembly,) = program.inspect_asm().values()
    functions = re.findall(r"^\s*\.type\s+(\S+?),@function", assembly, re.MULTILINE)
    parts = [name for name in functions if "two_draws" not in name]
    assert len(parts) < len(functions)
    assert parts
    assert all(name.startswith(".L") for name in parts)


@pytest.mark.slow
def test_part_is_found_on_disk(tmp_path):
    """A program of parts that was kept runs in another process."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    hits = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=True
        )
        hits.append(done.stdout.split())
    assert hits == [["12.0", "0"], ["12.0", "1"]]


_SCRIPT = """
from numba import njit
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.compiler import OPTIONS

@compiled
def below(x):
    return x + 1.0

@compiled
def between(x):
    return 2.0 * below(x)

@njit(cache=True, **OPTIONS)
def above(x):
    return below(x) + between(x)

print(above(3.0), sum(above.stats.cache_hits.values()))
"""


CONSTANT = -1


def test_a_changing_constant_is_refused():
    """A variable has one type, which for Numba is the constant itself."""

    def last(count):
        arm = CONSTANT
        for number in range(count):
            arm = number
        return arm

    with pytest.raises(TypingError, match="arm"):
        standalone(last)(3)


def test_an_integer_that_becomes_a_fraction_is_one_from_the_start():
    def total(values):
        running = 0
        for value in values:
            running += value
        return running

    assert standalone(total)(np.array([0.5, 0.25])) == 0.75
    assert standalone(total)(np.array([], dtype=float)) == 0.0
