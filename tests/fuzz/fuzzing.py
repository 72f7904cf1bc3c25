"""Random arguments for public functions, and a check of the answers."""

from __future__ import annotations

import linecache
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import settings
from scipy import sparse

from bayesduel.errors import ArgumentError
from tests.processes import PATIENCE

SECONDS = 20
"""The most processor time of an answer, which a busy machine does not change."""

BYTES = 2 * 2**30
"""It takes at most so much memory."""

NAN, INF = float("nan"), float("inf")

WRONG_NUMBERS: list[Any] = [
    *(0, -1, 1, 7, 10**9, 10**400, -(10**400), 2**31, 2**63, 2**64),
    *(0.0, -0.5, 0.5, 1.5, 1e-320, 1e300, -1e300, 1.7e308, NAN, INF, -INF),
    *(Decimal("0.7"), Decimal("NaN"), Decimal("1e400"), Fraction(1, 3), 1j),
    *(np.float32(0.7), np.float64(NAN), np.int64(-3), np.bool_(True), np.array(3)),
]

WRONG_THINGS: list[Any] = [
    *(None, True, False, "", "yes", "1_0", "\uff15", "\0", "a" * 5000, b"x"),
    *([], (), {}, set(), {"a": 1}, object(), len, [None], ["a", "b"], [[]], [[1]]),
    *([1.0, [2.0]], [[0.5, 0.6], [0.3, 0.5]], [[0.5, NAN], [0.4, 0.5]]),
    *(np.array([]), np.zeros((2, 3)), np.zeros((3, 3, 3)), np.array(["a"])),
    *(np.array([None, 1]), np.array([True, False]), np.array([1 + 1j, 2])),
    np.ma.masked_array([[0.5, 0.6], [0.4, 0.5]], mask=[[0, 1], [0, 0]]),
    np.full((2, 2), Decimal("0.5"), dtype=object),
    sparse.csr_matrix(np.full((2, 2), 0.5)),
    np.broadcast_to(np.float64(0.5), (100_000, 100_000)),
    np.broadcast_to(np.float64(0.5), (10**9,)),
]
"""The last two take no memory themselves: what copies them takes 80 and 8 GB."""

HOSTILE = [*WRONG_NUMBERS, *WRONG_THINGS]


MANY_EXAMPLES = 12 * settings.default.max_examples
"""The number of examples in slow tests: 300, and many times as many at night."""


class TooSlowError(Exception):
    """No answer in time."""


class StartedError(Exception):
    """A valid request: what would have been computed is of no interest here."""


def started(*arguments: Any, **options: Any) -> None:
    """Stand for what computes."""
    raise StartedError


@contextmanager
def limited(call: str) -> Iterator[None]:
    """Hold one call to the limits of time and memory."""

    def too_slow(number: int, frame: object) -> None:
        raise TooSlowError(f"{call} took more than {SECONDS} s")

    clocks = (signal.SIGPROF, signal.SIGALRM)
    before = {number: signal.signal(number, too_slow) for number in clocks}
    largest = _most_memory()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        # A table far beyond the limit is not even begun, for the machine's sake.
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + 2 * BYTES, hard))
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)
    used = _most_memory() - largest
    assert used < BYTES, f"{call} took {used / 2**30:.1f} GB"


def _most_memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _address_space() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    except OSError:  # Not Linux.
        return 2**46
    return pages * resource.getpagesize()


def is_ours(error: BaseException) -> bool:
    """Whether a ``raise`` of this project made an error that says something.

    If it is about an argument, it names that and the rule.
    """
    if isinstance(error, ArgumentError) and not (error.argument and error.rule):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    frame = trace.tb_frame
    module = str(frame.f_globals.get("__name__", "")).split(".")[0]
    line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno)
    return (
        module in ("bayesduel", "theory")
        and line.strip().startswith("raise ")
        and len(str(error)) > 10
    )


def short_text(value: Any) -> str:
    """Write an argument so that a failure can be repeated."""
    try:
        text = repr(value)
    except ValueError:
        return f"an integer of {value.bit_length()} bits"
    return " ".join(text.split())[:200]
